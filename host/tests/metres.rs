//! A joint that slides is in metres from the encoder to the last page: cart-pole through simulate, capture, info, replay, identify, report,
//! export and back from the exported table.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Neither joint has the default scale.
const RIG: &str = "\
[plant.Cartpole]
cart_mass = 0.6

[[encoders]]
counts_per_metre = 20000
[[encoders]]
counts_per_rev = 16384
zero = -8192
";
const SECONDS: &str = "6";

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rig.toml"), RIG).unwrap();
        Bench { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, line: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_stribeck"))
            .current_dir(&self.folder)
            .args(line.split(' '))
            .output()
            .expect("the program runs")
    }

    /// Standard output and error of a command that must succeed.
    fn good(&self, line: &str) -> String {
        let o = self.run(line);
        let text = [o.stdout, o.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(o.status.success(), "{line}: {text}");
        text
    }

    /// Name and unit of every column of an exported CSV.
    fn columns(&self, name: &str) -> String {
        let text = self.read(&format!("{name}-metadata.json"));
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let columns = json["tableSchema"]["columns"].as_array().unwrap();
        let text = |v: &serde_json::Value| v.as_str().unwrap().to_string();
        let named = columns
            .iter()
            .map(|c| text(&c["name"]) + " " + &text(&c["dc:description"]));
        named.collect::<Vec<_>>().join("\n")
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
}

/// The one number in the file's column, first row.
fn first(csv: &str, column: &str) -> f64 {
    let mut lines = csv.lines().filter(|l| !l.starts_with('#'));
    let place = lines.next().unwrap().split(',').position(|c| c == column);
    let place = place.unwrap_or_else(|| panic!("no column {column}"));
    lines
        .next()
        .unwrap()
        .split(',')
        .nth(place)
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn a_cart_is_in_metres_from_the_encoder_to_the_report() {
    let bench = Bench::new();
    let line = format!("simulate --rig rig.toml --start 0.25,120 --seconds {SECONDS} -o run.mcap");
    has(
        &bench.good(&line),
        &["started at 0.25", " m, 120.0", "0 differing bits"],
    );
    let line = format!(
        "capture --from sim --rig rig.toml --arm --start -0.1,120 --seconds {SECONDS} -o captured.mcap"
    );
    has(&bench.good(&line), &["started at -0.10", " m, 120.0"]);
    has(
        &bench.good("info captured.mcap"),
        &["started at -0.10", " m, 120.0"],
    );
    has(
        &bench.good("config show run.mcap"),
        &["counts_per_metre = 20000", "counts_per_rev = 16384"],
    );

    let replayed = bench.good("replay run.mcap --override ekf.drag=true");
    has(
        &replayed,
        &[
            "0 differing bits",
            "N·s/m",
            "N·s²/m²",
            "N·m·s²",
            "m/s, rad/s",
        ],
    );

    let found = bench.good("identify run.mcap --terms coulomb,viscous,stribeck,corner");
    has(&found, &["μd0", "N·s/m", "m/s ", "N·m·s", "rad/s"]);

    bench.good("report run.mcap -o report.html");
    let page = bench.read("report.html");
    has(
        &page,
        &[
            "cart, joint 0",
            "pole, joint 1",
            "x0 [m]",
            "v0 [m/s]",
            "force [mN]",
            "torque [mN·m]",
            "RMS x0 [mm]",
            "cart 0.25",
        ],
    );
    for wrong in ["θ0", "ω0 [rad/s]", ">arm<", "arm, joint 0"] {
        assert!(!page.contains(wrong), "{wrong:?} in the report of a cart");
    }

    exported(&bench);
}

/// Columns are named and measured by the kind of their joint; the table leads back to the same friction.
fn exported(bench: &Bench) {
    bench.good("export run.mcap -o ticks.csv");
    let ticks = bench.read("ticks.csv");
    has(&bench.columns("ticks.csv"), &["x0 [m]", "theta1 [rad]"]);
    // The middle of the count the encoder showed, in metres per count.
    let (count, x) = (first(&ticks, "count0"), first(&ticks, "x0"));
    assert!(
        (x - count / 20_000.0).abs() <= 0.5 / 20_000.0 + 1e-12,
        "{count} counts are not {x} m"
    );
    assert!((x - 0.25).abs() < 1e-3, "held at {x} m");
    bench.good("export run.mcap --table states -o states.csv");
    has(
        &bench.columns("states.csv"),
        &["ekf_x0 [m]", "ekf_v0 [m/s]", "uas_omega1 [rad/s]"],
    );
    bench.good("export run.mcap --table parameters -o parameters.csv");
    has(
        &bench.columns("parameters.csv"),
        &[
            "ekf_mu_d0 [1]",
            "ekf_mu_v0 [N s/m]",
            "ekf_d0 [N s^2/m^2]",
            "ekf_mu_v1 [N m s]",
            "uas_vt0 [m/s]",
            "uas_error [m/s, rad/s]",
        ],
    );
    bench.good("export run.mcap --table events -o events.csv");
    has(&bench.read("events.csv"), &["started at 0.25"]);

    let terms = "--terms coulomb,viscous,stribeck,corner --json";
    let by_log = value(&bench.good(&format!("identify run.mcap {terms}")), "mu_v0");
    let by_table = value(
        &bench.good(&format!(
            "identify ticks.csv --rig rig.toml --counts-per-metre 20000 --counts-per-rev 16384 {terms}"
        )),
        "mu_v0",
    );
    assert!((by_log / 0.1 - 1.0).abs() < 0.05, "{by_log} N·s/m for 0.1");
    assert!(
        (by_table / by_log - 1.0).abs() < 1e-2,
        "{by_table} from the table, {by_log} from the log"
    );

    let unknown =
        bench.run("identify ticks.csv --rig rig.toml --unit counts --angle count0,count1");
    let text = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert_eq!(unknown.status.code(), Some(7), "{text}");
    has(&text, &["--counts-per-metre"]);
}

fn value(text: &str, id: &str) -> f64 {
    let from = text.find(['{', '[']).unwrap();
    let mut json =
        serde_json::Deserializer::from_str(&text[from..]).into_iter::<serde_json::Value>();
    let all = json.next().unwrap().unwrap();
    find(&all, id).unwrap_or_else(|| panic!("no {id} in {text}"))
}

fn find(json: &serde_json::Value, id: &str) -> Option<f64> {
    if json["id"] == id {
        return json["value"].as_f64();
    }
    let inner: Vec<&serde_json::Value> = match json {
        serde_json::Value::Array(list) => list.iter().collect(),
        serde_json::Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    };
    inner.into_iter().find_map(|j| find(j, id))
}

#[test]
fn a_wrong_scale_is_refused_by_name() {
    let bench = Bench::new();
    std::fs::write(
        bench.path("bad.toml"),
        RIG.replace("counts_per_metre = 20000", "counts_per_rev = 20000"),
    )
    .unwrap();
    let o = bench.run("config validate bad.toml");
    let text = String::from_utf8_lossy(&o.stderr).into_owned();
    assert_eq!(o.status.code(), Some(7), "{text}");
    has(&text, &["encoders[0].counts_per_rev", "counts_per_metre"]);
}
