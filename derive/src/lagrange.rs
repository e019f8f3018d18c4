//! Lagrange: positions → velocities → energies → d/dt(∂L/∂q̇) − ∂L/∂q = Q.
//!
//! Everything stands in N. The angular velocity comes from its definition, ω× = Rᵀ·Ṙ: nothing is shared with Kane's addition
//! theorem, so that an error in one kinematics cannot hide in the other.

use crate::canonical::{Basis, Ring};
use crate::constraint::contact;
use crate::error::Result;
use crate::expr::*;
use crate::mechanism::{Constraint, JointKind, Mechanism};
use crate::motion::{Motion, Steps};

#[derive(Clone, Debug)]
pub struct Lagrange {
    pub motion: Motion,
    /// T and V \[J\].
    pub kinetic: Ex,
    pub potential: Ex,
    /// ∂T/∂q.
    pub dt_dq: Vec<Ex>,
}

pub fn derive(m: &Mechanism) -> Result<Lagrange> {
    exactly(|| Work::default().run(m))?
}

#[derive(Default)]
struct Work {
    steps: Steps,
    kinetic: Vec<Ex>,
    potential: Vec<Ex>,
    origins: Vec<V3>,
    /// In the body's frame.
    omegas: Vec<V3>,
}

impl Work {
    fn body(&mut self, m: &Mechanism, i: usize) -> Result<()> {
        let b = &m.bodies[i];
        let to_ground = m.to_ground(i);
        let joint = b
            .parent
            .map_or(b.at, |p| vadd(self.origins[p], mv(&m.to_ground(p), b.at)));
        let slide = match b.joint {
            JointKind::Prismatic => vscale(b.axis, m.q[b.q]),
            JointKind::Revolute => ORIGIN,
        };
        let origin = vadd(joint, mv(&to_ground, slide));
        let r = vadd(origin, mv(&to_ground, b.com));
        let v = m.dt3(r);
        let rate = to_ground.map(|row| m.dt3(row));
        let skew = |r: usize, c: usize| (0..3).map(|k| to_ground[k][r] * rate[k][c]).sum::<Ex>();
        // Short where it can be had: Rᵀ·Ṙ of a long chain of general axes stays as it is.
        let mut ring = Ring::with_limit(Basis::Cosines, 500);
        let omega =
            [skew(2, 1), skew(0, 2), skew(1, 0)].map(|e| ring.form(e).map_or(e, |f| f.to_ex()));
        self.origins.push(origin);
        self.omegas.push(omega);

        let t = (b.mass * dot(v, v) + dot(omega, mv(&b.inertia, omega))).half();
        let p = -b.mass * dot(m.gravity, r);
        let s = &mut self.steps;
        s.vector(
            "position of the centre of gravity",
            "r",
            &b.name,
            "N",
            Unit::M,
            r,
        );
        s.vector(
            "velocity, dr/dt",
            "v",
            &b.name,
            "N",
            Unit::M.per(Unit::S),
            v,
        );
        s.vector(
            "angular velocity, from RᵀṘ",
            "ω",
            &b.name,
            &b.name,
            Unit::S.pow(-1),
            omega,
        );
        s.scalar(
            "kinetic energy, ½·m·v² + ½·ω·Iω",
            "E_k",
            &b.name,
            Unit::JOULE,
            t,
        );
        s.scalar("potential energy, −m·g·r", "E_p", &b.name, Unit::JOULE, p);
        self.kinetic.push(t);
        self.potential.push(p);
        Ok(())
    }

    /// Virtual power of the actuators: effort · relative speed along the axis.
    fn effort(&self, m: &Mechanism) -> Vec<Ex> {
        let mut effort = vec![zero(); m.dof()];
        for a in &m.actuators {
            let b = &m.bodies[a.body];
            let speed = match b.joint {
                JointKind::Prismatic => m.w[b.q],
                JointKind::Revolute => {
                    let carried = b
                        .parent
                        .map_or(ORIGIN, |p| m.express(self.omegas[p], Some(p), a.body));
                    dot(b.axis, vsub(self.omegas[a.body], carried))
                }
            };
            for (r, q) in effort.iter_mut().enumerate() {
                *q = *q + a.effort * speed.diff(m.w[r]);
            }
        }
        effort
    }

