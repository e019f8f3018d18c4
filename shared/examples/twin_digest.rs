//! Digests of the native twin over whole runs: the same numbers on every machine, target and optimisation level.
//!
//! `cargo run --release -p stribeck-core --example twin_digest [ticks]` prints one line per case: name, ticks,
//! blocks, and one number over the bytes of all blocks (digests, records, snapshots, counts).

use stribeck_core::device::config::Config;
use stribeck_core::device::{Device, Identity};
use stribeck_core::model::friction::Friction;
use stribeck_core::model::plant::{PlantConfig, pendulum};
use stribeck_core::model::sim::{Simulation, Truth};
use stribeck_core::wire::{ConfigOrigin, Decoder, Kind, MAX_FRAME, crc32};
use stribeck_core::{observer::uas, observer::uas::nussbaum};

fn main() {
    let ticks = std::env::args()
        .nth(1)
        .map_or(30_000, |n| n.parse().expect("a number of ticks"));
    print!("{}", report(ticks));
}

/// One line per case.
pub fn report(ticks: u32) -> String {
    let line = |(name, config, bench): (&str, Config, Simulation)| {
        let (blocks, digest) = run(&config, bench, ticks);
        format!("{name:<10} {ticks:>8} ticks {blocks:>6} blocks {digest:08x}\n")
    };
    cases().into_iter().map(line).collect()
}

fn cases() -> Vec<(&'static str, Config, Simulation)> {
    let mut base = Config::default();
    base.run.auto_arm = true;
    // Early, so that short runs see the joint filter too.
    base.ekf.start_s = 1.0;
    base.ekf.start_max_s = 1.5;

    let mut drag = base;
    drag.ekf.drag = true;

    let mut paper = base;
    paper.uas = uas::Config::paper();
    let mut cosine = base;
    cosine.uas.nussbaum = nussbaum::Kind::CosExp;
    cosine.uas.k0 = 1.2;

    let mut simple = base;
    simple.plant = PlantConfig::Pendulum(pendulum::Config::default());
    let friction = [
        Friction::brown_mcphee([5e-4, 6e-4, 2.5e-4, 1e-2, 1e-2]),
        Friction::NONE,
    ];
    let truth = Truth::new(&simple.plant, friction, [2.0, 0.0], 1e-4, 2);
    let encoders = Simulation::reference(0.0, 0).encoders;

    vec![
        ("reference", base, Simulation::reference(0.0, 1)),
        ("noise", base, Simulation::reference(5.0, 2)),
        ("drag", drag, Simulation::reference(0.0, 1)),
        ("paper", paper, Simulation::reference(0.0, 1)),
        ("cosine", cosine, Simulation::reference(0.0, 1)),
        ("pendulum", simple, Simulation::new(truth, encoders, 3)),
    ]
}

/// Blocks sent, and the CRC-32 chained over their bodies.
fn run(config: &Config, mut bench: Simulation, ticks: u32) -> (u32, u32) {
    config.validate().expect("a valid configuration");
    let mut device = Device::new(Identity::new("twin"), config, ConfigOrigin::Default);
    let mut decoder: Decoder = Decoder::new();
    let mut buf = [0; MAX_FRAME];
    let (mut blocks, mut digest) = (0, 0u32);
    for _ in 0..ticks {
        device.tick(bench.tick().counts);
        loop {
            let n = device.next_frame(&mut buf);
            if n == 0 {
                break;
            }
            decoder.feed(&buf[..n], |raw| {
                let raw = raw.expect("a whole frame");
                if raw.kind == Kind::Block as u8 {
                    blocks += 1;
                    digest = digest.rotate_left(1) ^ crc32(raw.body);
                }
            });
        }
    }
    (blocks, digest)
}
