//! JSON schemas of the viewer topics: what Foxglove and PlotJuggler show as field names.

use super::Topic;

const NUMBER: &str = r#"{"type":"number"}"#;
const PAIR: &str = r#"{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2}"#;
const LIST: &str = r#"{"type":"array","items":{"type":"number"}}"#;
const TEXT: &str = r#"{"type":"string"}"#;

/// The schema of a JSON topic; `None` for the wire.
pub fn of(topic: Topic) -> Option<String> {
    let fields: &[(&str, &str, &str)] = match topic {
        Topic::Angles => &[
            ("measured", PAIR, "encoder angles [rad]"),
            ("uas", PAIR, "angles of the UAS observer [rad]"),
            ("ekf", PAIR, "angles of the Kalman filter [rad]"),
        ],
        Topic::Velocities => &[
            ("uas", PAIR, "velocities of the UAS observer [rad/s]"),
            ("ekf", PAIR, "velocities of the Kalman filter [rad/s]"),
        ],
        Topic::Gain => &[
            ("k", NUMBER, "adaptive gain of the UAS observer"),
            ("error", NUMBER, "norm of its velocity error [rad/s]"),
        ],
        Topic::Parameters => &[
            (
                "uas",
                LIST,
                "mu_d [m], mu_s [m], mu_v [N m s], v_t [rad/s], F_nt [N] of joint 0, then of joint 1; a prior, not a measurement",
            ),
            (
                "ekf",
                LIST,
                "mu_d [m], mu_v [N m s], d [N m s^2] of joint 0, then of joint 1",
            ),
            ("sigma", LIST, "standard deviations of ekf"),
            ("stage", NUMBER, "stage of the estimator"),
            ("identifiable", NUMBER, "bit i set: ekf[i] is identifiable"),
        ],
        Topic::Health => &[
            ("lost_ticks", NUMBER, "ticks missing so far"),
            ("damaged_frames", NUMBER, "frames with a wrong CRC so far"),
            (
                "verified_ticks",
                NUMBER,
                "ticks whose digest was recomputed and is equal",
            ),
            ("differing_blocks", NUMBER, "blocks whose digest differs"),
        ],
        Topic::EventText => &[
            ("tick", NUMBER, "tick of the event"),
            ("event", TEXT, "what happened"),
        ],
        Topic::Hello
        | Topic::Block
        | Topic::Status
        | Topic::Event
        | Topic::Reply
        | Topic::Damaged => return None,
    };
    let properties: Vec<String> = fields
        .iter()
        .map(|(name, kind, what)| {
            let kind = kind.strip_suffix('}').unwrap_or(kind);
            format!(r#""{name}":{kind},"description":"{what}"}}"#)
        })
        .collect();
    Some(format!(
        r#"{{"type":"object","properties":{{{}}}}}"#,
        properties.join(",")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_viewer_topic_has_a_schema_that_parses() {
        for topic in Topic::ALL {
            match of(topic) {
                None => assert!(topic.is_wire()),
                Some(text) => {
                    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
                    assert_eq!(schema["type"], "object");
                    for field in schema["properties"].as_object().unwrap().values() {
                        assert!(field["description"].is_string() && field["type"].is_string());
                    }
                }
            }
        }
    }
}
