//! From a description to a mechanism: names resolved, formulas read, units checked. Every error names its line.

use std::collections::BTreeMap;
use toml::Spanned;

use super::description::{BodyText, Description, JointKind, List, Text};
use super::{Body, Mechanism, Parameter};
use crate::canonical::{Basis, Ring};
use crate::error::{Error, Result};
use crate::expr::*;
use crate::formula;

pub(super) fn build(d: &Description) -> Result<Mechanism> {
    exactly(|| Build::new(d)?.finish())?
}

pub(super) struct Build<'a> {
    pub(super) d: &'a Description,
    pub(super) scope: Scope,
    /// Name → what it is and where.
    names: BTreeMap<String, (String, usize)>,
    pub(super) q: Vec<Ex>,
    pub(super) w: Vec<Ex>,
    pub(super) a: Vec<Ex>,
    pub(super) parameters: Vec<Parameter>,
}

/// Unit of a coordinate.
pub(super) fn unit_of_joint(joint: JointKind) -> Unit {
    match joint {
        JointKind::Revolute => Unit::NONE,
        JointKind::Prismatic => Unit::M,
    }
}

impl<'a> Build<'a> {
    fn new(d: &'a Description) -> Result<Self> {
        let mut b = Build {
            d,
            scope: Scope::new(),
            names: BTreeMap::new(),
            q: vec![],
            w: vec![],
            a: vec![],
            parameters: vec![],
        };
        for p in &d.parameter {
            b.name(&p.name, "parameter")?;
            let unit = Unit::parse(p.unit.get_ref()).ok_or_else(|| {
                let shown = p.unit.get_ref();
                Error::at(d.line(&p.unit), format!("unit `{shown}`: write products and powers of kg, m, s, N, J, rad, e.g. kg*m^2"))
            })?;
            if let Some([low, high]) = p.range
                && !(low..=high).contains(&p.default)
            {
                let what = format!(
                    "default {} of `{}` is outside its range {low} … {high}",
                    p.default,
                    p.name.get_ref()
                );
                return Err(Error::at(d.line(&p.name), what));
            }
            b.parameters.push(Parameter {
                symbol: b.scope.declare(p.name.get_ref(), Kind::Parameter, 0, unit),
                name: p.name.get_ref().clone(),
                unit,
                default: p.default,
                range: p.range,
                doc: p.doc.clone(),
                field: p
                    .field
                    .clone()
                    .unwrap_or_else(|| p.name.get_ref().to_lowercase()),
            });
        }
        for (i, body) in d.body.iter().enumerate() {
            let unit = unit_of_joint(body.joint);
            let name = body.coordinate.get_ref();
            b.name(&body.coordinate, "coordinate")?;
            b.q.push(b.scope.declare(name, Kind::Coordinate, i, unit));
            for (suffix, kind) in [("_d", Kind::Speed), ("_dd", Kind::Acceleration)] {
                let rate = Spanned::new(body.coordinate.span(), format!("{name}{suffix}"));
                b.name(&rate, "rate of the coordinate")?;
                let n = suffix.len() as i32 - 1;
                let e = b
                    .scope
                    .declare(rate.get_ref(), kind, i, unit.per(Unit::S.pow(n)));
                if kind == Kind::Speed {
                    &mut b.w
                } else {
                    &mut b.a
                }
                .push(e);
            }
        }
        Ok(b)
    }

    /// Registers a name; an error when it is taken or not a name.
    pub(super) fn name(&mut self, name: &Text, what: &str) -> Result<()> {
        let (text, line) = (name.get_ref(), self.d.line(name));
        let fine = text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !fine || ["pi", "sin", "cos", "sqrt", "N"].contains(&text.as_str()) {
            let reason = format!(
                "{what} `{text}`: a name has letters, digits and _, and is none of pi, sin, cos, sqrt, N"
            );
            return Err(Error::at(line, reason));
        }
        if let Some((other, at)) = self.names.get(text) {
            let place = if *at == 0 {
                String::new()
            } else {
                format!(" in line {at}")
            };
            return Err(Error::at(
                line,
                format!("{what} `{text}`: there is a {other} of this name{place}"),
            ));
        }
        self.names.insert(text.clone(), (what.into(), line));
        Ok(())
    }

