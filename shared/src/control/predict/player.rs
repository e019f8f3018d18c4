//! Which plan is played at a tick. A plan is stamped with the tick it is for; one that comes later is not used, and counted.
//!
//! In: plans from thread mode, the number of the tick. Out: the weights and the time since the plan began. When no new plan came in time
//! the old one goes on (its basis decays); after `stale` ticks without one the player says so, and the caller turns the motor off.

/// A plan: weights of the basis from a tick on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan<S, const N: usize> {
    pub from_tick: u64,
    pub weights: [S; N],
}

/// What became of an offered plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    Kept,
    /// Its tick has passed: not used, counted.
    TooLate,
}

/// What a tick plays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playing<S, const N: usize> {
    pub weights: [S; N],
    /// Ticks since the plan began.
    pub age: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Player<S, const N: usize> {
    now: Option<Plan<S, N>>,
    next: Option<Plan<S, N>>,
    /// Ticks after which a plan is not played any longer.
    stale: u64,
    /// Plans that came too late, and ticks without a plan that may be played.
    pub late: u32,
    pub idle: u32,
}

impl<S: Copy, const N: usize> Player<S, N> {
    pub fn new(stale: u64) -> Self {
        Player {
            now: None,
            next: None,
            stale,
            late: 0,
            idle: 0,
        }
    }

    /// A plan while tick `tick` is the last that was played. A later offer for the same time replaces an earlier one.
    pub fn offer(&mut self, tick: u64, plan: Plan<S, N>) -> Offer {
        if plan.from_tick <= tick {
            self.late = self.late.saturating_add(1);
            return Offer::TooLate;
        }
        self.next = Some(plan);
        Offer::Kept
    }

    /// What to play at `tick`; none: no plan, or the last one is stale.
    pub fn at(&mut self, tick: u64) -> Option<Playing<S, N>> {
        if self.next.is_some_and(|plan| plan.from_tick <= tick) {
            self.now = self.next.take();
        }
        let playing = self.now.and_then(|plan| {
            let age = tick.checked_sub(plan.from_tick)?;
            (age < self.stale).then_some(Playing {
                weights: plan.weights,
                age,
            })
        });
        if playing.is_none() {
            self.idle = self.idle.saturating_add(1);
        }
        playing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(from_tick: u64) -> Plan<f32, 1> {
        Plan {
            from_tick,
            weights: [from_tick as f32],
        }
    }

    #[test]
    fn a_plan_begins_at_its_tick_and_a_late_one_is_counted() {
        let mut player = Player::new(2000);
        assert_eq!(player.at(0), None);
        assert_eq!(player.offer(0, plan(100)), Offer::Kept);
        assert_eq!(player.at(99), None);
        assert_eq!(
            player.at(100).map(|p| (p.weights[0], p.age)),
            Some((100.0, 0))
        );
        // For a tick that has been played: the old plan goes on.
        assert_eq!(player.offer(150, plan(150)), Offer::TooLate);
        assert_eq!(
            player.at(151).map(|p| (p.weights[0], p.age)),
            Some((100.0, 51))
        );
        assert_eq!((player.late, player.idle), (1, 2));
    }

    #[test]
    fn a_stale_plan_is_not_played() {
        let mut player = Player::new(10);
        player.offer(0, plan(1));
        assert!(player.at(10).is_some());
        assert_eq!(player.at(11), None);
        player.offer(11, plan(12));
        assert!(player.at(12).is_some());
    }

    #[test]
    fn a_better_plan_for_the_same_time_replaces() {
        let mut player = Player::new(10);
        player.offer(0, plan(5));
        player.offer(
            1,
            Plan {
                from_tick: 5,
                weights: [7.0],
            },
        );
        assert_eq!(player.at(5).map(|p| p.weights[0]), Some(7.0));
    }
}
