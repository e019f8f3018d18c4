//! The TCP port of the debug probe: one client at a time, which the emulation never waits for.
//!
//! Inputs: bytes of a client, at any time, in any state of damage. Outputs: reply packets, and lines for the bench's log. What is no
//! packet is ignored and counted; a packet that is too long, or that nobody knows, is answered as such and reported. A second client is
//! refused. When the client goes, the reset pin is let go and everything else stays as it was: a halted processor stays halted.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use super::protocol::{LONGEST, NEWEST, Remote, Reply};
use crate::machine::Machine;
use crate::time::{MS, Time, US};

/// Packets answered before the emulation goes on.
const AT_ONCE: usize = 64;
/// Replies that may wait for a client that does not read them [bytes].
const BACKLOG: usize = 1 << 18;
/// After an answer the next question of a burst comes within this time.
const BURST: Duration = Duration::from_micros(60);
/// With a client, wall time between two looks at the port should be about this.
const LOOK: Duration = Duration::from_micros(150);
/// Virtual time between two looks: at least, after a halt, at most, and without a client.
const SHORTEST: Time = 20 * US;
const FIRST: Time = 100 * US;
const LONGEST_SLICE: Time = 4 * MS;
const QUIET: Time = MS;

struct Client {
    stream: TcpStream,
    from: SocketAddr,
    /// Received, not yet a whole packet.
    input: Vec<u8>,
    output: Vec<u8>,
    /// Bytes that belonged to no packet.
    ignored: u64,
    packets: u64,
    /// The packet is too long: it is left out up to its end.
    overlong: bool,
}

pub struct Probe {
    listener: TcpListener,
    client: Option<Client>,
    remote: Remote,
    version: u8,
    slice: Time,
    looked: Instant,
}

impl Probe {
    /// Listens at `address` (port 0: any free one) and speaks the newest protocol, or `version`.
    pub fn listen(address: SocketAddr, version: Option<u8>) -> std::io::Result<Probe> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let version = version.unwrap_or(NEWEST);
        Ok(Probe {
            listener,
            client: None,
            remote: Remote::new(version),
            version,
            slice: QUIET,
            looked: Instant::now(),
        })
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Virtual time the machine may run before the next look: as much as it emulates in the time a client may wait.
    pub fn slice(&mut self) -> Time {
        self.looked = Instant::now();
        if self.client.is_some() {
            self.slice
        } else {
            QUIET
        }
    }

    fn adapt_slice(&mut self, machine: &Machine) {
        let took = self.looked.elapsed();
        if machine.stands() {
            // What it will cost when the processor goes on is not known.
            self.slice = FIRST;
        } else if took > 2 * LOOK {
            self.slice = (self.slice / 2).max(SHORTEST);
        } else if took < LOOK {
            self.slice = (self.slice * 2).min(LONGEST_SLICE);
        }
    }

    /// Answers what has come; never blocks. Returns how many packets that was.
    pub fn serve(&mut self, machine: &mut Machine) -> u64 {
        self.accept(machine);
        let Some(client) = &mut self.client else {
            return 0;
        };
        let before = client.packets;
        let alive = client.receive();
        for _ in 0..AT_ONCE {
            let Some(packet) = client.packet() else {
                break;
            };
            let reply = match packet {
                Ok(packet) => {
                    let reply = self.remote.answer(&packet, machine);
                    if matches!(reply, Reply::NotOffered | Reply::BadArgument) {
                        let why = if reply == Reply::NotOffered {
                            "is not known"
                        } else {
                            "has wrong arguments"
                        };
                        let shown: String = packet.chars().take(40).collect();
                        note(machine, format!("command '{}' {why}", shown.escape_debug()));
                    }
                    reply
                }
                Err(TooLong) => {
                    note(
                        machine,
                        format!("a packet of more than {LONGEST} characters"),
                    );
                    Reply::TOO_LONG
                }
            };
            client.packets += 1;
            client.output.extend(reply.packet().bytes());
            client.send();
        }
        let answered = client.packets - before;
        if !alive && !client.waiting() || !client.send() {
            self.leave(machine);
        }
        answered
    }