    pub(super) fn read(
        &self,
        text: &str,
        line: usize,
        unit: Option<Unit>,
        what: &str,
    ) -> Result<Ex> {
        let e = formula::parse(text, self.scope)
            .map_err(|e| Error::at(line, format!("{what}: {e}{}", self.hint(&e))))?;
        let found = unit_of(e).map_err(|mixed| Error::Units {
            line,
            formula: text.into(),
            mixed,
        })?;
        match (unit, found) {
            (Some(unit), Some(found)) if unit != found => {
                let why = if e.number().is_some() {
                    "; make the number a parameter with this unit"
                } else {
                    ""
                };
                Err(Error::at(
                    line,
                    format!("{what} `{text}` has the unit {found}, expected {unit}{why}"),
                ))
            }
            _ => Ok(e),
        }
    }

    /// The known name nearest to the unknown one quoted first in a message.
    fn hint(&self, message: &str) -> String {
        let Some(unknown) = message.split('`').nth(1) else {
            return String::new();
        };
        let lower = unknown.to_lowercase();
        self.names
            .keys()
            .find(|n| n.to_lowercase() == lower || n.replace('_', "") == unknown.replace('_', ""))
            .map_or(String::new(), |n| format!("; is `{n}` meant?"))
    }

    pub(super) fn formula(&self, t: &Text, unit: Unit, what: &str) -> Result<Ex> {
        self.read(t.get_ref(), self.d.line(t), Some(unit), what)
    }

    pub(super) fn vector(&self, t: &List, unit: Unit, what: &str) -> Result<V3> {
        let line = self.d.line(t);
        let [x, y, z] = t.get_ref().as_slice() else {
            return Err(Error::at(
                line,
                format!(
                    "{what}: three components are expected, found {}",
                    t.get_ref().len()
                ),
            ));
        };
        let read = |s: &str| self.read(s, line, Some(unit), what);
        Ok([read(x)?, read(y)?, read(z)?])
    }

    /// `x`, `-z` or three components of a unit vector.
    pub(super) fn axis(&self, text: &str, line: usize) -> Result<V3> {
        let (sign, name) = text.strip_prefix('-').map_or((1, text), |n| (-1, n.trim()));
        if let Some(i) = ["x", "y", "z"].iter().position(|n| *n == name) {
            return Ok(std::array::from_fn(
                |k| if k == i { int(sign) } else { zero() },
            ));
        }
        let parts: Vec<&str> = text.split(',').collect();
        let [x, y, z] = parts[..] else {
            return Err(Error::at(
                line,
                format!(
                    "axis `{text}`: expected x, y, z, -x, -y, -z or three components `a, b, c`"
                ),
            ));
        };
        let read = |s: &str| self.read(s.trim(), line, Some(Unit::NONE), "axis");
        let v = [read(x)?, read(y)?, read(z)?];
        if !Ring::new(Basis::Cosines).equal(dot(v, v), one())? {
            return Err(Error::at(line, format!("axis `{text}` is not of length 1")));
        }
        Ok(v)
    }

    /// Full inertia matrix about the centre of gravity.
    fn inertia(&self, b: &BodyText, mass: Ex, com: V3) -> Result<M3> {
        let line = self.d.line(&b.inertia);
        let read = |s: &String| self.read(s, line, Some(Unit::INERTIA), "inertia");
        let list = b
            .inertia
            .get_ref()
            .iter()
            .map(read)
            .collect::<Result<Vec<Ex>>>()?;
        let [xx, yy, zz, xy, xz, yz] = match list[..] {
            [xx, yy, zz] => [xx, yy, zz, zero(), zero(), zero()],
            [xx, yy, zz, xy, xz, yz] => [xx, yy, zz, xy, xz, yz],
            _ => {
                let what = format!(
                    "inertia: 3 or 6 components (xx, yy, zz, xy, xz, yz) are expected, found {}",
                    list.len()
                );
                return Err(Error::at(line, what));
            }
        };
        let full: M3 = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
        let Some(about) = &b.inertia_about else {
            return Ok(full);
        };
        // Steiner: I_com = I_P − m·(d²·1 − d·dᵀ).
        let d = vsub(self.vector(about, Unit::M, "inertia_about")?, com);
        let d2 = dot(d, d);
        let id = identity();
        Ok(std::array::from_fn(|i| {
            std::array::from_fn(|j| full[i][j] - mass * (d2 * id[i][j] - d[i] * d[j]))
        }))
    }

