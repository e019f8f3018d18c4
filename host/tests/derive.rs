//! `stribeck derive` and `stribeck paper 002`: what they print, what they refuse, what they exit with.

use std::process::{Command, Output};

fn stribeck(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stribeck"))
        .args(args)
        .output()
        .expect("the program runs")
}

fn text(o: &Output) -> String {
    String::from_utf8_lossy(&o.stdout).into_owned()
}

fn json(args: &[&str]) -> serde_json::Value {
    let o = stribeck(args);
    assert!(
        o.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&o.stderr)
    );
    serde_json::from_slice(&o.stdout).expect("JSON")
}

#[test]
fn the_proofs_are_printed_and_hold() {
    for name in [
        "pendulum",
        "furuta",
        "cartpole",
        "acrobot",
        "reactionwheel",
        "rollingdisc",
        "nlink3",
    ] {
        let o = stribeck(&["derive", name, "--check"]);
        let t = text(&o);
        assert!(
            o.status.success() && t.contains("Lagrange = Kane") && t.contains("probability"),
            "{name}: {t}"
        );
        assert!(!t.contains("DIFFERENT"), "{t}");
        let j = json(&["derive", name, "--json"]);
        assert_eq!(j["proof"]["holds"], true);
    }
}

#[test]
fn steps_come_in_the_papers_order() {
    let t = text(&stribeck(&[
        "derive", "acrobot", "--steps", "--method", "kane",
    ]));
    let at = |s: &str| t.find(s).unwrap_or_else(|| panic!("{s}: {t}"));
    let order = [
        "ω of B",
        "v of B",
        "α of B",
        "a of B",
        "M of B",
        "∂v/∂u of B",
        "F of theta1_d",
        "F* of theta1_d",
    ];
    assert!(order.map(at).is_sorted());
    assert!(
        !t.contains("Lagrange\n")
            && t.contains("Joint reactions")
            && t.contains("4 of 4 states are controllable")
    );
}

#[test]
fn the_page_is_self_contained() {
    let t = text(&stribeck(&["derive", "cartpole", "--format", "html"]));
    assert!(t.starts_with("<!doctype html>") && t.trim_end().ends_with("</html>"));
    for part in [
        "<h2>Lagrange</h2>",
        "<h2>Kane</h2>",
        "Lagrange = Kane",
        "id=\"view\"",
        "id=\"trace\"",
        "Paper 002, printed and derived",
    ] {
        assert!(t.contains(part), "{part}");
    }
    assert!(!t.contains("http://") && !t.contains("https://") && !t.contains("src="));
}

#[test]
fn a_bad_description_is_refused_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.toml");
    std::fs::write(&path, "name = \"x\"\n[[body]]\nname = \"A\"\njoint = \"revolute\"\ncoordinate = \"q\"\naxis = \"w\"\n").unwrap();
    let o = stribeck(&["derive", path.to_str().unwrap()]);
    let e = String::from_utf8_lossy(&o.stderr);
    assert_eq!(o.status.code(), Some(7));
    assert!(
        e.contains("bad.toml: line 6: axis `w`") && e.contains("help:"),
        "{e}"
    );
    assert_eq!(stribeck(&["derive", "nobody"]).status.code(), Some(7));
    assert_eq!(stribeck(&["derive", "missing.toml"]).status.code(), Some(6));
}

#[test]
fn the_source_of_a_plant_is_the_one_in_the_repository() {
    let kept = include_str!("../../shared/src/model/plant/cartpole.rs");
    assert_eq!(
        text(&stribeck(&["derive", "cartpole", "--format", "rust"])),
        kept
    );
    let o = stribeck(&["derive", "nlink2", "--format", "rust"]);
    assert!(String::from_utf8_lossy(&o.stderr).contains("two joints"));
}

#[test]
fn paper_002_is_judged() {
    let j = json(&["paper", "002", "--json"]);
    assert_eq!(
        (j["formulas"].as_u64(), j["right"].as_u64()),
        (Some(39), Some(20))
    );
    let t = text(&stribeck(&["paper", "002"]));
    assert!(t.contains("39 formulas; 20 right as printed, 19 not") && t.contains("units    adds"));
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (page, mine) = (at("page.html"), at("mine.toml"));
    let description = include_str!("../../derive/mechanisms/pendulum.toml");
    std::fs::write(&mine, description).unwrap();
    let write =
        |args: &[&str]| stribeck(&[&["derive", &mine, "--format", "html", "-o"], args].concat());
    assert!(write(&[&page]).status.success());
    let again = write(&[&page]);
    assert!(!again.status.success(), "a page that exists is kept");
    assert!(String::from_utf8_lossy(&again.stderr).contains("--force"));
    assert!(write(&[&page, "--force"]).status.success());
    assert!(!write(&[&mine, "--force"]).status.success());
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), description);
}
