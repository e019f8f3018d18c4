//! What one 10 kHz tick costs on this machine: `cargo bench -p stribeck-core`.
//!
//! Every row works through the same counts, the reference swing with 5 counts of noise, and reports the fastest of several
//! passes: ns per tick, and how many times faster than real time that is. With `STRIBECK_INSTRUCTIONS=1` and valgrind
//! installed each row is also run under cachegrind at two lengths; the difference is instructions per tick of *this*
//! processor (the chip's are counted on the virtual bench).

use std::hint::black_box;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use stribeck_core::device::config::Config;
use stribeck_core::device::{Device, Followed, Identity, Replay};
use stribeck_core::model::joint::Joint;
use stribeck_core::model::sim::Simulation;
use stribeck_core::number::scalar::Scalar;
use stribeck_core::observer::ekf::Ekf;
use stribeck_core::observer::encoder::{self, Channel};
use stribeck_core::observer::uas::{self, Uas};
use stribeck_core::wire::{Block, ConfigOrigin, Decoder, Frame, MAX_FRAME};

/// 10 s of swing: the EKF's joint stage runs in most of it.
const TICKS: usize = 100_000;
const PASSES: usize = 5;
const TICK_NS: f64 = 1e5;

type Counts = [[u32; 2]];

type Row = (&'static str, fn(&Counts));

const ROWS: [Row; 8] = [
    ("encoders", encoders),
    ("UAS f32", uas::<f32>),
    ("UAS f64", uas::<f64>),
    ("UAS f32, paper mode", uas_paper),
    ("EKF f32", ekf::<f32>),
    ("EKF f64", ekf::<f64>),
    ("device: both, digest, framing", device),
    ("replay of its blocks, compared", replay),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, row, ticks, ..] = arguments.as_slice()
        && flag == "--row"
    {
        let (row, ticks): (usize, usize) = (row.parse().unwrap(), ticks.parse().unwrap());
        let record = counts(ticks);
        if let Some((_, work)) = ROWS.get(row) {
            work(&record);
        }
        return;
    }
    let count = std::env::var_os("STRIBECK_INSTRUCTIONS").is_some();
    let record = counts(TICKS);
    println!(
        "{:<30} {:>8} {:>12}{}",
        "one tick of",
        "ns",
        "x real time",
        if count { "  instructions" } else { "" }
    );
    for (i, (name, row)) in ROWS.iter().enumerate() {
        let ns = (0..PASSES)
            .map(|_| pass(row, &record))
            .fold(f64::INFINITY, f64::min);
        print!("{name:<30} {ns:>8.0} {:>12.0}", TICK_NS / ns);
        if count {
            match instructions(i) {
                Some(n) => print!("{n:>14.0}"),
                None => print!("{:>14}", "no valgrind"),
            }
        }
        println!();
    }
}

/// At least 50 ms of passes over the record [ns per tick].
fn pass(row: &fn(&Counts), record: &Counts) -> f64 {
    let (begun, cpu_begun) = (Instant::now(), cpu_ns());
    let mut ticks = 0;
    loop {
        row(black_box(record));
        ticks += record.len();
        let ns = match (cpu_begun, cpu_ns()) {
            (Some(from), Some(to)) => to - from,
            _ => begun.elapsed().as_nanos() as f64,
        };
        if ns > 5e7 {
            return ns / ticks as f64;
        }
    }
}

/// Time this thread has spent on a processor [ns], where the system tells: a busy machine then does not spoil the figures.
fn cpu_ns() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// Instructions per tick of one row. Making the counts costs too; a run without a row tells how much.
fn instructions(row: usize) -> Option<f64> {
    let per_tick = |row: usize| -> Option<f64> {
        let (short, long) = (40_000, 60_000);
        Some((under_cachegrind(row, long)? - under_cachegrind(row, short)?) / (long - short) as f64)
    };
    Some(per_tick(row)? - per_tick(ROWS.len())?)
}

/// All instructions of this program working on one row.
fn under_cachegrind(row: usize, ticks: usize) -> Option<f64> {
    let run = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cachegrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .args(["--row", &row.to_string(), &ticks.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&run.stderr);
    let (_, number) = text.lines().find_map(|l| l.split_once("refs:"))?;
    number
        .trim()
        .replace(',', "")
        .split(' ')
        .next()?
        .parse()
        .ok()
}

fn counts(ticks: usize) -> Vec<[u32; 2]> {
    Simulation::reference(5.0, 1)
        .take(ticks)
        .map(|s| s.counts)
        .collect()
}

fn angles<S: Scalar>(counts: [u32; 2]) -> [S; 2] {
    let cfg = encoder::Config::default();
    counts.map(|c| cfg.place(Joint::Revolute, c as i32))
}

fn encoders(record: &Counts) {
    let cfg = encoder::Config::pair();
    let mut channels = [Channel::default(); 2];
    for raw in record {
        black_box(encoder::step(&cfg, &mut channels, *raw, true));
    }
}

fn run_uas<S: Scalar>(cfg: &uas::Config, record: &Counts) {
    let config = Config::default();
    let observer = Uas::<S>::new(&config.plant, cfg, &config.tracker, S::lit(1e-4));
    let mut state = observer.start(angles(record[0]));
    for raw in record {
        observer.step(&mut state, angles(*raw));
    }
    black_box(&state);
}

fn uas<S: Scalar>(record: &Counts) {
    run_uas::<S>(&uas::Config::default(), record);
}

fn uas_paper(record: &Counts) {
    run_uas::<f32>(&uas::Config::paper(), record);
}

fn ekf<S: Scalar>(record: &Counts) {
    let config = Config::default();
    let quantum = config.encoders.map(|e| e.quantum::<S>(Joint::Revolute));
    let observer = Ekf::<S>::new(&config.plant, &config.ekf, S::lit(1e-4), quantum);
    let mut state = observer.start(angles(record[0]));
    for raw in record {
        observer.step(&mut state, angles(*raw));
    }
    black_box(&state);
}

/// Everything the chip does, native: encoders, run logic, both observers, digest, blocks, CRC, COBS.
fn device(record: &Counts) {
    run_device(record, |frame| {
        black_box(frame);
    });
}

fn armed() -> Config {
    let mut config = Config::default();
    config.run.auto_arm = true;
    config
}

fn run_device(record: &Counts, mut each: impl FnMut(&[u8])) {
    let mut device = Device::new(Identity::new("bench"), &armed(), ConfigOrigin::Default);
    let mut frame = [0; MAX_FRAME];
    // Armed at rest, then released.
    let held = std::iter::repeat_n(&record[0], 2_000);
    for raw in held.chain(record) {
        device.tick(*raw);
        while let n @ 1.. = device.next_frame(&mut frame) {
            each(&frame[..n]);
        }
    }
}

/// What the host does with a log. The blocks are made in the first pass, which the fastest is not.
fn replay(record: &Counts) {
    static BLOCKS: OnceLock<Vec<Block>> = OnceLock::new();
    let blocks = BLOCKS.get_or_init(|| {
        let mut decoder: Decoder = Decoder::new();
        let mut blocks = Vec::new();
        run_device(record, |frame| {
            decoder.feed(frame, |raw| {
                if let Ok(Frame::Block(block)) = raw.expect("a whole frame").decode() {
                    blocks.push(block);
                }
            });
        });
        blocks
    });
    let mut replay = Replay::new(&armed());
    for block in blocks {
        assert_eq!(replay.block(block), Ok(Followed::Equal));
    }
}
