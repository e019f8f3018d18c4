//! Questions to a device and its own answers: the one way in which commands are asked and replies waited for.
//!
//! In: a source. Out: the device's Hello, and for every request the reply that carries its number. A reply to anything
//! else (an earlier request, another program's) is not an answer.

use std::time::{Duration, Instant};

use stribeck_core::wire::{Ask, Hello, Reply};

use crate::error::{Error, Result};
use crate::link::command::{self, Commands};
use crate::link::pump::{Packet, Pump};
use crate::link::session::{Session, SessionEvent, unusable};
use crate::link::source::Source;

/// How long a device may take to introduce itself or to reply.
pub const PATIENCE: Duration = Duration::from_secs(3);
/// How often an introduction is asked for.
pub const ASK_AGAIN: Duration = Duration::from_millis(300);
/// Longest wait for bytes.
const WAIT: Duration = Duration::from_millis(20);

/// A conversation with a device that has introduced itself.
///
/// ```
/// use stribeck::stribeck_core::wire::Ask;
/// use stribeck::{Client, Config, Scenario, Twin};
///
/// let twin = Twin::new(&Config::default(), &Scenario::default(), None, true);
/// let mut client = Client::connect(Box::new(twin))?;
/// assert_eq!(client.hello().tick_hz, 10_000);
/// let reply = client.request(Ask::Start)?;
/// assert!(reply.refusal.is_none());
/// # Ok::<(), stribeck::Error>(())
/// ```
pub struct Client {
    pump: Pump,
    session: Session,
    commands: Commands,
    hello: Hello,
}

impl Client {
    /// Ask for a Hello until one comes.
    pub fn connect(source: Box<dyn Source>) -> Result<Client> {
        let mut pump = Pump::start(source);
        let mut session = Session::live(false);
        let mut commands = Commands::default();
        let begun = Instant::now();
        let mut asked: Option<Instant> = None;
        let (mut heard, mut hello) = (0, None);
        while begun.elapsed() < PATIENCE && hello.is_none() {
            if pump.takes_commands() && asked.is_none_or(|at| at.elapsed() > ASK_AGAIN) {
                asked = Some(Instant::now());
                pump.send(commands.greeting())?;
            }
            let more = receive(&mut pump, &mut session, &mut heard, |event| {
                if let SessionEvent::Hello { hello: h, .. } = event {
                    hello = Some((*h).clone());
                }
            })?;
            if !more {
                break;
            }
        }
        let Some(hello) = hello else {
            return Err(silent(pump.name(), heard));
        };
        Ok(Client {
            pump,
            session,
            commands,
            hello,
        })
    }

    /// The device's latest introduction.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Everything the session knows: losses, status.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Refuse a device that speaks another protocol: its answers would be misread.
    pub fn same_protocol(&self) -> Result<()> {
        match unusable(&self.hello) {
            None => Ok(()),
            Some(why) => Err(Error::refused(
                format!("the device on {} cannot be used: {why}", self.pump.name()),
                "flash the firmware of this version, or use the stribeck version of the firmware",
            )),
        }
    }

    /// Ask, and wait for the reply to exactly this.
    pub fn request(&mut self, ask: Ask) -> Result<Reply> {
        let what = command::name(&ask);
        if !self.pump.takes_commands() {
            return Err(Error::source(
                format!("{} takes no commands", self.pump.name()),
                "use --from usb, a port or --from sim",
            ));
        }
        let (id, bytes) = self.commands.frame(ask);
        self.pump.send(bytes)?;
        let begun = Instant::now();
        let mut answer = None;
        while begun.elapsed() < PATIENCE && answer.is_none() {
            let mut latest = None;
            let more = receive(
                &mut self.pump,
                &mut self.session,
                &mut 0,
                |event| match event {
                    SessionEvent::Reply(reply) if reply.id == id => answer = Some((*reply).clone()),
                    SessionEvent::Hello { hello, .. } => latest = Some((*hello).clone()),
                    _ => {}
                },
            )?;
            self.hello = latest.unwrap_or_else(|| self.hello.clone());
            if !more {
                break;
            }
        }
        answer.ok_or_else(|| {
            Error::source(
                format!(
                    "the device was asked {what} and did not reply within {} s",
                    PATIENCE.as_secs()
                ),
                "`stribeck doctor` tells whether it is alive",
            )
        })
    }

    /// Listen for a while.
    pub fn listen(
        &mut self,
        time: Duration,
        mut each: impl FnMut(&SessionEvent<'_>),
    ) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < time
            && receive(&mut self.pump, &mut self.session, &mut 0, &mut each)?
        {}
        Ok(())
    }
}

/// Take one packet; false when no more will come. A command that could not be written is an error here: nobody
/// would answer it.
fn receive(
    pump: &mut Pump,
    session: &mut Session,
    heard: &mut u64,
    mut each: impl FnMut(&SessionEvent<'_>),
) -> Result<bool> {
    match pump.next(WAIT)? {
        Packet::Bytes(bytes) => {
            *heard += bytes.len() as u64;
            session.bytes(&bytes, |event| {
                each(&event);
                Ok::<(), Error>(())
            })?;
        }
        Packet::NotSent(e) => return Err(e),
        Packet::End | Packet::Lost(_) => return Ok(false),
        Packet::Quiet | Packet::Opened(_) => {}
    }
    Ok(true)
}

/// The source is open but nobody there speaks our language.
pub fn silent(name: &str, bytes: u64) -> Error {
    let heard = match bytes {
        0 => "nothing was received".to_string(),
        n => format!("{n} bytes were received, none of them a Hello"),
    };
    Error::source(
        format!("no stribeck device answers on {name}: {heard}"),
        "is this the right port, and is the firmware flashed? `stribeck doctor` tells",
    )
}
