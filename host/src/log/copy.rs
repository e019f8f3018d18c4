//! A log written again: what can be saved of a damaged one, or a whole one with more said about it.
//!
//! In: a log, whole or not. Out: a closed log with every message that could be read, byte for byte, its summary taken
//! anew; and the list of what could not. The copy gets its name when it is whole.

use std::path::Path;

use crate::error::{Error, Result};
use crate::file;
use crate::link::session::{Session, SessionEvent};
use crate::link::wording;
use crate::log::closing;
use crate::log::damage::Damage;
use crate::log::metadata::Metadata;
use crate::log::read::LogReader;
use crate::log::summary::{Summary, Tally};
use crate::log::write::LogWriter;

/// What was copied.
#[derive(Clone, Debug)]
pub struct Copied {
    pub messages: u64,
    pub summary: Summary,
    /// What of the original could not be read.
    pub damage: Vec<Damage>,
}

/// Write the log at `from` again as `to`; `edit` may change what is said about it. `strict`: only if it is undamaged.
pub fn copy(
    from: &Path,
    to: &Path,
    strict: bool,
    edit: impl FnOnce(&mut Metadata),
) -> Result<Copied> {
    let temporary = file::beside(to);
    let copied = write(from, &temporary, strict, edit).and_then(|copied| {
        std::fs::rename(&temporary, to).map_err(|e| Error::write(to, e))?;
        Ok(copied)
    });
    if copied.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    copied
}

fn write(from: &Path, to: &Path, strict: bool, edit: impl FnOnce(&mut Metadata)) -> Result<Copied> {
    let closing = closing::read(from)?;
    let recorded = closing.as_ref().and_then(Summary::from_closing);
    let mut log = LogReader::open(from)?;
    let mut out: Option<LogWriter<_>> = None;
    let mut edit = Some(edit);
    let mut metadata = Metadata::default();
    let (mut session, mut tally) = (Session::log(true), Tally::default());
    let mut messages = 0;
    while log.next_message()? {
        // Who recorded what stands before the first message.
        if out.is_none() {
            let said = recorded.as_ref().map(|r| &r.metadata);
            metadata = said.unwrap_or(log.recording()).clone();
            if let Some(edit) = edit.take() {
                edit(&mut metadata);
            }
            let mut new = LogWriter::create(to, true)?;
            new.recording(&metadata)?;
            out = Some(new);
        }
        let (Some(out), Some(item)) = (&mut out, log.message()) else {
            continue;
        };
        messages += 1;
        out.copy(&item)?;
        if item.topic.is_wire() {
            tally.bytes(item.data.len());
            session.bytes(item.data, |event| {
                if let SessionEvent::Hello { hello, .. } = &event {
                    out.joints(wording::axes(hello));
                }
                tally.take(&event);
                Ok::<(), Error>(())
            })?;
        }
    }
    session.end(|event| {
        tally.take(&event);
        Ok::<(), Error>(())
    })?;
    let mut damage = log.damage().to_vec();
    if !damage.contains(&Damage::NotClosed) && !closing::is_sound(from)? {
        damage.push(Damage::Closing);
    }
    let Some(out) = out else {
        return Err(Error::refused(
            format!("{} holds no message that can be read", from.display()),
            "there is nothing to save",
        ));
    };
    if strict && let Some(first) = damage.first() {
        return Err(Error::refused(
            format!("{} is damaged: {first}", from.display()),
            "save what is in it first: stribeck recover",
        ));
    }
    let mut summary = Summary {
        metadata,
        ..tally.summary(&session)
    };
    for problem in recorded.map_or(Vec::new(), |r| r.problems) {
        if !summary.problems.contains(&problem) {
            summary.problems.push(problem);
        }
    }
    out.finish(summary.to_metadata()?)?;
    Ok(Copied {
        messages,
        summary,
        damage,
    })
}
