//! Thread side of the device: blocks and notes from the tick to USB, commands from USB to the tick.
//!
//! A slow or absent host never delays a tick: this task lags behind instead. While a host is connected
//! but does not read, frames wait in the backlog; when it is full the oldest blocks are discarded and
//! counted and the sequence numbers show the gap; frames are never cut, because an uncollected packet is
//! offered again with the same bytes (only closing the port in the middle of a frame cuts it). While no
//! host is connected blocks are discarded as they come, and counted once there has been a host.

use core::cell::{Cell, RefCell};

use cortex_m::peripheral::SCB;
use embassy_futures::join::join3;
use embassy_time::{Duration, Instant, Timer};
use embassy_usb::class::cdc_acm::Receiver;
use stribeck_core::device::config::{Blob, Config};
use stribeck_core::device::{Action, Backlog, Link, Note, Request, ThreadEnd};
use stribeck_core::wire::{Health, MAX_FRAME, Wear, What};

use crate::board::CPU_HZ;
use crate::timing::Timing;
use crate::usb::{Driver, NotSent, PACKET, Port};
use crate::{store, tick, ui, usb, watchdog};

/// Blocks in circulation: one being filled, the others on their way to the backlog. 4 · 10 ms: much
/// longer than this task ever takes to come round.
pub const BLOCKS: usize = 5;
/// Bytes of frames that wait for a host that does not read: 0.35 s at the default 45 kB/s, on top of
/// what the host's own driver buffers (Linux: 6 kB, 0.15 s).
const BACKLOG: usize = 255 * PACKET;
/// How often an idle task looks for something to send.
const POLL: Duration = Duration::from_millis(1);
/// Configurations are stored at most this often: a host that sends one after another cannot wear out the flash
/// (2.56 million stores) within a month.
const STORE_EVERY: Duration = Duration::from_secs(1);
/// How long a command waits for the host to collect the replies before it.
const REPLY_WAIT: Duration = Duration::from_millis(250);
/// Time for the host to collect the reply before a reset it asked for.
const BEFORE_RESET: Duration = Duration::from_millis(100);

/// Blocks that became frames, for the host to read.
pub struct Waiting {
    backlog: Backlog<BACKLOG>,
    /// A frame on its way from a block to the backlog.
    scratch: [u8; MAX_FRAME],
}

impl Waiting {
    pub const EMPTY: Self = Waiting {
        backlog: Backlog::new(),
        scratch: [0; MAX_FRAME],
    };
}

pub struct Stream {
    link: RefCell<Link>,
    end: RefCell<ThreadEnd<'static>>,
    timing: RefCell<Timing>,
    waiting: RefCell<&'static mut Waiting>,
    to_store: Cell<Option<Config>>,
    reset_at: Cell<Option<Instant>>,
    had_host: Cell<bool>,
    /// Blocks were discarded that the host should have had.
    gap: Cell<bool>,
    queue_high: Cell<u8>,
    write_timeouts: Cell<u32>,
}

impl Stream {
    pub fn new(
        link: Link,
        end: ThreadEnd<'static>,
        timing: Timing,
        waiting: &'static mut Waiting,
    ) -> Self {
        Self {
            link: RefCell::new(link),
            end: RefCell::new(end),
            timing: RefCell::new(timing),
            waiting: RefCell::new(waiting),
            to_store: Cell::new(None),
            reset_at: Cell::new(None),
            had_host: Cell::new(false),
            gap: Cell::new(false),
            queue_high: Cell::new(0),
            write_timeouts: Cell::new(0),
        }
    }

    /// Send, receive and store, for ever.
    pub async fn run(&self, mut port: Port, mut receiver: Receiver<'static, Driver>) {
        join3(
            self.send(&mut port),
            self.receive(&mut receiver),
            self.keep(),
        )
        .await;
    }

