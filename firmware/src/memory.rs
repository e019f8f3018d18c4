//! Tightly coupled memory is filled at start (`start.s`, by the map in memory.x), and what memory the processor may
//! not touch, beyond the chip's own map.
//!
//! | region | addresses                  | allowed       | why                                            |
//! |--------|----------------------------|---------------|------------------------------------------------|
//! | 0      | 0x6000_0000 to 0xDFFF_FFFF | nothing       | external memory that is not there: the core    |
//! |        |                            |               | may read it speculatively and block the bus    |
//! | 1      | ITCM, 64 KiB at 0          | read, execute | the tick's code lives there, and null pointers |
//! |        |                            |               | lead there                                     |
//!
//! Everything else keeps the default map. A forbidden access ends in the hard fault handler.
//! [ARMv7-M B3.5; AN4838 on speculative reads]

use cortex_m::peripheral::MPU;

core::arch::global_asm!(include_str!("start.s"), options(raw));

/// One region as the MPU takes it.
struct Region {
    base: u32,
    /// log₂ of its size in bytes.
    size: u32,
    /// Eighths of it that do not belong to it, as bits.
    without: u32,
    access: u32,
    execute: bool,
}

const NO_ACCESS: u32 = 0b000;
const READ_ONLY: u32 = 0b110;

const REGIONS: [Region; 2] = [
    // All 4 GiB without the eighths for code, RAM, peripherals (0 to 2) and the core itself (7).
    Region {
        base: 0,
        size: 32,
        without: 0b1000_0111,
        access: NO_ACCESS,
        execute: false,
    },
    Region {
        base: 0,
        size: 16,
        without: 0,
        access: READ_ONLY,
        execute: true,
    },
];

impl Region {
    /// Attribute and size register: strongly ordered and shared if closed, else normal and uncached.
    const fn attributes(&self) -> u32 {
        let open = (self.access != NO_ACCESS) as u32;
        (!self.execute as u32) << 28
            | self.access << 24
            | open << 19
            | (1 - open) << 18
            | self.without << 8
            | (self.size - 1) << 1
            | 1
    }
}

/// Switch the regions on.
pub fn protect(mpu: &mut MPU) {
    /// ENABLE, and PRIVDEFENA: the default map elsewhere. Fault handlers run without the MPU.
    const ON: u32 = 1 | 1 << 2;
    cortex_m::asm::dmb();
    for (number, region) in REGIONS.iter().enumerate() {
        // SAFETY: the program neither uses the closed addresses nor writes to its own code.
        unsafe {
            mpu.rnr.write(number as u32);
            mpu.rbar.write(region.base);
            mpu.rasr.write(region.attributes());
        }
    }
    // SAFETY: as above.
    unsafe { mpu.ctrl.write(ON) };
    cortex_m::asm::dsb();
    cortex_m::asm::isb();
}
