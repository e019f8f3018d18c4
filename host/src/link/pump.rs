//! The reading thread: takes bytes off a source the moment they arrive and keeps them until the consumer is ready.
//!
//! ```text
//! source ──read──▶ thread ──queue (≤ QUEUE packets)──▶ Pump::next
//!        ◀─write──        ◀─commands──────────────── Pump::send
//! ```
//!
//! A lost connection is retried every [`RETRY`] and shows as [`Packet::Lost`] and [`Packet::Opened`].

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::source::{Arrival, Source};
use crate::error::{Error, Result};

/// Packets that may wait; one holds what a single read gave (up to 64 KiB).
const QUEUE: usize = 4096;
/// Sources that can wait (files, unpaced simulation) need not be read far ahead.
const QUEUE_PATIENT: usize = 64;
/// Pause between attempts to reconnect.
pub const RETRY: Duration = Duration::from_millis(50);
/// Sources that can wait are read in packets of about this size [bytes].
const PACKET: usize = 16 * 1024;

/// What the thread hands over.
#[derive(Debug)]
pub enum Packet {
    /// Bytes in the order they arrived.
    Bytes(Vec<u8>),
    /// The connection broke.
    Lost(String),
    /// It is back, under this name.
    Opened(String),
    /// No more bytes will come.
    End,
    /// A command could not be written; reading goes on.
    NotSent(Error),
    /// Nothing arrived in the time given.
    Quiet,
}

pub struct Pump {
    name: String,
    packets: Option<Receiver<Result<Packet>>>,
    commands: Option<Sender<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
    live: bool,
    takes_commands: bool,
}

impl Pump {
    pub fn start(source: Box<dyn Source>) -> Pump {
        let live = source.is_live();
        let takes_commands = source.takes_commands();
        let (packets_in, packets) = mpsc::sync_channel(if live { QUEUE } else { QUEUE_PATIENT });
        let (commands, commands_out) = mpsc::channel();
        let name = source.name();
        let thread = std::thread::spawn(move || run(source, &packets_in, &commands_out));
        Pump {
            name,
            packets: Some(packets),
            commands: Some(commands),
            thread: Some(thread),
            live,
            takes_commands,
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the bytes arrive as they happen.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Whether the source has someone to command.
    pub fn takes_commands(&self) -> bool {
        self.takes_commands
    }

    /// The next packet, or [`Packet::Quiet`] after `wait`.
    pub fn next(&mut self, wait: Duration) -> Result<Packet> {
        let Some(packets) = &self.packets else {
            return Ok(Packet::End);
        };
        match packets.recv_timeout(wait) {
            Ok(packet) => packet,
            Err(RecvTimeoutError::Timeout) => Ok(Packet::Quiet),
            Err(RecvTimeoutError::Disconnected) => Ok(Packet::End),
        }
    }

    /// Send a command to the device; it goes out within about 10 ms.
    pub fn send(&self, bytes: Vec<u8>) -> Result<()> {
        let sent = self
            .commands
            .as_ref()
            .is_some_and(|c| c.send(bytes).is_ok());
        if sent {
            Ok(())
        } else {
            Err(Error::source(
                format!("{} is closed", self.name),
                "start the command again",
            ))
        }
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        // The thread ends at its next send or receive.
        self.packets = None;
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The thread's work; returns when either end is gone.
fn run(
    mut source: Box<dyn Source>,
    packets: &SyncSender<Result<Packet>>,
    commands: &Receiver<Vec<u8>>,
) {
    let mut bytes = Vec::new();
    loop {
        loop {
            match commands.try_recv() {
                Ok(command) => {
                    if let Err(e) = source.write(&command)
                        && packets.send(Ok(Packet::NotSent(e))).is_err()
                    {
                        return;
                    }
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
        let arrival = source.read(&mut bytes);
        let more =
            matches!(arrival, Ok(Arrival::Bytes)) && bytes.len() < PACKET && !source.is_live();
        if !bytes.is_empty() && !more {
            let packet = Packet::Bytes(std::mem::take(&mut bytes));
            if packets.send(Ok(packet)).is_err() {
                return;
            }
        }
        let ended = match arrival {
            Ok(Arrival::Bytes | Arrival::Quiet) => false,
            Ok(Arrival::End) => {
                let _ = packets.send(Ok(Packet::End));
                true
            }
            Ok(Arrival::Lost(why)) => {
                packets.send(Ok(Packet::Lost(why))).is_err()
                    || !reconnect(source.as_mut(), packets, commands)
            }
            Err(e) => {
                let _ = packets.send(Err(e));
                true
            }
        };
        if ended {
            return;
        }
    }
}

/// Try until the connection is back; false when nobody is interested any more.
fn reconnect(
    source: &mut dyn Source,
    packets: &SyncSender<Result<Packet>>,
    commands: &Receiver<Vec<u8>>,
) -> bool {
    loop {
        if source.reopen() {
            return packets.send(Ok(Packet::Opened(source.name()))).is_ok();
        }
        // Commands to a device that is not there are dropped; the closed channel ends the wait.
        loop {
            match commands.try_recv() {
                Ok(_) => {}
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
        std::thread::sleep(RETRY);
    }
}
