//! The tilted Furuta pendulum with its rig as unknowns.
//!
//! Free passive motion shows seven numbers of the rig: the zeros of both encoders, the tilt, and four groups,
//!
//! ```text
//! arm inertia      (j1z + m1·l1² + m2·L1²)·(1 + a)
//! link inertia     H22 = (j2x + m2·l2²)·(1 + j), j2y shifted by the same amount
//! arm length       L1·(1 + λ) in the coupling m2·l2·L1 and in the reactions
//! arm gravity      (m1·l1 + m2·L1)·g·(1 + γ)
//! ```
//!
//! m2·g·l2 stays as configured: it is the unit of mass, and no motion shows it. Neither does it show the lever of the
//! normal force. Both are added to the standard errors at the output ([`Rig::hidden`]).
//!
//! A clock that is off by κ multiplies every inertia by (1 − 2κ) and is absorbed by a, j and λ.
//!
//! Beyond the plant's equations a bench may have a cable on the arm (a spring, relaxed at θ0 = 0), a clock that is off, and eccentric
//! discs: they can be free with a prior as well, and the grey box frees them where a record is not explained without.

use stribeck_core::model::plant::furuta::{Config, Furuta};
use stribeck_core::model::plant::tolerance::Tolerance;
use stribeck_core::number::scalar::Scalar;

use super::{Beyond, Entry, Fitted, Label, Load, System};
use crate::identify::model::parametric::{Coef, Freedom, Param, Prior, WAVES};

pub const LOAD: Load = Load::Reaction;

pub const TABLE: [Entry; 7] = [
    entry("tilt", "tilt", "rad", 0.1),
    entry("arm inertia", "arm", "1", 0.05),
    entry("link inertia", "link", "1", 0.05),
    entry("arm length", "length", "1", 0.05),
    entry("arm gravity", "gravity", "1", 0.05),
    Entry {
        beyond: true,
        ..entry("cable", "cable", "N·m/rad", 1e-3)
    },
    Entry {
        beyond: true,
        ..entry("clock", "clock", "1", 1e-3)
    },
];
const TILT: usize = 0;
/// Values that are free by default.
const SHOWN: usize = 5;
const CABLE: usize = 5;
const CLOCK: usize = 6;

const fn entry(name: &'static str, id: &'static str, unit: &'static str, scale: f64) -> Entry {
    Entry {
        name,
        id,
        unit,
        scale,
        beyond: false,
    }
}

pub const BASE: &[Coef] = &[Coef::Coulomb, Coef::Viscous];
pub const ADDITIONS: &[&[Coef]] = &[&[Coef::Stribeck, Coef::Transition], &[Coef::Drag]];

/// Standard deviations of a rig that was weighed and measured: zero and tilt [rad], a, j, λ, γ; cable [N·m/rad], clock \[1\].
const ZERO_SIGMA: f64 = 0.0175;
pub const SIGMA: [f64; 7] = [0.0175, 0.03, 0.03, 0.01, 0.02, 5e-3, 1e-3];
/// Share of preload, and relative variation of the Coulomb term over the angle: all that is possible.
const PRELOAD_SIGMA: f64 = 1.0;
const WAVE_SIGMA: f64 = 0.5;
/// Relative half-width within which the shape of a Stribeck peak is the law's: a bearing's corner is no formula's to the per mille.
const CORNER: f64 = 0.02;
/// Eccentricity of a disc [rad]: a tenth of a degree.
const DISC_SIGMA: f64 = 1.75e-3;

/// Configured values, the groups' relative deviations, and how well the rig is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rig {
    /// [`Config`]'s fields in order.
    nominal: [f64; 11],
    pub values: [f64; 7],
    /// Standard deviation of each value of the table.
    pub sigma: [f64; 7],
    zero_sigma: f64,
    pub tolerance: Tolerance,
}

