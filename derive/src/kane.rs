//! Kane: angular velocities by the addition theorem, velocities and accelerations by the two-point theorems (eqs. (12), (13)
//! of paper 002) → partial velocities → generalized active and inertia forces → F + F* = 0.
//!
//! Every vector has components in its own body's frame, so sines and cosines of the inner joints rarely meet.

use crate::constraint::contact;
use crate::error::Result;
use crate::expr::*;
use crate::mechanism::{Body, Constraint, JointKind, Mechanism};
use crate::motion::{Motion, Steps};

#[derive(Clone, Debug)]
pub struct Kane {
    pub motion: Motion,
    /// Acceleration of each centre of gravity [m/s²], in its body's frame.
    pub acceleration: Vec<V3>,
    /// Moment of the inertia forces I·α + ω×Iω [N·m], in the body's frame.
    pub moment: Vec<V3>,
}

pub fn derive(m: &Mechanism) -> Result<Kane> {
    exactly(|| Work::new(m).run())?
}

struct Work<'a> {
    m: &'a Mechanism,
    steps: Steps,
    /// ω, α of each body; velocity and acceleration of its joint's point; the same of its centre of gravity.
    omega: Vec<V3>,
    alpha: Vec<V3>,
    v: Vec<V3>,
    a: Vec<V3>,
    vc: Vec<V3>,
    ac: Vec<V3>,
    moment: Vec<V3>,
}

impl<'a> Work<'a> {
    fn new(m: &'a Mechanism) -> Self {
        Work {
            m,
            steps: Steps::default(),
            omega: vec![],
            alpha: vec![],
            v: vec![],
            a: vec![],
            vc: vec![],
            ac: vec![],
            moment: vec![],
        }
    }

    fn body(&mut self, i: usize) {
        let m = self.m;
        let b = &m.bodies[i];
        let (q, w, dd) = (m.q[b.q], m.w[b.q], m.a[b.q]);
        // The point of the parent that carries the joint.
        let (vp, ap) = b.parent.map_or((ORIGIN, ORIGIN), |p| {
            let lift = cross(self.omega[p], b.at);
            let lifted = vadd(cross(self.alpha[p], b.at), cross(self.omega[p], lift));
            (
                m.express(vadd(self.v[p], lift), Some(p), i),
                m.express(vadd(self.a[p], lifted), Some(p), i),
            )
        });
        let carried = b
            .turns_in
            .map_or(ORIGIN, |p| m.express(self.omega[p], Some(p), i));
        let omega = match b.joint {
            JointKind::Revolute => vadd(carried, vscale(b.axis, w)),
            JointKind::Prismatic => carried,
        };
        // The rate of ω is the same in N and in the body: eq. (9).
        let alpha = m.dt3(omega);
        let (v, a) = match b.joint {
            JointKind::Revolute => (vp, ap),
            JointKind::Prismatic => {
                let s = vscale(b.axis, q);
                let lift = cross(omega, s);
                let coriolis = vscale(cross(omega, b.axis), int(2) * w);
                let lifted = vadd(cross(alpha, s), cross(omega, lift));
                (
                    vadd(vadd(vp, lift), vscale(b.axis, w)),
                    vadd(vadd(ap, lifted), vadd(coriolis, vscale(b.axis, dd))),
                )
            }
        };
        let lift = cross(omega, b.com);
        let vc = vadd(v, lift);
        let ac = vadd(a, vadd(cross(alpha, b.com), cross(omega, lift)));
        let moment = vadd(mv(&b.inertia, alpha), cross(omega, mv(&b.inertia, omega)));
        self.omega.push(omega);
        self.alpha.push(alpha);
        self.v.push(v);
        self.a.push(a);
        self.vc.push(vc);
        self.ac.push(ac);
        self.moment.push(moment);
        let (per_s, name) = (Unit::S.pow(-1), b.name.as_str());
        let s = &mut self.steps;
        s.vector(
            "centre of gravity from the joint",
            "r",
            name,
            name,
            Unit::M,
            b.com,
        );
        s.vector("angular velocity", "ω", name, name, per_s, omega);
        s.vector(
            "velocity of the centre of gravity",
            "v",
            name,
            name,
            Unit::M.times(per_s),
            vc,
        );
        s.vector("angular acceleration", "α", name, name, per_s.pow(2), alpha);
        s.vector(
            "acceleration of the centre of gravity",
            "a",
            name,
            name,
            Unit::GRAVITY,
            ac,
        );
        s.vector(
            "moment of inertia forces, I·α + ω×Iω",
            "M",
            name,
            name,
            Unit::JOULE,
            moment,
        );
    }

    fn partial(&self, v: V3, r: usize) -> V3 {
        v.map(|x| x.diff(self.m.w[r]))
    }

