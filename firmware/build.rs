//! Links with the memory.x at the top of the workspace, on-target tests with embedded-test's script, and
//! names the build after version and source revision.

use std::path::Path;
use std::process::Command;

fn main() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    println!("cargo:rustc-link-search={}", workspace.display());
    println!("cargo:rerun-if-changed=../memory.x");
    println!("cargo:rustc-link-arg-tests=-Tembedded-test.x");
    println!("cargo:rustc-env=STRIBECK_BUILD={}", build_name());
}

/// "0.1.0 3fa2b1c", with "+" after the revision if the sources were changed since.
fn build_name() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    match git(&["rev-parse", "--short=7", "HEAD"]) {
        Some(revision) => {
            let changed = git(&["status", "--porcelain", "-uno"]).is_some_and(|s| !s.is_empty());
            format!("{version} {revision}{}", if changed { "+" } else { "" })
        }
        None => version.to_owned(),
    }
}
