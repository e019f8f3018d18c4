//! Friction that is too stiff for the step is refused or floored, never integrated silently.
//!
//! Near ω = 0 the friction law is a damper of slope s = [4·μd + 16/9·|μs − μd|]·Fn/vt + μv [N·m·s]. Seen by joint j
//! alone it decays at the rate s·(H⁻¹)jj, and both joints together at no more than the sum of their rates. RK4
//! needs rate·dt < 2.78. The bound here is rate·dt ≤ [`SAFE`] per joint with the *smallest* inertia over all poses:
//! 2 for both joints, which leaves room for normal forces 1.39 times the one used.

use crate::JOINTS;
use crate::model::friction::{Friction, Plain};
use crate::model::plant::Bounds;
use crate::number::range::{OutOfRange, check};
use crate::number::scalar::Scalar;

/// Largest slope/inertia·dt that is accepted.
pub const SAFE: f64 = 1.0;

/// Smallest vt [rad/s] and Fnt [N] that are ever divided by.
const SMALLEST_DIVISOR: f64 = 1e-6;

/// Largest slope ∂f/∂ω [N·m·s] each joint can be integrated with.
#[derive(Clone, Copy, Debug)]
pub struct Limit<S> {
    slope: [S; JOINTS],
}

impl<S: Scalar> Limit<S> {
    pub fn new(bounds: &Bounds<S>, dt_s: S) -> Self {
        Limit {
            slope: bounds.inertia.map(|j| S::lit(SAFE) * j / dt_s),
        }
    }

    /// slope/limit of each joint at normal forces `fn_` \[N\]: above 1 the step is too long.
    pub fn ratio(&self, friction: &[Friction<S>; JOINTS], fn_: [S; JOINTS]) -> [S; JOINTS] {
        let [a, b] = friction;
        [
            a.slope_at_zero(fn_[0]) / self.slope[0],
            b.slope_at_zero(fn_[1]) / self.slope[1],
        ]
    }

    /// Smallest vt [rad/s] of a joint with this friction at normal force `fn_` [N].
    ///
    /// s ≤ limit ⇔ vt ≥ [4·(μd + Δd) + 16/9·|μs − μd|]·Fn/(limit − μv − Δv). A viscous term that alone exceeds half
    /// the limit is treated as half the limit.
    fn smallest_vt(slope: S, f: &Friction<S>, fn_: S) -> S {
        fn_ * Self::knee_per_newton(f) / Self::room(slope, f)
    }

    #[inline(always)]
    fn knee_per_newton(f: &Friction<S>) -> S {
        S::lit(4.0) * (f.mu_d.abs() + f.delta_d.abs())
            + S::lit(16.0 / 9.0) * (f.mu_s - f.mu_d).abs()
    }

    #[inline(always)]
    fn room(slope: S, f: &Friction<S>) -> S {
        (slope - f.mu_v.abs() - f.delta_v.abs()).max(S::lit(0.5) * slope)
    }

    /// Make the friction of both joints integrable at normal forces `fn_` \[N\]. True when anything was raised or cut.
    pub fn floor(&self, friction: &mut [Friction<S>; JOINTS], fn_: [S; JOINTS]) -> bool {
        let [a, b] = friction;
        let first = floor_joint(self.slope[0], a, fn_[0]);
        let second = floor_joint(self.slope[1], b, fn_[1]);
        first | second
    }

