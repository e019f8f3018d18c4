//! The description of a mechanism as text: what stands in the TOML file, or what a builder was told.
//!
//! A body stands on its parent's point `at`, in a frame that may be turned once and for all (`turned`), and moves by one joint.
//! Its frame's origin is the joint. `turns_in` names another frame to measure the angle from (absolute angles). Formulas know
//! the parameters, the coordinates `x`, and their rates `x_d`.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

use super::Mechanism;
use crate::error::{Error, Result};

/// Text with its place in the file.
pub type Text = Spanned<String>;
/// Formulas with the place of the list.
pub type List = Spanned<Vec<String>>;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    pub name: String,
    /// Zero position and direction of the coordinates, in a sentence.
    #[serde(default)]
    pub note: String,
    /// Gravity [m/s²] in the inertial frame N.
    #[serde(default = "origin")]
    pub gravity: List,
    #[serde(default)]
    pub parameter: Vec<ParameterText>,
    pub body: Vec<BodyText>,
    #[serde(default)]
    pub actuator: Vec<ActuatorText>,
    #[serde(default)]
    pub spring: Vec<SpringText>,
    #[serde(default)]
    pub damper: Vec<DamperText>,
    #[serde(default)]
    pub constraint: Vec<ConstraintText>,
    #[serde(default)]
    pub speed: Vec<SpeedText>,
    /// Coordinates whose rates stay free under the constraints, when no speeds are given; otherwise the last ones do.
    pub independent: Option<List>,
    #[serde(default)]
    pub equilibrium: Vec<EquilibriumText>,
    pub plant: Option<PlantText>,
    #[serde(skip)]
    source: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterText {
    pub name: Text,
    pub unit: Text,
    /// Value used by animations, linearisations and as the plant's default.
    pub default: f64,
    pub range: Option<[f64; 2]>,
    #[serde(default)]
    pub doc: String,
    /// Name of the field of the plant's configuration, when it is not `name`.
    pub field: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyText {
    pub name: Text,
    /// The body whose point carries the joint; `N` is the ground.
    #[serde(default = "ground")]
    pub parent: Text,
    /// The frame the joint turns in, when it is not the parent's.
    pub turns_in: Option<Text>,
    pub joint: JointKind,
    pub coordinate: Text,
    /// `x`, `-z`, or three components of a unit vector, separated by commas.
    pub axis: Text,
    /// Fixed turns before the joint, each `AXIS by ANGLE`.
    #[serde(default = "nothing")]
    pub turned: List,
    /// Place of the joint in the parent's frame \[m\].
    #[serde(default = "origin")]
    pub at: List,
    /// Mass \[kg\].
    #[serde(default = "none")]
    pub mass: Text,
    /// Centre of gravity in the body's frame \[m\].
    #[serde(default = "origin")]
    pub com: List,
    /// Ixx, Iyy, Izz, or these and Ixy, Ixz, Iyz [kg·m²], in the body's axes. Off the diagonal the matrix's own entries stand:
    /// Ixy = −∫xy dm.
    #[serde(default = "origin")]
    pub inertia: List,
    /// The point the inertia is about \[m\]; the centre of gravity unless given.
    pub inertia_about: Option<List>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum JointKind {
    Revolute,
    Prismatic,
}

/// Force or torque between a body and its parent, along the joint's axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActuatorText {
    pub body: Text,
    pub effort: Text,
}

/// −stiffness·(q − rest) on the body's coordinate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpringText {
    pub body: Text,
    pub stiffness: Text,
    #[serde(default = "none")]
    pub rest: Text,
}

/// −coefficient·q̇ on the body's coordinate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DamperText {
    pub body: Text,
    pub coefficient: Text,
}

/// Either a wheel that rolls on the plane through the origin, or a formula linear in the rates that is zero.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstraintText {
    /// The wheel: its axle is its joint's axis, its centre the joint.
    pub rolls: Option<Text>,
    pub radius: Option<Text>,
    /// Normal of the plane, pointing to the wheel's side.
    pub up: Option<Text>,
    pub zero: Option<Text>,
}

/// A generalized speed: linear in the rates of the coordinates.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpeedText {
    pub name: Text,
    pub is: Text,
}

/// A state to linearise about; what is not named is zero.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EquilibriumText {
    pub name: Text,
    #[serde(default)]
    pub at: BTreeMap<String, Text>,
}

/// What the generated plant needs beyond the equations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlantText {
    /// Name of the type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The first lines of the file's header.
    pub header: String,
    /// What each joint is called in reports, one word or two.
    pub joints: List,
    /// Smallest inertia each joint can present, 1/(H⁻¹)jj over all poses: formulas in the parameters, alternatives
    /// separated by `;`.
    pub inertia: List,
    /// Weight each joint carries \[N\].
    pub weight: List,
}

