//! The summary of a run, as data (`--json`) and as text.

mod text;

use std::collections::BTreeMap;
use std::fmt;

use crate::cpu::code::Code;
use crate::cpu::thumb;
use crate::crash::Crash;
use crate::diagnose::{Access, Why};
use crate::elf::Program;
use crate::inline::Inlined;
use crate::machine::Machine;
use crate::outputs::Off;
use crate::periph::nvic::IRQ0;
use crate::periph::tim::pwm::Pwm;
use crate::profile::{Distribution, TickCosts};
use crate::spin::Spin;
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

/// A busy wait, with the place in the source.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SpinReport {
    #[serde(flatten)]
    pub spin: Spin,
    pub function: String,
    pub line: Option<String>,
}

impl SpinReport {
    pub fn new(spin: &Spin, program: &Program) -> Self {
        let (function, line) = Inlined::new(program).place(spin.pc, program);
        SpinReport {
            spin: spin.clone(),
            function,
            line,
        }
    }
}

impl fmt::Display for SpinReport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let s = &self.spin;
        write!(
            f,
            "spinning on register {:#010x} (reads {:#x}) for {:.0} ms at {:#010x} {} ({})",
            s.address,
            s.value,
            s.for_s * 1e3,
            s.pc,
            self.function,
            self.line.as_deref().unwrap_or("no line")
        )
    }
}

/// What an exception cost in all.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ExceptionCost {
    /// Interrupt number, or negative for system exceptions (−2 = PendSV as in CMSIS).
    pub irq: i64,
    pub entries: u64,
    pub instructions: u64,
}

/// Estimates per tick (`cost`).
#[derive(Clone, Debug, serde::Serialize)]
pub struct TickCostReport {
    /// Processor cycles.
    pub cycles: Spread,
    /// Code touched [bytes], in whole cache lines.
    pub code_bytes: Spread,
    /// Line fills of the instruction and of the data cache.
    pub code_fills: Spread,
    pub data_fills: Spread,
    /// Branches that emptied the pipeline.
    pub flushes: Spread,
    pub worst_at_s: f64,
    /// Where the mean tick spends its cycles, by the innermost inlined function.
    pub mean_tick: Vec<Spending>,
}

/// What a function takes of the mean tick.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Spending {
    pub function: String,
    pub cycles: f64,
    pub instructions: f64,
}

impl TickCostReport {
    fn new(c: &TickCosts, code: &Code, name: impl Fn(u32) -> String) -> Self {
        TickCostReport {
            cycles: (&c.cycles).into(),
            code_bytes: (&c.code_bytes).into(),
            code_fills: (&c.code_fills).into(),
            data_fills: (&c.data_fills).into(),
            flushes: (&c.flushes).into(),
            worst_at_s: to_secs(c.worst_at),
            mean_tick: spending(c, code, name),
        }
    }
}

/// What was measured at the pins to the bridge.
#[derive(Clone, Debug, serde::Serialize)]
pub struct DriveReport {
    /// Time with the outputs on [s].
    pub on_s: f64,
    /// Largest |mean voltage| as a part of the supply.
    pub most_duty: f64,
    pub on_at_the_end: bool,
    pub offs: Vec<Off>,
}

#[derive(Clone, Debug, serde::Serialize)]
pub struct Summary {
    pub virtual_s: f64,
    /// Time on the wall and on the processor; filled in by the command: a library run has no clock.
    pub wall_s: Option<f64>,
    pub processor_s: Option<f64>,
    pub cpu_hz: u64,
    pub instructions: u64,
    pub thread_instructions: u64,
    pub exceptions: Vec<ExceptionCost>,
    pub tick: Spread,
    /// Estimates of the cost model, if it was asked for.
    pub tick_costs: Option<TickCostReport>,
    pub worst_tick_at_s: f64,
    /// Symbols of the worst tick.
    pub worst_tick: Vec<Share>,
    /// The same, by the innermost inlined function.
    pub worst_tick_inlined: Vec<Share>,
    pub tick_latency_ns: Spread,
    /// The pins to the bridge, if they ever drove.
    pub drive: Option<DriveReport>,
    /// PWM outputs that run at the end.
    pub pwm: Vec<Pwm>,
    pub usb: UsbStats,
    pub usb_bytes_per_s: f64,
    pub stack_used: u32,
    pub stack_size: u32,
    pub resets: Vec<(f64, String)>,
    pub crashes: Vec<Crash>,
    /// Registers nobody models, and closed clock gates.
    pub odd_accesses: Vec<OddAccess>,
    /// Registers that are kept but do nothing here.
    pub without_effect: Vec<OddAccess>,
    pub spins: Vec<SpinReport>,
    pub noise_edges_passed: u64,
    pub noise_edges_filtered: u64,
    pub flash_words_programmed: u64,
    pub flash_sectors_erased: u64,
}

