"""What the plants cost on the board: instructions of one `terms_at`, by hand and generated, and flash per plant.

    python derive/peers/board.py instructions    # needs the target thumbv7em-none-eabihf
    python derive/peers/board.py flash           # builds the firmware of HEAD once per plant, minutes each

Both build in a temporary folder; CARGO_TARGET_DIR keeps what is compiled.
"""
import io, os, pathlib, re, struct, subprocess, sys, tarfile, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = "thumbv7em-none-eabihf"
PLANTS = ["Cartpole", "Acrobot", "Reactionwheel"]
MANIFEST = """[package]
name = "instructions"
version = "0.1.0"
edition = "2024"
[dependencies]
stribeck-core = {{ path = "{root}/shared" }}
serde = {{ version = "1", default-features = false, features = ["derive"] }}
[profile.release]
opt-level = 3
lto = "fat"
codegen-units = 1
[workspace]
"""
# The generated files as they are in the core, and one function per plant that is not inlined.
SOURCE = """#![no_std]
pub use stribeck_core::JOINTS;
mod number {{ pub use stribeck_core::number::*; }}
mod model {{ pub use stribeck_core::model::*; }}
mod generated {{
    pub use stribeck_core::model::plant::tolerance;
    pub use stribeck_core::model::plant::{{Bounds, Plant, Sym2, Terms, Trig, no_force}};
    #[path = "{root}/derive/tests/generated/furuta.rs"]
    pub mod furuta;
    #[path = "{root}/derive/tests/generated/pendulum.rs"]
    pub mod pendulum;
}}
use stribeck_core::model::plant::*;
macro_rules! counted {{
    ($name:ident, $plant:path) => {{
        #[unsafe(no_mangle)]
        #[inline(never)]
        pub fn $name(p: &$plant, trig: &Trig<f32>, w: [f32; 2], tau: [f32; 2], out: &mut Terms<f32>) {{
            *out = p.terms_at(trig, w, tau);
        }}
    }};
}}
counted!(furuta_by_hand, furuta::Furuta<f32>);
counted!(furuta_generated, generated::furuta::Furuta<f32>);
counted!(pendulum_by_hand, pendulum::Pendulum<f32>);
counted!(pendulum_generated, generated::pendulum::Pendulum<f32>);
counted!(cartpole_generated, cartpole::Cartpole<f32>);
counted!(acrobot_generated, acrobot::Acrobot<f32>);
counted!(reactionwheel_generated, reactionwheel::Reactionwheel<f32>);
"""


def instructions():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "src").mkdir()
        (folder / "Cargo.toml").write_text(MANIFEST.format(root=ROOT))
        (folder / "src/lib.rs").write_text(SOURCE.format(root=ROOT))
        (folder / "rust-toolchain.toml").write_text((ROOT / "rust-toolchain.toml").read_text())
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", folder / "target"))
        env = os.environ | {"RUSTFLAGS": "-C target-cpu=cortex-m7", "CARGO_TARGET_DIR": str(target)}
        run = ["cargo", "rustc", "--quiet", "--release", "--target", TARGET, "--", "--emit", "asm"]
        subprocess.run(run, cwd=folder, env=env, check=True)
        found = (target / TARGET / "release/deps").glob("instructions-*.s")
        text = max(found, key=lambda p: p.stat().st_mtime).read_text()
    for name in re.findall(r"counted!\((\w+),", SOURCE):
        body = re.search(rf"^{name}:\n(.*?)^\s*\.size\s+{name}", text, re.M | re.S).group(1)
        lines = [line.strip() for line in body.splitlines()]
        code = [line for line in lines if line and not line.startswith((".", "@")) and not line.endswith(":")]
        branches = sum(bool(re.match(r"(b|cb)", line)) and not line.startswith("bx") for line in code)
        print(f"{name:<24} {len(code):>4} instructions, {branches} branches")


def sections(elf):
    """Bytes of everything that is stored in flash."""
    data = elf.read_bytes()
    start, = struct.unpack_from("<I", data, 32)
    size, count = struct.unpack_from("<2H", data, 46)
    headers = [struct.unpack_from("<10I", data, start + i * size) for i in range(count)]
    return sum(h[5] for h in headers if h[1] == 1 and h[2] & 2)


def flash():
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tarfile.open(fileobj=io.BytesIO(archive)).extractall(folder, filter="data")
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", folder / "target"))
        plants = folder / "shared/src/model/plant/mod.rs"
        whole, before = plants.read_text(), None
        for kept in range(len(PLANTS) + 1):
            gone = "|".join(PLANTS[kept:]) or "-"
            plants.write_text(re.sub(rf"^        ({gone}): \w+,\n", "", whole, flags=re.M))
            subprocess.run(["cargo", "fw", "--quiet"], cwd=folder, env=os.environ | {"CARGO_TARGET_DIR": str(target)}, check=True)
            bytes_ = sections(target / TARGET / "firmware/stribeck-firmware")
            growth = "" if before is None else f", {PLANTS[kept - 1]} +{bytes_ - before}"
            print(f"{bytes_} bytes{growth}", flush=True)
            before = bytes_


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["instructions"]:
            instructions()
        case ["flash"]:
            flash()
        case _:
            sys.exit(__doc__)
