//! What people know about a recording and the device does not: who, which rig, how warm, when, and remarks.
//!
//! Written into the log when it begins (so a killed capture keeps it) and into its closing record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Everything said about a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// Wall clock of the beginning with its zone, RFC 3339; empty for a simulation.
    #[serde(default)]
    pub started: String,
    #[serde(default)]
    pub operator: String,
    /// Which rig.
    #[serde(default)]
    pub rig: String,
    /// Room temperature [°C].
    #[serde(default)]
    pub temperature_c: Option<f64>,
    /// Remarks, in the order they were made.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// Key of the remarks, numbered; every other field has its own.
const NOTE: &str = "note.";

impl Metadata {
    /// The clock of this machine, now, with its zone.
    pub fn now() -> String {
        chrono::Local::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, false)
    }

    pub fn is_empty(&self) -> bool {
        *self == Metadata::default()
    }

    /// Name and value of everything that was said.
    pub fn fields(&self) -> Vec<(String, String)> {
        let mut fields: Vec<(String, String)> = [
            ("started", self.started.clone()),
            ("operator", self.operator.clone()),
            ("rig", self.rig.clone()),
            (
                "temperature_c",
                self.temperature_c.map_or(String::new(), |t| t.to_string()),
            ),
        ]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_string(), value))
        .collect();
        for (n, note) in self.notes.iter().enumerate() {
            fields.push((format!("{NOTE}{n:03}"), note.clone()));
        }
        fields
    }

    /// From the map of a metadata record; what is not ours is left out.
    pub fn from_fields(fields: &BTreeMap<String, String>) -> Self {
        let get = |name: &str| fields.get(name).cloned().unwrap_or_default();
        Metadata {
            started: get("started"),
            operator: get("operator"),
            rig: get("rig"),
            temperature_c: get("temperature_c").parse().ok(),
            notes: fields
                .iter()
                .filter(|(name, _)| name.starts_with(NOTE))
                .map(|(_, note)| note.clone())
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_read_back() {
        let said = Metadata {
            started: Metadata::now(),
            operator: "M. Muster".into(),
            rig: "furuta-2".into(),
            temperature_c: Some(21.5),
            notes: vec!["new bearing".into(), "zweite Messung".into()],
        };
        let fields: BTreeMap<_, _> = said.fields().into_iter().collect();
        assert_eq!(Metadata::from_fields(&fields), said);
        assert!(Metadata::default().fields().is_empty());
    }
}
