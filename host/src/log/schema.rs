//! Schemas of the log's topics: what Foxglove and PlotJuggler show as field names, and what the bytes of the wire are.
//!
//! The fields of a viewer topic are named as the columns of `stribeck export`: one name means one number everywhere.

use super::Topic;
use super::export::{param_columns, state_columns};
use super::write::WIRE_ENCODING;
use crate::config::axes::Axes;

/// Name and unit.
pub type Named = (String, String);

/// Beside the parameters: the stage of the estimator.
pub const STAGE: &str = "ekf_stage";
/// Whether the data show the parameter: this, then its name.
pub const IDENTIFIABLE: &str = "ekf_identifiable_";

/// A schema as MCAP wants it.
pub struct Schema {
    pub encoding: &'static str,
    pub text: String,
}

/// The schema of a topic of a device with these joints.
pub fn of(topic: Topic, axes: &Axes) -> Schema {
    match fields(topic, axes) {
        Some(fields) => Schema {
            encoding: "jsonschema",
            text: object(&fields),
        },
        None => Schema {
            encoding: WIRE_ENCODING,
            text: wire(topic),
        },
    }
}

/// Coordinates: as the encoders show them, then those among the columns of the states.
pub fn angles(axes: &Axes) -> Vec<Named> {
    let measured = (0..2).map(|j| (axes.column(j), axes.units(j).coordinate.to_string()));
    let states = state_columns(axes);
    let estimated = states[..2].iter().chain(&states[4..6]).cloned();
    measured.chain(estimated).collect()
}

pub fn velocities(axes: &Axes) -> Vec<Named> {
    let states = state_columns(axes);
    [&states[2..4], &states[6..]].concat()
}

/// Gain and error of the UAS observer: two of the parameter columns.
pub fn gain(axes: &Axes) -> Vec<Named> {
    param_columns(axes)[10..12].to_vec()
}

/// The parameter columns but gain and error.
pub fn parameters(axes: &Axes) -> Vec<Named> {
    let columns = param_columns(axes);
    [&columns[..10], &columns[12..]].concat()
}

/// The six names behind [`IDENTIFIABLE`].
pub fn identifiable(axes: &Axes) -> impl Iterator<Item = String> {
    let ekf = param_columns(axes).into_iter().skip(12).take(6);
    ekf.map(|(name, _)| format!("{IDENTIFIABLE}{}", name.trim_start_matches("ekf_")))
}

type Field = (String, &'static str, String);

/// Name, type and meaning of every field; `None` for the wire.
fn fields(topic: Topic, axes: &Axes) -> Option<Vec<Field>> {
    let numbers = |columns: Vec<Named>| {
        columns
            .into_iter()
            .map(|(name, unit)| (name, "number", format!("[{unit}]")))
            .collect::<Vec<Field>>()
    };
    let said = |list: &[(&str, &'static str, &str)]| {
        list.iter()
            .map(|(name, kind, what)| (name.to_string(), *kind, what.to_string()))
            .collect::<Vec<Field>>()
    };
    Some(match topic {
        Topic::Angles => numbers(angles(axes)),
        Topic::Velocities => numbers(velocities(axes)),
        Topic::Gain => numbers(gain(axes)),
        Topic::Parameters => {
            let mut fields = numbers(parameters(axes));
            fields.push((STAGE.into(), "number", "stage of the estimator".into()));
            let shown = "whether the data show this parameter";
            fields.extend(identifiable(axes).map(|name| (name, "boolean", shown.into())));
            fields
        }
        Topic::Health => said(&[
            ("lost_ticks", "number", "ticks missing so far"),
            ("damaged_frames", "number", "frames with a wrong CRC so far"),
            (
                "verified_ticks",
                "number",
                "ticks whose digest was recomputed and is equal",
            ),
            ("differing_blocks", "number", "blocks whose digest differs"),
        ]),
        Topic::EventText => said(&[
            ("tick", "number", "tick of the event"),
            ("event", "string", "what happened"),
        ]),
        Topic::Hello
        | Topic::Block
        | Topic::Status
        | Topic::Event
        | Topic::Reply
        | Topic::Damaged => return None,
    })
}

fn object(fields: &[Field]) -> String {
    let properties: serde_json::Map<String, serde_json::Value> = fields
        .iter()
        .map(|(name, kind, what)| {
            let field = serde_json::json!({ "type": kind, "description": what });
            (name.clone(), field)
        })
        .collect();
    serde_json::json!({ "type": "object", "properties": properties }).to_string()
}

/// What the bytes of a wire topic are, for whoever finds the log without this program.
fn wire(topic: Topic) -> String {
    let frame = topic.name().trim_start_matches("/wire/");
    if topic == Topic::Damaged {
        return "bytes up to a 0x00 that are no frame: failed CRC or unknown kind; kept as evidence\n".into();
    }
    format!(
        "one frame \"{frame}\" as the device sent it: COBS of (kind u8, revision u8, body in postcard, CRC-32 little-endian), then 0x00; \
         layout of the body: docs/wire.md of stribeck, protocol {}\n",
        stribeck_core::wire::PROTOCOL
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_a_schema_and_every_viewer_field_a_name_of_its_own() {
        for topic in Topic::ALL {
            let schema = of(topic, &Axes::default());
            assert!(!schema.text.is_empty());
            assert_eq!(topic.is_wire(), schema.encoding == WIRE_ENCODING);
            if topic.is_wire() {
                continue;
            }
            let parsed: serde_json::Value = serde_json::from_str(&schema.text).unwrap();
            let fields = parsed["properties"].as_object().unwrap();
            assert_eq!(
                fields.len(),
                super::fields(topic, &Axes::default()).unwrap().len()
            );
            for field in fields.values() {
                assert!(field["description"].is_string());
                assert!(["number", "string", "boolean"].contains(&field["type"].as_str().unwrap()));
            }
        }
    }
}
