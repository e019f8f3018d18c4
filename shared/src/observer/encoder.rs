//! One encoder channel: hardware counter → signed, unwrapped, zeroed count, and its faults.
//!
//! Integer code only. The counter may be 16 or 32 bits wide and wraps in both directions; the shortest way
//! round is taken, so a step must stay below half the counter's range. What a pendulum cannot do is flagged and
//! counted, never hidden: the count is passed on as it is.
//!
//! ```text
//! jump          |count(n) − count(n−1)| > max_jump
//! acceleration  travel of one window differs from the last window's by more than max_acceleration
//! reversed      travel of a window is the mirror image of the one two windows ago, more than max_acceleration
//!               away: the direction of the counter flipped while the joint was moving (a loose A or B line)
//! stuck         this count stood still (at most one count of dither) over a span in which the other joint
//!               travelled stuck_travel or more
//! ```
//!
//! Windows are [`WINDOW`] ticks, spans [`SPAN_WINDOWS`] windows. Not here: a channel wired the wrong way round
//! from the start looks perfect on its own; only the mechanics of both joints shows it
//! (the energy check of [`crate::observer::wiring`]).

use serde::{Deserialize, Serialize};

use crate::JOINTS;
use crate::impl_words;
use crate::model::joint::Joint;
use crate::number::range::{OutOfRange, check};
use crate::number::scalar::Scalar;

/// Ticks of one window: 12.8 ms at 10 kHz.
pub const WINDOW: u16 = 128;
/// Windows of one span of the stuck check: 0.41 s at 10 kHz.
pub const SPAN_WINDOWS: u8 = 32;
/// A channel whose count moves no more than this within a span stands still [counts]: one line of A/B
/// that still toggles gives one count of dither.
const DITHER: u32 = 1;

/// A longer gap is bridged as one of this length [ticks]: 105 s at 10 kHz.
const MOST_BRIDGED: u32 = 1 << 20;

/// Bits of [`Faults::flags`].
pub mod flag {
    pub const JUMP: u8 = 1;
    pub const ACCELERATION: u8 = 2;
    pub const REVERSED: u8 = 4;
    pub const STUCK: u8 = 8;
}

/// Wiring and limits of one channel. The default limits pass 20 counts RMS of white noise at 40,000 counts/rev.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Width of the hardware counter: 16 or 32 bits.
    pub counter_bits: u8,
    /// Counts of one revolution (four per encoder line); of a prismatic joint: of one metre.
    pub counts_per_rev: u32,
    /// The counter runs against the joint's positive direction.
    pub reversed: bool,
    /// Unwrapped count (after the sign) that is angle zero.
    pub zero: i32,
    /// Largest possible change in one tick \[counts\].
    pub max_jump: u32,
    /// Largest possible difference between the travels of two successive windows \[counts\].
    pub max_acceleration: u32,
    /// Travel of the other joint within one span that must move this one \[counts\]; 0 switches the check off.
    pub stuck_travel: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            counter_bits: 32,
            counts_per_rev: 40_000,
            reversed: false,
            zero: 0,
            // 256 counts per 0.1 ms = 402 rad/s.
            max_jump: 256,
            // 448 counts per (12.8 ms)² = 430 rad/s².
            max_acceleration: 448,
            stuck_travel: 5_000,
        }
    }
}

impl Config {
    /// Both channels of the default rig. A pendulum that swings moves the arm only against the arm's larger friction;
    /// an arm that swings always moves the pendulum.
    pub fn pair() -> [Self; JOINTS] {
        let arm = Config::default();
        [
            arm,
            Config {
                stuck_travel: 1_000,
                ..arm
            },
        ]
    }

