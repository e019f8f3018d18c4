//! One conversation with a device: bytes in, everything that happened out. The same for a board, the twin and a log.
//!
//! ```text
//! bytes → frames → (as they came) → SessionEvent::Bytes          what the log keeps
//!                → order (in order, gaps) → check (bits) → SessionEvent::Block, Gap, Hello, Event, Status, …
//! ```
//!
//! A conversation begins with a Hello: frames before the first one cannot be interpreted and are not counted.

use stribeck_core::wire::{self, Block, Event, Frame, Hello, Pattern, Reply, Status};

use crate::link::compare::{Check, Checker, Verdict};
use crate::link::frames::{Content, FrameKind, Frames, Piece, Reason};
use crate::link::order::{Deliver, Delivery, Gap, Losses, Order};
use crate::link::wording;

/// Something that happened, in the order of arrival.
pub enum SessionEvent<'a> {
    /// Bytes of one frame as they came (before the other events of the same frame), and the device tick they belong to.
    Bytes {
        kind: FrameKind,
        bytes: &'a [u8],
        tick: u64,
    },
    /// The device introduced itself; `begins` a new segment (first contact, replug, reset).
    Hello {
        hello: &'a Hello,
        begins: bool,
    },
    /// The next block in order, and how it compares.
    Block {
        block: &'a Block,
        check: Check,
    },
    /// These ticks are lost.
    Gap(&'a Gap),
    Event(&'a Event),
    Status(&'a Status),
    Reply(&'a Reply),
    Pattern(&'a Pattern),
}

pub struct Session {
    frames: Frames,
    core: Core,
}

/// Everything behind the splitting into frames.
struct Core {
    order: Order,
    checker: Option<Checker>,
    verify: bool,
    hello: Option<Hello>,
    /// Nothing is believed until the device has introduced itself.
    awaiting: bool,
    segments: u32,
    ticks: u64,
    not_verified: Option<String>,
    latest_status: Option<Status>,
    /// Sound frames before the first Hello that this build cannot understand.
    unreadable: u64,
}

impl Session {
    /// Listen to a port that may be in the middle of a frame.
    pub fn live(verify: bool) -> Self {
        Self::new(Frames::joining(), verify)
    }

    /// Read a log.
    pub fn log(verify: bool) -> Self {
        Self::new(Frames::default(), verify)
    }

    fn new(frames: Frames, verify: bool) -> Self {
        let core = Core {
            order: Order::default(),
            checker: None,
            verify,
            hello: None,
            awaiting: true,
            segments: 0,
            ticks: 0,
            not_verified: None,
            latest_status: None,
            unreadable: 0,
        };
        Session { frames, core }
    }

    /// Bytes arrived.
    pub fn bytes<E>(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(SessionEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let core = &mut self.core;
        self.frames
            .push(bytes, |piece| core.piece(piece, &mut each))
    }

    /// The connection broke.
    pub fn unplugged<E>(
        &mut self,
        mut each: impl FnMut(SessionEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.frames.rejoin();
        self.core.awaiting = true;
        self.core
            .in_order(&mut each, |order, deliver| order.unplugged(deliver))
    }

    /// Nothing more will come.
    pub fn end<E>(
        &mut self,
        mut each: impl FnMut(SessionEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.core
            .in_order(&mut each, |order, deliver| order.flush(deliver))
    }

    /// The last Hello.
    pub fn hello(&self) -> Option<&Hello> {
        self.core.hello.as_ref()
    }

    /// The last Status.
    pub fn status(&self) -> Option<&Status> {
        self.core.latest_status.as_ref()
    }

    pub fn losses(&self) -> &Losses {
        &self.core.order.losses
    }

    pub fn verdict(&self) -> Verdict {
        let checker = self.core.checker.as_ref();
        checker.map_or_else(Verdict::default, |c| c.verdict().clone())
    }

    pub fn checker(&self) -> Option<&Checker> {
        self.core.checker.as_ref()
    }

    /// Why nothing is compared, if so.
    pub fn not_verified(&self) -> Option<&str> {
        self.core.not_verified.as_deref()
    }

    /// Why there is no Hello, if there is none.
    pub fn no_hello(&self) -> Option<String> {
        match (&self.core.hello, self.core.unreadable) {
            (Some(_), _) => None,
            (None, 0) => Some("contains no Hello".into()),
            (None, n) => Some(format!(
                "contains {n} sound frames that this build cannot understand: its wire layout is of another version"
            )),
        }
    }

    /// Ticks received.
    pub fn ticks(&self) -> u64 {
        self.core.ticks
    }

    /// Connections and resets seen, the first included.
    pub fn segments(&self) -> u32 {
        self.core.segments
    }

    /// Number of the tick after the last received one.
    pub fn end_tick(&self) -> u64 {
        self.core.order.end_tick()
    }
}

impl Core {
    fn piece<E>(
        &mut self,
        piece: Piece<'_>,
        each: &mut impl FnMut(SessionEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let bytes = piece.bytes;
        let frame = match piece.content {
            Content::Frame(frame) => frame,
            other if self.awaiting => {
                self.unreadable += u64::from(matches!(other, Content::Bad(Reason::Body)));
                return Ok(());
            }
            Content::Tail => return self.damaged(bytes, each),
            Content::Bad(reason) => {
                self.order.corrupted(reason);
                return self.damaged(bytes, each);
            }
        };
        if self.awaiting && !matches!(frame, Frame::Hello(_)) {
            return Ok(());
        }
        let (kind, tick) = match &frame {
            Frame::Hello(hello) => (FrameKind::Hello, hello.uptime_ticks),
            Frame::Block(block) => (FrameKind::Block, block.first_tick),
            Frame::Status(status) => (FrameKind::Status, status.tick),
            Frame::Event(event) => (FrameKind::Event, event.tick),
            Frame::Reply(reply) => (FrameKind::Reply, reply.tick),
            Frame::Pattern(_) => (FrameKind::Reply, self.order.end_tick()),
            // A device does not send commands.
            Frame::Command(_) | Frame::Unknown { .. } => return self.damaged(bytes, each),
        };
        each(SessionEvent::Bytes { kind, bytes, tick })?;
        match frame {
            Frame::Hello(hello) => self.greet(hello, each),
            Frame::Block(block) => {
                self.in_order(each, |order, deliver| order.block(block, deliver))
            }
            Frame::Status(status) => {
                each(SessionEvent::Status(&status))?;
                self.latest_status = Some(status);
                Ok(())
            }
            Frame::Event(event) => each(SessionEvent::Event(&event)),
            Frame::Reply(reply) => each(SessionEvent::Reply(&reply)),
            Frame::Pattern(pattern) => each(SessionEvent::Pattern(&pattern)),
            Frame::Command(_) | Frame::Unknown { .. } => Ok(()),
        }
    }

    fn damaged<E>(
        &mut self,
        bytes: &[u8],
        each: &mut impl FnMut(SessionEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        each(SessionEvent::Bytes {
            kind: FrameKind::Damaged,
            bytes,
            tick: self.order.end_tick(),
        })
    }

    fn greet<E>(
        &mut self,
        hello: Hello,
        each: &mut impl FnMut(SessionEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let reset = self
            .hello
            .as_ref()
            .is_some_and(|old| old.boot != hello.boot);
        let begins = self.awaiting || reset;
        if reset {
            self.in_order(each, |order, deliver| order.restart(deliver))?;
        }
        if begins {
            self.segments += 1;
        }
        self.awaiting = false;
        if self.verify {
            self.prepare(&hello, reset);
        }
        each(SessionEvent::Hello {
            hello: &hello,
            begins,
        })?;
        self.hello = Some(hello);
        Ok(())
    }

    /// Set the comparison up for this Hello, or say why there can be none.
    fn prepare(&mut self, hello: &Hello, reset: bool) {
        self.not_verified = refusal(hello);
        match (hello.config(), &mut self.checker) {
            _ if self.not_verified.is_some() => {}
            (Err(e), _) => self.not_verified = Some(format!("the device's configuration: {e}")),
            (Ok(config), Some(checker)) if reset => checker.restart(&config),
            (Ok(config), Some(checker)) => {
                checker.set_config(&config, hello.config_since);
            }
            (Ok(config), None) => self.checker = Some(Checker::new(&config)),
        }
    }

    /// Let the order work and pass on what it delivers.
    fn in_order<E>(
        &mut self,
        each: &mut impl FnMut(SessionEvent<'_>) -> Result<(), E>,
        work: impl FnOnce(&mut Order, &mut Deliver<'_, E>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Core {
            order,
            checker,
            ticks,
            not_verified,
            ..
        } = self;
        let off = not_verified.is_some();
        work(order, &mut |delivery| match delivery {
            Delivery::Gap(gap) => {
                if let Some(checker) = checker {
                    checker.gap();
                }
                each(SessionEvent::Gap(gap))
            }
            Delivery::Block(block) => {
                *ticks += u64::from(block.ticks);
                let check = match checker {
                    Some(checker) if !off => checker.block(block),
                    _ => Check::Off,
                };
                each(SessionEvent::Block { block, check })
            }
        })
    }
}

/// Why nothing this device says can be understood, if so.
pub fn unusable(hello: &Hello) -> Option<String> {
    if hello.protocol != wire::PROTOCOL {
        return Some(format!(
            "it speaks wire protocol {}, this build speaks {}",
            hello.protocol,
            wire::PROTOCOL
        ));
    }
    (hello.tick_hz == 0).then(|| "it claims to make 0 ticks per second".into())
}

/// Why a device's log cannot be replayed by this build; `None` if it can.
pub fn refusal(hello: &Hello) -> Option<String> {
    if let Some(why) = unusable(hello) {
        return Some(why);
    }
    if hello.numerics != wire::NUMERICS {
        return Some(format!(
            "its observers' arithmetic is version {} (firmware {}), this build's is version {}: the bits differ by design",
            hello.numerics,
            wording::printable(&hello.build),
            wire::NUMERICS
        ));
    }
    None
}
