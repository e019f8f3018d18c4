//! The last words of a program that crashed, kept in RAM across the reset that follows.
//!
//! A panic or hard fault writes a short text here and resets the processor; the next start finds it,
//! checks its CRC and reports it in Hello. RAM content survives any reset but power-on; after
//! power-on the CRC rejects whatever the memory holds.

use core::cell::UnsafeCell;
use core::fmt::{self, Write};
use core::mem::MaybeUninit;

use heapless::String;
use stribeck_core::wire::crc32;

/// Longest text, in bytes: what Hello has room for.
pub const TEXT: usize = 64;

#[repr(C)]
struct Record {
    crc: u32,
    length: u32,
    text: [u8; TEXT],
    /// Written last, means nothing: the memory's error correction may hold back the last write before a
    /// reset until another one follows (AN5342).
    flush: u32,
}

struct Kept(UnsafeCell<MaybeUninit<Record>>);
// SAFETY: written only by `record` with all interrupts off, read only by `take` during start-up.
unsafe impl Sync for Kept {}

// SAFETY: the section is plain RAM; the content is MaybeUninit and checked before use.
#[unsafe(link_section = ".uninit.fault")]
static KEPT: Kept = Kept(UnsafeCell::new(MaybeUninit::uninit()));

impl Record {
    fn checksum(length: u32, text: &[u8; TEXT]) -> u32 {
        crc32(text) ^ length.wrapping_mul(0x9E37_79B9)
    }
}

/// Keep `text` (cut to [`TEXT`] bytes) for the next start. Masks all interrupts for good: the caller
/// resets the processor.
pub fn record(text: fmt::Arguments<'_>) {
    cortex_m::interrupt::disable();
    let mut cut = Cut(String::new());
    // Cannot fail: `Cut` swallows what does not fit.
    let _ = cut.write_fmt(text);
    let mut bytes = [0; TEXT];
    bytes[..cut.0.len()].copy_from_slice(cut.0.as_bytes());
    let length = cut.0.len() as u32;
    let record = Record {
        crc: Record::checksum(length, &bytes),
        length,
        text: bytes,
        flush: 0,
    };
    // SAFETY: interrupts are off and this program has one core: no other access.
    unsafe { KEPT.0.get().write_volatile(MaybeUninit::new(record)) };
    cortex_m::asm::dsb();
}

/// What the previous run of the program recorded, if it crashed. Forgets it.
pub fn take() -> Option<String<TEXT>> {
    // SAFETY: any bit pattern is a valid Record; nothing else runs this early.
    let record = unsafe { KEPT.0.get().read_volatile().assume_init() };
    // SAFETY: as above.
    unsafe { KEPT.0.get().write_volatile(MaybeUninit::zeroed()) };
    let right = record.crc == Record::checksum(record.length, &record.text);
    let text = record.text.get(..record.length as usize)?;
    let text = core::str::from_utf8(text).ok()?;
    (right && !text.is_empty()).then(|| String::try_from(text).unwrap_or_default())
}

/// Flip a bit of what is kept, for tests.
pub fn damage() {
    let word = KEPT.0.get().cast::<u32>();
    // SAFETY: inside the record; any bit pattern is valid.
    unsafe { word.write_volatile(word.read_volatile() ^ 1 << 9) };
}

/// A string that keeps the beginning of what is written to it.
struct Cut(String<TEXT>);

impl fmt::Write for Cut {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for c in s.chars() {
            if self.0.push(c).is_err() {
                break;
            }
        }
        Ok(())
    }
}