    /// The first field outside its allowed range, if any.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        let bits = self.counter_bits as f32;
        if self.counter_bits != 16 && self.counter_bits != 32 {
            return Err(OutOfRange {
                field: "encoder.counter_bits",
                value: bits,
                min: 16.0,
                max: 32.0,
            });
        }
        // Beyond half the counter's range a jump is the same as a smaller one the other way.
        let half_range = if self.counter_bits == 16 {
            32_767.0
        } else {
            2_147_483_648.0
        };
        check(
            "encoder.counts_per_rev",
            self.counts_per_rev as f32,
            4.0,
            16_777_216.0,
        )?;
        check("encoder.max_jump", self.max_jump as f32, 1.0, half_range)?;
        check(
            "encoder.max_acceleration",
            self.max_acceleration as f32,
            1.0,
            2_147_483_648.0,
        )
    }

    /// The counter of `channel` now shows `raw`: the unwrapped count, with sign and zero applied.
    #[inline(always)]
    pub fn step(&self, channel: &mut Channel, raw: u32) -> i32 {
        channel.update(self, raw)
    }

    /// One count at a joint of this kind \[rad or m\].
    #[inline(always)]
    pub fn quantum<S: Scalar>(&self, joint: Joint) -> S {
        joint.scale::<S>() / S::from_f32(self.counts_per_rev as f32)
    }

    /// The coordinate \[rad or m\] in the middle of the cell that `count` stands for (the counter rounds down).
    ///
    /// Exact in f32 up to 2²³ counts from zero (209 revolutions of 40,000).
    #[inline(always)]
    pub fn place<S: Scalar>(&self, joint: Joint, count: i32) -> S {
        (S::from_f32(count as f32) + S::lit(0.5)) * self.quantum::<S>(joint)
    }

    /// Counts from coordinate zero to `q` \[rad or m\], to the nearest.
    pub fn counts_at(&self, joint: Joint, q: f32) -> i32 {
        let counts = q / self.quantum::<f32>(joint);
        (counts + if counts < 0.0 { -0.5 } else { 0.5 }) as i32
    }
}

/// What a channel did that it cannot do: current flags and how often since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// Bits of [`flag`], sticky until [`Channel::clear_flags`].
    pub flags: u8,
    pub jumps: u32,
    pub accelerations: u32,
    pub reversals: u32,
    pub stuck: u32,
}
impl_words!(Faults {
    flags,
    jumps,
    accelerations,
    reversals,
    stuck
});

/// Memory of one channel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Channel {
    started: bool,
    last_raw: u32,
    /// Unwrapped, signed, not zeroed [counts].
    total: i32,
    /// Ticks into the window, windows into the span.
    window_tick: u16,
    span_window: u8,
    /// Windows seen since the start, up to 3.
    windows: u8,
    window_start: i32,
    /// Travels of the last two windows, newest first [counts].
    travels: [i32; 2],
    /// Extremes of the running span, and the width of the last complete one [counts].
    low: i32,
    high: i32,
    span_travel: u32,
    pub faults: Faults,
}
impl_words!(Channel {
    started,
    last_raw,
    total,
    window_tick,
    span_window,
    windows,
    window_start,
    travels,
    low,
    high,
    span_travel,
    faults
});

impl Channel {
    #[inline]
    fn update(&mut self, cfg: &Config, raw: u32) -> i32 {
        let wide = cfg.counter_bits != 16;
        if !self.started {
            let first = extend(raw, wide);
            *self = Channel {
                started: true,
                last_raw: raw,
                total: if cfg.reversed {
                    first.wrapping_neg()
                } else {
                    first
                },
                faults: self.faults,
                ..Channel::default()
            };
            self.begin_window();
            self.begin_span();
            return self.total.wrapping_sub(cfg.zero);
        }

        let step = extend(raw.wrapping_sub(self.last_raw), wide);
        self.last_raw = raw;
        if step.unsigned_abs() > cfg.max_jump {
            self.faults.flags |= flag::JUMP;
            self.faults.jumps = self.faults.jumps.wrapping_add(1);
        }
        self.total = self.total.wrapping_add(if cfg.reversed {
            step.wrapping_neg()
        } else {
            step
        });
        self.low = self.low.min(self.total);
        self.high = self.high.max(self.total);

        self.window_tick += 1;
        if self.window_tick >= WINDOW {
            self.end_window(cfg);
        }
        self.total.wrapping_sub(cfg.zero)
    }

