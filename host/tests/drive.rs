//! A motor from the command line: armed, recorded, replayed, stopped for every reason there is, on the native twin.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A vertical Furuta pendulum with a motor on its arm.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("rig.toml"),
        "[plant.Furuta]\ntilt = 0.0\n[drive.motor]\ntorque_limit = 0.1\n",
    )
    .unwrap();
    folder
}

fn stribeck(folder: &Path, args: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stribeck"))
        .current_dir(folder)
        .args(args.split_whitespace())
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn replays(folder: &Path, log: &str) {
    let replay = stribeck(folder, &format!("replay {log}"));
    assert_eq!(replay.status.code(), Some(0), "{}", text(&replay));
    assert!(
        text(&replay).contains("0 differing bits"),
        "{}",
        text(&replay)
    );
}

#[test]
fn a_simulated_drive_replays_and_its_torque_is_exported() {
    let folder = folder();
    let at = folder.path();
    let made = stribeck(
        at,
        "simulate --rig rig.toml --start 0,0 --hold 0 --drive track --shape sine --amplitude 0.15 --low-hz 0.5 --seconds 3 -o a.mcap",
    );
    assert_eq!(made.status.code(), Some(0), "{}", text(&made));
    replays(at, "a.mcap");
    let table = stribeck(at, "export a.mcap --table drive -o a.csv");
    assert_eq!(table.status.code(), Some(0), "{}", text(&table));
    let csv = std::fs::read_to_string(at.join("a.csv")).unwrap();
    let header = csv.lines().find(|l| l.contains("reference")).unwrap();
    assert!(header.contains("duty") && header.contains(",u"), "{header}");
    let driven = csv.lines().filter(|l| l.split(',').nth(3) == Some("2"));
    assert!(driven.count() > 100, "{header}");
}

#[test]
fn a_drive_ends_with_the_motor_off() {
    let folder = folder();
    let at = folder.path();
    let timed = stribeck(
        at,
        "drive --from sim --rig rig.toml --start 0,0 --hold 0 --mode excite --shape sine --amplitude 0.02 --seconds 1 -o b.mcap",
    );
    assert_eq!(timed.status.code(), Some(0), "{}", text(&timed));
    assert!(text(&timed).contains("armed Excite"), "{}", text(&timed));
    assert!(text(&timed).contains("driving → idle"), "{}", text(&timed));
    replays(at, "b.mcap");
}

#[test]
fn a_device_that_turns_the_motor_off_is_an_error_with_its_cause() {
    let folder = folder();
    let at = folder.path();
    let limited = stribeck(
        at,
        "drive --from sim --rig rig.toml --start 0,0 --hold 0 --mode excite --offset 0.08 --limit angle=[0.3,0.0] --seconds 9 -o c.mcap",
    );
    assert_eq!(limited.status.code(), Some(8), "{}", text(&limited));
    assert!(text(&limited).contains("a joint left its range"));
    replays(at, "c.mcap");
    let blind = stribeck(
        at,
        "drive --from sim --rig rig.toml --start 0,0 --hold 0 --mode track --shape sine --amplitude 0.15 --low-hz 0.5 \
         --fault stuck@1:50000:0 --seconds 9 -o d.mcap",
    );
    assert_eq!(blind.status.code(), Some(8), "{}", text(&blind));
    replays(at, "d.mcap");
}

#[test]
fn what_cannot_be_driven_is_refused_before_anything_moves() {
    let folder = folder();
    let at = folder.path();
    for (args, says) in [
        ("drive --from sim --mode balance -o e.mcap", "passive rig"),
        ("drive --from sim --rig rig.toml -o e.mcap", "needs a mode"),
        (
            "drive --from sim --rig rig.toml --mode track --limit duty=7 -o e.mcap",
            "drive.limits.duty",
        ),
        (
            "drive --from sim --rig rig.toml --mode track --limit duty -o e.mcap",
            "NAME=VALUE",
        ),
        ("simulate --mode track -o e.mcap", "passive"),
    ] {
        // What the device said before it was refused is kept.
        let refused = stribeck(at, &format!("{args} --force"));
        assert_eq!(refused.status.code(), Some(7), "{args}: {}", text(&refused));
        assert!(text(&refused).contains(says), "{args}: {}", text(&refused));
    }
}
