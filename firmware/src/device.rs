//! Puts the two halves of the device together: configuration, identity, queues, engine, link.
//!
//! In: reset cause, fault text, what flash holds. Out: the tick is installed, the [`Stream`] is ready.

use heapless::String;
use static_cell::{ConstStaticCell, StaticCell};
use stribeck_core::device::config::{Blob, Config};
use stribeck_core::device::{Engine, Identity, Link, Queues, Setup, cost};
use stribeck_core::wire::{Block, ClockSource, ConfigOrigin, ResetCause};

use crate::board::TICK_HZ;
use crate::store::{self, Found};
use crate::stream::{BLOCKS, Stream, Waiting};
use crate::{fault, reset, tick, timing};

/// What the last program left behind.
pub struct Start {
    pub cause: ResetCause,
    pub last_fault: Option<String<{ fault::TEXT }>>,
}

impl Start {
    /// Read and forget it. Once, before anything else can fail.
    pub fn take() -> Self {
        let last_fault = fault::take();
        let cause = reset::take_cause(last_fault.is_some());
        Self { cause, last_fault }
    }

    /// The last program did not end on purpose.
    pub fn crashed(&self) -> bool {
        matches!(self.cause, ResetCause::Fault | ResetCause::Watchdog)
    }
}

/// The stored configuration if it is good for this board, else the defaults, and which of them.
#[inline(never)] // As for `install`.
pub fn configuration() -> (Config, ConfigOrigin) {
    let content = match store::load() {
        Found::Nothing => return (Config::default(), ConfigOrigin::Default),
        Found::Damaged => return (Config::default(), ConfigOrigin::StoredWasBad),
        Found::Content(content) => content,
    };
    match Blob::from_bytes(&content).and_then(|blob| blob.open().ok()) {
        Some(config) if fits(&config) => (config, ConfigOrigin::Stored),
        _ => (Config::default(), ConfigOrigin::StoredWasBad),
    }
}

/// What the link accepts from a host, and nothing else that flash may hold.
fn fits(config: &Config) -> bool {
    config.validate().is_ok()
        && config.tick_hz == TICK_HZ
        && cost::check(config, tick::BUDGET).is_ok()
}

/// Install the tick side and return the thread side. Once.
#[inline(never)] // Its large temporaries must not stay in the frame of the main task.
pub fn install(
    start: Start,
    clock: ClockSource,
    config: &Config,
    origin: ConfigOrigin,
) -> &'static Stream {
    static QUEUES: ConstStaticCell<Queues<'static, BLOCKS>> = ConstStaticCell::new(Queues::new());
    static POOL: ConstStaticCell<[Block; BLOCKS]> =
        ConstStaticCell::new([const { Block::EMPTY }; BLOCKS]);
    static WAITING: ConstStaticCell<Waiting> = ConstStaticCell::new(Waiting::EMPTY);
    static STREAM: StaticCell<Stream> = StaticCell::new();

    let identity = Identity {
        board: text("NUCLEO-H743ZI2"),
        build: text(env!("STRIBECK_BUILD")),
        boot: reset::boot_number(),
        reset_cause: start.cause,
        last_fault: start.last_fault.unwrap_or_default(),
        tick_hz: Some(TICK_HZ),
        clock,
        tick_budget: Some(tick::BUDGET),
    };
    static SPARE: StaticCell<Setup> = StaticCell::new();
    let spare = SPARE.init_with(|| Setup::new(config));
    let (tick_end, thread_end) = QUEUES.take().split(POOL.take(), spare);
    let (meter, timing) = timing::split();
    let mut engine = Engine::new(Setup::new(config));
    engine.guard(tick::LIMIT);
    tick::install(engine, tick_end, meter);
    let waiting = WAITING.take();
    STREAM.init_with(|| {
        Stream::new(
            Link::new(identity, *config, origin),
            thread_end,
            timing,
            waiting,
        )
    })
}

/// As much of `s` as fits.
fn text<const N: usize>(s: &str) -> String<N> {
    let mut text = String::new();
    for c in s.chars() {
        if text.push(c).is_err() {
            break;
        }
    }
    text
}