    async fn send(&self, port: &mut Port) {
        let mut frame = [0; MAX_FRAME];
        loop {
            // At least once, so that a port that opens and closes cannot starve the other tasks.
            loop {
                self.housekeeping(false);
                Timer::after(POLL).await;
                if port.is_open() {
                    break;
                }
            }
            port.forget_armed();
            let greeting = self.link.borrow_mut().connected();
            let _ = self.end.borrow_mut().request(greeting);
            self.had_host.set(true);
            self.gap.set(false);
            defmt::info!("usb: host connected");
            // A lone delimiter: whatever the host read before is not part of the first frame.
            frame[0] = 0;
            let mut length = 1;
            while self.send_frame(port, &frame[..length]).await {
                self.help_replay();
                length = self.next_frame(&mut frame);
                while length == 0 && port.is_open() {
                    Timer::after(POLL).await;
                    length = self.next_frame(&mut frame);
                }
                if !port.is_open() {
                    break;
                }
            }
            defmt::info!("usb: host gone");
        }
    }

    /// The next frame for the host; 0: none is ready.
    fn next_frame(&self, frame: &mut [u8; MAX_FRAME]) -> usize {
        self.housekeeping(true);
        match self.link.borrow_mut().next_frame(frame) {
            0 => self.waiting.borrow_mut().backlog.pop(frame),
            length => length,
        }
    }

    /// After a gap, as soon as the host has caught up, let the next block carry a snapshot: a replay
    /// continues there.
    fn help_replay(&self) {
        if self.gap.get() && self.waiting.borrow().backlog.is_empty() {
            self.gap
                .set(self.end.borrow_mut().request(Request::Snapshot).is_err());
        }
    }

    /// Send one frame whole; false: the port closed before its end.
    async fn send_frame(&self, port: &mut Port, frame: &[u8]) -> bool {
        for packet in frame.chunks(PACKET) {
            loop {
                match port.send(packet).await {
                    Ok(()) => {
                        self.housekeeping(true);
                        break;
                    }
                    Err(NotSent::Closed) => return false,
                    Err(NotSent::Waiting) => {
                        self.write_timeouts
                            .set(self.write_timeouts.get().wrapping_add(1));
                        self.housekeeping(true);
                    }
                }
            }
        }
        // A last packet of full size needs an empty one after it to end the transfer.
        if frame.len().is_multiple_of(PACKET) {
            return port.send(&[]).await != Err(NotSent::Closed);
        }
        true
    }

    async fn receive(&self, receiver: &mut Receiver<'static, Driver>) {
        let mut packet = [0; PACKET];
        loop {
            // Before the bus task has run, the USB core has no clock and must not be touched.
            while !usb::is_configured() {
                Timer::after(POLL).await;
            }
            receiver.wait_connection().await;
            while let Ok(length) = receiver.read_packet(&mut packet).await {
                for &byte in &packet[..length] {
                    if byte == 0 {
                        self.room_for_a_reply().await;
                    }
                    let action = self.link.borrow_mut().receive(byte);
                    self.act(action);
                }
            }
            Timer::after(POLL).await;
        }
    }

    /// A command is complete: carry it out when there is room for its reply and for the snapshot an order
    /// brings, so that a burst is answered and loses no block. A host that never reads cannot hold up
    /// an order for long.
    async fn room_for_a_reply(&self) {
        let deadline = Instant::now() + REPLY_WAIT;
        let full = || {
            let waiting = self.waiting.borrow().backlog.bytes();
            // Blocks on their way and the snapshot of this order need the rest: up to 2 kB each.
            !self.link.borrow().is_ready() || waiting > BACKLOG / 4
        };
        while full() && Instant::now() < deadline {
            Timer::after(POLL).await;
        }
    }

    /// Write configurations to flash as they are accepted; of those that come faster, the newest.
    async fn keep(&self) {
        let mut failures = 0u32;
        loop {
            let stores = store::count();
            self.link.borrow_mut().set_wear(Wear { stores, failures });
            let config = loop {
                if let Some(config) = self.to_store.take() {
                    break config;
                }
                Timer::after_millis(10).await;
            };
            match store::save(Blob::seal(&config).as_bytes()).await {
                Ok(()) => defmt::info!("configuration stored"),
                Err(e) => {
                    failures = failures.wrapping_add(1);
                    ui::show_fault();
                    defmt::error!("configuration not stored: {}", e);
                }
            }
            Timer::after(STORE_EVERY).await;
        }
    }

