//! Campaigns: whoever computes what, and whatever dies, the dataset has the same bytes; what is wrong with an input is its row.
#![cfg(feature = "campaign")]
// Signals are made with the platform's mathematics.
#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use stribeck::campaign::pool::pool;
use stribeck::campaign::slurm::{self, Resources};
use stribeck::campaign::spec::Variable;
use stribeck::campaign::{chunk, plan, result::Status, table};
use stribeck::identify::data::import::Table;
use stribeck::stribeck_core::model::sim::Rng;
use stribeck::stribeck_core::wire::NUMERICS;

/// Pendulums with any encoder, by the two quick methods: a run takes some milliseconds.
const QUICK: &str = r#"
output = "out"
[simulation]
bench = "one-joint"
seeds = 24
[identify]
methods = ["energy", "logdec"]
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(campaign: &str) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("c.toml", campaign);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stribeck"));
        command.arg("campaign").args(args).current_dir(&self.0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn ok(&self, args: &[&str]) -> String {
        let out = self.run(args);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{args:?}: {:?}\n{said}", out.status);
        String::from_utf8(out.stdout).unwrap()
    }

    /// Exit code and standard error.
    fn fails(&self, args: &[&str]) -> (i32, String) {
        let out = self.run(args);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        (out.status.code().unwrap(), said)
    }

    /// Names and bytes of the dataset.
    fn dataset(&self) -> Vec<(String, Vec<u8>)> {
        let mut out = Vec::new();
        files(&self.path("out/results"), &mut out);
        assert!(!out.is_empty(), "no dataset");
        let root = self.path("out/results");
        let relative = |p: PathBuf| {
            p.strip_prefix(&root)
                .unwrap()
                .to_string_lossy()
                .into_owned()
        };
        let read = |p: PathBuf| (relative(p.clone()), std::fs::read(p).unwrap());
        out.sort();
        out.into_iter().map(read).collect()
    }

    fn results(&self) -> Vec<stribeck::campaign::result::RunResult> {
        let plan = plan::open(&self.path("c.toml")).unwrap();
        let chunks = 0..plan.chunks();
        chunks
            .flat_map(|c| chunk::read(&plan, c).unwrap())
            .collect()
    }
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, into),
            false => into.push(path),
        }
    }
}

fn serial(campaign: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Folder::new(campaign);
    folder.ok(&["run", "c.toml", "--threads", "1"]);
    folder.dataset()
}

#[test]
fn shards_in_any_order_repeated_and_killed_give_the_bytes_of_a_serial_run() {
    let expected = serial(QUICK);
    assert_eq!(expected.len(), 2, "one part for each method");
    assert!(expected[0].0.starts_with("method=energy"));

    let folder = Folder::new(QUICK);
    // Two processes at once on one shard, one of them killed, then all shards backwards, some twice.
    let mut first = folder.command(&["shard", "c.toml", "--index", "2", "--of", "7"]);
    let mut first = first.spawn().unwrap();
    folder.ok(&["shard", "c.toml", "--index", "2", "--of", "7"]);
    first.kill().unwrap();
    first.wait().unwrap();
    let (code, said) = folder.fails(&["merge", "c.toml"]);
    assert!(code == 5 && said.contains("missing"), "{code}: {said}");
    for index in [6, 5, 4, 3, 2, 1, 0, 4] {
        folder.ok(&[
            "shard",
            "c.toml",
            "--of",
            "7",
            "--index",
            &index.to_string(),
        ]);
    }
    folder.ok(&["merge", "c.toml"]);
    assert!(folder.dataset() == expected);
    // Again changes nothing, not even a time stamp.
    let part = folder.path("out/results/method=energy/part-00000.parquet");
    let before = part.metadata().unwrap().modified().unwrap();
    folder.ok(&["merge", "c.toml"]);
    assert_eq!(part.metadata().unwrap().modified().unwrap(), before);
    let (code, said) = folder.fails(&["shard", "c.toml", "--index", "7", "--of", "7"]);
    assert!(code == 7 && said.contains("no shard 7 of 7"), "{said}");
}

