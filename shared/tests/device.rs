//! The whole device, natively: run logic, stream, replay.

use stribeck_core::config::Config;
use stribeck_core::device::{Device, Followed, Identity, Replay};
use stribeck_core::sim::Bench;
use stribeck_core::wire::{ConfigOrigin, Decoder, Frame, MAX_FRAME};

#[test]
fn reference_run_replays_bit_for_bit() {
    let mut config = Config::default();
    config.run.auto_arm = true;
    let mut device = Device::new(Identity::default(), &config, ConfigOrigin::Default);
    let mut bench = Bench::reference(0.0, 1);
    let mut decoder: Decoder = Decoder::new();
    let mut replay = Replay::new(&config);
    let mut buf = [0; MAX_FRAME];
    let mut bytes = 0;
    let mut ticks = 0;
    for _ in 0..50_000 {
        device.tick(bench.tick().counts);
        loop {
            let n = device.next_frame(&mut buf);
            if n == 0 {
                break;
            }
            bytes += n;
            decoder.feed(&buf[..n], |raw| match raw.unwrap().decode().unwrap() {
                Frame::Block(block) => {
                    assert!(block.is_consistent());
                    ticks += block.ticks as u64;
                    assert_eq!(replay.block(&block), Ok(Followed::Equal));
                }
                other => println!("{other:?}"),
            });
        }
    }
    println!(
        "{bytes} bytes for {ticks} ticks, {} words",
        stribeck_core::device::Observers::word_count()
    );
    println!(
        "engine {} block {} device {} setup {}",
        size_of::<stribeck_core::device::Engine>(),
        size_of::<stribeck_core::wire::Block>(),
        size_of::<Device>(),
        size_of::<stribeck_core::device::Setup>()
    );
    assert!(replay.equal_ticks >= 49_900);
}
