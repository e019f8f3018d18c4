//! Listening to a source until told to stop, recording everything.
//!
//! In: a source, a [`Recorder`], a [`Plan`]. Out: [`Outcome`]. A lost connection ends the segment, not the capture: the
//! reading thread reconnects by itself, the device is greeted again, and the ticks in between are reported missing.
//! Whatever ends the capture, the log gets its closing record; what went wrong stands in it ([`Recorder::problem`]).

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use stribeck_core::device::run::Phase;
use stribeck_core::wire::{Ask, Event, Reply, Trip, What};

use crate::error::{Error, Result};
use crate::link::client::{ASK_AGAIN, PATIENCE, silent};
use crate::link::command::Commands;
use crate::link::driver::{Driver, Order};
use crate::link::pump::{Packet, Pump};
use crate::link::session::{SessionEvent, unusable};
use crate::link::source::Source;
use crate::link::wording;
use crate::log::recorder::Recorder;
use crate::log::summary::Summary;

/// Longest wait for bytes: bounds how late the log is flushed.
const WAIT: Duration = Duration::from_millis(10);
/// A device that falls silent may be so much behind the clock before a timed capture ends without it.
const GRACE: Duration = Duration::from_secs(5);

/// When to stop and what to order.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Stop after this much device time \[s\]; by the clock if the device is silent.
    pub seconds: Option<f64>,
    /// Stop when the run that began during the capture has come to rest.
    pub until_rest: bool,
    /// Order the device to arm.
    pub arm: bool,
    /// Drive its motor; it is turned off before the capture ends.
    pub drive: Option<Order>,
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
    /// The planned time is over by the clock, and the device did not deliver it.
    Clock,
    /// The device turned the motor off by itself.
    Tripped(Trip),
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    pub source: String,
    pub end: End,
    pub summary: Summary,
}

/// For whoever watches.
pub struct Progress<'a, W: Write> {
    pub recorder: &'a Recorder<W>,
    pub connected: bool,
    pub phase: Option<Phase>,
    /// An event that just happened.
    pub event: Option<&'a Event>,
    /// What was armed.
    pub note: Option<&'a str>,
}

/// Record until the plan, the source or `stop` says so; `watch` is told what happens.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use stribeck::{Config, Plan, Recorder, Scenario, Twin, Wall, capture};
///
/// let folder = tempfile::tempdir()?;
/// let log = folder.path().join("run.mcap");
/// // A board would be found by `stribeck capture`; the twin needs none.
/// let twin = Twin::new(&Config::default(), &Scenario::default(), Some(1.0), false);
/// let stop = AtomicBool::new(false);
/// let recorder = Recorder::create(&log, Wall::Epoch)?;
/// let made = capture(Box::new(twin), recorder, Plan::default(), &stop, &mut |_| {})?;
/// assert_eq!(made.summary.segments, 1);
/// assert_eq!(stribeck::contents(&log, false)?.summary, made.summary);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run<W: Write>(
    source: Box<dyn Source>,
    mut recorder: Recorder<W>,
    plan: Plan,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progress<'_, W>),
) -> Result<Outcome> {
    let mut pump = Pump::start(source);
    let mut talk = Talk::new(plan);
    let ended = listen(&mut pump, &mut recorder, &mut talk, stop, watch);
    let source = pump.name().to_owned();
    drop(pump);
    let end = match ended {
        Ok(end) => end,
        // The log is closed all the same, and says why it ends here; what could not be written cannot.
        Err(error @ Error::Write { .. }) => return Err(error),
        Err(error) => {
            recorder.problem(format!("the capture was ended: {error}"))?;
            recorder.finish(|_| Ok(()))?;
            return Err(error);
        }
    };
    if talk.introduced_at.is_none() && recorder.session().ticks() == 0 && end != End::Asked {
        return Err(silent(&source, talk.bytes));
    }
    let summary = recorder.finish(|event| {
        talk.hear(event);
        Ok(())
    })?;
    Ok(Outcome {
        source,
        end,
        summary,
    })
}