    fn constraints(&self, m: &Mechanism) -> Result<Vec<Ex>> {
        let mut out = vec![];
        for c in &m.constraints {
            match *c {
                Constraint::Zero(e) => out.push(e),
                Constraint::Rolls { body, radius, up } => {
                    let to_ground = m.to_ground(body);
                    let before = m.bodies[body]
                        .turns_in
                        .map_or_else(identity, |p| m.to_ground(p));
                    let axle = mv(&mm(&before, &m.bodies[body].fixed), m.bodies[body].axis);
                    let arm = contact(axle, up, radius)?;
                    let omega = mv(&to_ground, self.omegas[body]);
                    out.extend(vadd(m.dt3(self.origins[body]), cross(omega, arm)));
                }
            }
        }
        Ok(out)
    }

    fn run(mut self, m: &Mechanism) -> Result<Lagrange> {
        for i in 0..m.bodies.len() {
            self.body(m, i)?;
        }
        for s in &m.springs {
            let b = &m.bodies[s.body];
            let v = (s.stiffness * (m.q[b.q] - s.rest).squared()).half();
            self.steps.scalar(
                "potential energy of the spring, ½·k·(q − q0)²",
                "E_p",
                &b.name,
                Unit::JOULE,
                v,
            );
            self.potential.push(v);
        }
        let kinetic: Ex = self.kinetic.iter().copied().sum();
        let potential: Ex = self.potential.iter().copied().sum();
        self.steps
            .scalar("kinetic energy", "E_k", &m.name, Unit::JOULE, kinetic);
        self.steps
            .scalar("potential energy", "E_p", &m.name, Unit::JOULE, potential);
        self.steps.scalar(
            "Lagrangian, E_k − E_p",
            "L",
            &m.name,
            Unit::JOULE,
            kinetic - potential,
        );

        let effort = self.effort(m);
        let mut d = vec![zero(); m.dof()];
        for s in &m.dampers {
            let q = m.bodies[s.body].q;
            d[q] = d[q] + s.coefficient * m.w[q];
        }
        let momentum: Vec<Ex> = m.w.iter().map(|w| kinetic.diff(*w)).collect();
        let rest: Vec<(Ex, Ex)> = m.a.iter().map(|a| (*a, zero())).collect();
        let h = momentum
            .iter()
            .map(|p| m.w.iter().map(|w| p.diff(*w)).collect())
            .collect();
        let dt_dq: Vec<Ex> = m.q.iter().map(|q| kinetic.diff(*q)).collect();
        let g: Vec<Ex> = m.q.iter().map(|q| potential.diff(*q)).collect();
        let rates: Vec<Ex> = momentum.iter().map(|p| m.dt(*p)).collect();
        let b = (0..m.dof())
            .map(|r| rates[r].subs(&rest) - dt_dq[r])
            .collect();
        for r in 0..m.dof() {
            let symbol = m.q[r].symbol().expect("a coordinate is a symbol");
            let (of, force) = (&*symbol.name, Unit::JOULE.per(symbol.unit));
            let s = &mut self.steps;
            s.scalar("momentum", "∂L/∂q̇", of, force.times(Unit::S), momentum[r]);
            s.scalar("its rate", "d/dt ∂L/∂q̇", of, force, rates[r]);
            s.scalar(
                "force of the Lagrangian",
                "∂L/∂q",
                of,
                force,
                dt_dq[r] - g[r],
            );
            s.scalar(
                "generalized force of actuators and dampers",
                "Q",
                of,
                force,
                effort[r] - d[r],
            );
        }
        Ok(Lagrange {
            motion: Motion {
                h,
                b,
                g,
                d,
                constraints: self.constraints(m)?,
                effort,
                steps: self.steps.0,
            },
            kinetic,
            potential,
            dt_dq,
        })
    }
}
