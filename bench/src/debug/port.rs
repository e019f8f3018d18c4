//! Debug port and access ports of the H743 (ADIv5.2 B2, C2; RM0433 §60.4).
//!
//! | access port | bus | finds |
//! |---|---|---|
//! | 0 | AHB, through the processor | all memory, the processor's registers, its ROM table |
//! | 1 | AHB of the second domain | memory and peripherals, no ROM table |
//! | 2 | APB of the debug system | DBGMCU, trace, its ROM table |
//!
//! Accesses are done at once: nothing ever answers WAIT. A failed one sets STICKYERR, and further accesses to access ports are refused
//! until ABORT clears it. Without the power-up request of CTRL/STAT access ports are refused as well.

use super::access::Size;
use super::rom;
use crate::machine::Machine;

/// The access failed, or an earlier one did and was not cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault;

pub const DPIDR: u32 = 0x6ba0_2477;
/// STM32H743, ST.
const TARGETID: u32 = 0x0450_0041;

const ORUNDETECT: u32 = 1;
const STICKYCMP: u32 = 1 << 4;
const STICKYERR: u32 = 1 << 5;
const WDATAERR: u32 = 1 << 7;
const DEBUG_POWER: u32 = 1 << 28;
const SYSTEM_POWER: u32 = 1 << 30;
/// Bits of CTRL/STAT that a write sets.
const WRITABLE: u32 = ORUNDETECT | 0xc | 0xf00 | DEBUG_POWER | SYSTEM_POWER;

/// One access port with its memory interface.
#[derive(Clone, Copy, Debug)]
struct AccessPort {
    idr: u32,
    base: u32,
    csw: u32,
    tar: u32,
}

pub struct Port {
    ctrl: u32,
    select: u32,
    /// Result of the last access-port read over the line.
    rdbuff: u32,
    aps: [AccessPort; 3],
}

impl Default for Port {
    fn default() -> Self {
        let ap = |idr, base, csw| AccessPort {
            idr,
            base,
            csw,
            tar: 0,
        };
        Port {
            ctrl: 0,
            select: 0,
            rdbuff: 0,
            aps: [
                ap(0x8477_0001, rom::PROCESSOR | 3, 0x2300_0040),
                ap(0x8477_0001, 0x0000_0002, 0x2300_0040),
                ap(0x5477_0002, rom::SYSTEM | 3, 0x8000_0040),
            ],
        }
    }
}

impl Port {
    /// Reads register `address` (0, 4, 8, 12) of the debug port, in the selected bank.
    pub fn dp_read(&self, address: u8) -> u32 {
        match (address & 0xc, self.select & 0xf) {
            (0x0, _) => DPIDR,
            (0x4, 0) => {
                let acknowledged = (self.ctrl & (DEBUG_POWER | SYSTEM_POWER)) << 1;
                self.ctrl | acknowledged | 1 << 6
            }
            (0x4, 2) => TARGETID,
            (0x4, 3) => 1, // DLPIDR: SWD version 2
            (0x4, _) => 0,
            _ => self.rdbuff,
        }
    }

    pub fn dp_write(&mut self, address: u8, v: u32) {
        match (address & 0xc, self.select & 0xf) {
            (0x0, _) => self.abort(v),
            (0x4, 0) => self.ctrl = self.ctrl & !WRITABLE | v & WRITABLE,
            (0x8, _) => self.select = v,
            _ => {}
        }
    }

    fn abort(&mut self, v: u32) {
        for (bit, flag) in [(1, STICKYCMP), (2, STICKYERR), (3, WDATAERR)] {
            if v >> bit & 1 != 0 {
                self.ctrl &= !flag;
            }
        }
    }

    /// The probe found the error and clears it, as its firmware does after each accelerated access.
    pub fn clear_errors(&mut self) {
        self.abort(0x1e);
    }

    /// Whether an access would be answered with FAULT.
    pub fn refuses(&self, access_port: bool, address: u8, read: bool) -> bool {
        let broken = self.ctrl & (STICKYERR | STICKYCMP | WDATAERR) != 0;
        if access_port {
            return broken || self.ctrl & DEBUG_POWER == 0;
        }
        // IDCODE, ABORT and CTRL/STAT always answer.
        broken && !(address == 0 || read && address == 4)
    }

    fn check<T>(&mut self, result: Result<T, Fault>) -> Result<T, Fault> {
        if result.is_err() {
            self.ctrl |= STICKYERR;
        }
        result
    }