fn listen<W: Write>(
    pump: &mut Pump,
    recorder: &mut Recorder<W>,
    talk: &mut Talk,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progress<'_, W>),
) -> Result<End> {
    let mut events = Vec::new();
    loop {
        if stop.load(Ordering::Relaxed) {
            talk.ending.get_or_insert(End::Asked);
        }
        if let Some(end) = talk.ending
            && talk.motor_is_off(pump)?
        {
            return Ok(end);
        }
        talk.speak(pump)?;
        let mut hear = |event: &SessionEvent<'_>| {
            talk.hear(event);
            if let SessionEvent::Event(event) = event {
                events.push(**event);
            }
            Ok(())
        };
        match pump.next(WAIT)? {
            Packet::Bytes(bytes) => {
                recorder.bytes(&bytes, hear)?;
                talk.bytes += bytes.len() as u64;
            }
            Packet::Quiet => recorder.idle()?,
            Packet::Lost(_) => {
                recorder.unplugged(&mut hear)?;
                talk.lose();
            }
            Packet::Opened(_) => talk.greet(),
            Packet::NotSent(e) => recorder.problem(format!("a command was not sent: {e}"))?,
            Packet::End => return Ok(End::Source),
        }
        for problem in talk.problems.drain(..) {
            recorder.problem(problem)?;
        }
        talk.check_introduction(pump)?;
        for event in events.drain(..) {
            watch(progress(recorder, talk, Some(&event)));
        }
        for note in std::mem::take(&mut talk.notes) {
            let mut p = progress(recorder, talk, None);
            p.note = Some(&note);
            watch(p);
        }
        watch(progress(recorder, talk, None));
        if talk.done {
            talk.ending.get_or_insert(End::Planned);
        }
        if let Some(trip) = talk.driver.as_ref().and_then(Driver::trip)
            && talk.ending.is_none()
        {
            recorder.problem(format!("the device turned the motor off: {}", trip.text()))?;
            talk.ending = Some(End::Tripped(trip));
        }
        if talk.driver.as_ref().is_some_and(Driver::ended) && talk.ending.is_none() {
            recorder.problem("the motor was turned off, and not by this program".into())?;
            talk.ending = Some(End::Source);
        }
        if pump.is_live() && talk.ending.is_none() && talk.time_is_over() {
            recorder.problem(format!(
                "the device delivered {:.2} s of the {} s asked for; the capture ended by the clock",
                talk.seconds(),
                talk.plan.seconds.unwrap_or_default()
            ))?;
            talk.ending = Some(End::Clock);
        }
    }
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
        note: None,
    }
}

/// What has been said to the device and what it answered.
struct Talk {
    plan: Plan,
    commands: Commands,
    connected: bool,
    /// Whether it has introduced itself since it was connected, and when it first did.
    introduced: bool,
    introduced_at: Option<Instant>,
    armed: bool,
    opened: Instant,
    asked: Option<Instant>,
    ticks: u64,
    tick_hz: u32,
    phase: Option<Phase>,
    swung: bool,
    done: bool,
    bytes: u64,
    refused: Option<Error>,
    /// The motor, if it is to be driven.
    driver: Option<Driver>,
    /// Why the capture ends as soon as the motor is off.
    ending: Option<End>,
    /// Frames that follow from replies, and what to tell whoever watches.
    next_frames: Vec<Vec<u8>>,
    notes: Vec<String>,
    /// What the recorder has not been told yet.
    problems: Vec<String>,
}

