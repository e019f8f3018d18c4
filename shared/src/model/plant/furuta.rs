//! The tilted Furuta pendulum (paper 000 §II, corrected: see docs/errata.md).
//!
//! q = (θ0 arm, θ1 pendulum) \[rad\]. z0 is the arm's axis, pointing down along the tilted axis; x1 lies
//! along the arm, y1 = z0×x1; the pendulum points along −sinθ1·y1 + cosθ1·z0; gravity lies in the x0–z0
//! plane, tilted by φ. With s0 = sinθ0 … and K = m2·l2² + j2y − j2z:
//!
//! ```text
//! H11 = j1z + m1·l1² + m2·L1² + (m2·l2² + j2y)·s1² + j2z·c1²
//! H12 = −m2·l2·L1·c1
//! H22 = j2x + m2·l2²
//! B0  = K·sin(2θ1)·ω0·ω1 + m2·l2·L1·s1·ω1²
//! B1  = −K·s1·c1·ω0²
//! G0  = (m1·l1 + m2·L1)·g·s0·sφ − m2·g·l2·s1·c0·sφ
//! G1  = −m2·g·l2·(s0·c1·sφ − s1·cφ)
//! ```
//!
//! Joint reactions with e = accelerations of the frictionless system:
//!
//! ```text
//! Rx = m2·(−L1·ω0² + l2·s1·e0 + 2·l2·c1·ω0·ω1 − g·sφ·c0)
//! Ry = m2·(L1·e0 − l2·c1·e1 + l2·s1·(ω0² + ω1²) + g·sφ·s0)
//! Rz = −m2·(g·cφ + l2·(s1·e1 + c1·ω1²))
//! Fn1 = |(Rx, Ry, Rz)|
//! Fn0 = |(Rx − m1·(g·sφ·c0 + l1·ω0²), Ry + m1·(l1·e0 + g·sφ·s0), Rz − m1·g·cφ)|
//! ```

use serde::{Deserialize, Serialize};

use super::tolerance::{Prior, Tolerance, together};
use super::{Bounds, Plant, RigError, Sensitivity, Sym2, Terms, Trig};
use crate::JOINTS;
use crate::model::joint::Joint;
use crate::number::range::{OutOfRange, check};
use crate::number::scalar::Scalar;

/// Geometry, masses and tilt. The default is the rig of paper 000 Table 1 at 45° tilt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Arm mass m1 \[kg\].
    pub m1: f32,
    /// Pendulum mass m2 \[kg\].
    pub m2: f32,
    /// Arm inertia about its axis through its centre of gravity \[kg·m²\].
    pub j1z: f32,
    /// Pendulum inertias about its centre of gravity \[kg·m²\].
    pub j2x: f32,
    pub j2y: f32,
    pub j2z: f32,
    /// Pivot to centre of gravity of the arm, l1 \[m\].
    pub l1: f32,
    /// Pivot to centre of gravity of the pendulum, l2 \[m\].
    pub l2: f32,
    /// Arm length L1 \[m\].
    pub arm_length: f32,
    /// Tilt φ of the arm's axis from the vertical \[rad\].
    pub tilt: f32,
    /// Gravity g \[m/s²\].
    pub gravity: f32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            m1: 0.370,
            m2: 0.128,
            j1z: 3.09e-3,
            j2x: 5.25e-3,
            j2y: 5.25e-3,
            j2z: 2.91e-6,
            l1: 0.062,
            l2: 0.062,
            arm_length: 0.216,
            tilt: core::f32::consts::FRAC_PI_4,
            gravity: 9.81,
        }
    }
}

