//! A bench that is not the model: what a laboratory's pendulum has and its rig file does not say.
//!
//! [`Mismatch`] lists the differences, [`Truth`] swings a tilted Furuta pendulum that has them, and [`ROWS`] is the list every study of
//! an estimator is run on. The motion is derived apart from [`crate::model::plant::furuta`] (Kane's equations from vectors, a movable
//! base, friction with memory), so agreement with it without any mismatch is a proof and not a tautology.
//!
//! f64, deterministic, never on the chip. Inputs: rig, friction and mismatch in SI units and rad; outputs: true angles and what the
//! encoders' discs show.

mod truth;

pub use truth::Truth;

use crate::JOINTS;
use crate::model::plant::furuta;
use crate::model::sim::Rng;

/// What the bench has beyond its rig file. All zero: nothing, the bench is the model.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Mismatch {
    /// The encoder shows this at angle zero \[rad\].
    pub zero: [f64; JOINTS],
    /// True tilt − stated tilt \[rad\].
    pub tilt: f64,
    /// Relative errors of the rig file: true = stated·(1 + this).
    pub m1: f64,
    pub m2: f64,
    pub j1z: f64,
    /// Of j2x and j2y.
    pub j2: f64,
    pub l1: f64,
    pub l2: f64,
    pub arm_length: f64,
    /// An eccentric disc shows θ + this·sin(θ + phase) \[rad\].
    pub eccentricity: [f64; JOINTS],
    /// Phase of both discs \[rad\].
    pub phase: f64,
    /// Spring of a cable on the arm \[N·m/rad\], relaxed at θ0 = 0.
    pub cable: f64,
    /// Quadratic drag of the rod \[N·m·s²\].
    pub drag: f64,
    /// The ticks are longer than stated by this part.
    pub clock: f64,
    /// Frequency of a base that gives way along x0 \[Hz\]; 0: rigid.
    pub base_hz: f64,
    /// The arm's Coulomb friction varies with its angle: ·(1 + this·sin 2θ0).
    pub position: f64,
    /// Coulomb friction of a joint that turns against its positive direction is larger by this part, else smaller.
    pub asymmetry: f64,
    /// The Coulomb friction does not feel the reaction but a preload: the weight carried.
    pub preload: bool,
    pub memory: Memory,
    /// White noise before rounding \[counts RMS\].
    pub noise_counts: f64,
}

/// Friction before it slides.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Memory {
    /// None: Brown–McPhee.
    #[default]
    None,
    /// LuGre bristles of this deflection at slip \[rad\].
    LuGre(f64),
    /// Maxwell slip: four elements in parallel, slipping at .4, .8, 1.2 and 1.6 times this \[rad\].
    Maxwell(f64),
}

const DEGREE: f64 = core::f64::consts::PI / 180.0;

/// Nothing is wrong.
pub const NONE: Mismatch = Mismatch {
    zero: [0.0; JOINTS],
    tilt: 0.0,
    m1: 0.0,
    m2: 0.0,
    j1z: 0.0,
    j2: 0.0,
    l1: 0.0,
    l2: 0.0,
    arm_length: 0.0,
    eccentricity: [0.0; JOINTS],
    phase: 0.0,
    cable: 0.0,
    drag: 0.0,
    clock: 0.0,
    base_hz: 0.0,
    position: 0.0,
    asymmetry: 0.0,
    preload: false,
    memory: Memory::None,
    noise_counts: 0.0,
};

/// One row of a study: its name, how the mismatch of each of its truths is made, and what a method can be asked for.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub name: &'static str,
    pub kind: Kind,
    mismatch: Mismatch,
    /// Beside `mismatch`, every value of the rig file is drawn within its tolerance.
    drawn: bool,
}

/// What a row is a test of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The bench is the model: every flag is a false alarm.
    Clean,
    /// A value of the rig file is wrong by what a laboratory cannot avoid: covered, not flagged.
    Rig,
    /// The bench has something that no value of the rig file describes: covered or flagged.
    Unmodelled,
}

