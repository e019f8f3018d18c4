//! What `--json` prints, against docs/json.schema.json: every name that is printed is there, with its type, and none is missing.

mod board;

use std::collections::BTreeSet;
use std::path::Path;

use board::{arg, run};
use clap::CommandFactory;
use serde_json::{Value, json};

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/json.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The words of JSON Schema that the file uses; any other is a mistake here or there.
const WORDS: [&str; 10] = [
    "$ref",
    "additionalProperties",
    "anyOf",
    "description",
    "enum",
    "items",
    "prefixItems",
    "properties",
    "required",
    "type",
];

/// What is wrong with `value` at `place`. Stricter than the schema: a name that it does not list is wrong.
fn wrong(all: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let Some(words) = schema.as_object() else {
        panic!("{place}: not a schema: {schema}");
    };
    for word in words.keys() {
        assert!(WORDS.contains(&word.as_str()), "{place}: {word}");
    }
    if let Some(path) = words.get("$ref") {
        let name = path.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
        return wrong(all, &all["$defs"][name], value, place);
    }
    if let Some(forms) = words.get("anyOf").and_then(Value::as_array) {
        let found: Vec<_> = forms.iter().map(|s| wrong(all, s, value, place)).collect();
        return match found.iter().any(Vec::is_empty) {
            true => Vec::new(),
            false => found.into_iter().flatten().collect(),
        };
    }
    if let Some(allowed) = words.get("enum").and_then(Value::as_array) {
        return match allowed.contains(value) {
            true => Vec::new(),
            false => vec![format!("{place}: {value} is none of {allowed:?}")],
        };
    }
    let is = |kind: &Value| match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{place}: type {other}"),
    };
    let fits = match &words["type"] {
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    if !fits {
        return vec![format!("{place}: {value} is not {}", words["type"])];
    }
    let mut found = Vec::new();
    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
        let schema = words
            .get("prefixItems")
            .map_or_else(|| &words["items"], |p| &p[i]);
        found.extend(wrong(all, schema, item, &format!("{place}[{i}]")));
    }
    let (listed, others) = (words.get("properties"), words.get("additionalProperties"));
    for (name, inner) in value.as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        match listed.and_then(|p| p.get(name)).or(others) {
            Some(schema) => found.extend(wrong(all, schema, inner, &place)),
            None if listed.is_some() => found.push(format!("{place}: not in the schema")),
            None => {}
        }
    }
    let required = words.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if value.is_object() && value.get(name).is_none() {
            found.push(format!("{place}: no {name}"));
        }
    }
    found
}