impl Rig {
    pub fn new(c: &Config) -> Rig {
        let nominal = c.values().map(f64::from);
        Rig {
            nominal,
            values: [nominal[9], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            sigma: SIGMA,
            zero_sigma: ZERO_SIGMA,
            tolerance: Tolerance::default(),
        }
    }

    /// The same rig, weighed and measured to these tolerances: every standard deviation follows them in proportion.
    pub fn within(mut self, t: &Tolerance) -> Rig {
        let c = self.config();
        let (usual, stated) = (c.prior(&Tolerance::default()), c.prior(t));
        let ratio = |stated: f32, usual: f32| f64::from(stated) / f64::from(usual).max(1e-12);
        for i in 0..SHOWN {
            self.sigma[i] = SIGMA[i] * ratio(stated.rig[i], usual.rig[i]);
        }
        self.zero_sigma = ZERO_SIGMA * ratio(stated.zero[0], usual.zero[0]);
        self.tolerance = *t;
        self
    }

    /// The configured rig at the present tilt; the groups have no place in a configuration.
    pub fn config(&self) -> Config {
        let mut v = self.nominal;
        v[9] = self.values[TILT];
        Config::from_values(v.map(|x| x as f32))
    }

    /// What is exact is not estimated; of what lies beyond the equations only the prior is stated.
    pub fn freedom(&self) -> Freedom {
        let mut out = Freedom::default();
        for (i, sigma) in self.sigma.into_iter().enumerate() {
            let prior = Prior {
                param: Param::Rig(i),
                value: self.values[i],
                sigma,
            };
            match () {
                () if sigma <= 0.0 => {}
                () if i < SHOWN => out.add(prior),
                () => out.priors.push(prior),
            }
        }
        for j in 0..2 {
            if self.zero_sigma > 0.0 {
                out.add(Prior {
                    param: Param::Offset(j),
                    value: 0.0,
                    sigma: self.zero_sigma,
                });
            }
            let law = |c: Coef, sigma: f64| Prior {
                param: Param::Friction(c, j),
                value: 0.0,
                sigma,
            };
            out.priors.push(law(Coef::Preload, PRELOAD_SIGMA));
            out.priors.extend(WAVES.map(|c| law(c, WAVE_SIGMA)));
            out.priors.extend((0..2).map(|k| Prior {
                param: Param::Disc(j, k),
                value: 0.0,
                sigma: DISC_SIGMA,
            }));
        }
        out
    }

    /// Groups that are not turned round, an inertia that stays positive.
    pub fn feasible(&self) -> bool {
        let b = stribeck_core::model::plant::Plant::bounds(&self.plant(&self.values, LOAD));
        self.values[1..SHOWN].iter().all(|f| f.abs() < 0.5) && b.inertia.iter().all(|i| *i > 0.0)
    }

    pub fn friction_label(&self, c: Coef) -> Label {
        c.label()
    }

    /// Normal forces scale as Fn0 ∝ w·(δm1 − δm2) − δl2 and Fn1 ∝ −δl2, torques as the unit of mass δm2 + δl2, with w the
    /// arm's share of the weight on its joint. A tolerance is the half-width of a uniform distribution.
    pub fn hidden(&self, c: Coef, joint: usize) -> f64 {
        let [tm1, tm2, tl2] =
            [self.tolerance.m1, self.tolerance.m2, self.tolerance.l2].map(f64::from);
        let [m1, m2, ..] = self.nominal;
        let arm = m1 / (m1 + m2);
        let corner = CORNER * CORNER;
        let square = match (c, joint) {
            (Coef::Preload | Coef::Wave(_), _) => 0.0,
            (Coef::Transition, _) => corner,
            (Coef::Stribeck, 0) => corner + arm * arm * (tm1 * tm1 + tm2 * tm2) + tl2 * tl2,
            (Coef::Stribeck, _) => corner + tl2 * tl2,
            (Coef::Coulomb | Coef::DeltaCoulomb, 0) => {
                arm * arm * (tm1 * tm1 + tm2 * tm2) + tl2 * tl2
            }
            (Coef::Coulomb | Coef::DeltaCoulomb, _) => tl2 * tl2,
            _ => tm2 * tm2 + tl2 * tl2,
        };
        (square / 3.0).sqrt()
    }
}

pub fn friction_scale(c: Coef) -> f64 {
    match c {
        Coef::Coulomb => 5e-4,
        Coef::Stribeck | Coef::DeltaCoulomb => 1e-4,
        Coef::Viscous => 2e-4,
        Coef::DeltaViscous => 5e-5,
        Coef::Drag => 2e-5,
        Coef::Transition => 1e-3,
        Coef::Preload | Coef::Wave(_) => 0.1,
    }
}

impl Fitted<4> for Rig {
    type Plant<S: Scalar> = Furuta<S>;

    fn plant<S: Scalar>(&self, values: &[S], _: Load) -> Furuta<S> {
        let mut v = self.nominal.map(S::lit);
        v[9] = values[TILT];
        let factor = |i: usize| S::ONE + values[i];
        Furuta::from_values(v).with_factors([factor(1), factor(2), factor(3), factor(4)])
    }

    fn beyond<S: Scalar>(&self, values: &[S]) -> Option<Beyond<S>> {
        Some(Beyond {
            cable: values[CABLE],
            clock: values[CLOCK],
        })
    }

    #[inline(always)]
    fn rate<S: Scalar>(system: &System<S, Furuta<S>>, y: &[S; 4]) -> [S; 4] {
        system.rate_of_two(y)
    }
}
