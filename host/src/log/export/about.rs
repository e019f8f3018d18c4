//! Where a table comes from: its log, the device with its configuration, and what people said about the recording.
//!
//! Parquet carries it in its key–value metadata. A CSV has one line of names and nothing else that a reader could trip
//! over; units and origin stand beside it in `NAME.csv-metadata.json`, as the W3C's "Metadata Vocabulary for Tabular
//! Data" has it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Data, Kind, Table};
use crate::config;
use crate::log::pass::Pass;

/// Names and texts, in order.
pub struct About(pub Vec<(String, String)>);

impl About {
    pub fn new(log: &Path, kind: Kind, pass: &Pass) -> Self {
        let mut fields = vec![
            (
                "software".to_string(),
                concat!("stribeck ", env!("CARGO_PKG_VERSION")).to_string(),
            ),
            ("table".into(), format!("{kind:?}").to_lowercase()),
        ];
        let mut say = |name: &str, text: String| fields.push((name.into(), text));
        let source = log.file_name().unwrap_or(log.as_os_str());
        say("source", source.to_string_lossy().into_owned());
        if let Some(hello) = pass.session.hello() {
            say("board", hello.board.to_string());
            say("firmware", hello.build.to_string());
            say("protocol", hello.protocol.to_string());
            say("numerics", hello.numerics.to_string());
            say("tick_hz", hello.tick_hz.to_string());
            let text = hello.config().ok().and_then(|c| config::to_toml(&c).ok());
            say("config", text.unwrap_or_default());
        }
        let losses = pass.session.losses();
        say("lost_ticks", losses.lost_ticks.to_string());
        for (n, damage) in pass.damage.iter().enumerate() {
            say(&format!("damage.{n:03}"), damage.to_string());
        }
        fields.extend(pass.recording.fields());
        About(fields)
    }
}

/// Where the metadata of a CSV stand.
pub fn beside(csv: &Path) -> PathBuf {
    let name = csv.file_name().unwrap_or_default().to_string_lossy();
    csv.with_file_name(format!("{name}-metadata.json"))
}

/// The metadata of a CSV.
pub fn csv(path: &Path, table: &Table, about: &About) -> Value {
    let columns: Vec<Value> = table
        .columns
        .iter()
        .map(|c| {
            let datatype = match c.data {
                Data::U8(_) => "unsignedByte",
                Data::U32(_) => "unsignedInt",
                Data::I32(_) => "int",
                Data::U64(_) => "unsignedLong",
                Data::F32(_) => "float",
                Data::F64(_) => "double",
                Data::Text(_) => "string",
            };
            json!({ "name": c.name, "titles": c.name, "datatype": datatype, "dc:description": format!("[{}]", c.unit) })
        })
        .collect();
    let origin: serde_json::Map<String, Value> = about
        .0
        .iter()
        .map(|(name, text)| (name.clone(), json!(text)))
        .collect();
    json!({
        "@context": "http://www.w3.org/ns/csvw",
        "url": path.file_name().unwrap_or_default().to_string_lossy(),
        "tableSchema": { "columns": columns },
        "notes": [origin],
    })
}
