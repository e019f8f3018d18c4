//! What two seconds of the board's stream say about its health: loss, rate, overruns, encoders.

use std::time::Duration;

use stribeck_core::observer::encoder::flag;
use stribeck_core::wire::What;

use super::Findings;
use crate::error::Result;
use crate::link::readings::Readings;
use crate::link::source::Source;
use crate::link::wording;

/// How long the stream is listened to.
const TIME: Duration = Duration::from_secs(2);
/// A tick rate further off is a wrong clock, not the jitter of USB over two seconds [ppm].
const RATE_PPM: f64 = 20_000.0;

/// Listen, and judge what was heard.
pub fn examine(source: &mut impl Source, findings: &mut Findings) -> Result<()> {
    let heard = Readings::take(source, TIME)?;
    stream(&heard, findings);
    rate(&heard, findings);
    processor(&heard, findings);
    encoders(&heard, findings);
    Ok(())
}

fn stream(heard: &Readings, findings: &mut Findings) {
    let found = format!(
        "{} blocks in {} s, {} missing, {} damaged frames",
        heard.blocks,
        TIME.as_secs(),
        heard.blocks_missing,
        heard.bad_frames
    );
    if heard.blocks == 0 {
        findings.fail(
            "stream",
            found,
            "the firmware answers and streams nothing: press reset; flash the firmware again",
        );
    } else if heard.blocks_missing + heard.bad_frames > 0 {
        findings.fail(
            "stream",
            found,
            "use another cable or port without a hub; close programs that load this computer",
        );
    } else {
        findings.ok("stream", found);
    }
}

fn rate(heard: &Readings, findings: &mut Findings) {
    let nominal = heard.device.as_ref().map_or(0, |d| d.tick_hz);
    let Some(ppm) = heard.rate_ppm else {
        findings.ok("tick rate", "too few blocks to measure it");
        return;
    };
    let found = format!("{nominal} Hz {:+.1} % by this computer's clock", ppm / 1e4);
    if ppm.abs() > RATE_PPM {
        findings.fail(
            "tick rate",
            found,
            "the board's clock is wrong: is the crystal or the ST-LINK's clock connected? (docs/first-power-on.md)",
        );
    } else {
        findings.ok("tick rate", found);
    }
}

fn processor(heard: &Readings, findings: &mut Findings) {
    let Some(status) = heard.statuses.last() else {
        return;
    };
    let found = format!(
        "{} overruns, {} ticks missed, {} blocks discarded since its reset",
        status.health.overruns, status.health.missed_ticks, status.dropped_blocks
    );
    if status.health.missed_ticks > 0 {
        findings.fail(
            "processor",
            found,
            "the tick takes too long: lower ekf.substeps or the stream's rate in the configuration",
        );
    } else {
        findings.ok("processor", found);
    }
}

fn encoders(heard: &Readings, findings: &mut Findings) {
    let faults = heard.statuses.last().map_or([0; 2], |s| s.encoder_faults);
    let mut flags = [0u8; 2];
    for event in &heard.events {
        if let What::EncoderFault { joint, flags: set } = event.what
            && let Some(all) = flags.get_mut(usize::from(joint))
        {
            *all |= set;
        }
    }
    for joint in 0..2 {
        let what = ["encoder 0", "encoder 1"][joint];
        let now = wording::encoder_flags(flags[joint]);
        if flags[joint] & flag::REVERSED != 0 {
            findings.fail(
                what,
                format!("{now}, {} faults since its reset", faults[joint]),
                format!(
                    "it counts against the motion: swap its channels A and B, or set encoders.{joint}.reversed and push"
                ),
            );
        } else if flags[joint] != 0 || faults[joint] > 0 {
            let now = if now.is_empty() {
                "quiet now".into()
            } else {
                now
            };
            findings.fail(
                what,
                format!("{now}, {} faults since its reset", faults[joint]),
                "check its plug, its 5 V and the shield; turn the joint by hand and watch `stribeck live`",
            );
        } else {
            findings.ok(what, "no fault since the board's reset");
        }
    }
}
