//! Commands and their replies: only a device's own answer to a question counts, and nothing ends a log without its last record.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use stribeck::Error;
use stribeck::error::Result;
use stribeck::link::client::Client;
use stribeck::link::frames::{Content, Frames};
use stribeck::link::scenario::Scenario;
use stribeck::link::source::{Arrival, Source};
use stribeck::link::twin::Twin;
use stribeck::log::capture::{self, Plan};
use stribeck::log::contents;
use stribeck::log::recorder::{Recorder, Wall};
use stribeck_core::device::config::{Blob, Config};
use stribeck_core::wire::{Ask, Frame, MAX_FRAME, Refusal, Reply};

fn twin(seconds: Option<f64>) -> Twin {
    Twin::new(&Config::default(), &Scenario::default(), seconds, true)
}

/// A device on a slow line: its replies come as late as they may. What it is asked to take, it refuses.
struct Late {
    twin: Twin,
    /// Replies of the twin that are still under way.
    held: Vec<u8>,
    /// What goes out, one packet after the other.
    out: VecDeque<Vec<u8>>,
}

impl Source for Late {
    fn name(&self) -> String {
        "late".into()
    }

    fn read(&mut self, into: &mut Vec<u8>) -> Result<Arrival> {
        if let Some(packet) = self.out.pop_front() {
            into.extend(packet);
            return Ok(Arrival::Bytes);
        }
        let mut bytes = Vec::new();
        self.twin.read(&mut bytes)?;
        Frames::default()
            .push::<Error>(&bytes, |piece| {
                match piece.content {
                    Content::Frame(Frame::Reply(_)) => self.held.extend_from_slice(piece.bytes),
                    _ => into.extend_from_slice(piece.bytes),
                }
                Ok(())
            })
            .unwrap();
        Ok(match into.is_empty() {
            true => Arrival::Quiet,
            false => Arrival::Bytes,
        })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let mut asked = None;
        Frames::default()
            .push::<Error>(bytes, |piece| {
                if let Content::Frame(Frame::Command(command)) = piece.content {
                    asked = Some(command);
                }
                Ok(())
            })
            .unwrap();
        let command = asked.expect("a command");
        if matches!(command.ask, Ask::Hello) {
            return self.twin.write(bytes);
        }
        // First the replies that were held back (to the greeting: accepted), then the refusal.
        assert!(!self.held.is_empty(), "the greeting was answered");
        self.out.push_back(std::mem::take(&mut self.held));
        let reply = Reply {
            id: command.id,
            tick: 7,
            refusal: Some(Refusal::Swinging),
        };
        let mut frame = [0; MAX_FRAME];
        let n = stribeck_core::wire::encode(&reply, &mut frame).unwrap();
        self.out.push_back(frame[..n].to_vec());
        Ok(())
    }
}

#[test]
fn a_late_reply_to_the_greeting_is_not_taken_for_the_reply_to_the_configuration() {
    let late = Late {
        twin: twin(None),
        held: Vec::new(),
        out: VecDeque::new(),
    };
    let mut client = Client::connect(Box::new(late)).unwrap();
    // The twin's reply follows its Hello at once; here it has been taken off the line.
    client.listen(Duration::from_millis(100), |_| {}).unwrap();
    let reply = client
        .request(Ask::SetConfig {
            store: false,
            config: Blob::seal(&Config::default()),
        })
        .unwrap();
    assert_eq!(reply.refusal, Some(Refusal::Swinging), "{reply:?}");
}

#[test]
fn every_command_has_its_own_number() {
    let mut commands = stribeck::link::command::Commands::default();
    let ids: std::collections::HashSet<u16> =
        (0..1000).map(|_| commands.frame(Ask::Hello).0).collect();
    assert_eq!(ids.len(), 1000);
}

/// A device whose line out is broken: it is heard and cannot be told anything after the first word.
struct Deaf {
    twin: Twin,
    words: u32,
}

impl Source for Deaf {
    fn name(&self) -> String {
        "deaf".into()
    }

    fn read(&mut self, into: &mut Vec<u8>) -> Result<Arrival> {
        self.twin.read(into)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.words += 1;
        if self.words > 1 {
            return Err(Error::source(
                "it does not take commands",
                "reset the board",
            ));
        }
        self.twin.write(bytes)
    }
}

#[test]
fn a_command_that_cannot_be_written_leaves_a_closed_log_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.mcap");
    let source = Deaf {
        twin: twin(None),
        words: 0,
    };
    let plan = Plan {
        seconds: Some(0.5),
        arm: true,
        ..Plan::default()
    };
    let recorder = Recorder::create(&log, Wall::Now).unwrap();
    let stop = AtomicBool::new(false);
    let outcome = capture::run(Box::new(source), recorder, plan, &stop, &mut |_| {}).unwrap();
    let said = &outcome.summary.problems;
    assert!(
        said.iter().any(|p| p.contains("a command was not sent")),
        "{said:?}"
    );
    let contents = contents::read(&log, false).unwrap();
    assert!(contents.closed && contents.summary.ticks >= 5_000);
    assert_eq!(&contents.summary.problems, said);
}

/// Introduces itself and then says nothing any more.
struct Mute {
    twin: Twin,
    deadline: std::time::Instant,
}

impl Source for Mute {
    fn name(&self) -> String {
        "mute".into()
    }

    fn read(&mut self, into: &mut Vec<u8>) -> Result<Arrival> {
        if std::time::Instant::now() < self.deadline {
            return self.twin.read(into);
        }
        std::thread::sleep(Duration::from_millis(5));
        Ok(Arrival::Quiet)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.twin.write(bytes)
    }
}

#[test]
fn a_timed_capture_of_a_device_that_falls_silent_ends_by_the_clock_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.mcap");
    let source = Mute {
        twin: twin(None),
        deadline: std::time::Instant::now() + Duration::from_millis(300),
    };
    let plan = Plan {
        seconds: Some(1.0),
        ..Plan::default()
    };
    let recorder = Recorder::create(&log, Wall::Now).unwrap();
    let stop = AtomicBool::new(false);
    let outcome = capture::run(Box::new(source), recorder, plan, &stop, &mut |_| {}).unwrap();
    assert_eq!(outcome.end, capture::End::Clock);
    assert!(outcome.summary.problems[0].contains("ended by the clock"));
}

/// Introduces itself and hears nothing else.
struct Stubborn {
    twin: Twin,
}

impl Source for Stubborn {
    fn name(&self) -> String {
        "stubborn".into()
    }

    fn read(&mut self, into: &mut Vec<u8>) -> Result<Arrival> {
        self.twin.read(into)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let mut greeting = false;
        Frames::default()
            .push::<Error>(bytes, |piece| {
                greeting |= matches!(piece.content, Content::Frame(Frame::Command(c)) if matches!(c.ask, Ask::Hello));
                Ok(())
            })
            .unwrap();
        match greeting {
            true => self.twin.write(bytes),
            false => Ok(()),
        }
    }
}

#[test]
fn an_order_to_arm_without_a_reply_is_said_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.mcap");
    let source = Stubborn { twin: twin(None) };
    let plan = Plan {
        seconds: Some(4.0),
        arm: true,
        ..Plan::default()
    };
    let recorder = Recorder::create(&log, Wall::Now).unwrap();
    let stop = AtomicBool::new(false);
    let outcome = capture::run(Box::new(source), recorder, plan, &stop, &mut |_| {}).unwrap();
    let said = &outcome.summary.problems;
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("asked to arm and did not reply"),
        "{said:?}"
    );
}
