//! A simulated pendulum: f64 truth, seen only through two encoders.
//!
//! [`Truth`] integrates a plant with its friction (RK4, several substeps per tick); [`Simulation`] adds what the device
//! sees: counts, rounded down, with optional white noise, wrapped to the counter's width, and a hand that carries the
//! links. Used by tests, benchmarks, the native twin (`device::Device` behind the host's `link`), the host's study and the
//! virtual bench's rig, so all of them swing the same pendulum.
//!
//! In: plant, friction, angles \[rad\], tick \[s\], seed. Out: true angles \[rad\] and velocities
//! \[rad/s\], counter values \[counts\]. Deterministic: the noise comes from a seeded generator and all functions from
//! [`crate::number::math`]. It is not part of any observer and never runs on the chip.

use crate::JOINTS;
use crate::model::friction::Friction;
use crate::model::joint::Joint;
use crate::model::motor::Applied;
use crate::model::plant::tolerance::Tolerance;
use crate::model::plant::{self, AnyPlant, Plant, PlantConfig};
use crate::model::rk4;
use crate::number::math;

/// "Actual value" of paper 000 Table 3, per joint: μd \[m\], μs \[m\], μv \[N·m·s\], vt \[rad/s\], Fnt \[N\].
pub const REFERENCE_FRICTION: [[f64; 5]; JOINTS] = [
    [5e-4, 6e-4, 2.5e-4, 5e-3, 1e-2],
    [6e-4, 7e-4, 2.5e-4, 5e-3, 1e-2],
];

/// Start angles of the reference run (paper 000 §IV-A): 0° and 120°, at rest \[rad\].
pub const REFERENCE_START: [f64; JOINTS] = [0.0, 2.0 * core::f64::consts::PI / 3.0];

/// Length of the reference run [ticks of 0.1 ms]: 35 s.
pub const REFERENCE_TICKS: u32 = 350_000;

/// Encoders of the paper's rig, and the default everywhere.
pub const COUNTS_PER_REV: u32 = 40_000;

/// The true pendulum.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    plant: AnyPlant<f64>,
    friction: [Friction<f64>; JOINTS],
    /// Angles \[rad\].
    pub q: [f64; JOINTS],
    /// Velocities [rad/s].
    pub w: [f64; JOINTS],
    substep_s: f64,
    substeps: u32,
}

impl Truth {
    /// At rest at `q` \[rad\]; every [`Truth::step`] covers `dt_s` in `substeps` RK4 steps.
    pub fn new(
        plant: &PlantConfig,
        friction: [Friction<f64>; JOINTS],
        q: [f64; JOINTS],
        dt_s: f64,
        substeps: u32,
    ) -> Self {
        let substeps = substeps.max(1);
        Truth {
            plant: plant.build(),
            friction,
            q,
            w: [0.0; JOINTS],
            substep_s: dt_s / substeps as f64,
            substeps,
        }
    }

    /// One tick further, nothing acting.
    pub fn step(&mut self) {
        self.step_driven(&Applied::NONE);
    }

    /// One tick further while `applied` acts.
    pub fn step_driven(&mut self, applied: &Applied<f64>) {
        let mut y = [self.q[0], self.q[1], self.w[0], self.w[1]];
        for _ in 0..self.substeps {
            y = rk4::step(&y, self.substep_s, |y| {
                let tau = applied.at([y[2], y[3]]);
                plant::driven(&self.plant, &self.friction, y, tau)
            });
        }
        self.q = [y[0], y[1]];
        self.w = [y[2], y[3]];
    }

    /// Total energy \[J\].
    pub fn energy(&self) -> f64 {
        self.plant.energy(self.q, self.w)
    }
}

/// Friction of a sliding joint of an ordinary cart: μd, μs \[1\], μv \[N·s/m\], vt \[m/s\], Fnt \[N\].
pub const SLIDING_FRICTION: [f64; 5] = [1e-2, 1.2e-2, 0.1, 5e-3, 1e-2];

impl PlantConfig {
    /// Friction of each joint in a simulated run, unless somebody says otherwise.
    pub fn reference_friction(&self) -> [[f64; 5]; JOINTS] {
        let [a, b] = self.joints();
        let of = |joint: Joint, turning| match joint {
            Joint::Revolute => turning,
            Joint::Prismatic => SLIDING_FRICTION,
        };
        [of(a, REFERENCE_FRICTION[0]), of(b, REFERENCE_FRICTION[1])]
    }

    /// Where it is let go \[rad or m\]: 120° from hanging in the last joint whose angle the motion depends on.
    pub fn reference_start(&self) -> [f64; JOINTS] {
        let mut q = self.rest().map(f64::from);
        let shown = self.prior(&Tolerance::default()).zero.map(|z| z > 0.0);
        let last = if shown[1] { 1 } else { 0 };
        q[last] += if q[last] > 0.0 {
            -REFERENCE_START[1]
        } else {
            REFERENCE_START[1]
        };
        q
    }
}

/// How one simulated encoder turns a coordinate into a hardware counter value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Encoder {
    pub joint: Joint,
    /// Counts of one revolution or one metre.
    pub counts_per_rev: u32,
    /// Width of the counter \[bits\], 16 or 32.
    pub counter_bits: u8,
    /// A/B swapped: the counter runs against the angle.
    pub reversed: bool,
    /// Counter value at angle zero.
    pub offset: u32,
    /// Standard deviation of the white noise added before rounding \[counts\].
    pub noise_counts: f64,
}

