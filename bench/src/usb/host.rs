//! Attachment, bus reset, enumeration and bulk scheduling at full-speed rates.
//!
//! Time is cut into frames of 1 ms with 19 slots: at most 19 packets of 64 bytes per frame in both directions together,
//! the most a full-speed host controller moves. Received bytes first fill a bounded driver buffer; when the reader does not
//! take them the host stops asking, and the device sees its packets stay in the FIFO, as behind a real port.

use std::collections::VecDeque;

use super::control::{Identity, Progress, Request, Transfer};
use crate::periph::otg::{self, Answer, Otg};
use crate::time::{MS, Time};

/// Slots per frame of 1 ms.
pub const SLOTS: u64 = 19;
/// Bytes the operating system buffers for a port that nobody reads (cdc_acm: 16 requests of 128 bytes).
pub const BUFFER: usize = 2048;

/// How the program behind the port reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// At once.
    Fast,
    Stopped,
    /// At most this many bytes per second.
    Slow(u32),
    /// The caller takes bytes out of the buffer with [`UsbHost::take_buffered`] (PTY).
    External,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Detached,
    Debounce { until: Time },
    Reset { until: Time },
    Settle { until: Time },
    Running,
    Suspended,
}

/// Counters of the summary.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct UsbStats {
    pub bytes_in: u64,
    pub packets_in: u64,
    pub zero_length_in: u64,
    pub bytes_out: u64,
    pub packets_out: u64,
    pub stalls: u64,
    pub enumerations: u64,
    pub most_packets_in_a_frame: u64,
    pub failed_enumerations: u64,
    /// Frames (1 ms) with the device's pull-up on and no 5 V on the cable: a self-powered device must not (USB 2.0 §7.1.5).
    pub pullup_without_vbus_ms: u64,
}

pub struct UsbHost {
    state: State,
    plugged: bool,
    /// What the program behind the port wants DTR to be.
    dtr: bool,
    control: VecDeque<Transfer>,
    deadline: Time,
    pub identity: Identity,
    configured: bool,
    tx: VecDeque<u8>,
    buffer: VecDeque<u8>,
    delivered: Vec<u8>,
    pub reading: Reading,
    /// What the slow reader may still take, in thousandths of a byte.
    allowance: u64,
    next_slot: Time,
    frame: Time,
    frame_packets: u64,
    pub stats: UsbStats,
    log: Vec<String>,
}

impl UsbHost {
    pub fn new(reading: Reading) -> Self {
        UsbHost {
            state: State::Detached,
            plugged: true,
            dtr: true,
            control: VecDeque::new(),
            deadline: 0,
            identity: Identity::default(),
            configured: false,
            tx: VecDeque::new(),
            buffer: VecDeque::new(),
            delivered: Vec::new(),
            reading,
            allowance: 0,
            next_slot: 0,
            frame: 0,
            frame_packets: 0,
            stats: UsbStats::default(),
            log: Vec::new(),
        }
    }

    /// Enumerated, configured and not suspended.
    pub fn ready(&self) -> bool {
        self.configured && self.state == State::Running
    }

    /// Bytes for the device.
    pub fn send(&mut self, bytes: &[u8]) {
        self.tx.extend(bytes);
    }

    /// Bytes not yet taken by the device.
    pub fn unsent(&self) -> usize {
        self.tx.len()
    }

