//! Links with the memory.x at the top of the workspace.

fn main() {
    println!(
        "cargo:rustc-link-search={}/../..",
        env!("CARGO_MANIFEST_DIR")
    );
    println!("cargo:rerun-if-changed=../../memory.x");
}