impl Default for Encoder {
    fn default() -> Self {
        Encoder {
            joint: Joint::Revolute,
            counts_per_rev: COUNTS_PER_REV,
            counter_bits: 32,
            reversed: false,
            offset: 0,
            noise_counts: 0.0,
        }
    }
}

impl Encoder {
    /// The counter at coordinate `q` \[rad or m\] with `noise` standard deviations of noise.
    pub fn read(&self, q: f64, noise: f64) -> u32 {
        let counts = q * (self.counts_per_rev as f64 / self.joint.scale::<f64>());
        let exact = floor(counts + noise * self.noise_counts);
        let counted = if self.reversed { -exact } else { exact };
        let wrapped = self.offset.wrapping_add(counted as i64 as u32);
        if self.counter_bits == 16 {
            wrapped & 0xffff
        } else {
            wrapped
        }
    }
}

/// What happened in one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// True angles \[rad\] and velocities \[rad/s\] at the tick (zero velocity while a hand holds it).
    pub q: [f64; JOINTS],
    pub w: [f64; JOINTS],
    /// What the two hardware counters show.
    pub counts: [u32; JOINTS],
}

/// The pendulum behind its encoders: an endless iterator of [`Sample`]s, the first at time zero.
#[derive(Clone, Copy, Debug)]
pub struct Simulation {
    pub truth: Truth,
    pub encoders: [Encoder; JOINTS],
    rng: Rng,
    hand: Hand,
}

/// The hand that carries the pendulum: from one place to another in `ticks`, then it lets go.
#[derive(Clone, Copy, Debug, Default)]
struct Hand {
    from: [f64; JOINTS],
    to: [f64; JOINTS],
    ticks: u32,
    left: u32,
}

impl Simulation {
    pub fn new(truth: Truth, encoders: [Encoder; JOINTS], seed: u64) -> Self {
        Simulation {
            truth,
            encoders,
            rng: Rng::new(seed),
            hand: Hand::default(),
        }
    }

    /// The reference run: Table 3's truth on the rig of Table 1 at 45° tilt, 10 kHz, from 0° and 120°.
    pub fn reference(noise_counts: f64, seed: u64) -> Self {
        let truth = Truth::new(
            &PlantConfig::Furuta(Default::default()),
            REFERENCE_FRICTION.map(Friction::brown_mcphee),
            REFERENCE_START,
            1e-4,
            2,
        );
        let encoder = Encoder {
            noise_counts,
            ..Default::default()
        };
        Self::new(truth, [encoder; JOINTS], seed)
    }

    /// Put the pendulum at rest at `q` \[rad\] at once (its counts jump) and let go after `ticks`.
    pub fn hold(&mut self, q: [f64; JOINTS], ticks: u32) {
        self.truth.q = q;
        self.carry(q, ticks);
    }

    /// Take the pendulum by hand, move it smoothly to `q` \[rad\] within `ticks`, let go at rest.
    pub fn carry(&mut self, q: [f64; JOINTS], ticks: u32) {
        self.truth.w = [0.0; JOINTS];
        self.hand = Hand {
            from: self.truth.q,
            to: q,
            ticks,
            left: ticks,
        };
    }

    /// This tick's sample; then the pendulum moves on to the next tick.
    pub fn tick(&mut self) -> Sample {
        self.tick_driven(&Applied::NONE)
    }

    /// The same while `applied` acts until the next tick.
    pub fn tick_driven(&mut self, applied: &Applied<f64>) -> Sample {
        let mut counts = [0; JOINTS];
        for ((count, encoder), q) in counts.iter_mut().zip(&self.encoders).zip(self.truth.q) {
            let noise = if encoder.noise_counts > 0.0 {
                self.rng.normal()
            } else {
                0.0
            };
            *count = encoder.read(q, noise);
        }
        let sample = Sample {
            q: self.truth.q,
            w: self.truth.w,
            counts,
        };
        if self.hand.left > 0 {
            self.hand.left -= 1;
            self.truth.q = self.hand.place();
        } else {
            self.truth.step_driven(applied);
        }
        sample
    }
}

impl Hand {
    /// Where the hand is: a raised cosine between its two places.
    fn place(&self) -> [f64; JOINTS] {
        let left = self.left as f64 / self.ticks as f64;
        let (_, cos) = math::sin_cos_f64(core::f64::consts::PI * left);
        let done = 0.5 * (1.0 + cos);
        core::array::from_fn(|i| self.from[i] + done * (self.to[i] - self.from[i]))
    }
}

impl Iterator for Simulation {
    type Item = Sample;
    fn next(&mut self) -> Option<Sample> {
        Some(self.tick())
    }
}

/// SplitMix64: eight bytes of state, any seed is good.
#[derive(Clone, Copy, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in (low, high).
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Standard normal (Box–Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = math::sqrt_f64(-2.0 * math::ln_f64(self.uniform()));
        let (_, cos) = math::sin_cos_f64(2.0 * core::f64::consts::PI * self.uniform());
        radius * cos
    }
}

/// Largest integer ≤ x, for |x| < 2⁶².
fn floor(x: f64) -> f64 {
    let t = x as i64 as f64;
    if t > x { t - 1.0 } else { t }
}