#[test]
fn killed_at_any_moment_it_goes_on_and_ends_with_the_same_bytes() {
    let expected = serial(QUICK);
    let folder = Folder::new(QUICK);
    let mut kills = 0;
    for pause in (1..60).map(|i| 3 + 7 * i % 40) {
        let mut child = folder.command(&["run", "c.toml"]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    folder.ok(&["run", "c.toml"]);
    assert!(kills > 0, "nothing was killed");
    assert!(folder.dataset() == expected);
}

#[test]
fn every_wrong_input_is_a_row_with_its_reason() {
    let folder = Folder::new(
        r#"
output = "out"
[[input]]
files = ["runs/*.csv", "runs/oil-20C-1.csv", "missing.csv"]
pattern = "{grease}-{temperature}C-{n}"
[input.table]
unit = "deg"
[identify]
methods = ["energy"]
"#,
    );
    let swing = |start: f64, damping: f64| {
        let row = |i: i32| {
            let t = f64::from(i) * 0.01;
            format!("{t},{}\n", start * (-damping * t).exp() * (5.0 * t).cos())
        };
        "t,angle\n".to_string() + &(0..2000).map(row).collect::<String>()
    };
    folder.write("runs/oil-20C-1.csv", &swing(40.0, 0.05));
    folder.write("runs/oil-20C-2.csv", &swing(45.0, 0.05));
    folder.write("runs/oil-40C-1.csv", &swing(40.0, 0.02));
    folder.write("runs/oil-40C-2.csv", &swing(40.0, 0.05));
    folder.write("runs/oil-60C-1.csv", "t,angle\n0,nothing\n");
    folder.write("runs/named-otherwise.csv", &swing(41.0, 0.04));
    std::fs::create_dir(folder.path("runs/oil-80C-1.csv")).unwrap();
    folder.ok(&["plan", "c.toml"]);
    folder.write("runs/oil-20C-2.csv", &swing(46.0, 0.05));
    let out = folder.run(&["run", "c.toml"]);
    assert_eq!(out.status.code(), Some(3), "{out:?}");
    let results = folder.results();
    let said: Vec<(String, Status, String)> = {
        let plan = plan::open(&folder.path("c.toml")).unwrap();
        let of = |r: &stribeck::campaign::result::RunResult| {
            let j = &r.judgements[0];
            (
                plan.input(r.run),
                j.status,
                j.reason.clone().unwrap_or_default(),
            )
        };
        results.iter().map(of).collect()
    };
    let expected = [
        ("missing.csv", Status::Failed, "cannot read missing.csv"),
        (
            "runs/named-otherwise.csv",
            Status::Failed,
            "does not match the pattern",
        ),
        ("runs/oil-20C-1.csv", Status::Ok, ""),
        (
            "runs/oil-20C-2.csv",
            Status::Failed,
            "changed after the campaign was planned",
        ),
        ("runs/oil-40C-1.csv", Status::Ok, ""),
        (
            "runs/oil-40C-2.csv",
            Status::Duplicate,
            "the same bytes as runs/oil-20C-1.csv",
        ),
        ("runs/oil-60C-1.csv", Status::Failed, "oil-60C-1.csv"),
        (
            "runs/oil-80C-1.csv",
            Status::Failed,
            "cannot read runs/oil-80C-1.csv",
        ),
    ];
    assert_eq!(said.len(), expected.len(), "{said:?}");
    for ((input, status, reason), (i, s, r)) in said.iter().zip(expected) {
        assert!(
            input == i && *status == s && reason.contains(r),
            "{input}: {status:?} {reason}"
        );
    }
    // The report links what it lists and knows the variables of the names.
    folder.ok(&["report", "c.toml", "-o", "page.html"]);
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    for text in [
        "Friction against temperature",
        "file://",
        "does not match",
        "hold the same bytes",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

/// The dataset holds what `identify` prints, to the last bit.
#[test]
fn rows_have_the_numbers_of_identify() {
    let folder = Folder::new(
        "output = \"out\"\n[[input]]\nfiles = [\"*.mcap\"]\n[identify]\nmethods = [\"energy\"]\nexact = true\n",
    );
    let stribeck = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stribeck"));
        command.args(args).current_dir(&folder.0).output().unwrap()
    };
    assert!(
        stribeck(&["simulate", "--seconds", "6", "-o", "a.mcap"])
            .status
            .success()
    );
    folder.ok(&["run", "c.toml"]);
    let out = stribeck(&[
        "identify", "a.mcap", "--method", "energy", "--exact", "--json",
    ]);
    let printed: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let estimates = printed[0]["results"][0]["estimates"].as_array().unwrap();
    let part = folder.path("out/results/method=energy/part-00000.parquet");
    let table = Table::read(&part, None).unwrap();
    let values = table.column(&part, "value").unwrap();
    assert_eq!(values.len(), estimates.len());
    for (value, e) in values.iter().zip(estimates) {
        assert_eq!(
            value.to_bits(),
            e["value"].as_f64().unwrap().to_bits(),
            "{e}"
        );
    }
    assert_eq!(
        table.column(&part, "numerics").unwrap()[0],
        f64::from(NUMERICS)
    );
}

#[test]
fn one_folder_is_one_campaign() {
    let folder = Folder::new(QUICK);
    folder.ok(&["plan", "c.toml"]);
    folder.write("c.toml", &QUICK.replace("seeds = 24", "seeds = 25"));
    let (code, said) = folder.fails(&["run", "c.toml"]);
    assert!(
        code == 7 && said.contains("holds another campaign"),
        "{said}"
    );
    // A folder that is somebody else's stays untouched.
    folder.write("c.toml", &QUICK.replace("\"out\"", "\"theirs\""));
    folder.write("theirs/thesis.tex", "…");
    let (code, said) = folder.fails(&["run", "c.toml"]);
    assert!(code == 7 && said.contains("no campaign's folder"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path("theirs")).unwrap().count(), 1);
    // Two at once: the second says so.
    folder.write(
        "c.toml",
        &QUICK
            .replace("seeds = 24", "seeds = 400")
            .replace("\"out\"", "\"two\""),
    );
    folder.ok(&["plan", "c.toml"]);
    let lock = std::fs::File::create(folder.path("two/run.lock")).unwrap();
    lock.lock().unwrap();
    let (code, said) = folder.fails(&["run", "c.toml"]);
    assert!(code == 7 && said.contains("by another process"), "{said}");
    for (bad, text) in [
        ("output = \"o\"\n", "no run is named"),
        ("output = \"o\"\nseed = 3\n", "seed"),
        ("output = \"o\"\n[simulation]\nseeds = 0\n", "seeds is 0"),
        (
            "output = \"o\"\n[simulation]\nseeds = 1\n[identify]\nmethods = [\"magic\"]\n",
            "magic",
        ),
        (
            "output = \"o\"\n[[input]]\nfiles = [\"*.nothing\"]\n",
            "no file matches",
        ),
        (
            "output = \"o\"\n[[input]]\nfiles = [\"c.toml\"]\nvariables = { value = 3 }\n",
            "\"value\"",
        ),
    ] {
        folder.write("bad.toml", bad);
        let (code, said) = folder.fails(&["run", "bad.toml"]);
        assert!(
            code == 7 && said.contains(text) && said.contains("help:"),
            "{text}: {said}"
        );
    }
}

/// A chunk that does not fit leaves an error and no half file; with room it goes on.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing() {
    let campaign = QUICK.replace("seeds = 24", "seeds = 6");
    let folder = Folder::new(&campaign);
    let script = format!(
        "trap '' XFSZ; ulimit -f 2; exec {} campaign run c.toml",
        env!("CARGO_BIN_EXE_stribeck")
    );
    let out = Command::new("sh")
        .args(["-c", &script])
        .current_dir(&folder.0)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write"), "{said}");
    folder.ok(&["run", "c.toml"]);
    assert!(folder.dataset() == serial(&campaign));
}

#[test]
fn a_damaged_chunk_is_named_and_computed_anew() {
    let folder = Folder::new(QUICK);
    folder.ok(&["run", "c.toml"]);
    let expected = folder.dataset();
    std::fs::remove_dir_all(folder.path("out/results")).unwrap();
    let chunk = folder.path("out/chunks/000/000007.jsonl");
    let text = std::fs::read_to_string(&chunk).unwrap();
    std::fs::write(&chunk, text.replacen("0.", "1.", 1)).unwrap();
    let (code, said) = folder.fails(&["merge", "c.toml"]);
    assert!(
        code == 7 && said.contains("000007") && said.contains("delete this file"),
        "{said}"
    );
    assert!(
        !folder
            .path("out/results/method=energy/part-00000.parquet")
            .exists()
    );
    std::fs::remove_file(chunk).unwrap();
    folder.ok(&["run", "c.toml"]);
    assert!(folder.dataset() == expected);
}

/// A design with known truth: levels are pooled, coverage is that of the study on the same seeds.
#[test]
fn the_report_knows_truth_and_levels() {
    let folder = Folder::new(
        r#"
output = "out"
[simulation]
seeds = 3
seconds = 6.0
[simulation.scenario]
noise_counts = 2.0
[simulation.vary]
"friction[1].mu_d" = [5e-4, 8e-4]
[identify]
methods = ["energy"]
exact = true
"#,
    );
    folder.ok(&["run", "c.toml"]);
    let said = folder.ok(&["report", "c.toml", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    let found = report["report"]["found"].as_array().unwrap();
    let of = |id: &str| found.iter().find(|f| f["parameter"] == id).unwrap();
    // Its truth differs between the levels, so nothing is pooled over them, but each level stands.
    assert!(of("mu_d1")["pooled"].is_null());
    assert!(!of("mu_v1")["pooled"].is_null());
    let results = folder.results();
    assert_eq!(results.len(), 6);
    for (r, truth) in results.iter().zip([5e-4, 5e-4, 5e-4, 8e-4, 8e-4, 8e-4]) {
        let e = r.judgements[0]
            .estimates
            .iter()
            .find(|e| e.id == "mu_d1")
            .unwrap();
        assert_eq!(e.truth, Some(truth));
        let near = (e.value.unwrap() - truth).abs() < 0.2 * truth;
        assert!(near, "{e:?}");
    }
    assert_eq!(report["report"]["coverage"].as_array().unwrap().len(), 2);
}

#[test]
fn variables_are_read_from_names() {
    let found = plan::captures("{grease}_{temperature}C-{n}", "lithium_40C-3").unwrap();
    let expected = [
        ("grease".to_string(), Variable::Text("lithium".into())),
        ("temperature".to_string(), Variable::Number(40.0)),
        ("n".to_string(), Variable::Number(3.0)),
    ];
    assert_eq!(found, expected);
    for (pattern, name) in [
        ("{t}C", "40K"),
        ("a{t}", "b4"),
        ("{t}C", "40C-again"),
        ("{t", "4"),
    ] {
        assert!(plan::captures(pattern, name).is_err(), "{pattern} {name}");
    }
    assert_eq!(table::column_name("friction[1].mu_d"), "friction_1_mu_d");
    let check = |n: &str| table::check_names(&[n.to_string()]);
    check("temperature").unwrap();
    for bad in ["value", "method", "a b", "", "1st", "größe"] {
        assert!(check(bad).is_err(), "{bad}");
    }
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(plan::sha256(b"abc"), abc);
}

#[test]
fn equal_errors_without_excess_give_the_plain_mean() {
    let p = pool(&[(1.0, 0.1), (1.05, 0.1), (0.95, 0.1)]).unwrap();
    assert!((p.mean - 1.0).abs() < 1e-12 && p.between == 0.0);
    // t with two degrees of freedom: 4.303.
    assert!((p.half_width.unwrap() - 4.302_65 * 0.1 / 3f64.sqrt()).abs() < 1e-4);
    assert_eq!(pool(&[]), None);
    assert_eq!(pool(&[(1.0, 0.1)]).unwrap().half_width, None);
}

/// Both scatters are found again, and the interval holds the mean as often as it says.
#[test]
fn scatter_between_runs_is_told_from_that_within() {
    let mut rng = Rng::new(7);
    let (mut covered, mut between) = (0, 0.0);
    let trials = 400;
    for _ in 0..trials {
        let values: Vec<(f64, f64)> = (0..12)
            .map(|_| {
                let s = rng.within(0.05, 0.3);
                (5.0 + 0.5 * rng.normal() + s * rng.normal(), s)
            })
            .collect();
        let p = pool(&values).unwrap();
        covered += u32::from((p.mean - 5.0).abs() <= p.half_width.unwrap());
        between += p.between / f64::from(trials);
    }
    let covered = 100.0 * f64::from(covered) / f64::from(trials);
    assert!((92.0..98.0).contains(&covered), "{covered} %");
    assert!((0.45..0.55).contains(&between), "τ = {between}");
}

#[cfg(unix)]
#[test]
fn paths_with_quotes_and_blanks_survive_the_shell() {
    let resources = Resources {
        shards: 8,
        cpus: 2,
        time: "00:10:00".into(),
        memory: "1G".into(),
        partition: None,
    };
    let campaign = Path::new("/tmp/o'ring $HOME/c.toml");
    let text = slurm::script(Path::new("/bin/stribeck"), campaign, "o'ring", &resources);
    assert!(text.contains("--array=0-7"));
    let head: String = text
        .lines()
        .filter(|l| l.starts_with("campaign="))
        .collect();
    let script = format!("{head}; printf %s \"$campaign\"");
    let out = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&out.stdout),
        campaign.to_string_lossy()
    );
}