    /// Virtual speed of an actuator per rate `r`: of the body against its parent, along the axis.
    fn reach(&self, i: usize, b: &Body, r: usize) -> Ex {
        match b.joint {
            JointKind::Prismatic if r == b.q => one(),
            JointKind::Prismatic => zero(),
            JointKind::Revolute => {
                let own = dot(b.axis, self.partial(self.omega[i], r));
                own - b.parent.map_or(zero(), |p| {
                    dot(
                        b.axis,
                        self.m.express(self.partial(self.omega[p], r), Some(p), i),
                    )
                })
            }
        }
    }

    fn constraints(&self) -> Result<Vec<Ex>> {
        let m = self.m;
        let mut out = vec![];
        for c in &m.constraints {
            match *c {
                Constraint::Zero(e) => out.push(e),
                // Computed in the frame before the wheel's own turn, where the axle and the ground do not see the spin.
                Constraint::Rolls { body, radius, up } => {
                    let b = &m.bodies[body];
                    let (omega, center) = match b.turns_in {
                        Some(p) if b.parent == Some(p) => {
                            (self.omega[p], vadd(self.v[p], cross(self.omega[p], b.at)))
                        }
                        _ => (
                            b.turns_in.map_or(ORIGIN, |p| self.omega[p]),
                            mv(&b.turn, self.v[body]),
                        ),
                    };
                    let axle = mv(&b.fixed, b.axis);
                    let above = b.turns_in.map_or(up, |p| mtv(&m.to_ground(p), up));
                    let arm = contact(axle, above, radius)?;
                    let spin = vadd(omega, vscale(axle, m.w[b.q]));
                    let slip = vadd(center, cross(spin, arm));
                    out.extend(b.turns_in.map_or(slip, |p| mv(&m.to_ground(p), slip)));
                }
            }
        }
        Ok(out)
    }

    fn run(mut self) -> Result<Kane> {
        let m = self.m;
        let n = m.dof();
        for i in 0..m.bodies.len() {
            self.body(i);
        }
        let mut weight = vec![zero(); n];
        let mut inertia_force = vec![zero(); n];
        for (i, b) in m.bodies.iter().enumerate() {
            let pull = m.express(vscale(m.gravity, b.mass), None, i);
            for r in 0..n {
                let (pv, pw) = (self.partial(self.vc[i], r), self.partial(self.omega[i], r));
                let rate = m.w[r].symbol().expect("a rate is a symbol");
                let of = format!("{}, {}", b.name, rate.name);
                let per_s = Unit::S.pow(-1);
                let s = &mut self.steps;
                s.vector(
                    "partial velocity",
                    "∂v/∂u",
                    &of,
                    &b.name,
                    Unit::M.times(per_s).per(rate.unit),
                    pv,
                );
                s.vector(
                    "partial angular velocity",
                    "∂ω/∂u",
                    &of,
                    &b.name,
                    per_s.per(rate.unit),
                    pw,
                );
                weight[r] = weight[r] + dot(pv, pull);
                inertia_force[r] =
                    inertia_force[r] - b.mass * dot(pv, self.ac[i]) - dot(pw, self.moment[i]);
            }
        }
        for s in &m.springs {
            let q = m.bodies[s.body].q;
            weight[q] = weight[q] - s.stiffness * (m.q[q] - s.rest);
        }
        let mut d = vec![zero(); n];
        for s in &m.dampers {
            let q = m.bodies[s.body].q;
            d[q] = d[q] + s.coefficient * m.w[q];
        }
        let mut effort = vec![zero(); n];
        for a in &m.actuators {
            for (r, e) in effort.iter_mut().enumerate() {
                *e = *e + a.effort * self.reach(a.body, &m.bodies[a.body], r);
            }
        }
        let rest: Vec<(Ex, Ex)> = m.a.iter().map(|x| (*x, zero())).collect();
        let h = inertia_force
            .iter()
            .map(|f| m.a.iter().map(|x| -f.diff(*x)).collect())
            .collect();
        let b = inertia_force.iter().map(|f| -f.subs(&rest)).collect();
        for r in 0..n {
            let rate = m.w[r].symbol().expect("a rate is a symbol");
            let force = Unit::JOULE.per(rate.unit.times(Unit::S));
            let active = weight[r] + effort[r] - d[r];
            self.steps
                .scalar("generalized active force", "F", &rate.name, force, active);
            self.steps.scalar(
                "generalized inertia force",
                "F*",
                &rate.name,
                force,
                inertia_force[r],
            );
        }
        let constraints = self.constraints()?;
        Ok(Kane {
            motion: Motion {
                h,
                b,
                g: weight.iter().map(|x| -*x).collect(),
                d,
                effort,
                constraints,
                steps: self.steps.0,
            },
            acceleration: self.ac,
            moment: self.moment,
        })
    }
}
