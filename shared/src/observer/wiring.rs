//! Is one of the two encoders wired the wrong way round? Only the mechanics of both joints can tell.
//!
//! A reversed channel looks perfect on its own. But a swinging pendulum can only lose energy, and the energy computed
//! with one sign wrong does not: H01·ω0·ω1 and the tilt's s0·s1 change sign. So the energy E₊ as wired is compared with
//! E₋, the energy if one channel were reversed. Each is averaged over a window of [`WINDOW`] samples (51 ms at
//! 10 kHz), and its largest climb above its own minimum is kept:
//!
//! ```text
//! reversed  ⇔  climb₊ > 2·climb₋  and  climb₊ > 5 % of the energy the swing started with
//! ```
//!
//! A push by hand lifts both energies and is no alarm. Which of the two is reversed nobody can tell: with both
//! signs changed the pendulum is its own mirror image. For the same reason a plant with one joint never alarms.
//!
//! Inputs: angles \[rad\] and velocities \[rad/s\] of the trackers, every tick of a swing. Two energies every
//! [`DECIMATION`] ticks.

use crate::JOINTS;
use crate::impl_words;
use crate::model::plant::{AnyPlant, Plant, PlantConfig};
use crate::number::scalar::Scalar;

/// Ticks between two samples of the energy.
pub const DECIMATION: u16 = 64;
/// Samples of one window.
pub const WINDOW: u16 = 8;

#[derive(Clone, Copy, Debug)]
pub struct Wiring<S> {
    plant: AnyPlant<S>,
    /// Energy of the plant that hangs at rest [J].
    hanging: S,
}

/// Memory of one swing. \[0\] as wired, \[1\] with one channel reversed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State<S> {
    tick: u16,
    sample: u16,
    sum: [S; 2],
    started: bool,
    /// Energy of the first window above hanging [J].
    first: S,
    lowest: [S; 2],
    climb: [S; 2],
    /// One of the channels is reversed.
    pub reversed: bool,
}
impl_words!(State<S> { tick, sample, sum, started, first, lowest, climb, reversed });

impl<S: Scalar> Wiring<S> {
    pub fn new(plant: &PlantConfig) -> Self {
        let rest = plant.rest().map(S::from_f32);
        let plant: AnyPlant<S> = plant.build();
        Wiring {
            hanging: plant.energy(rest, [S::ZERO; JOINTS]),
            plant,
        }
    }

    /// Before a swing.
    pub fn start(&self) -> State<S> {
        State {
            tick: 0,
            sample: 0,
            sum: [S::ZERO; 2],
            started: false,
            first: S::ZERO,
            lowest: [S::ZERO; 2],
            climb: [S::ZERO; 2],
            reversed: false,
        }
    }

    /// One tick of a swing; true once, when the fault is found.
    #[inline]
    pub fn step(&self, st: &mut State<S>, q: [S; JOINTS], w: [S; JOINTS]) -> bool {
        st.tick += 1;
        if st.tick < DECIMATION {
            return false;
        }
        st.tick = 0;
        st.sum[0] += self.plant.energy(q, w);
        st.sum[1] += self.plant.energy([-q[0], q[1]], [-w[0], w[1]]);
        st.sample += 1;
        if st.sample < WINDOW {
            return false;
        }
        st.sample = 0;
        let mean = st.sum.map(|x| x * S::lit(1.0 / WINDOW as f64));
        st.sum = [S::ZERO; 2];
        self.judge(st, mean)
    }

    fn judge(&self, st: &mut State<S>, energy: [S; 2]) -> bool {
        if !st.started {
            st.started = true;
            st.first = energy[0] - self.hanging;
            st.lowest = energy;
            return false;
        }
        for (now, (lowest, climb)) in energy
            .into_iter()
            .zip(st.lowest.iter_mut().zip(&mut st.climb))
        {
            *lowest = lowest.min(now);
            *climb = climb.max(now - *lowest);
        }
        let found =
            st.climb[0] > S::lit(2.0) * st.climb[1] && st.climb[0] > S::lit(0.05) * st.first;
        let new = found && !st.reversed;
        st.reversed |= found;
        new
    }
}