    /// Serves for `time` of the wall clock, or until the processor goes on executing.
    pub fn serve_for(&mut self, machine: &mut Machine, time: Duration) {
        self.adapt_slice(machine);
        let until = Instant::now() + time;
        let stood = machine.stands();
        let mut answered = 0;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let burst = if answered > 0 { BURST } else { Duration::ZERO };
            self.wait(left.max(burst));
            answered = self.serve(machine);
            let done = left.is_zero() || stood && !machine.stands();
            // Somebody who asks again and again waits for the processor: let it run.
            let overdue = Instant::now() > until + LOOK;
            if done && (answered == 0 || overdue) {
                return;
            }
        }
    }

    /// Sleeps until somebody asks something, at most for `time`.
    fn wait(&self, time: Duration) {
        let readable = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut fds = vec![readable(self.listener.as_raw_fd())];
        if let Some(c) = &self.client {
            if c.waiting() {
                return;
            }
            fds.push(readable(c.stream.as_raw_fd()));
        }
        let time = libc::timespec {
            tv_sec: time.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(time.subsec_nanos()),
        };
        // SAFETY: `fds` and `time` live through the call, and the length is that of `fds`.
        unsafe {
            libc::ppoll(
                fds.as_mut_ptr(),
                fds.len() as libc::nfds_t,
                &time,
                std::ptr::null(),
            )
        };
    }

    fn accept(&mut self, machine: &mut Machine) {
        while let Ok((mut stream, from)) = self.listener.accept() {
            // Nobody who has hung up keeps others out.
            if self.client.as_mut().is_some_and(|c| !c.receive()) {
                self.leave(machine);
            }
            if let Some(c) = &self.client {
                note(machine, format!("{from} refused: {} is using it", c.from));
                let _ = stream.write_all(Reply::Failed(0).packet().as_bytes());
                continue;
            }
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            let _ = stream.set_nodelay(true);
            note(machine, format!("{from} connected"));
            self.remote = Remote::new(self.version);
            machine.chip_mut().debug.client = true;
            self.client = Some(Client {
                stream,
                from,
                input: Vec::new(),
                output: Vec::new(),
                ignored: 0,
                packets: 0,
                overlong: false,
            });
        }
    }

    fn leave(&mut self, machine: &mut Machine) {
        let Some(client) = self.client.take() else {
            return;
        };
        machine.chip_mut().debug.client = false;
        machine.hold_reset(false);
        let mut text = format!("{} left after {} packets", client.from, client.packets);
        if client.ignored > 0 {
            text += &format!(", {} bytes were no packet", client.ignored);
        }
        if !client.input.is_empty() {
            text += ", in the middle of one";
        }
        note(machine, text);
    }
}

fn note(machine: &mut Machine, text: String) {
    let now = machine.now();
    let notes = &mut machine.chip_mut().diagnostics;
    notes.note(now, format!("probe: {text}"));
}

struct TooLong;

impl Client {
    /// Takes what has come; false = the client has gone.
    fn receive(&mut self) -> bool {
        let mut buffer = [0; 4096];
        // Somebody who only sends must not keep us here.
        while self.input.len() < 16 * LONGEST {
            match self.stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(n) => self.input.extend(&buffer[..n]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return e.kind() == ErrorKind::WouldBlock,
            }
        }
        true
    }

    /// Whether a whole packet has come and is not answered.
    fn waiting(&self) -> bool {
        self.input.contains(&b'#')
    }

    /// The next whole packet without its frame.
    fn packet(&mut self) -> Option<Result<String, TooLong>> {
        loop {
            if self.overlong {
                let end = self.input.iter().position(|&b| b == b'#');
                self.input.drain(..end.map_or(self.input.len(), |e| e + 1));
                end?;
                self.overlong = false;
                return Some(Err(TooLong));
            }
            let start = self.input.iter().position(|&b| b == b'!');
            let skipped = start.unwrap_or(self.input.len());
            let garbage = self.input.drain(..skipped);
            // `+` acknowledges, `#` ends nothing, a blank precedes one of probe-rs' packets.
            self.ignored += garbage.filter(|b| !b"+# ".contains(b)).count() as u64;
            start?;
            let end = self.input.iter().position(|&b| b == b'#');
            match end {
                Some(e) if e <= LONGEST => {
                    let packet: Vec<u8> = self.input.drain(..=e).collect();
                    // A new beginning leaves the one before it behind.
                    let begin = packet.iter().rposition(|&b| b == b'!').unwrap_or(0);
                    self.ignored += begin as u64;
                    let inside = &packet[begin + 1..e];
                    return Some(Ok(String::from_utf8_lossy(inside).into_owned()));
                }
                None if self.input.len() <= LONGEST => return None,
                _ => self.overlong = true,
            }
        }
    }

    /// Sends what can be sent; false = the client has gone, or does not read.
    fn send(&mut self) -> bool {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(0) => return false,
                Ok(n) => {
                    self.output.drain(..n);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return e.kind() == ErrorKind::WouldBlock && self.output.len() < BACKLOG,
            }
        }
        true
    }
}