    /// Everything the reader has received since the last call.
    pub fn take_delivered(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.delivered)
    }

    /// What the driver holds for an external reader, without taking it.
    pub fn buffered(&mut self) -> &[u8] {
        self.buffer.make_contiguous()
    }

    /// The external reader has taken `n` bytes.
    pub fn take_buffered(&mut self, n: usize) -> Vec<u8> {
        self.buffer.drain(..n.min(self.buffer.len())).collect()
    }

    /// Messages since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    pub fn plug(&mut self, otg: &mut Otg) {
        self.plugged = true;
        if !otg.vbus {
            otg.session_begin();
            self.log.push("cable plugged in".into());
        }
    }

    pub fn unplug(&mut self, otg: &mut Otg) {
        self.plugged = false;
        self.detach("cable pulled out");
        otg.session_end();
        otg.suspended = true;
        otg.raise(otg::USBSUSP);
    }

    /// The host resets the bus and enumerates again.
    pub fn reset_bus(&mut self, otg: &mut Otg, now: Time) {
        if self.state != State::Detached {
            self.start_reset(otg, now);
        }
    }

    pub fn suspend(&mut self, otg: &mut Otg) {
        if self.state == State::Running {
            self.state = State::Suspended;
            otg.suspended = true;
            otg.raise(otg::USBSUSP);
            self.log.push("bus suspended".into());
        }
    }

    pub fn resume(&mut self, otg: &mut Otg) {
        if self.state == State::Suspended {
            self.state = State::Running;
            otg.suspended = false;
            otg.raise(otg::WKUPINT);
            self.log.push("bus resumed".into());
        }
    }

    /// Opens (true) or closes the port: DTR and RTS, and what was buffered is dropped on close.
    pub fn set_dtr(&mut self, on: bool) {
        if !on {
            self.buffer.clear();
        }
        if self.dtr != on && self.configured {
            self.control
                .push_back(Transfer::new(Request::LineState(on)));
        }
        self.dtr = on;
    }

    /// When [`UsbHost::poll`] wants to be called next.
    pub fn next(&self) -> Time {
        self.next_slot
    }

    /// One bus slot; true = it began with a start-of-frame packet.
    pub fn poll(&mut self, otg: &mut Otg, now: Time) -> bool {
        if now < self.next_slot {
            return false;
        }
        let frame = now / MS;
        let new_frame = frame != self.frame;
        if new_frame {
            self.frame = frame;
            self.start_frame(otg);
        }
        let started = new_frame && self.state == State::Running;
        let slot = now % MS * SLOTS / MS;
        self.next_slot = match self.state {
            State::Running => frame * MS + (MS * (slot + 1)).div_ceil(SLOTS),
            _ => (frame + 1) * MS,
        };
        if self.state != State::Detached && !otg.connected() {
            self.detach("device disconnected");
        }
        match self.state {
            State::Detached if self.plugged && otg.connected() => {
                self.log.push("device attached".into());
                self.state = State::Debounce {
                    until: now + 2 * MS,
                };
            }
            State::Debounce { until } if now >= until => self.start_reset(otg, now),
            State::Reset { until } if now >= until && !otg.is_raised(otg::USBRST) => {
                otg.raise(otg::ENUMDNE);
                self.state = State::Settle {
                    until: now + 2 * MS,
                };
            }
            State::Settle { until } if now >= until => {
                self.state = State::Running;
                self.control = Transfer::enumeration(self.dtr).into();
                self.deadline = now + 500 * MS;
            }
            State::Running => self.transact(otg, now),
            _ => {}
        }
        started
    }

    fn start_frame(&mut self, otg: &mut Otg) {
        self.stats.pullup_without_vbus_ms += u64::from(otg.connected() && !otg.vbus);
        self.stats.most_packets_in_a_frame =
            self.stats.most_packets_in_a_frame.max(self.frame_packets);
        self.frame_packets = 0;
        if self.state == State::Running {
            otg.frame = otg.frame.wrapping_add(1);
            otg.raise(otg::SOF);
        }
        match self.reading {
            Reading::Fast => self.deliver(usize::MAX),
            Reading::Slow(rate) => {
                self.allowance = (self.allowance + u64::from(rate)).min(1000 * BUFFER as u64);
                let n = self.allowance / 1000;
                self.allowance -= 1000 * n.min(self.buffer.len() as u64);
                self.deliver(n as usize);
            }
            Reading::Stopped | Reading::External => {}
        }
    }

    fn deliver(&mut self, n: usize) {
        let n = n.min(self.buffer.len());
        self.delivered.extend(self.buffer.drain(..n));
    }

    fn detach(&mut self, why: &str) {
        if self.state != State::Detached {
            self.log.push(why.into());
        }
        self.state = State::Detached;
        self.configured = false;
        self.control.clear();
        self.tx.clear();
    }

    fn start_reset(&mut self, otg: &mut Otg, now: Time) {
        self.configured = false;
        self.control.clear();
        otg.bus_reset();
        self.state = State::Reset {
            until: now + 10 * MS,
        };
    }

    fn transact(&mut self, otg: &mut Otg, now: Time) {
        if !otg.understands() {
            if now > self.deadline {
                self.deaf(otg, now);
            }
            return;
        }
        if let Some(t) = self.control.front_mut() {
            match t.step(otg) {
                Progress::Moved => self.frame_packets += 1,
                Progress::Waiting if now > self.deadline => self.fail(otg, now),
                Progress::Waiting => {}
                done => self.finish_control(done, now),
            }
            return;
        }
        if self.configured && !self.bulk_out(otg) {
            self.bulk_in(otg);
        }
    }

    /// Nothing but errors for 500 ms: the device's clock is too far off.
    fn deaf(&mut self, otg: &mut Otg, now: Time) {
        let off = match otg.clock_error_ppm {
            Some(ppm) => format!("is {:.2} % off (allowed: .25)", ppm as f64 * 1e-4),
            None => "is off".into(),
        };
        self.log.push(format!(
            "no valid answer for 500 ms, the device's clock {off}: bus reset"
        ));
        self.stats.failed_enumerations += 1;
        self.start_reset(otg, now);
    }

    fn fail(&mut self, otg: &mut Otg, now: Time) {
        let what = self
            .control
            .front()
            .map(|t| format!("{:?}", t.request))
            .unwrap_or_default();
        self.log
            .push(format!("no answer to {what} for 500 ms, bus reset"));
        self.stats.failed_enumerations += 1;
        self.start_reset(otg, now);
    }

    fn finish_control(&mut self, how: Progress, now: Time) {
        let Some(t) = self.control.pop_front() else {
            return;
        };
        self.frame_packets += 1;
        self.deadline = now + 500 * MS;
        if how == Progress::Stalled {
            self.stats.stalls += 1;
            if !matches!(t.request, Request::Qualifier | Request::Text(_)) {
                self.log
                    .push(format!("{:?} was refused with a stall", t.request));
            }
        } else {
            self.identity.learn(&t);
        }
        if self.control.is_empty() && !self.configured {
            self.configured = true;
            self.stats.enumerations += 1;
            let i = &self.identity;
            self.log.push(format!(
                "configured: {:04x}:{:04x} {} {} {} (bulk IN {}, OUT {})",
                i.vendor,
                i.product,
                i.manufacturer_name,
                i.product_name,
                i.serial,
                i.bulk_in,
                i.bulk_out
            ));
        }
    }

    fn bulk_out(&mut self, otg: &mut Otg) -> bool {
        if self.tx.is_empty() {
            return false;
        }
        let n = self.tx.len().min(64);
        let packet = &self.tx.make_contiguous()[..n];
        if !matches!(otg.bus_out(self.identity.bulk_out, packet), Answer::Data(_)) {
            return false;
        }
        self.tx.drain(..n);
        self.stats.bytes_out += n as u64;
        self.stats.packets_out += 1;
        self.frame_packets += 1;
        true
    }

    fn bulk_in(&mut self, otg: &mut Otg) {
        if self.buffer.len() + 64 > BUFFER || (self.reading == Reading::External && !self.dtr) {
            return;
        }
        if let Answer::Data(packet) = otg.bus_in(self.identity.bulk_in) {
            self.stats.bytes_in += packet.len() as u64;
            self.stats.packets_in += 1;
            self.stats.zero_length_in += u64::from(packet.is_empty());
            self.frame_packets += 1;
            self.buffer.extend(packet);
        }
    }
}

#[cfg(test)]
mod tests;
