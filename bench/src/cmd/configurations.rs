//! `stribeck-bench configurations ELF`: does the flashed program survive what it accepts?
//!
//! In, on standard input: one sealed configuration per line, in hexadecimal. Out: one verdict per line.
//!
//! | verdict | the board … |
//! |---|---|
//! | `refused` | said no, with a reason, and kept what it had |
//! | `accepted` | runs it: told so in its Hello, was armed (and driven, if it can), stopped, missed no tick, motor off |
//! | `hang: …` | did not answer any more, or was reset by its watchdog |
//! | `wrong: …` | did something else than it said |

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{Context, ensure};

use stribeck_bench::{Bench, Program, Scenario};
use stribeck_core::device::config::Blob;
use stribeck_core::wire::{
    self, Ask, Command, Decoder, Drive, Frame, Hello, MAX_FRAME, Mode, Reply, Shape, Signal, Status,
};

#[derive(clap::Args)]
pub struct Args {
    /// The firmware
    elf: PathBuf,
}

pub fn run(args: &Args) -> anyhow::Result<bool> {
    let program = Rc::new(Program::load(&args.elf)?);
    let mut board = Board::new(&program)?;
    let mut sound = true;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let blob = blob(line.trim()).with_context(|| format!("{line:?} is no configuration"))?;
        let verdict = board.judge(&blob);
        let good = verdict == "accepted" || verdict == "refused";
        if !good {
            sound = false;
            board = Board::new(&program)?;
        }
        let mut out = std::io::stdout().lock();
        writeln!(out, "{verdict}")?;
        out.flush()?;
    }
    Ok(sound)
}

fn blob(hex: &str) -> anyhow::Result<Blob> {
    ensure!(
        hex.is_ascii() && hex.len().is_multiple_of(2),
        "not hexadecimal"
    );
    let bytes: Vec<u8> = (0..hex.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&hex[i..i + 2], 16))
        .collect::<Result<_, _>>()?;
    Blob::from_bytes(&bytes).context("too long")
}

/// The board, and the last it said of everything.
struct Board {
    bench: Bench,
    decoder: Decoder,
    next_id: u16,
    reply: Option<Reply>,
    hello: Option<Hello>,
    status: Option<Status>,
    blocks: u64,
}

impl Board {
    fn new(program: &Rc<Program>) -> anyhow::Result<Board> {
        let scenario = Scenario::parse("configurations", "")?;
        let mut bench = Bench::new(program.clone(), &scenario)?;
        ensure!(
            bench.run_until_when(1.0, |b| b.usb_ready()),
            "the board is not enumerated"
        );
        let mut board = Board {
            bench,
            decoder: Decoder::new(),
            next_id: 1,
            reply: None,
            hello: None,
            status: None,
            blocks: 0,
        };
        board.ask(Ask::Hello);
        board.run(0.2);
        ensure!(board.hello.is_some(), "the board does not greet");
        Ok(board)
    }

    fn ask(&mut self, ask: Ask) -> u16 {
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        let mut bytes = [0; MAX_FRAME];
        if let Ok(n) = wire::encode(&Command { id, ask }, &mut bytes) {
            self.bench.send(&bytes[..n]);
        }
        id
    }

    fn run(&mut self, seconds: f64) {
        self.bench.run_for(seconds);
        let bytes = self.bench.take_received();
        let (reply, hello, status, blocks) = (
            &mut self.reply,
            &mut self.hello,
            &mut self.status,
            &mut self.blocks,
        );
        self.decoder
            .feed(&bytes, |raw| match raw.map(|r| r.decode()) {
                Ok(Ok(Frame::Reply(r))) => *reply = Some(r),
                Ok(Ok(Frame::Hello(h))) => *hello = Some(h),
                Ok(Ok(Frame::Status(s))) => *status = Some(s),
                Ok(Ok(Frame::Block(_))) => *blocks += 1,
                _ => {}
            });
    }

    /// Ask and wait for the reply.
    fn answered(&mut self, ask: Ask) -> Option<Reply> {
        let id = self.ask(ask);
        for _ in 0..20 {
            self.run(0.05);
            if self.reply.as_ref().is_some_and(|r| r.id == id) {
                return self.reply.take();
            }
        }
        None
    }

    fn judge(&mut self, config: &Blob) -> String {
        let set = Ask::SetConfig {
            store: false,
            config: config.clone(),
        };
        let Some(reply) = self.answered(set) else {
            return "hang: no reply to a configuration".into();
        };
        let accepted = reply.refusal.is_none();
        if self.answered(Ask::Hello).is_none() {
            return "hang: no reply to a greeting".into();
        }
        let told = self.hello.as_ref().is_some_and(|h| h.config == *config);
        if !accepted {
            return match told {
                true => "wrong: refused and in force".into(),
                false => "refused".into(),
            };
        }
        if !told {
            return "wrong: accepted and not in force".into();
        }
        let blocks = self.blocks;
        self.answered(Ask::Start);
        self.run(0.7);
        self.answered(Ask::Stop);
        // Refused by a passive rig: then nothing drives.
        self.answered(Ask::Drive(Drive {
            mode: Mode::Excite,
            signal: Signal {
                shape: Shape::Sine,
                amplitude: 0.02,
                low_hz: 2.0,
                ..Signal::default()
            },
        }));
        self.run(0.2);
        if self.answered(Ask::Stop).is_none() {
            return "hang: no reply to Stop".into();
        }
        self.status = None;
        for _ in 0..30 {
            self.run(0.1);
            if self.status.is_some() {
                break;
            }
        }
        if !self.bench.summary().resets.is_empty() {
            return "hang: the board was reset".into();
        }
        let Some(status) = &self.status else {
            return "hang: no status".into();
        };
        let health = &status.health;
        if health.missed_ticks > 0 || health.overruns > 0 {
            return format!(
                "wrong: {} overruns, {} ticks missed",
                health.overruns, health.missed_ticks
            );
        }
        if status.drive.mode != Mode::Off {
            return "wrong: the motor is on after Stop".into();
        }
        if self.blocks == blocks {
            return "wrong: no block came".into();
        }
        "accepted".into()
    }
}
