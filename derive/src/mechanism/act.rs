//! What acts on the bodies: actuators, springs, dampers, constraints, speeds, equilibria; and the finished mechanism.

use toml::Spanned;

use super::build::{Build, unit_of_joint};
use super::description::{JointKind, List, Text};
use super::{Actuator, Body, Constraint, Damper, Equilibrium, Mechanism, Plant, Speed, Spring};
use crate::canonical::{Basis, Ring};
use crate::error::{Error, Result};
use crate::expr::*;

impl Build<'_> {
    fn constraints(&self, bodies: &[Body]) -> Result<Vec<Constraint>> {
        let d = self.d;
        let mut out = vec![];
        for c in &d.constraint {
            out.push(match (&c.rolls, &c.radius, &c.up, &c.zero) {
                (Some(wheel), Some(radius), Some(up), None) => {
                    let body = self.find(bodies, wheel, "constraint")?;
                    if bodies[body].joint != JointKind::Revolute {
                        let what = format!(
                            "`{}` slides; only a body that turns can roll",
                            wheel.get_ref()
                        );
                        return Err(Error::at(d.line(wheel), what));
                    }
                    Constraint::Rolls {
                        body,
                        radius: self.formula(radius, Unit::M, "radius")?,
                        up: self.axis(up.get_ref(), d.line(up))?,
                    }
                }
                (None, None, None, Some(zero)) => Constraint::Zero(self.rate(zero)?),
                _ => {
                    let at = [&c.rolls, &c.radius, &c.up, &c.zero]
                        .into_iter()
                        .flatten()
                        .next();
                    let line = at.map_or(0, |t| d.line(t));
                    return Err(Error::at(
                        line,
                        "constraint: give `rolls`, `radius` and `up`, or `zero`",
                    ));
                }
            });
        }
        Ok(out)
    }

    /// A formula linear and homogeneous in the rates.
    fn rate(&self, t: &Text) -> Result<Ex> {
        let line = self.d.line(t);
        let e = self.read(t.get_ref(), line, None, "rate")?;
        let linear: Ex = self.w.iter().map(|w| e.diff(*w) * *w).sum();
        let second = self
            .w
            .iter()
            .any(|w| self.w.iter().any(|v| !e.diff(*w).diff(*v).is_zero()));
        if second || !Ring::new(Basis::Cosines).equal(e, linear)? {
            return Err(Error::at(
                line,
                format!(
                    "`{}` is not linear in the rates of the coordinates",
                    t.get_ref()
                ),
            ));
        }
        Ok(e)
    }

    fn equilibria(&self, speeds: &[Speed]) -> Result<Vec<Equilibrium>> {
        let mut out = vec![];
        for e in &self.d.equilibrium {
            let mut at = vec![];
            for (name, t) in &e.at {
                let line = self.d.line(t);
                let symbol = self.scope.lookup(name).filter(|s| {
                    let known = self.q.contains(s)
                        || self.w.contains(s)
                        || speeds.iter().any(|u| u.symbol == *s);
                    known && *s != Ex::PI
                });
                let symbol = symbol.ok_or_else(|| {
                    Error::at(
                        line,
                        format!("equilibrium: `{name}` is no coordinate and no speed"),
                    )
                })?;
                let unit = symbol.symbol().map(|s| s.unit);
                at.push((symbol, self.read(t.get_ref(), line, unit, "equilibrium")?));
            }
            out.push(Equilibrium {
                name: e.name.get_ref().clone(),
                at,
            });
        }
        Ok(out)
    }

    pub(super) fn finish(mut self) -> Result<Mechanism> {
        let d = self.d;
        if d.body.is_empty() {
            return Err(Error::at(0, "there is no body"));
        }
        let order = self.order()?;
        let mut inputs = vec![];
        for (i, a) in d.actuator.iter().enumerate() {
            self.name(&a.effort, "effort")?;
            let body = d.body.iter().find(|b| b.name.get_ref() == a.body.get_ref());
            let unit = match body.map(|b| b.joint) {
                Some(JointKind::Prismatic) => Unit::NEWTON,
                _ => Unit::JOULE,
            };
            inputs.push(self.scope.declare(a.effort.get_ref(), Kind::Input, i, unit));
        }
        let gravity = self.vector(&d.gravity, Unit::GRAVITY, "gravity")?;
        let mut bodies: Vec<Body> = vec![];
        for i in order {
            let body = self.body(i, &bodies)?;
            bodies.push(body);
        }
        let mut actuators = vec![];
        for (a, effort) in d.actuator.iter().zip(inputs) {
            let body = self.find(&bodies, &a.body, "actuator")?;
            actuators.push(Actuator { body, effort });
        }
        let per = |body: &Body, unit: Unit| {
            let q = unit_of_joint(body.joint);
            let force = if body.joint == JointKind::Prismatic {
                Unit::NEWTON
            } else {
                Unit::JOULE
            };
            (q, force.per(q).times(unit))
        };
        let mut springs = vec![];
        for s in &d.spring {
            let body = self.find(&bodies, &s.body, "spring")?;
            let (q, unit) = per(&bodies[body], Unit::NONE);
            springs.push(Spring {
                body,
                stiffness: self.formula(&s.stiffness, unit, "stiffness")?,
                rest: self.formula(&s.rest, q, "rest")?,
            });
        }
        let mut dampers = vec![];
        for s in &d.damper {
            let body = self.find(&bodies, &s.body, "damper")?;
            let (_, unit) = per(&bodies[body], Unit::S);
            dampers.push(Damper {
                body,
                coefficient: self.formula(&s.coefficient, unit, "coefficient")?,
            });
        }
        let constraints = self.constraints(&bodies)?;
        let mut speeds = vec![];
        for (i, s) in d.speed.iter().enumerate() {
            let is = self.rate(&s.is)?;
            let unit = unit_of(is).ok().flatten().unwrap_or_default();
            self.name(&s.name, "speed")?;
            let rate = Spanned::new(s.name.span(), format!("{}_d", s.name.get_ref()));
            self.name(&rate, "rate of the speed")?;
            speeds.push(Speed {
                symbol: self
                    .scope
                    .declare(s.name.get_ref(), Kind::Speed, self.q.len() + i, unit),
                rate: self.scope.declare(
                    rate.get_ref(),
                    Kind::Acceleration,
                    self.q.len() + i,
                    unit.per(Unit::S),
                ),
                is,
            });
        }
        let mut independent = vec![];
        for name in d.independent.iter().flat_map(|l| l.get_ref()) {
            let found = self
                .q
                .iter()
                .position(|q| self.scope.lookup(name) == Some(*q));
            let line = d.independent.as_ref().map_or(0, |l| d.line(l));
            independent.push(found.ok_or_else(|| {
                Error::at(line, format!("independent: `{name}` is no coordinate"))
            })?);
        }
        let plant = match &d.plant {
            None => None,
            Some(p) => {
                let unit = |q: usize, revolute: Unit| match bodies
                    .iter()
                    .find(|b| b.q == q)
                    .map(|b| b.joint)
                {
                    Some(JointKind::Prismatic) => Unit::KG,
                    _ => revolute,
                };
                let each = |t: &List, what: &str| {
                    let n = t.get_ref().len();
                    if n == self.q.len() {
                        Ok(d.line(t))
                    } else {
                        Err(Error::at(
                            d.line(t),
                            format!("{what}: one entry per joint is expected, found {n}"),
                        ))
                    }
                };
                let line = each(&p.joints, "plant.joints")?;
                let joints = p.joints.get_ref().clone();
                if let Some(bad) = joints.iter().find(|j| !is_name(j)) {
                    let what = format!("plant.joints: \"{bad}\" is not a word of letters");
                    return Err(Error::at(line, what));
                }
                let line = each(&p.inertia, "plant.inertia")?;
                let inertia = p.inertia.get_ref().iter().enumerate().map(|(q, text)| {
                    let read = |s: &str| {
                        self.read(
                            s.trim(),
                            line,
                            Some(unit(q, Unit::INERTIA)),
                            "plant.inertia",
                        )
                    };
                    text.split(';').map(read).collect::<Result<Vec<Ex>>>()
                });
                let inertia = inertia.collect::<Result<Vec<_>>>()?;
                let line = each(&p.weight, "plant.weight")?;
                let read = |s: &String| self.read(s, line, Some(Unit::NEWTON), "plant.weight");
                let weight = p
                    .weight
                    .get_ref()
                    .iter()
                    .map(read)
                    .collect::<Result<Vec<Ex>>>()?;
                Some(Plant {
                    type_name: p.type_name.clone(),
                    header: p.header.clone(),
                    joints,
                    inertia,
                    weight,
                })
            }
        };
        Ok(Mechanism {
            name: d.name.clone(),
            note: d.note.clone(),
            scope: self.scope,
            gravity,
            bodies,
            equilibria: self.equilibria(&speeds)?,
            q: self.q,
            w: self.w,
            a: self.a,
            actuators,
            springs,
            dampers,
            constraints,
            speeds,
            independent,
            parameters: self.parameters,
            plant,
        })
    }
}

/// Letters, with spaces between words.
fn is_name(text: &str) -> bool {
    let words = text.split(' ');
    !text.is_empty()
        && words
            .into_iter()
            .all(|w| !w.is_empty() && w.chars().all(char::is_alphabetic))
}
