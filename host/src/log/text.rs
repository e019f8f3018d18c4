//! The summary of a recording in words: what came, what did not, and where. For the terminal and for the report.

use std::fmt::Write as _;
use std::path::Path;

use crate::link::compare::{Difference, Verdict};
use crate::link::order::Losses;
use crate::log::summary::Summary;

/// Places printed of each sort; `--json` has all.
const PLACES: usize = 20;

/// A number with thousands separated: 350,000.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What was lost, damaged or out of order, one line per place; empty if nothing.
pub fn losses(losses: &Losses) -> String {
    let mut text = String::new();
    if losses.lost_blocks > 0 {
        let _ = writeln!(
            text,
            "lost {} ticks in {} blocks:",
            grouped(losses.lost_ticks),
            grouped(losses.lost_blocks)
        );
        places(&mut text, losses.gaps.iter(), |gap| {
            let cause = match (gap.unplugged, gap.damaged) {
                (true, _) => " while disconnected".to_string(),
                (false, 0) => String::new(),
                (false, n) => format!(" ({n} damaged frames in their place)"),
            };
            format!(
                "ticks {} to {}: {} blocks{cause}",
                gap.from, gap.to, gap.blocks
            )
        });
    }
    if losses.corrupted > 0 {
        let _ = writeln!(text, "{} damaged frames:", grouped(losses.corrupted));
        places(&mut text, losses.corruptions.iter(), |c| {
            format!("after tick {}: {}", c.after_tick, c.reason)
        });
    }
    for (n, what, strays) in [
        (losses.duplicated, "duplicated blocks", &losses.duplicates),
        (losses.reordered, "blocks out of order", &losses.reorders),
    ] {
        if n > 0 {
            let _ = writeln!(text, "{} {what}:", grouped(n));
            places(&mut text, strays.iter(), |s| {
                format!("ticks {} to {}", s.from, s.to)
            });
        }
    }
    if losses.jumped > 0 {
        let _ = writeln!(
            text,
            "{} blocks whose ticks do not follow on the one before, though their numbers do:",
            grouped(losses.jumped)
        );
        places(&mut text, losses.jumps.iter(), |j| {
            format!("tick {} where {} was due", j.found, j.expected)
        });
    }
    if losses.skipped_ticks > 0 {
        let _ = writeln!(
            text,
            "{} ticks never happened (the device was busy); they are not lost, the tick number jumps",
            grouped(losses.skipped_ticks)
        );
    }
    text
}

fn places<T>(
    text: &mut String,
    places: impl ExactSizeIterator<Item = T>,
    line: impl Fn(T) -> String,
) {
    let more = places.len().saturating_sub(PLACES);
    for place in places.take(PLACES) {
        let _ = writeln!(text, "  {}", line(place));
    }
    if more > 0 {
        let _ = writeln!(text, "  … and {more} more (--json lists them)");
    }
}

/// What the bit comparison said.
pub fn verdict(verdict: &Verdict, not_verified: Option<&str>) -> String {
    if let Some(why) = not_verified {
        return format!("not compared: {why}\n");
    }
    let mut text = format!(
        "compared {} ticks, {} snapshots: {} differing bits in {} blocks\n",
        grouped(verdict.compared_ticks),
        grouped(verdict.snapshots),
        grouped(verdict.differing_bits),
        grouped(verdict.differing_blocks)
    );
    if verdict.waiting_ticks > 0 {
        let _ = writeln!(
            text,
            "{} ticks could not be compared: no snapshot to start from before them",
            grouped(verdict.waiting_ticks)
        );
    }
    if let Some(first) = &verdict.first {
        text += &difference(first);
    }
    text
}

fn difference(d: &Difference) -> String {
    let mut text = format!(
        "first difference in the block of ticks {} to {}: {}\n",
        d.from_tick, d.to_tick, d.what
    );
    if let Some(tick) = d.tick {
        let _ = writeln!(text, "first seen at tick {tick}:");
    }
    for word in d.words.iter().take(PLACES) {
        let [device, replay] = [word.device, word.replay].map(f32::from_bits);
        let _ = writeln!(
            text,
            "  {:<28} device {:08x} ({device:e})  replay {:08x} ({replay:e})",
            word.field, word.device, word.replay
        );
    }
    if d.words.len() > PLACES {
        let _ = writeln!(text, "  … and {} more words", d.words.len() - PLACES);
    }
    text
}

/// The closing lines of a recording.
pub fn recording(summary: &Summary, source: &str, path: &Path) -> String {
    let seconds = summary.seconds();
    let size = std::fs::metadata(path).map_or(0, |m| m.len()) as f64 / 1e6;
    let mut text = format!(
        "recorded {seconds:.2} s ({} ticks) from {source} to {}\n",
        grouped(summary.ticks),
        path.display()
    );
    let _ = writeln!(
        text,
        "{size:.2} MB in the log ({:.2} MB/min), {:.1} kB/s on the wire, {} segment(s)",
        size / seconds.max(1e-9) * 60.0,
        summary.bytes as f64 / seconds.max(1e-9) / 1e3,
        summary.segments
    );
    text += &verdict(&summary.verdict, summary.not_verified.as_deref());
    match losses(&summary.losses) {
        none if none.is_empty() && !summary.has_problems() => text += "lost nothing\n",
        none if none.is_empty() => text += "no frame was lost\n",
        some => text += &some,
    }
    for problem in &summary.problems {
        let _ = writeln!(text, "{problem}");
    }
    if summary.device_dropped_blocks > 0 {
        let _ = writeln!(
            text,
            "the device itself discarded {} blocks since its reset because the link was behind",
            summary.device_dropped_blocks
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands() {
        assert_eq!(
            [0, 999, 1000, 350_000, 36_000_000].map(grouped),
            ["0", "999", "1,000", "350,000", "36,000,000"]
        );
    }
}