fn text(s: &str) -> Text {
    Spanned::new(0..0, s.into())
}
fn list<const N: usize>(s: [&str; N]) -> List {
    Spanned::new(0..0, s.map(String::from).to_vec())
}
fn ground() -> Text {
    text("N")
}
fn none() -> Text {
    text("0")
}
fn origin() -> List {
    list(["0", "0", "0"])
}
fn nothing() -> List {
    list([])
}

impl Description {
    /// Reads TOML; an error names the line.
    pub fn read(toml: &str) -> Result<Description> {
        let mut d: Description = toml::from_str(toml).map_err(|e| {
            let at = e.span().map_or(0, |s| line_of(toml, s.start));
            Error::at(at, e.message())
        })?;
        d.source = toml.into();
        Ok(d)
    }

    /// An empty mechanism, to be filled in code.
    pub fn new(name: &str) -> Description {
        Description {
            name: name.into(),
            note: String::new(),
            gravity: origin(),
            parameter: vec![],
            body: vec![],
            actuator: vec![],
            spring: vec![],
            damper: vec![],
            constraint: vec![],
            speed: vec![],
            independent: None,
            equilibrium: vec![],
            plant: None,
            source: String::new(),
        }
    }
    #[must_use]
    pub fn gravity(mut self, g: [&str; 3]) -> Self {
        self.gravity = list(g);
        self
    }
    #[must_use]
    pub fn parameter(mut self, name: &str, unit: &str, default: f64) -> Self {
        self.parameter.push(ParameterText {
            name: text(name),
            unit: text(unit),
            default,
            range: None,
            doc: String::new(),
            field: None,
        });
        self
    }
    #[must_use]
    pub fn body(mut self, body: BodyText) -> Self {
        self.body.push(body);
        self
    }
    #[must_use]
    pub fn actuator(mut self, body: &str, effort: &str) -> Self {
        self.actuator.push(ActuatorText {
            body: text(body),
            effort: text(effort),
        });
        self
    }
    #[must_use]
    pub fn rolls(mut self, wheel: &str, radius: &str, up: &str) -> Self {
        self.constraint.push(ConstraintText {
            rolls: Some(text(wheel)),
            radius: Some(text(radius)),
            up: Some(text(up)),
            zero: None,
        });
        self
    }
    #[must_use]
    pub fn speed(mut self, name: &str, is: &str) -> Self {
        self.speed.push(SpeedText {
            name: text(name),
            is: text(is),
        });
        self
    }

    /// The checked mechanism.
    pub fn build(&self) -> Result<Mechanism> {
        super::build::build(self)
    }

    /// Line of a place, from 1; 0 for what was written in code.
    pub(super) fn line<T>(&self, s: &Spanned<T>) -> usize {
        if s.span().is_empty() {
            0
        } else {
            line_of(&self.source, s.span().start)
        }
    }
}

fn line_of(source: &str, offset: usize) -> usize {
    1 + source.bytes().take(offset).filter(|b| *b == b'\n').count()
}

impl BodyText {
    fn new(name: &str, joint: JointKind, coordinate: &str, axis: &str) -> BodyText {
        BodyText {
            name: text(name),
            parent: ground(),
            turns_in: None,
            joint,
            coordinate: text(coordinate),
            axis: text(axis),
            turned: nothing(),
            at: origin(),
            mass: none(),
            com: origin(),
            inertia: origin(),
            inertia_about: None,
        }
    }
    pub fn revolute(name: &str, coordinate: &str, axis: &str) -> BodyText {
        BodyText::new(name, JointKind::Revolute, coordinate, axis)
    }
    pub fn prismatic(name: &str, coordinate: &str, axis: &str) -> BodyText {
        BodyText::new(name, JointKind::Prismatic, coordinate, axis)
    }
    #[must_use]
    pub fn on(mut self, parent: &str, at: [&str; 3]) -> Self {
        self.parent = text(parent);
        self.at = list(at);
        self
    }
    #[must_use]
    pub fn turns_in(mut self, frame: &str) -> Self {
        self.turns_in = Some(text(frame));
        self
    }
    #[must_use]
    pub fn mass(mut self, mass: &str, com: [&str; 3]) -> Self {
        self.mass = text(mass);
        self.com = list(com);
        self
    }
    #[must_use]
    pub fn inertia<const N: usize>(mut self, inertia: [&str; N]) -> Self {
        self.inertia = list(inertia);
        self
    }
}
