//! embedded-test programs: which tests an ELF contains, and running one after a reset.
//!
//! Same protocol as `probe-rs run`: tests are listed from the section `.embedded_test` (a function address per entry) and symbols whose
//! names are JSON; the program asks for its command line by semihosting, is told `run_addr <address>`, and exits with 0 (passed)
//! or anything else (failed; 134 = panicked).

use std::rc::Rc;

use serde::Deserialize;

use crate::elf::Program;
use crate::machine::{Machine, MachineError, Outcome};
use crate::rtt::LogLine;
use crate::scenario::{PinName, Scenario};
use crate::time::{MS, from_secs, to_secs};

/// One test of a program.
#[derive(Clone, Debug, Deserialize)]
pub struct Test {
    pub name: String,
    #[serde(default)]
    pub ignored: bool,
    #[serde(default)]
    pub should_panic: bool,
    /// Seconds it may take.
    #[serde(default)]
    pub timeout: Option<u32>,
    /// Address of its function.
    #[serde(skip)]
    pub address: u32,
}

/// Virtual seconds a test may take when it does not say (probe-rs: 60).
pub const DEFAULT_TIMEOUT_S: u32 = 60;

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// Why not.
    Failed(String),
}

pub struct Run {
    pub verdict: Verdict,
    pub log: Vec<LogLine>,
    pub virtual_s: f64,
}

/// Tests of a program in the order of their names; empty when it contains none.
pub fn list(program: &Program) -> Vec<Test> {
    let section = program.section(".embedded_test").unwrap_or_default();
    let mut tests: Vec<Test> = program
        .symbols()
        .iter()
        .filter(|s| s.name.starts_with('{'))
        .filter_map(|s| {
            let mut t: Test = serde_json::from_str(&s.name).ok()?;
            let at = s.address as usize;
            t.address = u32::from_le_bytes(section.get(at..at + 4)?.try_into().ok()?);
            Some(t)
        })
        .collect();
    tests.sort_by(|a, b| a.name.cmp(&b.name));
    tests
}

/// The board as the on-target tests want it: four jumpers from outputs to the encoder inputs (docs/bench.md), no encoders.
pub fn board() -> Scenario {
    let pin = |s: &str| PinName(s.parse().expect("a pin name"));
    let mut scenario = Scenario::default();
    scenario.board.jumpers = [
        ("PC6", "PA15"),
        ("PB15", "PB3"),
        ("PC7", "PA0"),
        ("PB5", "PA1"),
    ]
    .map(|(from, to)| [pin(from), pin(to)])
    .to_vec();
    scenario
}

/// Runs one test on a fresh board.
pub fn run(program: &Rc<Program>, test: &Test, scenario: &Scenario) -> Result<Run, MachineError> {
    let mut machine = Machine::new(program.clone(), scenario)?;
    machine.semihosting.command_line = format!("run_addr {}", test.address);
    let limit = test.timeout.unwrap_or(DEFAULT_TIMEOUT_S);
    let end = from_secs(f64::from(limit));
    let mut outcome = Outcome::Time;
    let mut log = Vec::new();
    while outcome == Outcome::Time && machine.now() < end {
        outcome = machine.run_until((machine.now() / MS + 1) * MS);
        log.extend(machine.take_log());
    }
    let verdict = match (outcome, test.should_panic) {
        (Outcome::Exit(0), false) => Verdict::Passed,
        (Outcome::Exit(0), true) => Verdict::Failed("did not panic as expected".into()),
        (Outcome::Exit(_), true) => Verdict::Passed,
        (Outcome::Exit(134), false) => Verdict::Failed("panicked".into()),
        (Outcome::Exit(code), false) => Verdict::Failed(format!("exit code {code}")),
        (Outcome::Stuck, _) => Verdict::Failed("the bench is stuck".into()),
        (Outcome::Lockup, _) => Verdict::Failed("processor locked up".into()),
        (Outcome::Time, _) => {
            Verdict::Failed(format!("still running after {limit} s of virtual time"))
        }
    };
    Ok(Run {
        verdict,
        log,
        virtual_s: to_secs(machine.now()),
    })
}
