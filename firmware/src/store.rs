//! The configuration that survives a reset, in two flash sectors, safe against power loss at any moment.
//!
//! A sector is a row of 128 slots of 1 KiB. Saving programs the next free slot: content first, header
//! last. A slot counts only if its header's CRC fits; the highest sequence number wins. So an
//! interrupted save leaves the previous configuration in force. When a sector is full the *other* one
//! is erased and used, so the newest good slot is never in the sector being erased.
//!
//! ```text
//! slot   = header (32 B) · content (length B) · 0xFF…
//! header = magic "STRB" · sequence u32 · length u32 · crc32 u32 of sequence, length, content · 0xFF…
//! ```
//!
//! Knows nothing of what the content means; `stribeck_core::device::config` reads and checks it.

use heapless::Vec;
use stribeck_core::wire::crc32;

use crate::flash::{self, Error, SECTOR, Sector, WORD};

const SLOT: usize = 1024;
const SLOTS: usize = SECTOR / SLOT;
const MAGIC: [u8; 4] = *b"STRB";

/// Longest content.
pub const MAX_BYTES: usize = SLOT - WORD;
/// A configuration as stored.
pub type Content = Vec<u8, MAX_BYTES>;

/// What flash holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)] // By value, once: there is no allocator here.
pub enum Found {
    /// Both sectors are erased: nothing was ever stored.
    Nothing,
    /// The newest good slot.
    Content(Content),
    /// Something was stored but no slot is good.
    Damaged,
}

/// Where the newest good slot is.
#[derive(Clone, Copy)]
struct Place {
    sector: Sector,
    slot: usize,
    sequence: u32,
}

/// Read the newest good configuration.
pub fn load() -> Found {
    match newest() {
        Some(place) => match read_slot(place.sector, place.slot) {
            Some((_, content)) => Found::Content(content),
            None => Found::Damaged,
        },
        None if is_blank(Sector::A, 0) && is_blank(Sector::B, 0) => Found::Nothing,
        None => Found::Damaged,
    }
}

/// How often something was ever stored here: every save but those of what is stored already. A sector is
/// erased once in 2 · 128 of them and stands 10,000 erasures (data sheet, table 54).
pub fn count() -> u32 {
    newest().map_or(0, |n| n.sequence.wrapping_add(1))
}

/// Store `content` as the newest, unless it is. On return it is in flash and was read back; on an error the
/// previous one is still in force.
pub async fn save(content: &[u8]) -> Result<(), Error> {
    let stored = newest().and_then(|n| read_slot(n.sector, n.slot));
    if stored.is_some_and(|(_, stored)| stored == content) {
        return Ok(());
    }
    save_until(content, usize::MAX).await
}

/// [`save`], interrupted as if power failed after programming `words` flash words. For tests.
pub async fn save_until(content: &[u8], words: usize) -> Result<(), Error> {
    let content = Content::from_slice(content).map_err(|_| Error::Refused(0))?;
    let newest = newest();
    let (sector, slot) = match free_slot(newest) {
        Some(free) => free,
        None => {
            let sector = newest.map_or(Sector::A, |n| n.sector.other());
            flash::erase(sector).await?;
            (sector, 0)
        }
    };
    let sequence = newest.map_or(0, |n| n.sequence.wrapping_add(1));
    let mut header = [0xFF; WORD];
    header[..4].copy_from_slice(&MAGIC);
    header[4..8].copy_from_slice(&sequence.to_le_bytes());
    header[8..12].copy_from_slice(&(content.len() as u32).to_le_bytes());
    header[12..16].copy_from_slice(&checksum(sequence, &content).to_le_bytes());

    let base = slot * SLOT;
    let body = content.chunks(WORD).enumerate().map(|(i, bytes)| {
        let mut word = [0xFF; WORD];
        word[..bytes.len()].copy_from_slice(bytes);
        (base + WORD * (i + 1), word)
    });
    for (offset, word) in body.chain([(base, header)]).take(words) {
        flash::program(sector, offset, &word).await?;
    }
    match read_slot(sector, slot) {
        Some((found, stored)) if found == sequence && stored == content => Ok(()),
        _ => Err(Error::Unreadable),
    }
}

/// Forget everything that was stored.
pub async fn erase() -> Result<(), Error> {
    flash::erase(Sector::A).await?;
    flash::erase(Sector::B).await
}

fn checksum(sequence: u32, content: &[u8]) -> u32 {
    crc32(content) ^ crc32(&sequence.to_le_bytes()).rotate_left(7) ^ content.len() as u32
}

fn newest() -> Option<Place> {
    let mut best: Option<Place> = None;
    for sector in [Sector::A, Sector::B] {
        for slot in 0..SLOTS {
            if let Some((sequence, _)) = read_slot(sector, slot)
                && best.is_none_or(|b| sequence >= b.sequence)
            {
                best = Some(Place {
                    sector,
                    slot,
                    sequence,
                });
            }
        }
    }
    best
}

/// First blank slot after the newest good one, in its sector.
fn free_slot(newest: Option<Place>) -> Option<(Sector, usize)> {
    let (sector, after) = newest.map_or((Sector::A, 0), |n| (n.sector, n.slot + 1));
    (after..SLOTS)
        .find(|&slot| is_blank(sector, slot))
        .map(|slot| (sector, slot))
}

/// Sequence number and content, if the slot is good.
fn read_slot(sector: Sector, slot: usize) -> Option<(u32, Content)> {
    let base = slot * SLOT;
    let header = flash::read(sector, base).ok()?;
    let (fields, _) = header.as_chunks::<4>();
    let [magic, sequence, length, crc] = *fields.first_chunk::<4>()?;
    let (sequence, length) = (u32::from_le_bytes(sequence), u32::from_le_bytes(length));
    if magic != MAGIC || length as usize > MAX_BYTES {
        return None;
    }
    let mut content = Content::new();
    let mut offset = base + WORD;
    while content.len() < length as usize {
        let word = flash::read(sector, offset).ok()?;
        let wanted = (length as usize - content.len()).min(WORD);
        content.extend_from_slice(&word[..wanted]).ok()?;
        offset += WORD;
    }
    (u32::from_le_bytes(crc) == checksum(sequence, &content)).then_some((sequence, content))
}

fn is_blank(sector: Sector, slot: usize) -> bool {
    let base = slot * SLOT;
    (base..base + SLOT)
        .step_by(WORD)
        .all(|offset| flash::read(sector, offset) == Ok([0xFF; WORD]))
}
