//! Thread side: bytes in → requests and replies; blocks, notes, health → bytes out.

use heapless::{Deque, String};

use super::{Note, Request, Vitals};
use crate::JOINTS;
use crate::device::config::{Blob, Config, ConfigError};
use crate::device::cost;
use crate::device::run::{Cause, Phase};
use crate::number::range::OutOfRange;
use crate::wire::{
    self, Ask, Block, ClockSource, Command, ConfigOrigin, Decoder, Event, Health, Hello, Initial,
    Kind, MAX_FRAME, Pattern, Raw, Refusal, Reply, ResetCause, Status, Wear, What,
};

/// Replies that may wait for the host to read.
const REPLIES: usize = 12;

/// What the firmware knows about itself and this start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// Board or "twin".
    pub board: String<24>,
    /// Version and source revision.
    pub build: String<40>,
    /// Number of this boot, different after every reset.
    pub boot: u32,
    pub reset_cause: ResetCause,
    /// Panic or fault text the last program left behind.
    pub last_fault: String<64>,
    /// The only tick rate this device can run at \[Hz\]; `None`: any (the twin).
    pub tick_hz: Option<u32>,
    pub clock: ClockSource,
    /// Most a tick may take, as [`cost::worst_tick`] counts; `None`: as long as it likes (the twin).
    pub tick_budget: Option<cost::Work>,
}

impl Identity {
    /// Of this build, running on `board`. A build may name its revision in `STRIBECK_BUILD`.
    pub fn new(board: &str) -> Self {
        const BUILD: &str = match option_env!("STRIBECK_BUILD") {
            Some(revision) => revision,
            None => env!("CARGO_PKG_VERSION"),
        };
        Identity {
            board: wire::text(board),
            build: wire::text(BUILD),
            ..Identity::default()
        }
    }
}

/// What only the firmware can do.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Action {
    /// Hand this to the tick side; when its queue is full call [`Link::refuse`].
    Apply(Request<'static>),
    /// Build the configuration of [`Link::offered`] and hand it to the tick side; when that cannot be, call
    /// [`Link::refuse_offered`].
    Configure,
    /// Keep this configuration over a reset.
    Store(Config),
    /// Send what [`Link::next_frame`] still has, then restart the processor.
    Reset,
}

/// A set-config, from its command until the Hello that tells of it.
#[derive(Clone, Copy)]
struct Offered {
    id: u16,
    store: bool,
    /// The tick side has it in force; only the Hello is still missing.
    in_force: bool,
    config: Config,
}

/// A self-test being sent.
#[derive(Clone, Copy)]
struct Test {
    seed: u32,
    next: u16,
    of: u16,
    bytes: u16,
}

/// Thread-side state.
pub struct Link {
    identity: Identity,
    config: Config,
    config_since: u64,
    zero: [i32; JOINTS],
    origin: ConfigOrigin,
    phase: Phase,
    initial: Option<Initial>,
    vitals: Vitals,
    health: Health,
    discarded_blocks: u32,
    dropped_frames: u32,
    decoder: Decoder,
    hello_due: bool,
    status_due: bool,
    wear: Wear,
    replies: Deque<Reply, REPLIES>,
    /// Commands whose answer the tick side still owes.
    in_flight: usize,
    events: Deque<Event, 32>,
    test: Option<Test>,
    offered: Option<Offered>,
}

impl Link {
    pub fn new(identity: Identity, config: Config, origin: ConfigOrigin) -> Self {
        Link {
            identity,
            config,
            config_since: 0,
            zero: config.encoders.map(|e| e.zero),
            origin,
            phase: if config.run.auto_arm {
                Phase::Armed
            } else {
                Phase::Idle
            },
            initial: None,
            vitals: Vitals::default(),
            health: Health::default(),
            discarded_blocks: 0,
            dropped_frames: 0,
            decoder: Decoder::new(),
            hello_due: true,
            status_due: false,
            wear: Wear::default(),
            replies: Deque::new(),
            in_flight: 0,
            events: Deque::new(),
            test: None,
            offered: None,
        }
    }

