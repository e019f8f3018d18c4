//! The summary as text.

use std::collections::BTreeMap;
use std::fmt;

use super::{DriveReport, OddAccess, Spread, Summary, TickCostReport};
use crate::diagnose::Why;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let millions = self.instructions as f64 / 1e6;
        write!(f, "virtual {:.3} s", self.virtual_s)?;
        if let (Some(wall), Some(processor)) = (self.wall_s, self.processor_s) {
            let (speed, rate) = (self.virtual_s / wall, millions / processor);
            write!(
                f,
                ", wall {wall:.2} s ({speed:.2}x real time), {processor:.2} s of processor time ({rate:.1} M instructions/s)"
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
            if let Some(c) = &self.tick_costs {
                costs(f, c)?;
            }
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
        if let Some(d) = &self.drive {
            drive(f, d)?;
        }
        for p in &self.pwm {
            let (timer, channel, percent) = (p.timer, p.channel, 100.0 * p.duty);
            writeln!(
                f,
                "pwm {timer} channel {channel}: {:.1} Hz, {percent:.2} %",
                p.frequency_hz
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
            let what = match a.why {
                Why::Gated(gate) => format!("with its clock off ({gate})"),
                _ => "to a register that is not modelled".into(),
            };
            let kind = if a.write { "write" } else { "read" };
            writeln!(
                f,
                "{}x {kind} {:#010x} {what}, first from {:#010x} {}",
                a.count, a.address, a.pc, o.function
            )?;
        }
        for s in &self.spins {
            writeln!(f, "{s}")?;
        }
        ignored(f, &self.without_effect)
    }
}

fn drive(f: &mut fmt::Formatter, d: &DriveReport) -> fmt::Result {
    writeln!(
        f,
        "motor: outputs on for {:.4} s, at most {:.1} % of the supply{}",
        d.on_s,
        100.0 * d.most_duty,
        if d.on_at_the_end { ", still on" } else { "" }
    )?;
    for off in &d.offs {
        write!(f, "motor: off at {:.6} s", off.at_s)?;
        match (&off.cause, off.after_s) {
            (Some(cause), Some(after)) => writeln!(f, ", {:.1} µs after {cause}", 1e6 * after)?,
            _ => writeln!(f, ", by command or by the device's own decision")?,
        }
    }
    Ok(())
}

/// One line per thing the chip would do and the bench does not.
fn ignored(f: &mut fmt::Formatter, accesses: &[OddAccess]) -> fmt::Result {
    let mut by_effect: BTreeMap<&str, (u64, &OddAccess)> = BTreeMap::new();
    for o in accesses {
        if let Why::WithoutEffect(effect) = o.access.why {
            by_effect.entry(effect).or_insert((0, o)).0 += o.access.count;
        }
    }
    for (effect, (n, first)) in by_effect {
        writeln!(
            f,
            "{n}x kept without effect here: {effect} ({:#010x}, from {})",
            first.access.address, first.function
        )?;
    }
    Ok(())
}

fn costs(f: &mut fmt::Formatter, c: &TickCostReport) -> fmt::Result {
    let line = |f: &mut fmt::Formatter, what: &str, s: &Spread| {
        let (min, mean, p99, max) = (s.min, s.mean, s.p99, s.max);
        writeln!(
            f,
            "  {what:<22} min {min:>6} mean {mean:>8.1} p99 {p99:>6} max {max:>6}"
        )
    };
    writeln!(f, "tick, estimated (worst at {:.4} s):", c.worst_at_s)?;
    line(f, "cycles", &c.cycles)?;
    line(f, "code touched [bytes]", &c.code_bytes)?;
    line(f, "I-cache line fills", &c.code_fills)?;
    line(f, "D-cache line fills", &c.data_fills)?;
    line(f, "pipeline flushes", &c.flushes)?;
    writeln!(
        f,
        "mean tick, estimated cycles and instructions by function:"
    )?;
    for s in c.mean_tick.iter().take(16) {
        let (cycles, instructions) = (s.cycles, s.instructions);
        writeln!(f, "  {cycles:>7.1} {instructions:>7.1}  {}", s.function)?;
    }
    Ok(())
}

fn bars(f: &mut fmt::Formatter, histogram: &[(u64, u64)]) -> fmt::Result {
    let most = histogram.iter().map(|b| b.1).max().unwrap_or(1).max(1);
    for (low, n) in histogram.iter().filter(|b| b.1 > 0) {
        let width = ((*n as f64).ln_1p() / (most as f64).ln_1p() * 40.0).ceil() as usize;
        writeln!(f, "  {low:>7} {n:>8} {}", "#".repeat(width))?;
    }
    Ok(())
}
