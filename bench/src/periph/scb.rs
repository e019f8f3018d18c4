//! System control block (ARMv7-M B3.2): vector table, reset request, fault status, exception control.
//!
//! Cache maintenance and FPU context registers are accepted and kept: the emulated processor has no caches and stacks floating
//! point state on every exception entry itself. The MPU is in `mpu.rs`.

use super::mpu::{self, Mpu};
use super::nvic::{BUS_FAULT, MEM_MANAGE, Nvic, PENDSV, SYSTICK, USAGE_FAULT};

/// CFSR bits used by the fault model.
pub const IACCVIOL: u32 = 1;
pub const DACCVIOL: u32 = 1 << 1;
pub const MMARVALID: u32 = 1 << 7;
pub const PRECISERR: u32 = 1 << 9;
pub const BFARVALID: u32 = 1 << 15;
pub const IBUSERR: u32 = 1 << 8;
pub const UNDEFINSTR: u32 = 1 << 16;
pub const INVSTATE: u32 = 1 << 17;
pub const INVPC: u32 = 1 << 18;
/// HFSR: a breakpoint without a debugger.
pub const DEBUGEVT: u32 = 1 << 31;

pub struct Scb {
    pub vtor: u32,
    aircr: u32,
    scr: u32,
    ccr: u32,
    shcsr: u32,
    pub cfsr: u32,
    pub hfsr: u32,
    pub bfar: u32,
    pub mmfar: u32,
    cpacr: u32,
    fpccr: u32,
    fpcar: u32,
    fpdscr: u32,
    pub mpu: Mpu,
    csselr: u32,
    /// SYSRESETREQ was written.
    pub reset_requested: bool,
}

impl Scb {
    pub fn new(vtor: u32) -> Self {
        Scb {
            vtor,
            aircr: 0,
            scr: 0,
            ccr: 0x0004_0200,
            shcsr: 0,
            cfsr: 0,
            hfsr: 0,
            bfar: 0,
            mmfar: 0,
            cpacr: 0,
            fpccr: 0xc000_0000,
            fpcar: 0,
            fpdscr: 0,
            mpu: Mpu::default(),
            csselr: 0,
            reset_requested: false,
        }
    }

    /// Wake up from WFE when an interrupt merely becomes pending.
    pub fn sev_on_pend(&self) -> bool {
        self.scr >> 4 & 1 != 0
    }

    /// Code that runs at the priority of HardFault or above ignores data bus faults (CCR.BFHFNMIGN); their flags are set all the same.
    pub fn ignores_bus_faults(&self) -> bool {
        self.ccr >> 8 & 1 != 0
    }

    /// A data access at `address` failed.
    pub fn data_bus_fault(&mut self, address: u32) {
        self.cfsr |= PRECISERR | BFARVALID;
        self.bfar = address;
    }

    /// The MPU refused a data access at `address`.
    pub fn data_access_violation(&mut self, address: u32) {
        self.cfsr |= DACCVIOL | MMARVALID;
        self.mmfar = address;
    }

    /// Whether the configurable fault handler is enabled (else the fault escalates to HardFault).
    pub fn fault_enabled(&self, exception: u32) -> bool {
        let bit = match exception {
            MEM_MANAGE => 16,
            BUS_FAULT => 17,
            USAGE_FAULT => 18,
            _ => return false,
        };
        self.shcsr >> bit & 1 != 0
    }

    pub fn read(&self, address: u32, nvic: &Nvic) -> Option<u32> {
        Some(match address {
            0xe000_e004 => 4, // ICTR: 160 lines
            0xe000_e008 => 0, // ACTLR
            0xe000_ed00 => 0x411f_c271,
            0xe000_ed04 => self.icsr(nvic),
            0xe000_ed08 => self.vtor,
            0xe000_ed0c => 0xfa05_0000 | self.aircr,
            0xe000_ed10 => self.scr,
            0xe000_ed14 => self.ccr,
            0xe000_ed18..=0xe000_ed20 => {
                let i = (address - 0xe000_ed18) as usize;
                let p = &nvic.system_priority;
                u32::from_le_bytes([p[i], p[i + 1], p[i + 2], p[i + 3]])
            }
            0xe000_ed24 => self.shcsr,
            0xe000_ed28 => self.cfsr,
            0xe000_ed2c => self.hfsr,
            0xe000_ed34 => self.mmfar,
            0xe000_ed38 => self.bfar,
            0xe000_ed3c => 0,
            0xe000_ed78 => 0x0900_0003, // CLIDR: one level, split
            0xe000_ed7c => 0x8303_c003, // CTR
            0xe000_ed80 if self.csselr & 1 == 0 => 0xf003_e019, // CCSIDR, data: 16 KiB, 4 ways
            0xe000_ed80 => 0xf007_e009, // instruction: 16 KiB, 2 ways
            0xe000_ed84 => self.csselr,
            0xe000_ed88 => self.cpacr,
            _ if mpu::REGISTERS.contains(&address) => self.mpu.read(address),
            0xe000_ef34 => self.fpccr,
            0xe000_ef38 => self.fpcar,
            0xe000_ef3c => self.fpdscr,
            0xe000_ef40 => 0x1011_0221, // MVFR0: FPv5-D16, double precision
            0xe000_ef44 => 0x1200_0011,
            0xe000_ef48 => 0x0000_0040,
            0xe000_ef90..=0xe000_efa8 => 0, // tightly coupled memory and cache control
            0xe000_ed40..=0xe000_ed74 => 0, // ID registers
            _ => return None,
        })
    }

