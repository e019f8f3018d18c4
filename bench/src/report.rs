//! The summary of a run, as data (`--json`) and as text.

use std::collections::BTreeMap;
use std::fmt;

use crate::cpu::thumb;
use crate::crash::Crash;
use crate::diagnose::Access;
use crate::elf::FLASH_BASE;
use crate::inline::Inlined;
use crate::machine::Machine;
use crate::periph::nvic::IRQ0;
use crate::profile::Distribution;
use crate::time::to_secs;
use crate::usb::UsbStats;

/// Numbers of a distribution.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Spread {
    pub samples: u64,
    pub min: u64,
    pub mean: f64,
    pub p99: u64,
    pub max: u64,
    /// (lower bound, samples).
    pub histogram: Vec<(u64, u64)>,
}

impl From<&Distribution> for Spread {
    fn from(d: &Distribution) -> Self {
        Spread {
            samples: d.len(),
            min: d.min(),
            mean: d.mean(),
            p99: d.quantile(0.99),
            max: d.max(),
            histogram: d.histogram(16),
        }
    }
}

/// Instructions of one function.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Share {
    pub function: String,
    pub instructions: u64,
}

/// An access nobody models, with the function it came from.
#[derive(Clone, Debug, serde::Serialize)]
pub struct OddAccess {
    #[serde(flatten)]
    pub access: Access,
    pub function: String,
}

/// What an exception cost in all.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ExceptionCost {
    /// Interrupt number, or negative for system exceptions (−2 = PendSV as in CMSIS).
    pub irq: i64,
    pub entries: u64,
    pub instructions: u64,
}

#[derive(Clone, Debug, serde::Serialize)]
pub struct Summary {
    pub virtual_s: f64,
    /// Filled in by the command; a library run has no wall clock.
    pub wall_s: Option<f64>,
    pub cpu_hz: u64,
    pub instructions: u64,
    pub thread_instructions: u64,
    pub exceptions: Vec<ExceptionCost>,
    pub tick: Spread,
    pub worst_tick_at_s: f64,
    /// Symbols of the worst tick.
    pub worst_tick: Vec<Share>,
    /// The same, by the innermost inlined function.
    pub worst_tick_inlined: Vec<Share>,
    pub tick_latency_ns: Spread,
    pub usb: UsbStats,
    pub usb_bytes_per_s: f64,
    pub stack_used: u32,
    pub stack_size: u32,
    pub resets: Vec<(f64, String)>,
    pub crashes: Vec<Crash>,
    pub odd_accesses: Vec<OddAccess>,
    pub noise_edges_passed: u64,
    pub noise_edges_filtered: u64,
    pub flash_words_programmed: u64,
    pub flash_sectors_erased: u64,
}

impl Summary {
    pub fn new(m: &Machine) -> Summary {
        let chip = m.chip();
        let p = &chip.profile;
        let by_symbol = shares(&p.worst, &chip.image, |pc| m.program.describe(pc));
        let inlined = Inlined::new(&m.program);
        let by_inline = shares(&p.worst, &chip.image, |pc| inlined.function(pc, &m.program));
        let virtual_s = to_secs(chip.now);
        Summary {
            virtual_s,
            wall_s: None,
            cpu_hz: chip.rcc.clocks.cpu,
            instructions: chip.instructions,
            thread_instructions: p.thread_instructions(),
            exceptions: p
                .by_exception
                .iter()
                .map(|(&e, &(entries, instructions))| ExceptionCost {
                    irq: i64::from(e) - i64::from(IRQ0),
                    entries,
                    instructions,
                })
                .collect(),
            tick: (&p.ticks).into(),
            worst_tick_at_s: to_secs(p.worst_at),
            worst_tick: by_symbol,
            worst_tick_inlined: by_inline,
            tick_latency_ns: (&p.latency_ns).into(),
            usb: chip.host.stats.clone(),
            usb_bytes_per_s: chip.host.stats.bytes_in as f64 / virtual_s.max(1e-9),
            stack_used: m.stack.deepest,
            stack_size: m.stack.size(),
            resets: m
                .resets
                .iter()
                .map(|(t, c)| (to_secs(*t), format!("{c:?}")))
                .collect(),
            crashes: m.crashes.clone(),
            odd_accesses: chip
                .diagnostics
                .accesses()
                .into_iter()
                .map(|access| OddAccess {
                    function: m.program.describe(access.pc),
                    access,
                })
                .collect(),
            noise_edges_passed: chip.diagnostics.noise_passed,
            noise_edges_filtered: chip.diagnostics.noise_filtered,
            flash_words_programmed: chip.flash.programmed,
            flash_sectors_erased: chip.flash.erased,
        }
    }
}

