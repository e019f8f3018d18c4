//! The library interface: a bench that runs for a while, takes bytes and gives bytes, all in virtual time.

use std::path::Path;
use std::rc::Rc;

use crate::elf::Program;
use crate::machine::{Machine, MachineError, Outcome};
use crate::report::Summary;
use crate::rtt::LogLine;
use crate::scenario::{Action, Scenario};
use crate::time::{MS, Time, from_secs};

/// A powered bench. Two benches given the same program, scenario and calls produce the same bytes.
pub struct Bench {
    pub machine: Machine,
    received: Vec<u8>,
    log: Vec<LogLine>,
}

impl Bench {
    pub fn new(program: Rc<Program>, scenario: &Scenario) -> Result<Bench, MachineError> {
        Ok(Bench {
            machine: Machine::new(program, scenario)?,
            received: Vec::new(),
            log: Vec::new(),
        })
    }

    /// Loads `elf` and powers it up.
    pub fn open(elf: &Path, scenario: &Scenario) -> anyhow::Result<Bench> {
        Ok(Bench::new(Rc::new(Program::load(elf)?), scenario)?)
    }

    /// Virtual time [s].
    pub fn seconds(&self) -> f64 {
        self.machine.seconds()
    }

    /// Runs until virtual time `end_s` [s].
    pub fn run_until(&mut self, end_s: f64) -> Outcome {
        self.run_to(from_secs(end_s))
    }

    /// Runs for `s` more seconds.
    pub fn run_for(&mut self, s: f64) -> Outcome {
        self.run_to(self.machine.now() + from_secs(s))
    }

    /// Runs in slices of 1 ms so that logs are read before their buffer is full.
    pub fn run_to(&mut self, end: Time) -> Outcome {
        while self.machine.now() < end {
            let slice = (self.machine.now() / MS + 1) * MS;
            let outcome = self.machine.run_until(slice.min(end));
            self.received
                .extend(self.machine.chip_mut().host.take_delivered());
            self.log.extend(self.machine.take_log());
            if outcome != Outcome::Time {
                return outcome;
            }
        }
        Outcome::Time
    }

    /// Runs until `done` says so, at most until `end_s`; true = it did.
    pub fn run_until_when(&mut self, end_s: f64, mut done: impl FnMut(&Bench) -> bool) -> bool {
        while self.seconds() < end_s {
            if done(self) {
                return true;
            }
            if self.run_for(1e-3) != Outcome::Time {
                break;
            }
        }
        done(self)
    }

    /// Queues bytes for the device now.
    pub fn send(&mut self, bytes: &[u8]) {
        self.machine.chip_mut().host.send(bytes);
    }

    /// Lets something happen at virtual time `at_s` [s].
    pub fn schedule(&mut self, at_s: f64, action: Action) {
        self.machine
            .chip_mut()
            .pending
            .push(from_secs(at_s), action);
    }

    /// What the host has received since the last call.
    pub fn take_received(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.received)
    }

    /// What the host has received and not taken.
    pub fn received(&self) -> &[u8] {
        &self.received
    }

    /// Log lines since the last call.
    pub fn take_log(&mut self) -> Vec<LogLine> {
        std::mem::take(&mut self.log)
    }

    /// Log lines not yet taken.
    pub fn log(&self) -> &[LogLine] {
        &self.log
    }

    /// Whether the host has configured the device.
    pub fn usb_ready(&self) -> bool {
        self.machine.chip().host.ready()
    }

    pub fn summary(&self) -> Summary {
        Summary::new(&self.machine)
    }
}
