//! A bond graph as a TOML file.
//!
//! ```toml
//! name = "RLC circuit"
//! inputs = ["u"]
//! bonds = ["source -> loop", "loop -> r", "loop -> l", "loop -> c"]
//!
//! [parameters]
//! r = { value = 10.0, unit = "Ω" }
//!
//! [parts]
//! source = { Se = "u" }
//! r = { R = "r" }                 # or { R = { effort = "f_c*tanh(f/v_t) + r*f" } }
//! loop = { 1 = true }             # junctions, integrator, De, Df
//! ```
//!
//! A sub-graph (word bond graph) is `[sub.NAME]` with `parts` and `bonds` of its own; `[use]` places it: `left = "NAME"` makes its parts
//! known outside as `left.PART`. Parameters and inputs are common to all.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::graph::{BadGraph, Builder, Graph, Kind};
use crate::error::Error;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    name: String,
    #[serde(default)]
    inputs: Vec<String>,
    #[serde(default)]
    parameters: BTreeMap<String, GivenParameter>,
    #[serde(default)]
    parts: toml::Table,
    #[serde(default)]
    bonds: Vec<String>,
    #[serde(default)]
    sub: BTreeMap<String, Sub>,
    #[serde(default, rename = "use")]
    used: toml::Table,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum GivenParameter {
    Plain(f64),
    Full {
        value: f64,
        #[serde(default)]
        unit: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sub {
    parts: toml::Table,
    #[serde(default)]
    bonds: Vec<String>,
}

/// What is wrong with a description.
#[derive(Debug, thiserror::Error)]
pub enum BadDescription {
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    #[error("bond `{0}` is not of the form `tail -> head`")]
    Bond(String),
    #[error("{part}: {found} is no component; there are {known}")]
    Kind {
        part: String,
        found: String,
        known: String,
    },
    #[error(
        "{part}: write `{{ KIND = \"value\" }}`, `{{ R = {{ effort = \"formula of f\" }} }}` or `{{ KIND = true }}`"
    )]
    Form { part: String },
    #[error("[use] {name}: no [sub.{sub}] is described")]
    NoSub { name: String, sub: String },
    #[error(transparent)]
    Graph(#[from] BadGraph),
}

/// Read a description; `name` is its file or example, for the error.
pub fn read(name: &str, text: &str) -> Result<Graph, Error> {
    parse(text).map_err(|error| {
        Error::invalid(
            format!("{name}: {error}"),
            "`stribeck bond --help` describes the file; `stribeck bond rlc --source` prints an example",
        )
    })
}

/// The description in a file, or the example of that name.
pub fn open(source: &str) -> Result<(String, String), Error> {
    if let Some((_, text)) = super::EXAMPLES.iter().find(|(name, _)| *name == source) {
        return Ok((source.into(), (*text).into()));
    }
    let path = Path::new(source);
    let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
    Ok((source.into(), text))
}

pub fn parse(text: &str) -> Result<Graph, BadDescription> {
    let description: Description = toml::from_str(text)?;
    let mut builder = Builder::new(&description.name);
    for (name, parameter) in &description.parameters {
        match parameter {
            GivenParameter::Plain(value) => builder.parameter(name, *value, ""),
            GivenParameter::Full { value, unit } => builder.parameter(name, *value, unit),
        };
    }
    for input in &description.inputs {
        builder.input(input);
    }
    place(&mut builder, "", &description.parts, &description.bonds)?;
    for (name, sub) in &description.used {
        let sub = sub.as_str().unwrap_or_default();
        let found = description
            .sub
            .get(sub)
            .ok_or_else(|| BadDescription::NoSub {
                name: name.clone(),
                sub: sub.into(),
            })?;
        place(
            &mut builder,
            &format!("{name}."),
            &found.parts,
            &found.bonds,
        )?;
    }
    Ok(builder.build()?)
}

/// Parts and bonds, their names after `prefix`.
fn place(
    builder: &mut Builder,
    prefix: &str,
    parts: &toml::Table,
    bonds: &[String],
) -> Result<(), BadDescription> {
    for (name, value) in parts {
        let part = format!("{prefix}{name}");
        let form = || BadDescription::Form { part: part.clone() };
        let (kind, value) = match value.as_table().map(|t| t.iter().collect::<Vec<_>>()) {
            Some(entries) if entries.len() == 1 => entries[0],
            _ => return Err(form()),
        };
        let Some((_, kind)) = Kind::NAMES.iter().find(|(known, _)| known == kind) else {
            let known = Kind::NAMES.map(|(known, _)| known).join(", ");
            return Err(BadDescription::Kind {
                part,
                found: kind.clone(),
                known,
            });
        };
        let (gain, effort) = match value {
            toml::Value::Boolean(true) => (None, None),
            toml::Value::String(text) => (Some(text.clone()), None),
            toml::Value::Float(x) => (Some(format!("({x:?})")), None),
            toml::Value::Integer(x) => (Some(format!("({x})")), None),
            toml::Value::Table(t) if t.len() == 1 => (
                None,
                Some(
                    t.get("effort")
                        .and_then(|v| v.as_str())
                        .ok_or_else(form)?
                        .to_string(),
                ),
            ),
            _ => return Err(form()),
        };
        builder.given(&part, *kind, gain, effort);
    }
    for bond in bonds {
        let Some((tail, head)) = bond.split_once("->") else {
            return Err(BadDescription::Bond(bond.clone()));
        };
        builder.bond(
            &format!("{prefix}{}", tail.trim()),
            &format!("{prefix}{}", head.trim()),
        );
    }
    Ok(())
}