impl Talk {
    fn new(plan: Plan) -> Self {
        Talk {
            driver: plan.drive.clone().map(Driver::new),
            ending: None,
            plan,
            commands: Commands::default(),
            connected: true,
            introduced: false,
            introduced_at: None,
            armed: false,
            opened: Instant::now(),
            asked: None,
            ticks: 0,
            tick_hz: 10_000,
            phase: None,
            swung: false,
            done: false,
            bytes: 0,
            refused: None,
            next_frames: Vec::new(),
            notes: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Device time received [s].
    fn seconds(&self) -> f64 {
        self.ticks as f64 / f64::from(self.tick_hz)
    }

    fn time_is_over(&self) -> bool {
        let (Some(seconds), Some(since)) = (self.plan.seconds, self.introduced_at) else {
            return false;
        };
        since.elapsed().as_secs_f64() > seconds + GRACE.as_secs_f64()
    }

    /// Ask for what is still missing.
    fn speak(&mut self, pump: &Pump) -> Result<()> {
        // A source that does not wait for us would hear the question at a random tick.
        if !self.connected || !pump.takes_commands() || !pump.is_live() {
            return Ok(());
        }
        if !self.introduced && self.asked.is_none_or(|at| at.elapsed() > ASK_AGAIN) {
            self.asked = Some(Instant::now());
            pump.send(self.commands.greeting())?;
        }
        if self.introduced && self.plan.arm && !self.armed {
            self.armed = true;
            pump.send(self.commands.frame(Ask::Start).1)?;
        }
        if let Some(driver) = &mut self.driver
            && self.introduced
            && self.ending.is_none()
        {
            for frame in driver.speak(&mut self.commands) {
                pump.send(frame)?;
            }
            for frame in self.next_frames.drain(..) {
                pump.send(frame)?;
            }
            if let Some(armed) = driver.take_armed() {
                self.notes.push(armed);
            }
        }
        if let Some(what) = self.commands.unanswered(PATIENCE) {
            self.problems.push(format!(
                "the device was asked {what} and did not reply within {} s",
                PATIENCE.as_secs()
            ));
        }
        Ok(())
    }

    /// Turn the motor off, if one is driven; true once it is, or nobody is there to say so.
    fn motor_is_off(&mut self, pump: &Pump) -> Result<bool> {
        let Some(driver) = &mut self.driver else {
            return Ok(true);
        };
        if !self.connected {
            return Ok(true);
        }
        if let Some(frame) = driver.stop(&mut self.commands) {
            pump.send(frame)?;
        }
        let off = driver.is_off();
        if off && driver.unconfirmed() {
            self.problems
                .push("the device did not confirm that the motor is off; it turns it off by itself without heartbeats".into());
        }
        Ok(off)
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
        if self.introduced_at.is_none()
            && self.connected
            && pump.is_live()
            && self.opened.elapsed() > PATIENCE
        {
            return Err(silent(pump.name(), self.bytes));
        }
        Ok(())
    }

    fn hear(&mut self, event: &SessionEvent<'_>) {
        match event {
            SessionEvent::Hello { hello, begins } => {
                self.introduced = true;
                self.introduced_at.get_or_insert_with(Instant::now);
                self.tick_hz = hello.tick_hz.max(1);
                self.phase = Some(hello.phase);
                if let (Some(driver), Ok(config)) = (&mut self.driver, hello.config())
                    && let Err(error) = driver.introduced(&config)
                {
                    self.refused = Some(error);
                }
                if let Some(driver) = &mut self.driver
                    && *begins
                    && hello.phase != Phase::Driving
                {
                    driver.idle();
                }
                if let Some(why) = unusable(hello) {
                    self.refused = Some(Error::refused(
                        format!("the device cannot be recorded: {why}"),
                        "flash the firmware of this version, or use the stribeck version of the firmware",
                    ));
                }
            }
            SessionEvent::Block { block, .. } => {
                self.phase = Some(block.phase);
                self.ticks += u64::from(block.ticks);
                let limit = self.plan.seconds;
                self.done |= limit.is_some_and(|limit| self.seconds() >= limit);
            }
            SessionEvent::Event(event) => {
                if let Some(driver) = &mut self.driver {
                    driver.event(event);
                }
                if let What::Run { from, to, .. } = event.what {
                    if let (Phase::Driving, Some(driver)) = (from, &mut self.driver) {
                        driver.idle();
                    }
                    self.phase = Some(to);
                    self.swung |= to == Phase::Swinging;
                    self.done |= self.plan.until_rest && self.swung && to == Phase::AtRest;
                }
            }
            SessionEvent::Reply(reply) => self.reply(reply),
            _ => {}
        }
    }

    fn reply(&mut self, reply: &Reply) {
        if let Some(driver) = &mut self.driver {
            self.next_frames
                .extend(driver.reply(reply, &mut self.commands));
        }
        let Some(what) = self.commands.answered(reply) else {
            return;
        };
        if let Some(why) = &reply.refusal {
            let why = wording::printable(&why.to_string());
            self.refused = Some(Error::source(
                format!("the device was asked {what} and refused: {why}"),
                "stop the run first (button, or key s in `stribeck live`)",
            ));
        }
    }
}
