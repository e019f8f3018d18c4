//! What is in a log: from its closing record when there is one, otherwise by reading it.

use std::path::Path;

use crate::accounts::{Accounts, Survey};
use crate::error::{Error, Result};
use crate::log::damage::Damage;
use crate::log::read::LogReader;
use crate::log::summary;
use crate::session::Session;

/// A log's accounts and the state of the file.
#[derive(Clone, Debug)]
pub struct Overview {
    pub accounts: Accounts,
    pub damage: Vec<Damage>,
    /// Read from the closing record; nothing was scanned.
    pub closed: bool,
    pub file_bytes: u64,
}

/// Look at a log. `scan`: read all of it even if it was closed.
pub fn survey(path: &Path, scan: bool) -> Result<Overview> {
    let mut log = LogReader::open(path)?;
    let file_bytes = std::fs::metadata(path)
        .map_err(|e| Error::read(path, e))?
        .len();
    let index = if scan { None } else { summary::read(path)? };
    if let Some(accounts) = index.as_ref().and_then(Accounts::from_summary) {
        return Ok(Overview {
            accounts,
            damage: Vec::new(),
            closed: true,
            file_bytes,
        });
    }
    let mut session = Session::log(false);
    let mut survey = Survey::default();
    while let Some(item) = log.read_next()? {
        if item.topic.is_wire() {
            survey.bytes(item.data.len());
            session.bytes(item.data, |h| {
                survey.take(&h);
                Ok::<(), Error>(())
            })?;
        }
    }
    session.end(|h| {
        survey.take(&h);
        Ok::<(), Error>(())
    })?;
    if let Some(why) = session.no_hello() {
        return Err(Error::refused(
            format!("{} {why}", path.display()),
            "use the stribeck version that wrote it; a log cut before its first whole message is lost",
        ));
    }
    let damage = log.damage().to_vec();
    let closed = !damage.contains(&Damage::NotClosed);
    Ok(Overview {
        accounts: survey.accounts(&session),
        damage,
        closed,
        file_bytes,
    })
}