    fn act(&self, action: Option<Action>) {
        let Some(action) = action else { return };
        match action {
            Action::Apply(request) => {
                if let Err(request) = self.end.borrow_mut().request(request) {
                    self.link.borrow_mut().refuse(&request);
                }
            }
            Action::Configure => {
                let mut link = self.link.borrow_mut();
                let queued = link
                    .offered()
                    .is_some_and(|(id, config)| self.end.borrow_mut().configure(id, config));
                if !queued {
                    link.refuse_offered();
                }
            }
            Action::Store(config) => self.to_store.set(Some(config)),
            Action::Reset => self.reset_at.set(Some(Instant::now() + BEFORE_RESET)),
        }
    }

    /// Everything that must go on whether or not a host reads: blocks, notes, health, the watchdog.
    fn housekeeping(&self, connected: bool) {
        watchdog::stream_is_alive();
        if self.reset_at.get().is_some_and(|at| Instant::now() >= at) {
            SCB::sys_reset();
        }
        if !self.end.borrow().is_whole() {
            panic!("block queue damaged");
        }
        let discarded = if connected {
            self.collect_blocks()
        } else {
            self.waiting.borrow_mut().backlog.clear() + self.end.borrow_mut().make_room(0)
        };
        if discarded > 0 && self.had_host.get() {
            self.gap.set(true);
            self.link.borrow_mut().discarded(discarded);
        }
        self.timing.borrow_mut().collect();
        loop {
            let Some(note) = self.end.borrow_mut().note() else {
                return;
            };
            self.log(&note);
            if matches!(note, Note::Vitals(_)) {
                self.link.borrow_mut().set_health(self.health());
            }
            let action = self.link.borrow_mut().note(note);
            self.act(action);
        }
    }

    /// Closed blocks to the backlog, as frames; returns how many older ones had to go for them.
    fn collect_blocks(&self) -> u32 {
        let mut end = self.end.borrow_mut();
        let mut link = self.link.borrow_mut();
        let Waiting { backlog, scratch } = &mut **self.waiting.borrow_mut();
        let mut dropped = 0;
        while let Some(length) = end.with_block(|block| link.block(block, &mut scratch[..])) {
            dropped += backlog.push(&scratch[..length]);
        }
        let packets = packets(backlog.bytes());
        self.queue_high.set(self.queue_high.get().max(packets));
        dropped
    }

    fn health(&self) -> Health {
        let mut timing = self.timing.borrow_mut();
        Health {
            tick_cycles: timing.cycles.take(),
            period_cycles: timing.period.take(),
            clock_hz: CPU_HZ,
            overruns: tick::overruns(),
            missed_ticks: tick::missed(),
            queue_high: self.queue_high.get(),
            queue_size: packets(BACKLOG),
            write_timeouts: self.write_timeouts.get(),
        }
    }

    /// For people with a debugger; machines get the same from the stream.
    fn log(&self, note: &Note) {
        let Note::Event(event) = note else { return };
        match event.what {
            What::Run { from, to, .. } => {
                defmt::info!("tick {}: {} to {}", event.tick, from as u8, to as u8);
            }
            What::Zeroed { .. } => defmt::info!("tick {}: zeroed", event.tick),
            What::Configured => defmt::info!("tick {}: configured", event.tick),
            What::Overrun { missed } => {
                ui::show_fault();
                defmt::warn!("tick {}: {} ticks missed", event.tick, missed);
            }
            What::EncoderFault { joint, flags } => {
                ui::show_fault();
                defmt::warn!("tick {}: encoder {} faults {:#x}", event.tick, joint, flags);
            }
            What::UasRestart { total } | What::EkfRestart { total } => {
                ui::show_fault();
                defmt::warn!("tick {}: observer restart, {} in all", event.tick, total);
            }
            What::Drive { mode, trip } => {
                defmt::info!(
                    "tick {}: drive mode {} trip {}",
                    event.tick,
                    mode as u8,
                    trip as u8
                );
            }
            What::Overloaded { cycles, limit } => {
                ui::show_fault();
                defmt::error!(
                    "tick {}: {} cycles, limit {}: run stopped",
                    event.tick,
                    cycles,
                    limit
                );
            }
        }
    }
}

/// Bytes in USB packets.
const fn packets(bytes: usize) -> u8 {
    bytes.div_ceil(PACKET) as u8
}
const _: () = assert!(BACKLOG.div_ceil(PACKET) <= u8::MAX as usize);