    /// A host has (re)connected: forget half a command, greet, and ask the tick side for a snapshot.
    pub fn connected(&mut self) -> Request<'static> {
        self.decoder.clear();
        self.test = None;
        self.hello_due = true;
        Request::Snapshot
    }

    /// The configuration in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The run phase, as of the last note.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Latest measurements of the firmware, for the next Status.
    pub fn set_health(&mut self, health: Health) {
        self.health = health;
    }

    /// What the flash has been through, for the next Status.
    pub fn set_wear(&mut self, wear: Wear) {
        self.wear = wear;
    }

    /// There is room for the reply to one more command. While there is none, leave the host's bytes where they are: then
    /// every command is answered, however many come at once. (Who goes on all the same loses replies, counted.)
    pub fn is_ready(&self) -> bool {
        self.replies.len() + self.in_flight < REPLIES
    }

    /// The configuration that [`Action::Configure`] is about, and its command's id.
    pub fn offered(&self) -> Option<(u16, &Config)> {
        self.offered.as_ref().map(|o| (o.id, &o.config))
    }

    /// Blocks were discarded on the thread side.
    pub fn discarded(&mut self, blocks: u32) {
        self.discarded_blocks = self.discarded_blocks.wrapping_add(blocks);
    }

    /// One byte from the host.
    pub fn receive(&mut self, byte: u8) -> Option<Action> {
        let command = match self.decoder.push(byte)? {
            Ok(raw) if raw.kind == Kind::Command as u8 => read_command(&raw),
            _ => return None,
        };
        match command {
            Ok(command) => self.command(command),
            Err(id) => {
                self.reply(id, Some(Refusal::NotUnderstood));
                None
            }
        }
    }

    fn command(&mut self, Command { id, ask }: Command) -> Option<Action> {
        let cause = Cause::Host;
        match ask {
            Ask::Hello | Ask::GetConfig => {
                self.hello_due = true;
                self.reply(id, None);
                Some(Action::Apply(Request::Snapshot))
            }
            Ask::Start => self.order(Request::Arm { id, cause }),
            Ask::Stop => self.order(Request::Stop { id, cause }),
            Ask::Zero => self.order(Request::Zero { id, cause }),
            Ask::SetConfig { store, config } => self.offer(id, store, &config),
            Ask::Drive(drive) => self.order(Request::Drive { id, drive }),
            Ask::Plan(plan) => self.order(Request::Plan { id, plan }),
            Ask::Beat => Some(Action::Apply(Request::Beat)),
            Ask::SelfTest {
                seed,
                frames,
                bytes,
            } => {
                self.test = (frames > 0).then_some(Test {
                    seed,
                    next: 0,
                    of: frames,
                    bytes,
                });
                self.reply(id, None);
                None
            }
            Ask::Reset => {
                self.reply(id, None);
                Some(Action::Reset)
            }
        }
    }

    fn order(&mut self, request: Request<'static>) -> Option<Action> {
        self.in_flight += 1;
        Some(Action::Apply(request))
    }

    fn offer(&mut self, id: u16, store: bool, blob: &Blob) -> Option<Action> {
        let checked = blob.open().and_then(|config| {
            config.validate()?;
            self.check_rate(&config)?;
            self.check_cost(&config)?;
            Ok(config)
        });
        match checked {
            // Until the Hello of the last one is sent: a log must hold every configuration that ever was in force.
            Ok(_)
                if self
                    .offered
                    .is_some_and(|o| o.in_force || self.in_flight > 0) =>
            {
                self.reply(id, Some(Refusal::Busy));
                None
            }
            Ok(config) => {
                self.in_flight += 1;
                self.offered = Some(Offered {
                    id,
                    store,
                    in_force: false,
                    config,
                });
                Some(Action::Configure)
            }
            Err(e) => {
                self.reply(id, Some(e.into()));
                None
            }
        }
    }

    fn check_cost(&self, config: &Config) -> Result<(), ConfigError> {
        match self.identity.tick_budget {
            Some(budget) => Ok(cost::check(config, budget)?),
            None => Ok(()),
        }
    }

    fn check_rate(&self, config: &Config) -> Result<(), ConfigError> {
        match self.identity.tick_hz {
            Some(hz) if hz != config.tick_hz => Err(ConfigError::OutOfRange(OutOfRange {
                field: "tick_hz",
                value: config.tick_hz as f32,
                min: hz as f32,
                max: hz as f32,
            })),
            _ => Ok(()),
        }
    }

    /// The tick side's queue was full: tell the host to ask again.
    pub fn refuse(&mut self, request: &Request<'_>) {
        if let Some(id) = request.id() {
            self.answer(id, Some(Refusal::Busy));
        }
    }

    /// The offered configuration could not be handed over: tell the host to ask again.
    pub fn refuse_offered(&mut self) {
        if let Some(offered) = self.offered.take() {
            self.answer(offered.id, Some(Refusal::Busy));
        }
    }

    /// One note from the tick side.
    pub fn note(&mut self, note: Note) -> Option<Action> {
        match note {
            Note::Event(event) => {
                self.event(event);
                None
            }
            Note::Accepted { id, tick } => {
                self.vitals.tick = tick;
                self.answer(id, None);
                None
            }
            Note::Refused { id, tick } => {
                self.vitals.tick = tick;
                self.answer(id, Some(Refusal::Swinging));
                None
            }
            Note::NotDrivable { id, tick } => {
                self.vitals.tick = tick;
                self.answer(id, Some(Refusal::NotDrivable));
                None
            }
            Note::NotPlanning { id, tick } => {
                self.vitals.tick = tick;
                self.answer(id, Some(Refusal::NotPlanning));
                None
            }
            Note::IsDriving { id, tick } => {
                self.vitals.tick = tick;
                self.answer(id, Some(Refusal::Driving));
                None
            }
            Note::Configured { id, tick } => {
                self.vitals.tick = tick;
                self.answer(id, None);
                self.put_in_force(tick)
            }
            Note::NotConfigured { id, tick } => {
                self.vitals.tick = tick;
                self.offered = None;
                self.answer(id, Some(Refusal::Swinging));
                None
            }
            Note::Vitals(vitals) => {
                if vitals.lost_notes != self.vitals.lost_notes {
                    // Some of them may have been answers: do not wait for ever.
                    self.in_flight = 0;
                }
                self.vitals = vitals;
                self.status_due = true;
                if vitals.config_since > self.config_since {
                    // Its note was lost.
                    return self.put_in_force(vitals.config_since);
                }
                None
            }
        }
    }

    /// The offered configuration rules from `tick` on: tell the host, and store it if that was asked for.
    fn put_in_force(&mut self, tick: u64) -> Option<Action> {
        let offered = self.offered.as_mut().filter(|o| !o.in_force)?;
        offered.in_force = true;
        let Offered { store, config, .. } = *offered;
        self.config = config;
        self.config_since = tick;
        self.zero = config.encoders.map(|e| e.zero);
        self.origin = ConfigOrigin::Host;
        self.hello_due = true;
        store.then_some(Action::Store(config))
    }

    fn event(&mut self, event: Event) {
        match event.what {
            What::Run { to, initial, .. } => {
                self.phase = to;
                if initial.is_some() {
                    self.initial = initial;
                }
            }
            What::Zeroed { zero, .. } => {
                self.zero = zero;
                self.hello_due = true;
            }
            _ => {}
        }
        self.vitals.tick = self.vitals.tick.max(event.tick);
        if self.events.is_full() {
            self.events.pop_front();
            self.dropped_frames = self.dropped_frames.wrapping_add(1);
        }
        let _ = self.events.push_back(event);
    }

    /// The reply to a command that was in flight.
    fn answer(&mut self, id: u16, refusal: Option<Refusal>) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.reply(id, refusal);
    }

    fn reply(&mut self, id: u16, refusal: Option<Refusal>) {
        let tick = self.vitals.tick;
        if self.replies.push_back(Reply { id, tick, refusal }).is_err() {
            self.dropped_frames = self.dropped_frames.wrapping_add(1);
        }
    }

    /// The next frame that is not a block, in wire bytes; 0: none waiting. `out` of [`MAX_FRAME`] bytes always suffices.
    pub fn next_frame(&mut self, out: &mut [u8]) -> usize {
        let written = if core::mem::take(&mut self.hello_due) {
            self.offered = self.offered.filter(|o| !o.in_force);
            wire::encode(&self.hello(), out)
        } else if let Some(event) = self.events.pop_front() {
            wire::encode(&event, out)
        } else if let Some(reply) = self.replies.pop_front() {
            wire::encode(&reply, out)
        } else if core::mem::take(&mut self.status_due) {
            wire::encode(&self.status(), out)
        } else if let Some(test) = &mut self.test {
            let pattern = Pattern::new(test.seed, test.next, test.of, test.bytes);
            test.next += 1;
            if test.next >= test.of {
                self.test = None;
            }
            wire::encode(&pattern, out)
        } else {
            return 0;
        };
        written.unwrap_or(0)
    }

    /// A block in wire bytes. `out` of [`MAX_FRAME`] bytes always suffices.
    pub fn block(&mut self, block: &Block, out: &mut [u8]) -> usize {
        self.vitals.tick = self.vitals.tick.max(block.end_tick());
        wire::encode(block, out).unwrap_or(0)
    }

    fn hello(&self) -> Hello {
        Hello {
            protocol: wire::PROTOCOL,
            numerics: wire::NUMERICS,
            schema: wire::SCHEMA_HASH,
            build: self.identity.build.clone(),
            board: self.identity.board.clone(),
            tick_hz: self.config.tick_hz,
            boot: self.identity.boot,
            uptime_ticks: self.vitals.tick,
            reset_cause: self.identity.reset_cause,
            last_fault: self.identity.last_fault.clone(),
            config_origin: self.origin,
            phase: self.phase,
            initial: self.initial,
            zero: self.zero,
            config_since: self.config_since,
            config: Blob::seal(&self.config),
            clock: self.identity.clock,
        }
    }

    fn status(&self) -> Status {
        Status {
            tick: self.vitals.tick,
            phase: self.phase,
            health: self.health,
            dropped_blocks: self.vitals.lost_blocks.wrapping_add(self.discarded_blocks),
            dropped_notes: self.vitals.lost_notes.wrapping_add(self.dropped_frames),
            encoder_faults: self.vitals.encoder_faults,
            uas_restarts: self.vitals.uas_restarts,
            ekf_restarts: self.vitals.ekf_restarts,
            uas_floored: self.vitals.uas_floored,
            ekf_floored: self.vitals.ekf.floored,
            ekf_gated: self.vitals.ekf.gated,
            ekf_resumes: self.vitals.ekf.resumes,
            ekf_verdict: self.vitals.ekf_verdict,
            bad_frames: self.decoder.bad.total(),
            reset_cause: self.identity.reset_cause,
            config_origin: self.origin,
            overloads: self.vitals.overloads,
            wear: self.wear,
            drive: self.vitals.drive,
        }
    }
}

/// The command, or the id (0 if not even that is readable) of one this build does not know.
fn read_command(raw: &Raw<'_>) -> Result<Command, u16> {
    raw.body_as::<Command>(<Command as wire::Body>::REV)
        .map_err(|_| postcard::take_from_bytes::<u16>(raw.body).map_or(0, |(id, _)| id))
}

const _: () = assert!(MAX_FRAME > crate::device::config::BLOB_BYTES + 256);
