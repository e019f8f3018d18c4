//! Thread side of the device: blocks and notes from the tick to USB, commands from USB to the tick.
//!
//! A slow or absent host never delays a tick: this task lags behind instead. While a host is connected
//! but does not read, the oldest blocks are discarded and counted and the sequence numbers show the
//! gap; frames are never cut, because an uncollected packet is offered again with the same bytes (only
//! closing the port in the middle of a frame cuts it). While no host is connected blocks are discarded
//! as they come, and counted once there has been a host.

use core::cell::{Cell, RefCell};

use cortex_m::peripheral::SCB;
use embassy_futures::join::join3;
use embassy_time::{Duration, Instant, Timer};
use embassy_usb::class::cdc_acm::Receiver;
use stribeck_core::config::{Blob, Config};
use stribeck_core::device::{Action, Link, Note, Request, ThreadEnd};
use stribeck_core::wire::{Health, MAX_FRAME, What};

use crate::board::CPU_HZ;
use crate::timing::Timing;
use crate::usb::{Driver, NotSent, PACKET, Port};
use crate::{store, tick, ui, usb, watchdog};

/// Blocks in circulation: one being filled, the others waiting. 10 · 10 ms = 100 ms of stream.
pub const BLOCKS: usize = 11;
/// When behind, keep this many of the newest blocks: room for the tick to go on filling.
const KEEP: usize = 6;
/// How often an idle task looks for something to send.
const POLL: Duration = Duration::from_millis(1);
/// Time for the host to collect the reply before a reset it asked for.
const BEFORE_RESET: Duration = Duration::from_millis(100);

pub struct Stream {
    link: RefCell<Link>,
    end: RefCell<ThreadEnd<'static>>,
    timing: RefCell<Timing>,
    to_store: Cell<Option<Config>>,
    reset_at: Cell<Option<Instant>>,
    had_host: Cell<bool>,
    /// Blocks were discarded that the host should have had.
    gap: Cell<bool>,
    queue_high: Cell<u8>,
    write_timeouts: Cell<u32>,
}

impl Stream {
    pub fn new(link: Link, end: ThreadEnd<'static>, timing: Timing) -> Self {
        Self {
            link: RefCell::new(link),
            end: RefCell::new(end),
            timing: RefCell::new(timing),
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
                self.housekeeping(0);
                Timer::after(POLL).await;
                if port.is_open() {
                    break;
                }
            }
            port.forget_armed();
            let greeting = self.link.borrow_mut().connected();
            self.end.borrow_mut().request(greeting);
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
        self.housekeeping(BLOCKS - 2);
        let mut link = self.link.borrow_mut();
        match link.next_frame(frame) {
            0 => self
                .end
                .borrow_mut()
                .with_block(|block| link.block(block, frame))
                .unwrap_or(0),
            length => length,
        }
    }

    /// After a gap, as soon as the host has caught up, let the next block carry a snapshot: a replay
    /// continues there.
    fn help_replay(&self) {
        let mut end = self.end.borrow_mut();
        if self.gap.get() && end.waiting() == 0 {
            self.gap.set(!end.request(Request::Snapshot));
        }
    }

    /// Send one frame whole; false: the port closed before its end.
    async fn send_frame(&self, port: &mut Port, frame: &[u8]) -> bool {
        for packet in frame.chunks(PACKET) {
            loop {
                match port.send(packet).await {
                    Ok(()) => {
                        self.housekeeping(BLOCKS - 2);
                        break;
                    }
                    Err(NotSent::Closed) => return false,
                    Err(NotSent::Waiting) => {
                        self.write_timeouts
                            .set(self.write_timeouts.get().wrapping_add(1));
                        self.housekeeping(KEEP);
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
                    let action = self.link.borrow_mut().receive(byte);
                    self.act(action);
                }
            }
            Timer::after(POLL).await;
        }
    }

    /// Write configurations to flash as they are accepted.
    async fn keep(&self) {
        loop {
            if let Some(config) = self.to_store.take() {
                match store::save(Blob::seal(&config).as_bytes()).await {
                    Ok(()) => defmt::info!("configuration stored"),
                    Err(e) => {
                        ui::show_fault();
                        defmt::error!("configuration not stored: {}", e);
                    }
                }
            }
            Timer::after_millis(10).await;
        }
    }

    fn act(&self, action: Option<Action>) {
        let Some(action) = action else { return };
        match action {
            Action::Apply(request) => {
                let queued = self.end.borrow_mut().request(request);
                if !queued {
                    self.link.borrow_mut().refuse(&request);
                }
            }
            Action::Store(config) => self.to_store.set(Some(config)),
            Action::Reset => self.reset_at.set(Some(Instant::now() + BEFORE_RESET)),
        }
    }

    /// Everything that must go on whether or not a host reads: notes, health, discarding, the watchdog.
    fn housekeeping(&self, keep_blocks: usize) {
        watchdog::stream_is_alive();
        if self.reset_at.get().is_some_and(|at| Instant::now() >= at) {
            SCB::sys_reset();
        }
        let waiting = self.end.borrow().waiting() as u8;
        self.queue_high.set(self.queue_high.get().max(waiting));
        let discarded = self.end.borrow_mut().make_room(keep_blocks);
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

    fn health(&self) -> Health {
        let mut timing = self.timing.borrow_mut();
        Health {
            tick_cycles: timing.cycles.take(),
            period_cycles: timing.period.take(),
            clock_hz: CPU_HZ,
            overruns: tick::overruns(),
            missed_ticks: tick::missed(),
            queue_high: self.queue_high.get(),
            queue_size: (BLOCKS - 1) as u8,
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
        }
    }
}