impl Config {
    /// Both joints turn.
    pub const KINDS: [Joint; JOINTS] = [Joint::Revolute; JOINTS];
    /// What each joint is called.
    pub const NAMES: [&'static str; JOINTS] = ["arm", "pendulum"];
    /// Angles at which it hangs at rest \[rad\].
    pub const REST: [f32; JOINTS] = [0.0; JOINTS];
    /// Unit and meaning of each field, as a configuration file states them.
    pub const MEANINGS: [(&'static str, &'static str); 11] = [
        ("m1", "kg, arm"),
        ("m2", "kg, pendulum"),
        ("j1z", "kg·m², arm about its centre of gravity"),
        ("j2x", "kg·m², pendulum about its centre of gravity"),
        ("j2y", "kg·m²"),
        ("j2z", "kg·m²"),
        ("l1", "m, pivot to centre of gravity of the arm"),
        ("l2", "m, pivot to centre of gravity of the pendulum"),
        ("arm_length", "m"),
        ("tilt", "rad, from the vertical"),
        ("gravity", "m/s²"),
    ];

    /// The fields in their order.
    pub fn values(&self) -> [f32; 11] {
        let c = self;
        [
            c.m1,
            c.m2,
            c.j1z,
            c.j2x,
            c.j2y,
            c.j2z,
            c.l1,
            c.l2,
            c.arm_length,
            c.tilt,
            c.gravity,
        ]
    }

    /// The inverse of [`Config::values`].
    pub fn from_values(v: [f32; 11]) -> Self {
        Config {
            m1: v[0],
            m2: v[1],
            j1z: v[2],
            j2x: v[3],
            j2y: v[4],
            j2z: v[5],
            l1: v[6],
            l2: v[7],
            arm_length: v[8],
            tilt: v[9],
            gravity: v[10],
        }
    }

    /// What the tolerances leave open, in units of m2·g·l2 as the motion shows it: each relative error minus that of m2·l2.
    pub fn prior(&self, t: &Tolerance) -> Prior {
        let c = self;
        let arm = [
            c.j1z,
            c.m1 * c.l1 * c.l1,
            c.m2 * c.arm_length * c.arm_length,
        ];
        let arm = arm.map(|x| x / (arm[0] + arm[1] + arm[2]));
        let offset = c.m2 * c.l2 * c.l2 / (c.j2x + c.m2 * c.l2 * c.l2);
        let lever = c.m1 * c.l1 / (c.m1 * c.l1 + c.m2 * c.arm_length);
        let carried = c.m1 / (c.m1 + c.m2);
        Prior {
            zero: [Tolerance::SIGMA * t.zero; JOINTS],
            rig: [
                t.tilt,
                together([
                    arm[0] * t.j1z,
                    arm[1] * t.m1,
                    2.0 * arm[1] * t.l1,
                    (arm[2] - 1.0) * t.m2,
                    2.0 * arm[2] * t.arm_length,
                    t.l2,
                ]),
                together([
                    (1.0 - offset) * t.j2,
                    (offset - 1.0) * t.m2,
                    (2.0 * offset - 1.0) * t.l2,
                    0.0,
                    0.0,
                    0.0,
                ]),
                t.arm_length,
                together([
                    lever * t.m1,
                    lever * t.l1,
                    lever * t.m2,
                    (1.0 - lever) * t.arm_length,
                    t.l2,
                    0.0,
                ]),
            ]
            .map(|x| Tolerance::SIGMA * x),
            coulomb: [
                Tolerance::SIGMA * together([carried * t.m1, carried * t.m2, t.l2, 0.0, 0.0, 0.0]),
                Tolerance::SIGMA * t.l2,
            ],
            viscous: Tolerance::SIGMA * together([t.m2, t.l2, 0.0, 0.0, 0.0, 0.0]),
        }
    }

    /// The first field outside its allowed range, if any.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check("plant.furuta.m1", self.m1, 1e-4, 1e3)?;
        check("plant.furuta.m2", self.m2, 1e-4, 1e3)?;
        check("plant.furuta.j1z", self.j1z, 1e-9, 1e3)?;
        check("plant.furuta.j2x", self.j2x, 1e-9, 1e3)?;
        check("plant.furuta.j2y", self.j2y, 1e-9, 1e3)?;
        check("plant.furuta.j2z", self.j2z, 0.0, 1e3)?;
        check("plant.furuta.l1", self.l1, 0.0, 10.0)?;
        check("plant.furuta.l2", self.l2, 1e-4, 10.0)?;
        check("plant.furuta.arm_length", self.arm_length, 1e-4, 10.0)?;
        check(
            "plant.furuta.tilt",
            self.tilt,
            -core::f32::consts::PI,
            core::f32::consts::PI,
        )?;
        check("plant.furuta.gravity", self.gravity, 0.0, 100.0)
    }
}

/// The plant with its constant groups computed once.
#[derive(Clone, Copy, Debug)]
pub struct Furuta<S> {
    /// j1z + m1·l1² + m2·L1² \[kg·m²\].
    arm: S,
    /// m2·l2² + j2y \[kg·m²\].
    j_y: S,
    /// j2z \[kg·m²\].
    j_z: S,
    /// H22 = j2x + m2·l2² \[kg·m²\].
    j_x: S,
    /// m2·l2·L1 \[kg·m²\].
    couple: S,
    /// K = m2·l2² + j2y − j2z \[kg·m²\].
    k: S,
    /// (m1·l1 + m2·L1)·g·sφ and ·cφ \[N·m\].
    g_arm: S,
    g_arm_c: S,
    /// m2·g·l2·sφ and m2·g·l2·cφ \[N·m\].
    g_s: S,
    g_c: S,
    m1: S,
    m2: S,
    l1: S,
    l2: S,
    arm_length: S,
    /// g·sφ and g·cφ \[m/s²\].
    gs: S,
    gc: S,
}