    /// Reads a register of an access port; a port that does not exist reads as zero.
    pub fn ap_read(&mut self, ap: u8, register: u8, machine: &mut Machine) -> Result<u32, Fault> {
        if self.refuses(true, register, true) {
            return self.check(Err(Fault));
        }
        let Some(port) = self.aps.get(ap as usize).copied() else {
            return Ok(0);
        };
        Ok(match register & 0xfc {
            0x00 => port.csw,
            0x04 => port.tar,
            0x0c => {
                let done = machine.debug_read_one(port.tar, Size::from_csw(port.csw));
                let value = self.check(done)?;
                self.aps[ap as usize].advance();
                value
            }
            banked @ 0x10..=0x1c => {
                let at = port.tar & !0xf | u32::from(banked & 0xc);
                let done = machine.debug_read_one(at, Size::Word);
                self.check(done)?
            }
            0xf8 => port.base,
            0xfc => port.idr,
            _ => 0, // CFG: little endian, 32-bit addresses
        })
    }

    pub fn ap_write(
        &mut self,
        ap: u8,
        register: u8,
        v: u32,
        machine: &mut Machine,
    ) -> Result<(), Fault> {
        if self.refuses(true, register, false) {
            return self.check(Err(Fault));
        }
        let Some(port) = self.aps.get_mut(ap as usize) else {
            return Ok(());
        };
        match register & 0xfc {
            0x00 => port.csw = port.csw & 0x40 | v & !0xc0,
            0x04 => port.tar = v,
            0x0c => {
                let (tar, size) = (port.tar, Size::from_csw(port.csw));
                let done = machine.debug_write_one(tar, v, size);
                self.check(done)?;
                self.aps[ap as usize].advance();
            }
            banked @ 0x10..=0x1c => {
                let at = port.tar & !0xf | u32::from(banked & 0xc);
                let done = machine.debug_write_one(at, v, Size::Word);
                self.check(done)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// An accelerated block read through a memory access port.
    pub fn memory_read(
        &mut self,
        ap: u8,
        address: u32,
        len: usize,
        machine: &mut Machine,
    ) -> Result<Vec<u8>, Fault> {
        let done = if self.reachable(ap) {
            machine.debug_read(address, len)
        } else {
            Err(Fault)
        };
        self.check(done)
    }

    /// An accelerated block write in accesses of `size`.
    pub fn memory_write(
        &mut self,
        ap: u8,
        address: u32,
        data: &[u8],
        size: Size,
        machine: &mut Machine,
    ) -> Result<(), Fault> {
        let done = if self.reachable(ap) {
            machine.debug_write(address, data, size)
        } else {
            Err(Fault)
        };
        self.check(done)
    }

    fn reachable(&self, ap: u8) -> bool {
        (ap as usize) < self.aps.len() && !self.refuses(true, 0, true)
    }

    /// A read over the line: access ports answer with the result of the read before.
    pub fn swd_read(
        &mut self,
        access_port: bool,
        address: u8,
        machine: &mut Machine,
    ) -> Result<u32, Fault> {
        if self.refuses(access_port, address, true) {
            return Err(Fault);
        }
        if !access_port {
            return Ok(self.dp_read(address));
        }
        let (ap, bank) = ((self.select >> 24) as u8, self.select as u8 & 0xf0);
        let posted = self.rdbuff;
        self.rdbuff = self.ap_read(ap, bank | address, machine).unwrap_or(0);
        Ok(posted)
    }

    /// A write over the line; `None` = its parity was wrong.
    pub fn swd_write(
        &mut self,
        access_port: bool,
        address: u8,
        value: Option<u32>,
        machine: &mut Machine,
    ) {
        if self.refuses(access_port, address, false) {
            return;
        }
        let Some(value) = value else {
            self.ctrl |= WDATAERR;
            return;
        };
        if access_port {
            let (ap, bank) = ((self.select >> 24) as u8, self.select as u8 & 0xf0);
            let _ = self.ap_write(ap, bank | address, value, machine);
        } else {
            self.dp_write(address, value);
        }
    }
}

impl AccessPort {
    /// Address increment after a transfer, if CSW asks for it; it wraps within 1 KiB.
    fn advance(&mut self) {
        if self.csw >> 4 & 3 != 0 {
            let bytes = Size::from_csw(self.csw).bytes();
            self.tar = self.tar & !0x3ff | self.tar.wrapping_add(bytes) & 0x3ff;
        }
    }
}
