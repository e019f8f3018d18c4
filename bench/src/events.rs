//! Scenario events: waiting for their time, then done to the chip.

use std::collections::VecDeque;

use crate::chip::{Chip, MemoryChange};
use crate::elf::Program;
use crate::motor::Motor;
use crate::periph::flash::Change;
use crate::periph::rcc::ResetCause;
use crate::scenario::{Action, Channel, Event, FlashOperation, unhex};
use crate::time::{NEVER, Time, US, from_secs};
use crate::usb::Reading;

/// One thing to do at a time.
#[derive(Clone, Debug)]
enum Task {
    Act(Action),
    ReleaseButton,
    BridgeRecovers,
    SupplyRecovers,
    LimitSwitchCloses,
    /// One disturbance on an encoder: joint, channel (0 = A), direction, width.
    Edge(usize, usize, i64, Time),
    FlipBit(u32, u32),
}

/// Events not yet due, by time.
#[derive(Clone, Debug, Default)]
pub struct Pending {
    tasks: VecDeque<(Time, Task)>,
    /// Reset as soon as this operation runs.
    reset_during: Option<FlashOperation>,
}

#[derive(Debug, thiserror::Error)]
#[error("event at {at_s} s: the program has no symbol \"{symbol}\"")]
pub struct UnknownSymbol {
    at_s: f64,
    symbol: String,
}

impl Pending {
    /// Resolves symbols and queues.
    pub fn new(events: &[Event], program: &Program) -> Result<Self, UnknownSymbol> {
        let mut pending = Pending::default();
        for e in events {
            let task = match &e.action {
                Action::BitFlip {
                    address,
                    symbol,
                    offset,
                    bit,
                } => {
                    let base = match (address, symbol) {
                        (Some(a), _) => *a,
                        (None, Some(s)) => program.address_of(s).ok_or_else(|| UnknownSymbol {
                            at_s: e.at_s,
                            symbol: s.clone(),
                        })?,
                        (None, None) => 0,
                    };
                    Task::FlipBit(base + offset, *bit)
                }
                other => Task::Act(other.clone()),
            };
            pending.add(from_secs(e.at_s), task);
        }
        Ok(pending)
    }

    /// Queues an action.
    pub fn push(&mut self, at: Time, action: Action) {
        self.add(at, Task::Act(action));
    }

    fn add(&mut self, at: Time, task: Task) {
        let i = self.tasks.partition_point(|t| t.0 <= at);
        self.tasks.insert(i, (at, task));
    }

    pub fn next(&self) -> Time {
        self.tasks.front().map_or(NEVER, |t| t.0)
    }

    fn pop(&mut self, now: Time) -> Option<Task> {
        (self.next() <= now)
            .then(|| self.tasks.pop_front())?
            .map(|t| t.1)
    }
}

impl Chip {
    /// Does everything that is due.
    pub fn run_events(&mut self) {
        while let Some(task) = self.pending.pop(self.now) {
            match task {
                Task::Act(action) => {
                    self.diagnostics
                        .note(self.now, format!("scenario: {action:?}"));
                    self.act(action);
                }
                Task::ReleaseButton => self.gpio.drive(self.board.button.0, Some(false)),
                Task::BridgeRecovers => self.change_motor(|m| m.fault = false),
                Task::SupplyRecovers => self.change_motor(Motor::restore_supply),
                Task::LimitSwitchCloses => self.limit_switch_open = false,
                Task::Edge(joint, channel, direction, width) => {
                    self.disturb(joint, channel, direction, width)
                }
                Task::FlipBit(address, bit) => {
                    self.diagnostics.note(
                        self.now,
                        format!("scenario: bit {bit} of {address:#010x} flips"),
                    );
                    self.memory.push(MemoryChange::FlipBit { address, bit });
                }
            }
        }
        let wanted = matches!(
            (self.pending.reset_during, self.flash.running()),
            (Some(FlashOperation::Program), Some(Change::Program { .. }))
                | (Some(FlashOperation::Erase), Some(Change::Erase { .. }))
        );
        if wanted {
            self.pending.reset_during = None;
            self.reset = Some(ResetCause::Pin);
        }
    }