impl<S: Scalar> Furuta<S> {
    pub fn new(c: &Config) -> Self {
        Self::from_values(c.values().map(S::from_f32))
    }

    /// From scalars, in the order of [`Config`]'s fields: lets dual numbers differentiate by the geometry.
    pub fn from_values(
        [
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
        ]: [S; 11],
    ) -> Self {
        let (sp, cp) = tilt.sin_cos();
        let m2l2 = m2 * l2;
        Furuta {
            arm: j1z + m1 * l1 * l1 + m2 * arm_length * arm_length,
            j_y: m2l2 * l2 + j2y,
            j_z: j2z,
            j_x: j2x + m2l2 * l2,
            couple: m2l2 * arm_length,
            k: m2l2 * l2 + j2y - j2z,
            g_arm: (m1 * l1 + m2 * arm_length) * gravity * sp,
            g_arm_c: (m1 * l1 + m2 * arm_length) * gravity * cp,
            g_s: m2l2 * gravity * sp,
            g_c: m2l2 * gravity * cp,
            m1,
            m2,
            l1,
            l2,
            arm_length,
            gs: gravity * sp,
            gc: gravity * cp,
        }
    }

    /// The same plant with four groups multiplied, which is all that free motion shows of wrong masses and lengths: arm
    /// inertia, link inertia H22 (K moves by the same amount), arm length in coupling and reactions, the arm's gravity
    /// torque. m2·g·l2 is the unit of mass.
    pub fn with_factors(self, [arm, link, length, gravity]: [S; 4]) -> Self {
        let shift = self.j_x * (link - S::ONE);
        Furuta {
            arm: self.arm * arm,
            j_x: self.j_x * link,
            j_y: self.j_y + shift,
            k: self.k + shift,
            couple: self.couple * length,
            arm_length: self.arm_length * length,
            g_arm: self.g_arm * gravity,
            ..self
        }
    }
}

impl<S: Scalar> Plant<S> for Furuta<S> {
    const DOF: usize = 2;
    const CLOSED_FORM: bool = true;
    /// A motor on the arm's axis.
    const ACTUATOR: [f32; JOINTS] = [1.0, 0.0];

    #[inline(always)]
    fn terms_at(&self, trig: &Trig<S>, w: [S; JOINTS], tau: [S; JOINTS]) -> Terms<S> {
        let ([s0, s1], [c0, c1]) = (trig.sin, trig.cos);
        let (w0w0, w0w1, w1w1) = (w[0] * w[0], w[0] * w[1], w[1] * w[1]);
        let s1c1 = s1 * c1;
        let ks1c1 = self.k * s1c1;
        let couple_s1 = self.couple * s1;

        let h = Sym2 {
            a00: self.arm + self.j_y * s1 * s1 + self.j_z * c1 * c1,
            a01: -self.couple * c1,
            a11: self.j_x,
        };
        let b = [S::lit(2.0) * ks1c1 * w0w1 + couple_s1 * w1w1, -ks1c1 * w0w0];
        let g = [
            self.g_arm * s0 - self.g_s * s1 * c0,
            self.g_c * s1 - self.g_s * s0 * c1,
        ];
        // ½·ωᵀ(∂H/∂θ1)ω; H does not depend on θ0.
        let dt_dq = [S::ZERO, ks1c1 * w0w0 + couple_s1 * w0w1];

        let h_inv = h.inverse();
        let free = h_inv.apply([-b[0] - g[0] + tau[0], -b[1] - g[1] + tau[1]]);

        let [e0, e1] = free;
        let gs_c0 = self.gs * c0;
        let gs_s0 = self.gs * s0;
        let rx = self.m2
            * (self.l2 * (s1 * e0 + S::lit(2.0) * c1 * w0w1) - self.arm_length * w0w0 - gs_c0);
        let ry =
            self.m2 * (self.arm_length * e0 + self.l2 * (s1 * (w0w0 + w1w1) - c1 * e1) + gs_s0);
        let rz = -self.m2 * (self.gc + self.l2 * (s1 * e1 + c1 * w1w1));
        let ax = rx - self.m1 * (gs_c0 + self.l1 * w0w0);
        let ay = ry + self.m1 * (self.l1 * e0 + gs_s0);
        let az = rz - self.m1 * self.gc;
        let normal = [
            (ax * ax + ay * ay + az * az).sqrt(),
            (rx * rx + ry * ry + rz * rz).sqrt(),
        ];
        Terms {
            h,
            h_inv,
            b,
            g,
            dt_dq,
            free,
            normal,
        }
    }