/// Run a command with `--json` and compare.
fn check(schema: &Value, entry: &str, args: &[&str]) {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let (_, out, err) = run(&args);
    let value: Value =
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{entry}: {e}\n{out}\n{err}"));
    let found = wrong(schema, &schema["$defs"][entry], &value, entry);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_output_is_as_its_schema_says() {
    let all = schema();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| arg(&folder.path().join(name)).to_owned();
    let log = file("run.mcap");
    let faults = [
        "drop@1:3",
        "corrupt@1.5:1",
        "duplicate@2:1",
        "reorder@2.5:1",
    ];
    let mut simulate = vec!["simulate", "--seconds", "6", "-o", &log];
    simulate.extend(faults.iter().flat_map(|f| ["--fault", f]));
    check(&all, "simulate", &simulate);
    check(&all, "info", &["info", &log]);
    check(&all, "info", &["info", "--scan", &log]);
    check(
        &all,
        "note",
        &["note", &log, "--note", "oiled", "--temperature", "21"],
    );
    check(
        &all,
        "replay",
        &["replay", &log, "--override", "ekf.drag=true"],
    );
    check(&all, "report", &["report", &log, "-o", &file("run.html")]);
    check(&all, "export", &["export", &log, "-o", &file("run.csv")]);
    check(&all, "identify", &["identify", &log, "--method", "all"]);
    let two = ["identify", &log, &log, "--method", "energy"];
    check(&all, "identify", &two);
    let bytes = std::fs::read(&log).unwrap();
    let cut = file("cut.mcap");
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    check(
        &all,
        "recover",
        &["recover", &cut, "-o", &file("saved.mcap")],
    );
    let short = ["capture", "--from", "sim", "--seconds", "0.3", "-o"];
    check(
        &all,
        "capture",
        &[&short[..], &[&file("short.mcap")]].concat(),
    );
    let rig = file("rig.toml");
    std::fs::write(&rig, "[plant.Furuta]\ntilt = 0.0\n[drive]\n").unwrap();
    let drive = ["drive", "--from", "sim", "--rig", &rig, "--mode", "excite"];
    let rest = ["--seconds", "0.3", "-o", &file("driven.mcap")];
    check(&all, "drive", &[&drive[..], &rest[..]].concat());
    check(
        &all,
        "demo",
        &["demo", "--seconds", "6", "-o", &file("demo")],
    );
    check(&all, "config", &["config", "show"]);
    check(&all, "doctor", &["doctor", "--port", &file("no-port")]);
    check(&all, "bond", &["bond", "rlc"]);
    check(&all, "bond_motion", &["bond", "rlc", "--simulate", "0.01"]);
    check(&all, "derive", &["derive", "cartpole", "--steps"]);
    check(&all, "paper_002", &["paper", "002"]);
    check(&all, "paper_004", &["paper", "004"]);
    check(&all, "study", &["study", "--runs", "1", "--seconds", "6"]);
    let campaign = file("c.toml");
    let text = "output = \"out\"\n[simulation]\nseeds = 2\nseconds = 6.0\n[simulation.vary]\nnoise_counts = [0.0, 2.0]\n";
    let text = format!("{text}[identify]\nmethods = [\"energy\", \"logdec\"]\nexact = true\n");
    std::fs::write(&campaign, text).unwrap();
    check(&all, "campaign_plan", &["campaign", "plan", &campaign]);
    let shard = ["campaign", "shard", &campaign, "--index", "1", "--of", "2"];
    check(&all, "campaign_shard", &shard);
    check(&all, "campaign_status", &["campaign", "status", &campaign]);
    check(&all, "campaign_run", &["campaign", "run", &campaign]);
    check(&all, "campaign_report", &["campaign", "report", &campaign]);
}

#[test]
fn every_command_that_prints_json_has_a_schema() {
    let names: BTreeSet<String> = schema()["$defs"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    let prints = |c: &clap::Command| c.get_arguments().any(|a| a.get_id() == "json");
    let program = stribeck::cli::Cli::command();
    let commands = program.get_subcommands();
    let printing = commands.filter(|c| prints(c) || c.get_subcommands().any(prints));
    let mut seen = 0;
    for command in printing {
        seen += 1;
        let name = command.get_name();
        let papers = ["000", "002", "003", "004"].map(|p| format!("{name}_{p}"));
        let documented = names.contains(name) || papers.iter().all(|p| names.contains(p));
        assert!(
            documented,
            "docs/json.schema.json has no entry for `{name}`"
        );
    }
    assert!(seen >= 16, "only {seen} commands with --json");
}

/// The comparison itself: what must not pass does not.
#[test]
fn the_comparison_finds_what_is_wrong() {
    let all = schema();
    let judge = |entry: &str, value: &Value| wrong(&all, &all["$defs"][entry], value, entry);
    let right = json!({ "seq": 1, "from": 2, "to": 3 });
    assert!(judge("stray", &right).is_empty());
    for (name, value) in [
        ("from", json!("2")),
        ("from", json!(null)),
        ("from", json!(2.5)),
        ("extra", json!(1)),
    ] {
        let mut bad = right.clone();
        bad[name] = value;
        assert_eq!(judge("stray", &bad).len(), 1, "{bad}");
    }
    assert_eq!(judge("stray", &json!({ "seq": 1, "from": 2 })).len(), 1);
    assert_eq!(judge("stray", &json!([])).len(), 1);
}