    /// The friction of joint `j` made integrable, but for what depends on the normal force.
    #[inline(always)]
    pub fn bound(&self, j: usize, [mu_d, mu_s, mu_v, vt, fnt]: [S; 5]) -> Bounded<S> {
        let divisor = S::lit(SMALLEST_DIVISOR);
        let slope = if j == 0 { self.slope[0] } else { self.slope[1] };
        let half = S::lit(0.5) * slope;
        let mut f = Friction::brown_mcphee([mu_d, mu_s, mu_v, vt, fnt]);
        let mut acted = false;
        if f.mu_v.abs() > half {
            f.mu_v = half * f.mu_v.sign();
            acted = true;
        }
        if f.fnt < divisor {
            f.fnt = divisor;
            acted = true;
        }
        let room = Self::room(slope, &f);
        Bounded {
            law: Plain {
                mu_d: f.mu_d,
                rise: f.mu_s - f.mu_d,
                mu_v: f.mu_v,
                fnt: f.fnt,
            },
            vt: if vt < divisor { divisor } else { vt },
            low: vt < divisor,
            room,
            carries: vt * room,
            knee: Self::knee_per_newton(&f),
            acted,
        }
    }
}

fn floor_joint<S: Scalar>(slope: S, f: &mut Friction<S>, fn_: S) -> bool {
    let divisor = S::lit(SMALLEST_DIVISOR);
    let half = S::lit(0.5) * slope;
    let mut acted = false;
    if f.mu_v.abs() + f.delta_v.abs() > half {
        f.mu_v = half * f.mu_v.sign();
        f.delta_v = S::ZERO;
        acted = true;
    }
    if f.vt * Limit::room(slope, f) < fn_ * Limit::knee_per_newton(f) {
        f.vt = Limit::smallest_vt(slope, f, fn_);
        acted = true;
    }
    if f.vt < divisor {
        f.vt = divisor;
        acted = true;
    }
    if f.fnt < divisor {
        f.fnt = divisor;
        acted = true;
    }
    acted
}

/// Friction of one joint that a step can integrate: vt is raised where the normal force asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Bounded<S> {
    law: Plain<S>,
    /// At least what may be divided by; `low`: it had to be raised for that.
    vt: S,
    low: bool,
    /// Slope that is left for the knee at ω = 0 \[N·m·s\], and that times vt \[N·m\].
    room: S,
    carries: S,
    /// Height of the knee per normal force \[m\].
    knee: S,
    /// A parameter was cut or raised.
    acted: bool,
}

impl<S: Scalar> Bounded<S> {
    /// f(ω) \[N·m\] at velocity `w` \[rad/s\] and normal force `fn_` \[N\], and whether anything was raised or cut.
    ///
    /// Costs no division for the limit unless it acts.
    #[inline(always)]
    pub fn torque(&self, w: S, fn_: S) -> (S, bool) {
        let (vt, acted) = self.raised(fn_);
        (self.law.torque(vt, w, fn_), acted)
    }

    /// The whole law at this normal force.
    pub fn friction(&self, fn_: S) -> (Friction<S>, bool) {
        let Plain {
            mu_d,
            rise,
            mu_v,
            fnt,
        } = self.law;
        let (vt, acted) = self.raised(fn_);
        let law = Friction::brown_mcphee([mu_d, mu_d + rise, mu_v, vt, fnt]);
        (law, acted)
    }

    #[inline(always)]
    fn raised(&self, fn_: S) -> (S, bool) {
        let knee = fn_ * self.knee;
        if self.carries < knee {
            let vt = knee / self.room;
            let divisor = S::lit(SMALLEST_DIVISOR);
            (if vt < divisor { divisor } else { vt }, true)
        } else {
            (self.vt, self.acted | self.low)
        }
    }
}

/// A configured friction must suit the step at the weight each joint carries: the error names `field` (the
/// configuration's vt) with the smallest value that would do.
pub fn check_configuration(
    fields: [&'static str; JOINTS],
    friction: &[Friction<f32>; JOINTS],
    bounds: &Bounds<f32>,
    dt_s: f32,
) -> Result<(), OutOfRange> {
    let limit = Limit::new(bounds, dt_s);
    let joints = friction.iter().zip(bounds.weight).zip(limit.slope);
    for (field, ((f, weight), slope)) in fields.into_iter().zip(joints) {
        let smallest = Limit::smallest_vt(slope, f, weight).max(SMALLEST_DIVISOR as f32);
        check(field, f.vt, smallest, 1e3)?;
    }
    Ok(())
}
