//! Exported tables hold the log's own bits, in CSV and in Parquet.

mod board;

use std::path::{Path, PathBuf};

use board::{arg, run};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use stribeck::link::session::{Session, SessionEvent};
use stribeck::log::angles::Angles;
use stribeck::log::read::LogReader;
use stribeck_core::wire::block::Record;

fn log(folder: &Path) -> PathBuf {
    let path = folder.join("run.mcap");
    let (code, _, err) = run(&[
        "simulate",
        "--seconds",
        "2",
        "--noise",
        "2",
        "--note",
        "new bearing",
        "-o",
        arg(&path),
    ]);
    assert_eq!(code, 0, "{err}");
    path
}

/// Every tick of the log: tick, raw, counts; and every state word.
type Ticks = Vec<(u64, [u32; 2], [i32; 2])>;

fn truth(path: &Path) -> (Ticks, Vec<(u64, [u32; 8])>) {
    let mut reader = LogReader::open(path).unwrap();
    let mut session = Session::log(false);
    let mut angles = None;
    let (mut ticks, mut states) = (Vec::new(), Vec::new());
    while let Some(item) = reader.read_next().unwrap() {
        if !item.topic.is_wire() {
            continue;
        }
        session
            .bytes::<()>(item.data, |event| {
                match event {
                    SessionEvent::Hello { hello, .. } => {
                        angles.get_or_insert_with(|| Angles::new(&hello.config().unwrap()));
                    }
                    SessionEvent::Block { block, .. } => {
                        let angles = angles.as_mut().unwrap();
                        angles.block(block, |c, _| ticks.push((c.tick, c.raw, c.counts)));
                        for (tick, record) in block.records() {
                            if let Record::States(s) = record {
                                let words = [s.uas_q, s.uas_w, s.ekf_q, s.ekf_w].concat();
                                let bits: Vec<u32> = words.iter().map(|x| x.to_bits()).collect();
                                states.push((tick, bits.try_into().unwrap()));
                            }
                        }
                    }
                    _ => {}
                }
                Ok(())
            })
            .unwrap();
    }
    (ticks, states)
}

#[test]
fn csv_reads_back_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path());
    let (ticks, states) = truth(&path);
    let table = folder.path().join("ticks.csv");
    let (code, out, err) = run(&["export", arg(&path), "-o", arg(&table)]);
    assert_eq!(code, 0, "{out}{err}");
    let text = std::fs::read_to_string(&table).unwrap();
    let mut lines = text.lines();
    // The names come first and alone: pandas and DuckDB take the first line for the header (ci/readers).
    assert_eq!(
        lines.next().unwrap(),
        "segment,tick,time,raw0,raw1,count0,count1,theta0,theta1"
    );
    let mut rows = 0;
    for (line, (tick, raw, counts)) in lines.zip(&ticks) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[1].parse::<u64>().unwrap(), *tick);
        assert_eq!(
            [cells[3], cells[4]].map(|c| c.parse::<u32>().unwrap()),
            *raw
        );
        assert_eq!(
            [cells[5], cells[6]].map(|c| c.parse::<i32>().unwrap()),
            *counts
        );
        rows += 1;
    }
    assert_eq!(rows, 20_000);

    let table = folder.path().join("states.csv");
    run(&["export", arg(&path), "--table", "states", "-o", arg(&table)]);
    let text = std::fs::read_to_string(&table).unwrap();
    let rows: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(rows.len(), states.len());
    for (line, (tick, words)) in rows.iter().zip(&states) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[1].parse::<u64>().unwrap(), *tick);
        for (cell, word) in cells[3..].iter().zip(words) {
            assert_eq!(cell.parse::<f32>().unwrap().to_bits(), *word);
        }
    }
}

