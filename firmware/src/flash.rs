//! Erase, program and read the two flash sectors that hold the stored configuration.
//!
//! Own code because the driver of embassy-stm32 waits inside a critical section, up to seconds for an
//! erase. Here nothing is masked: both sectors are in bank 2, the program runs from bank 1, and the
//! chip reads one bank while it writes the other, so the tick goes on undisturbed. [RM0433 §4.3]
//!
//! Power may fail while a word is being programmed. The word then may have no valid ECC and reading it
//! is a bus fault, so reads go through [`read`], which survives that.

use core::ptr::{read_volatile, write_volatile};

use embassy_futures::yield_now;
use embassy_stm32::pac::{self, flash::Bank};
use embassy_time::{Duration, Instant, Timer};

/// The chip programs this many bytes at once, each word once per erase.
pub const WORD: usize = 32;
/// Size of a sector.
pub const SECTOR: usize = 128 * 1024;

/// One of the two sectors reserved by memory.x.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sector {
    /// Bank 2, sector 6.
    A,
    /// Bank 2, sector 7: the last one.
    B,
}

impl Sector {
    const fn number(self) -> u8 {
        match self {
            Sector::A => 6,
            Sector::B => 7,
        }
    }

    /// First address: bank 2 starts at 0x0810_0000.
    const fn base(self) -> usize {
        0x0810_0000 + self.number() as usize * SECTOR
    }

    pub const fn other(self) -> Self {
        match self {
            Sector::A => Sector::B,
            Sector::B => Sector::A,
        }
    }
}

/// What the flash controller said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, defmt::Format)]
pub enum Error {
    /// Error flags of the status register.
    Refused(u32),
    TimedOut,
    /// A word whose ECC cannot be corrected: an interrupted write.
    Unreadable,
}

/// WRPERR, PGSERR, STRBERR, INCERR, OPERR: bits 17, 18, 19, 21, 22.
const WRITE_ERRORS: u32 = 1 << 17 | 1 << 18 | 1 << 19 | 1 << 21 | 1 << 22;
/// Longest sector erase of the data sheet is 4 s; programming a word takes under 1 ms.
const ERASE_LIMIT: Duration = Duration::from_secs(8);
const PROGRAM_LIMIT: Duration = Duration::from_millis(10);

fn bank() -> Bank {
    pac::FLASH.bank(1)
}

/// Registers unlocked for as long as this lives.
struct Unlocked;

impl Unlocked {
    fn new() -> Self {
        if bank().cr().read().lock() {
            bank().keyr().write_value(0x4567_0123);
            bank().keyr().write_value(0xCDEF_89AB);
        }
        // Old error flags would refuse the next operation.
        bank()
            .ccr()
            .write_value(pac::flash::regs::Ccr(WRITE_ERRORS));
        Self
    }
}

impl Drop for Unlocked {
    fn drop(&mut self) {
        bank().cr().write(|w| w.set_lock(true));
    }
}

fn finished() -> Option<Result<(), Error>> {
    let status = bank().sr().read();
    if status.bsy() || status.qw() {
        return None;
    }
    let errors = status.0 & WRITE_ERRORS;
    Some(if errors == 0 {
        Ok(())
    } else {
        Err(Error::Refused(errors))
    })
}

/// Make the whole sector 0xFF. Takes a second or two; other tasks run meanwhile.
pub async fn erase(sector: Sector) -> Result<(), Error> {
    let _unlocked = Unlocked::new();
    bank().cr().write(|w| {
        w.set_ser(true);
        w.set_snb(sector.number());
        w.set_psize(3);
    });
    bank().cr().modify(|w| w.set_start(true));
    let deadline = Instant::now() + ERASE_LIMIT;
    let result = loop {
        Timer::after_millis(5).await;
        match finished() {
            Some(result) => break result,
            None if Instant::now() > deadline => break Err(Error::TimedOut),
            None => {}
        }
    };
    invalidate(sector.base(), SECTOR);
    result
}

/// Program one erased word at `offset` (a multiple of [`WORD`] inside the sector).
pub async fn program(sector: Sector, offset: usize, word: &[u8; WORD]) -> Result<(), Error> {
    assert!(offset.is_multiple_of(WORD) && offset < SECTOR);
    let _unlocked = Unlocked::new();
    bank().cr().write(|w| {
        w.set_pg(true);
        w.set_psize(3);
    });
    let address = sector.base() + offset;
    cortex_m::asm::dsb();
    let (chunks, _) = word.as_chunks::<4>();
    for (i, chunk) in chunks.iter().enumerate() {
        // SAFETY: inside a sector that memory.x keeps free of code and data, aligned, unlocked.
        unsafe { write_volatile((address + 4 * i) as *mut u32, u32::from_le_bytes(*chunk)) };
    }
    cortex_m::asm::dsb();
    let deadline = Instant::now() + PROGRAM_LIMIT;
    let result = loop {
        match finished() {
            Some(result) => break result,
            None if Instant::now() > deadline => break Err(Error::TimedOut),
            None => yield_now().await,
        }
    };
    bank().cr().write(|w| w.set_pg(false));
    invalidate(address, WORD);
    result
}

/// Read one word. An interrupted write reads as [`Error::Unreadable`] or as wrong bytes.
pub fn read(sector: Sector, offset: usize) -> Result<[u8; WORD], Error> {
    assert!(offset.is_multiple_of(WORD) && offset < SECTOR);
    let address = sector.base() + offset;
    let mut word = [0; WORD];
    let (chunks, _) = word.as_chunks_mut::<4>();
    ignoring_bus_faults(|| {
        for (i, chunk) in chunks.iter_mut().enumerate() {
            // SAFETY: flash is always readable; a bus fault is ignored here.
            *chunk = unsafe { read_volatile((address + 4 * i) as *const u32) }.to_le_bytes();
        }
    });
    if bank().sr().read().dbeccerr() {
        bank().ccr().write(|w| w.set_clr_dbeccerr(true));
        invalidate(address, WORD);
        return Err(Error::Unreadable);
    }
    Ok(word)
}

/// Run `f` with data bus faults ignored, which the processor allows at fault priority only. Masks the
/// tick too: keep `f` to a few loads (eight take under a microsecond).
fn ignoring_bus_faults(f: impl FnOnce()) {
    /// Configuration and control register, BFHFNMIGN.
    const IGNORE: u32 = 1 << 8;
    /// Configurable fault status register: all bus fault flags. Written as 1 they are cleared, and with them the
    /// fault address: a later crash must not name this one.
    const BUS_FAULTS: u32 = 0xFF00;
    // SAFETY: exclusive: FAULTMASK keeps every other code out until it is cleared again.
    unsafe {
        core::arch::asm!("cpsid f", options(nostack, preserves_flags));
        let scb = &*cortex_m::peripheral::SCB::PTR;
        scb.ccr.modify(|r| r | IGNORE);
        cortex_m::asm::dsb();
        f();
        cortex_m::asm::dsb();
        scb.ccr.modify(|r| r & !IGNORE);
        scb.cfsr.write(BUS_FAULTS);
        core::arch::asm!("cpsie f", options(nostack, preserves_flags));
    }
}

/// Forget what the data cache holds of this memory.
fn invalidate(address: usize, length: usize) {
    // SAFETY: flash lines are never dirty (write-through region), so dropping them loses nothing;
    // address and length are multiples of the 32-byte line.
    unsafe {
        let mut scb = cortex_m::Peripherals::steal().SCB;
        scb.invalidate_dcache_by_address(address, length);
    }
}
