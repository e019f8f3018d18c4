//! Listening to a source until told to stop, recording everything.
//!
//! In: a source, a [`Recorder`], a [`Plan`]. Out: [`Outcome`]. A lost connection ends the segment, not the capture: the
//! reading thread reconnects by itself, the device is greeted again, and the ticks in between are reported missing.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use stribeck_core::run::Phase;
use stribeck_core::wire::{Ask, Event, What};

use crate::accounts::Accounts;
use crate::ask;
use crate::error::{Error, Result};
use crate::recorder::Recorder;
use crate::session::{Happening, refusal};
use crate::source::Source;
use crate::source::pump::{Packet, Pump};

/// How long a device may take to introduce itself.
const INTRODUCE: Duration = Duration::from_secs(3);
/// How often it is asked to.
const ASK_AGAIN: Duration = Duration::from_millis(300);
/// Longest wait for bytes: bounds how late the log is flushed.
const WAIT: Duration = Duration::from_millis(10);

/// When to stop and what to order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plan {
    /// Stop after this much device time [s].
    pub seconds: Option<f64>,
    /// Stop when the run that began during the capture has come to rest.
    pub until_rest: bool,
    /// Order the device to arm.
    pub arm: bool,
}

/// Why a capture ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As planned.
    Planned,
    /// Ctrl-C or a termination signal.
    Asked,
    /// The source has no more.
    Source,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    pub source: String,
    pub end: End,
    pub accounts: Accounts,
    pub events: Vec<Event>,
}

/// For whoever watches.
pub struct Progress<'a, W: Write> {
    pub recorder: &'a Recorder<W>,
    pub connected: bool,
    pub phase: Option<Phase>,
    /// An event that just happened.
    pub event: Option<&'a Event>,
}

/// Record until the plan, the source or `stop` says so.
pub fn run<W: Write>(
    source: Box<dyn Source>,
    mut recorder: Recorder<W>,
    plan: Plan,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progress<'_, W>),
) -> Result<Outcome> {
    let mut pump = Pump::start(source);
    let mut talk = Talk::new(plan);
    let end = loop {
        if stop.load(Ordering::Relaxed) {
            break End::Asked;
        }
        talk.speak(&pump)?;
        let before = talk.events.len();
        match pump.next(WAIT)? {
            Packet::Bytes(bytes, _) => {
                talk.bytes += bytes.len() as u64;
                recorder.bytes(&bytes, |h| talk.hear(h))?;
            }
            Packet::Quiet => recorder.idle()?,
            Packet::Lost(_) => {
                talk.lose();
                recorder.unplugged(|h| talk.hear(h))?;
            }
            Packet::Opened(_) => talk.greet(),
            Packet::End => break End::Source,
        }
        talk.check_introduction(&pump)?;
        for event in &talk.events[before..] {
            watch(progress(&recorder, &talk, Some(event)));
        }
        watch(progress(&recorder, &talk, None));
        if talk.done {
            break End::Planned;
        }
    };
    if talk.segment_ticks.is_none() && recorder.session().ticks() == 0 && end != End::Asked {
        return Err(silent(&pump, talk.bytes));
    }
    let source = pump.name().to_owned();
    drop(pump);
    let accounts = recorder.finish(|h| talk.hear(h))?;
    let events = talk.events;
    Ok(Outcome {
        source,
        end,
        accounts,
        events,
    })
}

fn progress<'a, W: Write>(
    recorder: &'a Recorder<W>,
    talk: &Talk,
    event: Option<&'a Event>,
) -> Progress<'a, W> {
    Progress {
        recorder,
        connected: talk.connected,
        phase: talk.phase,
        event,
    }
}

/// What has been said to the device and what it answered.
struct Talk {
    plan: Plan,
    connected: bool,
    introduced: bool,
    armed: bool,
    opened: Instant,
    asked: Option<Instant>,
    /// Tick of the first block and ticks since.
    segment_ticks: Option<u64>,
    ticks: u64,
    tick_hz: u32,
    phase: Option<Phase>,
    swung: bool,
    events: Vec<Event>,
    done: bool,
    bytes: u64,
    refused: Option<Error>,
}

impl Talk {
    fn new(plan: Plan) -> Self {
        Talk {
            plan,
            connected: true,
            introduced: false,
            armed: false,
            opened: Instant::now(),
            asked: None,
            segment_ticks: None,
            ticks: 0,
            tick_hz: 10_000,
            phase: None,
            swung: false,
            events: Vec::new(),
            done: false,
            bytes: 0,
            refused: None,
        }
    }

    /// Ask for what is still missing.
    fn speak(&mut self, pump: &Pump) -> Result<()> {
        // A source that does not wait for us would hear the question at a random tick.
        if !self.connected || !pump.takes_commands() || !pump.is_live() {
            return Ok(());
        }
        if !self.introduced && self.asked.is_none_or(|at| at.elapsed() > ASK_AGAIN) {
            self.asked = Some(Instant::now());
            pump.send(ask::frame(1, Ask::Hello))?;
        }
        if self.introduced && self.plan.arm && !self.armed {
            self.armed = true;
            pump.send(ask::frame(2, Ask::Start))?;
        }
        Ok(())
    }

    fn lose(&mut self) {
        self.connected = false;
        self.introduced = false;
    }

    fn greet(&mut self) {
        self.connected = true;
        self.opened = Instant::now();
        self.asked = None;
    }

    fn check_introduction(&mut self, pump: &Pump) -> Result<()> {
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        let first = self.segment_ticks.is_none();
        if first
            && self.connected
            && !self.introduced
            && pump.is_live()
            && self.opened.elapsed() > INTRODUCE
        {
            return Err(silent(pump, self.bytes));
        }
        Ok(())
    }

    fn hear(&mut self, happening: &Happening<'_>) -> Result<()> {
        match happening {
            Happening::Hello { hello, .. } => {
                self.introduced = true;
                self.tick_hz = hello.tick_hz.max(1);
                self.phase = Some(hello.phase);
                if hello.protocol != stribeck_core::wire::PROTOCOL {
                    let why = refusal(hello).unwrap_or_default();
                    self.refused = Some(Error::refused(
                        format!("the device cannot be recorded: {why}"),
                        "flash the firmware of this version, or use the stribeck version of the firmware",
                    ));
                }
            }
            Happening::Block { block, .. } => {
                self.segment_ticks.get_or_insert(block.first_tick);
                self.phase = Some(block.phase);
                self.ticks += u64::from(block.ticks);
                let seconds = self.ticks as f64 / f64::from(self.tick_hz);
                self.done |= self.plan.seconds.is_some_and(|limit| seconds >= limit);
            }
            Happening::Event(event) => {
                if let What::Run { to, .. } = event.what {
                    self.phase = Some(to);
                    self.swung |= to == Phase::Swinging;
                    self.done |= self.plan.until_rest && self.swung && to == Phase::AtRest;
                }
                self.events.push(**event);
            }
            Happening::Reply(reply) => {
                if let (2, Some(why)) = (reply.id, &reply.refusal) {
                    self.refused = Some(Error::source(
                        format!("the device refused to arm: {why}"),
                        "stop the run first (button, or key s in `stribeck live`)",
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The source is open but nobody there speaks our language.
fn silent(pump: &Pump, bytes: u64) -> Error {
    let heard = match bytes {
        0 => "nothing was received".to_string(),
        n => format!("{n} bytes were received, none of them a Hello"),
    };
    Error::source(
        format!("no stribeck device answers on {}: {heard}", pump.name()),
        "is this the right port, and is the firmware flashed? `stribeck doctor` tells",
    )
}