    /// Bodies so that parents come first: positions in the description.
    pub(super) fn order(&self) -> Result<Vec<usize>> {
        let d = self.d;
        let find = |t: &Text| d.body.iter().position(|b| b.name.get_ref() == t.get_ref());
        for (i, b) in d.body.iter().enumerate() {
            let name = b.name.get_ref();
            if name == "N" || d.body[..i].iter().any(|o| o.name.get_ref() == name) {
                return Err(Error::at(
                    d.line(&b.name),
                    format!("body `{name}`: the name is taken"),
                ));
            }
            for on in [Some(&b.parent), b.turns_in.as_ref()].into_iter().flatten() {
                if on.get_ref() != "N" && find(on).is_none() {
                    let known: Vec<&str> =
                        d.body.iter().map(|b| b.name.get_ref().as_str()).collect();
                    let what = format!(
                        "body `{name}` stands on `{}`, which is no body; there are N, {}",
                        on.get_ref(),
                        known.join(", ")
                    );
                    return Err(Error::at(d.line(on), what));
                }
            }
        }
        let mut order: Vec<usize> = vec![];
        while order.len() < d.body.len() {
            let ready = |t: &Text| find(t).is_none_or(|p| order.contains(&p));
            let next = (0..d.body.len()).find(|i| {
                let b = &d.body[*i];
                !order.contains(i) && ready(&b.parent) && b.turns_in.as_ref().is_none_or(ready)
            });
            let Some(next) = next else {
                let left: Vec<&BodyText> = (0..d.body.len())
                    .filter(|i| !order.contains(i))
                    .map(|i| &d.body[i])
                    .collect();
                let names: Vec<String> = left
                    .iter()
                    .map(|b| format!("`{}`", b.name.get_ref()))
                    .collect();
                let what = format!(
                    "bodies {} stand on each other in a loop; a mechanism is a tree that starts at N",
                    names.join(", ")
                );
                return Err(Error::at(d.line(&left[0].parent), what));
            };
            order.push(next);
        }
        Ok(order)
    }

    pub(super) fn body(&self, i: usize, done: &[Body]) -> Result<Body> {
        let b = &self.d.body[i];
        let name = b.name.get_ref();
        let find = |t: &Text| done.iter().position(|x| x.name == *t.get_ref());
        let parent = find(&b.parent);
        let axis = self.axis(b.axis.get_ref(), self.d.line(&b.axis))?;
        let mut fixed = identity();
        for t in b.turned.get_ref() {
            let line = self.d.line(&b.turned);
            let (about, by) = t
                .split_once(" by ")
                .ok_or_else(|| Error::at(line, format!("turned `{t}`: write `AXIS by ANGLE`")))?;
            let angle = self.read(by, line, Some(Unit::NONE), "turned")?;
            fixed = mm(&fixed, &rotation(self.axis(about.trim(), line)?, angle));
        }
        let turn = match b.joint {
            JointKind::Revolute => mm(&fixed, &rotation(axis, self.q[i])),
            JointKind::Prismatic => fixed,
        };
        let what = |field: &str| format!("{field} of `{name}`");
        let mass = self.formula(&b.mass, Unit::KG, &what("mass"))?;
        let com = self.vector(&b.com, Unit::M, &what("com"))?;
        Ok(Body {
            name: name.clone(),
            parent,
            turns_in: b.turns_in.as_ref().map_or(parent, find),
            joint: b.joint,
            q: i,
            axis,
            at: self.vector(&b.at, Unit::M, &what("at"))?,
            mass,
            com,
            inertia: self.inertia(b, mass, com)?,
            fixed,
            turn,
        })
    }

    pub(super) fn find(&self, bodies: &[Body], t: &Text, what: &str) -> Result<usize> {
        bodies
            .iter()
            .position(|b| b.name == *t.get_ref())
            .ok_or_else(|| {
                let names: Vec<&str> = bodies.iter().map(|b| b.name.as_str()).collect();
                Error::at(
                    self.d.line(t),
                    format!(
                        "{what}: there is no body `{}`; there are {}",
                        t.get_ref(),
                        names.join(", ")
                    ),
                )
            })
    }
}