    fn change_motor(&mut self, change: impl FnOnce(&mut Motor)) {
        self.rig.change_motor(self.now, change);
    }

    fn act(&mut self, action: Action) {
        let now = self.now;
        self.outputs.cause(now, &format!("{action:?}"));
        match action {
            Action::LostCounts { joint, counts } => self.rig.slip(joint, -counts),
            Action::Noise {
                joint,
                edges,
                duration_s,
                width_ns,
                channel,
            } => {
                for i in 0..edges as usize {
                    let at = now + from_secs(duration_s * self.rng.unit());
                    let direction = if self.rng.next_u32() & 1 == 0 { 1 } else { -1 };
                    let width = (width_ns * 1e-3 * US as f64) as Time;
                    let channel = match channel {
                        Channel::A => 0,
                        Channel::B => 1,
                        Channel::Both => i % 2,
                    };
                    let edge = Task::Edge(joint, channel, direction, width);
                    self.pending.add(at, edge);
                }
            }
            Action::SwapChannels { joint } => self.rig.swap_channels(joint, now),
            Action::Cut { joint, channel } => self.rig.cut(joint, channel, now),
            Action::Reconnect { joint } => self.rig.reconnect(joint, now),
            Action::UsbUnplug => self.host.unplug(&mut self.otg),
            Action::UsbReplug => self.host.plug(&mut self.otg),
            Action::UsbReset => self.host.reset_bus(&mut self.otg, now),
            Action::UsbSuspend => self.host.suspend(&mut self.otg),
            Action::UsbResume => self.host.resume(&mut self.otg),
            Action::HostStops => self.host.reading = Reading::Stopped,
            Action::HostReads => self.host.reading = Reading::Fast,
            Action::HostSlow { bytes_per_s } => self.host.reading = Reading::Slow(bytes_per_s),
            Action::Dtr { on } => self.host.set_dtr(on),
            Action::Send { hex } => self.host.send(&unhex(&hex).unwrap_or_default()),
            Action::Button { hold_s } => {
                self.gpio.drive(self.board.button.0, Some(true));
                self.pending
                    .add(now + from_secs(hold_s), Task::ReleaseButton);
            }
            Action::BridgeFault { hold_s } => {
                self.change_motor(|m| m.fault = true);
                self.pending
                    .add(now + from_secs(hold_s), Task::BridgeRecovers);
            }
            Action::SupplySag { volts, hold_s } => {
                self.change_motor(|m| m.supply_v = volts);
                self.pending
                    .add(now + from_secs(hold_s), Task::SupplyRecovers);
            }
            Action::LimitSwitch { hold_s } => {
                self.limit_switch_open = true;
                self.pending
                    .add(now + from_secs(hold_s), Task::LimitSwitchCloses);
            }
            Action::MotorStalls { hold_s } => self.rig.block(now, now + from_secs(hold_s)),
            Action::Reset => self.reset = Some(ResetCause::Pin),
            Action::BrownOut => self.reset = Some(ResetCause::BrownOut),
            Action::ResetDuringFlash { operation } => self.pending.reset_during = Some(operation),
            Action::BitFlip {
                address,
                offset,
                bit,
                ..
            } => {
                let address = address.unwrap_or(0) + offset;
                self.memory.push(MemoryChange::FlipBit { address, bit });
            }
            Action::Stall { duration_us } => self.now += from_secs(duration_us * 1e-6),
            Action::DebuggerAttaches => self.dbgmcu.debugger(true),
            Action::DebuggerDetaches => self.dbgmcu.debugger(false),
            Action::Push { joint, delta } => self.rig.push(joint, delta, now),
            Action::Hold { hold_s } => self.rig.hold(now, now + from_secs(hold_s)),
        }
    }

    /// A disturbance moves the count if it is longer than the input filter of the timer that listens to the channel.
    fn disturb(&mut self, joint: usize, channel: usize, direction: i64, width: Time) {
        let filter = self
            .encoder_timer(joint)
            .map_or(0, |t| self.tims[t].filter_times()[channel]);
        if width >= filter {
            self.rig.slip(joint, direction);
            self.diagnostics.noise_passed += 1;
        } else {
            self.diagnostics.noise_filtered += 1;
        }
    }
}