impl Summary {
    pub fn new(m: &Machine) -> Summary {
        let chip = m.chip();
        let p = &chip.profile;
        let by_symbol = shares(&p.worst, &chip.code, |pc| m.program.describe(pc));
        let inlined = Inlined::new(&m.program);
        let by_inline = shares(&p.worst, &chip.code, |pc| inlined.function(pc, &m.program));
        let virtual_s = to_secs(chip.now);
        let (without_effect, odd) = chip
            .diagnostics
            .accesses()
            .into_iter()
            .map(|access| OddAccess {
                function: m.program.describe(access.pc),
                access,
            })
            .partition(|o: &OddAccess| matches!(o.access.why, Why::WithoutEffect(_)));
        Summary {
            virtual_s,
            wall_s: None,
            processor_s: None,
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
            tick_costs: p
                .costs
                .as_ref()
                .map(|c| TickCostReport::new(c, &chip.code, |pc| inlined.function(pc, &m.program))),
            worst_tick_at_s: to_secs(p.worst_at),
            worst_tick: by_symbol,
            worst_tick_inlined: by_inline,
            tick_latency_ns: (&p.latency_ns).into(),
            drive: drive_report(m),
            pwm: chip
                .tims
                .iter()
                .flat_map(|t| (0..4).filter_map(|c| t.pwm(c)))
                .collect(),
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
            odd_accesses: odd,
            without_effect,
            spins: chip
                .diagnostics
                .spins
                .found
                .iter()
                .map(|s| SpinReport::new(s, &m.program))
                .collect(),
            noise_edges_passed: chip.diagnostics.noise_passed,
            noise_edges_filtered: chip.diagnostics.noise_filtered,
            flash_words_programmed: chip.flash.programmed,
            flash_sectors_erased: chip.flash.erased,
        }
    }
}

fn drive_report(m: &Machine) -> Option<DriveReport> {
    let outputs = &m.chip().outputs;
    let on_s = outputs.on_s(m.chip().now);
    (on_s > 0.0).then(|| DriveReport {
        on_s,
        most_duty: outputs.most,
        on_at_the_end: outputs.levels().on(),
        offs: outputs.offs.clone(),
    })
}

/// Cycles by name, most first. Those of a block are shared equally by its instructions.
fn spending(c: &TickCosts, code: &Code, name: impl Fn(u32) -> String) -> Vec<Spending> {
    let ticks = c.cycles.len().max(1) as f64;
    let mut sum: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for (address, n, cycles, entered) in c.spent.blocks() {
        let each = cycles as f64 / f64::from(n.max(1));
        let mut pc = address;
        for _ in 0..n {
            let [c, i] = sum.entry(name(pc)).or_default();
            *c += each;
            *i += entered as f64;
            let Some(h) = code.half(pc) else { break };
            pc += thumb::length(h) as u32;
        }
    }
    let mut list: Vec<Spending> = sum
        .into_iter()
        .map(|(function, [cycles, instructions])| Spending {
            function,
            cycles: cycles / ticks,
            instructions: instructions / ticks,
        })
        .collect();
    list.sort_by(|a, b| b.cycles.total_cmp(&a.cycles));
    list
}

/// Instructions by name, most first; every instruction of every block is attributed by itself.
fn shares(blocks: &[(u32, u32)], code: &Code, name: impl Fn(u32) -> String) -> Vec<Share> {
    let mut at: BTreeMap<u32, u64> = BTreeMap::new();
    for &(address, n) in blocks {
        let mut pc = address;
        for _ in 0..n {
            *at.entry(pc).or_default() += 1;
            let Some(h) = code.half(pc) else { break };
            pc += thumb::length(h) as u32;
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