/// The list of differences; `sign` of a row's errors alternates with the truth's seed.
pub const ROWS: [Row; 21] = [
    row("none", Kind::Clean, NONE),
    row(
        "noise 5 counts",
        Kind::Clean,
        Mismatch {
            noise_counts: 5.0,
            ..NONE
        },
    ),
    row(
        "zero .3°",
        Kind::Rig,
        Mismatch {
            zero: [0.3 * DEGREE, -0.3 * DEGREE],
            ..NONE
        },
    ),
    row(
        "tilt .5°",
        Kind::Rig,
        Mismatch {
            tilt: 0.5 * DEGREE,
            ..NONE
        },
    ),
    row("m2 2 %", Kind::Rig, Mismatch { m2: 0.02, ..NONE }),
    row("m1·l1 2 %", Kind::Rig, Mismatch { l1: 0.02, ..NONE }),
    row("l2 1 %", Kind::Rig, Mismatch { l2: 0.01, ..NONE }),
    row("j1z 3 %", Kind::Rig, Mismatch { j1z: 0.03, ..NONE }),
    row("j2 2 %", Kind::Rig, Mismatch { j2: 0.02, ..NONE }),
    row(
        "L1 1 %",
        Kind::Rig,
        Mismatch {
            arm_length: 0.01,
            ..NONE
        },
    ),
    Row {
        name: "all rig errors drawn",
        kind: Kind::Rig,
        mismatch: NONE,
        drawn: true,
    },
    row(
        "eccentricity .05°",
        Kind::Unmodelled,
        Mismatch {
            eccentricity: [0.05 * DEGREE; JOINTS],
            phase: 0.7,
            ..NONE
        },
    ),
    row(
        "cable 2 mN·m/rad",
        Kind::Unmodelled,
        Mismatch {
            cable: 2e-3,
            ..NONE
        },
    ),
    // ½·ρ·c·d·L⁴/4 of a rod of 8 mm and .316 m.
    row(
        "rod drag",
        Kind::Unmodelled,
        Mismatch {
            drag: 1.3e-5,
            ..NONE
        },
    ),
    row(
        "Maxwell slip 1 mrad",
        Kind::Unmodelled,
        Mismatch {
            memory: Memory::Maxwell(1e-3),
            ..NONE
        },
    ),
    row(
        "LuGre 1 mrad",
        Kind::Unmodelled,
        Mismatch {
            memory: Memory::LuGre(1e-3),
            ..NONE
        },
    ),
    row(
        "base 8 Hz",
        Kind::Unmodelled,
        Mismatch {
            base_hz: 8.0,
            ..NONE
        },
    ),
    row(
        "arm friction ±30 %",
        Kind::Unmodelled,
        Mismatch {
            position: 0.3,
            ..NONE
        },
    ),
    row(
        "constant load",
        Kind::Unmodelled,
        Mismatch {
            preload: true,
            ..NONE
        },
    ),
    row(
        "asymmetry 10 %",
        Kind::Unmodelled,
        Mismatch {
            asymmetry: 0.1,
            ..NONE
        },
    ),
    row(
        "clock .1 %",
        Kind::Unmodelled,
        Mismatch {
            clock: 1e-3,
            ..NONE
        },
    ),
];

/// Several at once: drawn rig errors, an eccentric disc, a cable and noise.
pub const SEVERAL: Row = Row {
    name: "several at once",
    kind: Kind::Unmodelled,
    mismatch: Mismatch {
        eccentricity: [0.03 * DEGREE; JOINTS],
        phase: 0.7,
        cable: 1e-3,
        noise_counts: 2.0,
        ..NONE
    },
    drawn: true,
};

const fn row(name: &'static str, kind: Kind, mismatch: Mismatch) -> Row {
    Row {
        name,
        kind,
        mismatch,
        drawn: false,
    }
}

impl Row {
    /// The mismatch of the truth numbered `seed`: the row's errors with the sign of its parity, drawn ones uniform within ±√3·σ.
    pub fn mismatch(&self, seed: u64) -> Mismatch {
        let s = if seed.is_multiple_of(2) { 1.0 } else { -1.0 };
        let m = self.mismatch;
        let mut m = Mismatch {
            zero: m.zero.map(|z| s * z),
            tilt: s * m.tilt,
            m1: s * m.m1,
            m2: s * m.m2,
            j1z: s * m.j1z,
            j2: s * m.j2,
            l1: s * m.l1,
            l2: s * m.l2,
            arm_length: s * m.arm_length,
            asymmetry: s * m.asymmetry,
            clock: s * m.clock,
            ..m
        };
        if self.drawn {
            let mut rng = Rng::new(!seed);
            let mut within = |tolerance: f64| rng.within(-tolerance, tolerance);
            m.zero = [within(0.7 * DEGREE), within(0.7 * DEGREE)];
            m.tilt = within(0.5 * DEGREE);
            m.m1 = within(0.01);
            m.m2 = within(0.01);
            m.j1z = within(0.03);
            m.j2 = within(0.02);
            m.l1 = within(0.01);
            m.l2 = within(0.01);
            m.arm_length = within(0.005);
        }
        m
    }
}

impl Mismatch {
    /// The rig as it is, for a rig file `c` that has these errors.
    pub fn rig(&self, c: &furuta::Config) -> [f64; 11] {
        let [
            m1,
            m2,
            j1z,
            j2x,
            j2y,
            j2z,
            l1,
            l2,
            arm_length,
            tilt,
            gravity,
        ] = c.values().map(f64::from);
        [
            m1 * (1.0 + self.m1),
            m2 * (1.0 + self.m2),
            j1z * (1.0 + self.j1z),
            j2x * (1.0 + self.j2),
            j2y * (1.0 + self.j2),
            j2z,
            l1 * (1.0 + self.l1),
            l2 * (1.0 + self.l2),
            arm_length * (1.0 + self.arm_length),
            tilt + self.tilt,
            gravity,
        ]
    }
}