#[test]
fn parquet_reads_back_to_the_same_bits_with_units() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path());
    let (ticks, states) = truth(&path);
    let read = |name: &str| {
        let file = std::fs::File::open(folder.path().join(name)).unwrap();
        SerializedFileReader::new(file).unwrap()
    };

    let table = folder.path().join("ticks.parquet");
    let (code, out, err) = run(&["export", arg(&path), "-o", arg(&table)]);
    assert_eq!(code, 0, "{out}{err}");
    let reader = read("ticks.parquet");
    let metadata = reader
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .unwrap();
    let unit = metadata.iter().find(|kv| kv.key == "unit.theta1").unwrap();
    assert_eq!(unit.value.as_deref(), Some("rad"));
    let said = |key: &str| {
        let found = metadata.iter().find(|kv| kv.key == key);
        found.and_then(|kv| kv.value.clone()).unwrap_or_default()
    };
    assert_eq!(
        (said("source"), said("table")),
        ("run.mcap".into(), "ticks".into())
    );
    assert_eq!(said("note.000"), "new bearing");
    let shown = run(&["config", "show", arg(&path)]).1;
    assert!(said("config").contains("[ekf]") && shown.contains(said("config").trim()));
    let mut rows = 0;
    for (row, (tick, raw, counts)) in reader.get_row_iter(None).unwrap().zip(&ticks) {
        let row = row.unwrap();
        let fields: Vec<&Field> = row.get_column_iter().map(|(_, f)| f).collect();
        assert_eq!(fields[1], &Field::ULong(*tick));
        assert_eq!(
            [fields[3], fields[4]],
            [&Field::UInt(raw[0]), &Field::UInt(raw[1])]
        );
        assert_eq!(
            [fields[5], fields[6]],
            [&Field::Int(counts[0]), &Field::Int(counts[1])]
        );
        rows += 1;
    }
    assert_eq!(rows, 20_000);

    let table = folder.path().join("states.parquet");
    run(&["export", arg(&path), "--table", "states", "-o", arg(&table)]);
    let reader = read("states.parquet");
    let mut rows = 0;
    for (row, (_, words)) in reader.get_row_iter(None).unwrap().zip(&states) {
        let row = row.unwrap();
        for ((_, field), word) in row.get_column_iter().skip(3).zip(words) {
            let Field::Float(x) = field else {
                panic!("{field:?}")
            };
            assert_eq!(x.to_bits(), *word);
        }
        rows += 1;
    }
    assert_eq!(rows, states.len());
}

#[test]
fn a_csv_has_units_configuration_and_notes_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path());
    let table = folder.path().join("ticks.csv");
    let beside = folder.path().join("ticks.csv-metadata.json");
    let (code, out, err) = run(&["export", arg(&path), "-o", arg(&table), "--json"]);
    assert_eq!(code, 0, "{out}{err}");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["metadata"]["notes"][0], "new bearing");
    let text = std::fs::read_to_string(&beside).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["url"], "ticks.csv");
    let columns = value["tableSchema"]["columns"].as_array().unwrap();
    assert_eq!(columns[7]["name"], "theta0");
    assert_eq!(columns[7]["dc:description"], "[rad]");
    let notes = &value["notes"][0];
    assert_eq!(notes["note.000"], "new bearing");
    assert!(notes["config"].as_str().unwrap().contains("[ekf]"));
    // What stands beside a table is not overwritten unasked either.
    std::fs::remove_file(&table).unwrap();
    std::fs::write(&beside, "mine").unwrap();
    let (code, _, err) = run(&["export", arg(&path), "-o", arg(&table)]);
    assert_eq!(code, 1, "{err}");
    assert_eq!(std::fs::read(&beside).unwrap(), b"mine");
    assert!(!table.exists());
}

#[test]
fn an_unknown_ending_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path());
    let table = folder.path().join("run.xlsx");
    let (code, _, err) = run(&["export", arg(&path), "-o", arg(&table)]);
    assert_eq!(code, 7);
    assert!(err.contains(".parquet"), "{err}");
}