    /// `missed` ticks never happened before the one at which the counter shows `raw`: the joint is taken to have moved evenly
    /// meanwhile, and the checks that compare windows begin anew.
    pub fn bridge(&mut self, cfg: &Config, raw: u32, missed: u32) {
        if !self.started {
            return;
        }
        let way = extend(raw.wrapping_sub(self.last_raw), cfg.counter_bits != 16);
        let ticks = missed.min(MOST_BRIDGED) as i32 + 1;
        let step = way.wrapping_sub(way / ticks);
        self.last_raw = self.last_raw.wrapping_add(step as u32);
        self.total = self.total.wrapping_add(if cfg.reversed {
            step.wrapping_neg()
        } else {
            step
        });
        self.windows = 0;
        self.begin_window();
        self.begin_span();
    }

    /// Forget the past (device re-armed, counter reset); fault counters stay.
    pub fn restart(&mut self) {
        self.started = false;
    }

    pub fn clear_flags(&mut self) {
        self.faults.flags = 0;
    }

    /// The mechanics say that one of the two channels is wired the wrong way round ([`crate::observer::wiring`]).
    pub fn blame_wiring(&mut self) {
        self.faults.flags |= flag::REVERSED;
        self.faults.reversals = self.faults.reversals.wrapping_add(1);
    }

    /// The current count before zeroing: what [`Config::zero`] must be to call this place zero.
    pub fn total(&self) -> i32 {
        self.total
    }

    fn begin_window(&mut self) {
        self.window_tick = 0;
        self.window_start = self.total;
    }

    fn begin_span(&mut self) {
        self.span_window = 0;
        self.low = self.total;
        self.high = self.total;
    }

    fn end_window(&mut self, cfg: &Config) {
        let travel = self.total.wrapping_sub(self.window_start);
        let [last, before] = self.travels;
        let limit = cfg.max_acceleration;
        if self.windows >= 1 && travel.wrapping_sub(last).unsigned_abs() > limit {
            self.faults.flags |= flag::ACCELERATION;
            self.faults.accelerations = self.faults.accelerations.wrapping_add(1);
        }
        let mirrored = travel.wrapping_add(before).unsigned_abs() <= travel.unsigned_abs() / 4;
        if self.windows >= 2 && mirrored && travel.unsigned_abs() > limit / 2 {
            self.faults.flags |= flag::REVERSED;
            self.faults.reversals = self.faults.reversals.wrapping_add(1);
        }
        self.travels = [travel, last];
        self.windows = (self.windows + 1).min(3);
        self.begin_window();

        self.span_window += 1;
        if self.span_window >= SPAN_WINDOWS {
            self.span_travel = self.high.wrapping_sub(self.low).unsigned_abs();
            self.begin_span();
        }
    }

    /// A span ended with this tick's update.
    fn span_ended(&self) -> bool {
        self.windows >= 3 && self.window_tick == 0 && self.span_window == 0
    }

    fn check_stuck(&mut self, cfg: &Config, other_travel: u32) {
        if cfg.stuck_travel > 0 && self.span_travel <= DITHER && other_travel >= cfg.stuck_travel {
            self.faults.flags |= flag::STUCK;
            self.faults.stuck = self.faults.stuck.wrapping_add(1);
        }
    }
}

/// Both channels of a two-joint plant, with the stuck check between them.
///
/// The check needs links that move each other freely (`swinging`): a hand that lifts one and holds the other is no fault.
#[inline]
pub fn step(
    cfg: &[Config; JOINTS],
    channels: &mut [Channel; JOINTS],
    raw: [u32; JOINTS],
    swinging: bool,
) -> [i32; JOINTS] {
    let [a, b] = channels;
    let counts = [cfg[0].step(a, raw[0]), cfg[1].step(b, raw[1])];
    if swinging && a.span_ended() && b.span_ended() {
        let travels = [a.span_travel, b.span_travel];
        a.check_stuck(&cfg[0], travels[1]);
        b.check_stuck(&cfg[1], travels[0]);
    }
    counts
}

/// A difference of counter values as a signed number: 32 bits as they are, or the low 16 sign-extended.
#[inline(always)]
fn extend(x: u32, wide: bool) -> i32 {
    if wide {
        x as i32
    } else {
        x as u16 as i16 as i32
    }
}