    pub fn write(&mut self, address: u32, v: u32, nvic: &mut Nvic) -> Option<()> {
        match address {
            0xe000_e008 => {}
            0xe000_ed04 => Self::write_icsr(v, nvic),
            0xe000_ed08 => self.vtor = v & 0xffff_ff80,
            0xe000_ed0c if v >> 16 == 0x05fa => {
                self.aircr = v & 0x700;
                self.reset_requested |= v & 4 != 0;
            }
            0xe000_ed0c => {}
            0xe000_ed10 => self.scr = v,
            0xe000_ed14 => self.ccr = v,
            0xe000_ed18..=0xe000_ed20 => {
                let i = (address - 0xe000_ed18) as usize;
                for (k, b) in v.to_le_bytes().into_iter().enumerate() {
                    nvic.system_priority[i + k] = b & 0xf0;
                }
            }
            0xe000_ed24 => self.shcsr = v,
            0xe000_ed28 => self.cfsr &= !v,
            0xe000_ed2c => self.hfsr &= !v,
            0xe000_ed34..=0xe000_ed3c => {}
            0xe000_ed84 => self.csselr = v,
            0xe000_ed88 => self.cpacr = v,
            _ if mpu::REGISTERS.contains(&address) => self.mpu.write(address, v),
            0xe000_ef34 => self.fpccr = v,
            0xe000_ef38 => self.fpcar = v,
            0xe000_ef3c => self.fpdscr = v,
            0xe000_ef50..=0xe000_efa8 => {} // cache maintenance
            _ => return None,
        }
        Some(())
    }

    fn icsr(&self, nvic: &Nvic) -> u32 {
        let running = nvic.stack.last().map_or(0, |s| s.0);
        let next = nvic.next().map_or(0, |n| n.0);
        let bit = |e: u32, b: u32| u32::from(nvic.is_system_pending(e)) << b;
        running
            | next << 12
            | u32::from(nvic.stack.len() < 2) << 11
            | bit(SYSTICK, 26)
            | bit(PENDSV, 28)
    }

    fn write_icsr(v: u32, nvic: &mut Nvic) {
        for (set, clear, exception) in [(28, 27, PENDSV), (26, 25, SYSTICK)] {
            if v >> set & 1 != 0 {
                nvic.pend_system(exception);
            }
            if v >> clear & 1 != 0 {
                nvic.unpend_system(exception);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reset_needs_the_key() {
        let (mut scb, mut nvic) = (Scb::new(0x0800_0000), Nvic::new());
        scb.write(0xe000_ed0c, 4, &mut nvic);
        assert!(!scb.reset_requested);
        scb.write(0xe000_ed0c, 0x05fa_0004, &mut nvic);
        assert!(scb.reset_requested);
    }

    #[test]
    fn pendsv_through_icsr() {
        let (mut scb, mut nvic) = (Scb::new(0x0800_0000), Nvic::new());
        scb.write(0xe000_ed04, 1 << 28, &mut nvic);
        assert_eq!(nvic.next(), Some((PENDSV, 0)));
        assert_eq!(scb.read(0xe000_ed04, &nvic).unwrap() >> 28 & 1, 1);
        scb.write(0xe000_ed04, 1 << 27, &mut nvic);
        assert_eq!(nvic.next(), None);
    }

    #[test]
    fn fault_status_is_cleared_by_writing_ones() {
        let (mut scb, mut nvic) = (Scb::new(0x0800_0000), Nvic::new());
        scb.cfsr = PRECISERR | BFARVALID;
        scb.write(0xe000_ed28, PRECISERR, &mut nvic);
        assert_eq!(scb.read(0xe000_ed28, &nvic), Some(BFARVALID));
        assert!(!scb.fault_enabled(BUS_FAULT));
        scb.write(0xe000_ed24, 1 << 17, &mut nvic);
        assert!(scb.fault_enabled(BUS_FAULT));
    }
}