    #[inline(always)]
    fn perturbed(&self, e: &RigError<S>) -> Self {
        // sφ and cφ turned by the tilt's error, which is small: series of sine and cosine up to the fifth power.
        let d2 = e.tilt * e.tilt;
        let sin = e.tilt * (S::ONE - d2 * (S::lit(1.0 / 6.0) - d2 * S::lit(1.0 / 120.0)));
        let cos = S::ONE - d2 * (S::lit(0.5) - d2 * S::lit(1.0 / 24.0));
        let turned = |s: S, c: S| (s * cos + c * sin, c * cos - s * sin);
        let (gs, gc) = turned(self.gs, self.gc);
        let (g_s, g_c) = turned(self.g_s, self.g_c);
        let (g_arm, g_arm_c) = turned(self.g_arm, self.g_arm_c);
        let link = self.j_x * e.link;
        let weight = S::ONE + e.gravity;
        let length = S::ONE + e.length;
        Furuta {
            arm: self.arm * (S::ONE + e.arm),
            j_y: self.j_y + link,
            j_x: self.j_x + link,
            k: self.k + link,
            couple: self.couple * length,
            g_arm: g_arm * weight,
            g_arm_c: g_arm_c * weight,
            g_s,
            g_c,
            arm_length: self.arm_length * length,
            gs,
            gc,
            ..*self
        }
    }

    #[inline(always)]
    fn sensitivity(
        &self,
        error: &RigError<S>,
        trig: &Trig<S>,
        w: [S; JOINTS],
        terms: &Terms<S>,
        a: [S; JOINTS],
    ) -> Sensitivity<S> {
        let ([s0, s1], [c0, c1]) = (trig.sin, trig.cos);
        let two = S::lit(2.0);
        let (w00, w01, w11) = (w[0] * w[0], w[0] * w[1], w[1] * w[1]);
        let s1c1 = s1 * c1;
        let twice = two * self.k * s1c1;
        let across = self.couple * s1;
        let turning = self.k * (c1 * c1 - s1 * s1);
        let s0c1 = s0 * c1;
        // Each: ∂H·q̈ + ∂B + ∂G.
        let by = |force: [S; 2]| {
            let [x, y] = terms.h_inv.apply(force);
            [-x, -y]
        };
        let swung = self.g_s * c0 * c1;
        // The groups without the error that each is differentiated by.
        let arm = self.arm / (S::ONE + error.arm);
        let link = self.j_x / (S::ONE + error.link);
        let couple = self.couple / (S::ONE + error.length);
        let g_arm = self.g_arm / (S::ONE + error.gravity);
        Sensitivity {
            angle: [
                by([self.g_arm * c0 + self.g_s * s0 * s1, -swung]),
                by([
                    twice * a[0] + across * a[1] + two * turning * w01 + self.couple * c1 * w11
                        - swung,
                    across * a[0] - turning * w00 + self.g_c * c1 + self.g_s * s0 * s1,
                ]),
            ],
            speed: [
                by([twice * w[1], -twice * w[0]]),
                by([twice * w[0] + two * across * w[1], S::ZERO]),
            ],
            rig: [
                by([
                    self.g_arm_c * s0 - self.g_c * s1 * c0,
                    -self.g_c * s0c1 - self.g_s * s1,
                ]),
                by([arm * a[0], S::ZERO]),
                by([
                    link * (s1 * s1 * a[0] + two * s1c1 * w01),
                    link * (a[1] - s1c1 * w00),
                ]),
                by([couple * (s1 * w11 - c1 * a[1]), -couple * c1 * a[0]]),
                by([g_arm * s0, S::ZERO]),
            ],
        }
    }

    fn energy(&self, q: [S; JOINTS], w: [S; JOINTS]) -> S {
        let (s0, c0) = q[0].sin_cos();
        let (s1, c1) = q[1].sin_cos();
        let h00 = self.arm + self.j_y * s1 * s1 + self.j_z * c1 * c1;
        let h01 = -self.couple * c1;
        let kinetic = S::lit(0.5)
            * (h00 * w[0] * w[0] + S::lit(2.0) * h01 * w[0] * w[1] + self.j_x * w[1] * w[1]);
        kinetic - self.g_arm * c0 - self.g_s * s0 * s1 - self.g_c * c1
    }

    fn bounds(&self) -> Bounds<S> {
        // Both are monotone in c1². det H/H11 is smallest at c1² = 1, where the coupling is largest; det H/H22 at
        // one of the ends, at c1² = 0 only for a pendulum that is flatter than long.
        let h00 = self.arm + self.j_z;
        let det = h00 * self.j_x - self.couple * self.couple;
        let g = (self.gs * self.gs + self.gc * self.gc).sqrt();
        Bounds {
            inertia: [(det / self.j_x).min(self.arm + self.j_y), det / h00],
            weight: [(self.m1 + self.m2) * g, self.m2 * g],
        }
    }
}