/// Instructions by name, most first; every instruction of every block is attributed by itself.
fn shares(blocks: &[(u32, u32)], image: &[u8], name: impl Fn(u32) -> String) -> Vec<Share> {
    let mut at: BTreeMap<u32, u64> = BTreeMap::new();
    for &(address, n) in blocks {
        let mut pc = address;
        for _ in 0..n {
            *at.entry(pc).or_default() += 1;
            let o = pc.wrapping_sub(FLASH_BASE) as usize;
            let Some(h) = image.get(o..o + 2) else { break };
            pc += thumb::length(u16::from_le_bytes([h[0], h[1]])) as u32;
        }
    }
    let mut sum: BTreeMap<String, u64> = BTreeMap::new();
    for (pc, n) in at {
        *sum.entry(name(pc)).or_default() += n;
    }
    let mut list: Vec<Share> = sum
        .into_iter()
        .map(|(function, instructions)| Share {
            function,
            instructions,
        })
        .collect();
    list.sort_by(|a, b| {
        b.instructions
            .cmp(&a.instructions)
            .then_with(|| a.function.cmp(&b.function))
    });
    list
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let millions = self.instructions as f64 / 1e6;
        write!(f, "virtual {:.3} s", self.virtual_s)?;
        if let Some(wall) = self.wall_s {
            let (speed, rate) = (self.virtual_s / wall, millions / wall);
            write!(
                f,
                ", wall {wall:.2} s ({speed:.2}x real time, {rate:.1} M instructions/s)"
            )?;
        }
        writeln!(
            f,
            "\nprocessor {:.0} MHz, {millions:.1} M instructions",
            self.cpu_hz as f64 / 1e6
        )?;
        let t = &self.tick;
        if t.samples > 0 {
            writeln!(
                f,
                "tick: {} ticks, instructions min {} mean {:.0} p99 {} max {}",
                t.samples, t.min, t.mean, t.p99, t.max
            )?;
            bars(f, &t.histogram)?;
            let l = &self.tick_latency_ns;
            writeln!(
                f,
                "tick latency: min {} mean {:.0} p99 {} max {} ns",
                l.min, l.mean, l.p99, l.max
            )?;
            writeln!(
                f,
                "worst tick at {:.4} s, by function:",
                self.worst_tick_at_s
            )?;
            for s in self.worst_tick_inlined.iter().take(16) {
                writeln!(f, "  {:>7}  {}", s.instructions, s.function)?;
            }
        }
        for e in &self.exceptions {
            let each = e.instructions / e.entries.max(1);
            writeln!(
                f,
                "interrupt {:>4}: {:>8} entries, {each:>6} instructions each",
                e.irq, e.entries
            )?;
        }
        let u = &self.usb;
        writeln!(
            f,
            "usb: {} bytes in ({:.0} B/s, {} packets, {} empty, at most {} packets per frame), {} bytes out, {} enumerations, {} stalls",
            u.bytes_in,
            self.usb_bytes_per_s,
            u.packets_in,
            u.zero_length_in,
            u.most_packets_in_a_frame,
            u.bytes_out,
            u.enumerations,
            u.stalls
        )?;
        writeln!(
            f,
            "stack: {} of {} bytes used",
            self.stack_used, self.stack_size
        )?;
        for (at, cause) in &self.resets {
            writeln!(f, "reset at {at:.4} s: {cause}")?;
        }
        for c in &self.crashes {
            write!(f, "{c}")?;
        }
        for o in &self.odd_accesses {
            let a = &o.access;
            let what = match a.gate {
                Some(gate) => format!("with its clock off ({gate})"),
                None => "to a register that is not modelled".into(),
            };
            let kind = if a.write { "write" } else { "read" };
            writeln!(
                f,
                "{}x {kind} {:#010x} {what}, first from {:#010x} {}",
                a.count, a.address, a.pc, o.function
            )?;
        }
        Ok(())
    }
}

fn bars(f: &mut fmt::Formatter, histogram: &[(u64, u64)]) -> fmt::Result {
    let most = histogram.iter().map(|b| b.1).max().unwrap_or(1).max(1);
    for (low, n) in histogram.iter().filter(|b| b.1 > 0) {
        let width = ((*n as f64).ln_1p() / (most as f64).ln_1p() * 40.0).ceil() as usize;
        writeln!(f, "  {low:>7} {n:>8} {}", "#".repeat(width))?;
    }
    Ok(())
}
