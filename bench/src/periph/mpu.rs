//! Memory protection unit (ARMv7-M B3.5): sixteen regions with subregions, over the default map.
//!
//! All code here is privileged. Modelled: which region an address belongs to, read, write and execute permission, PRIVDEFENA. Memory
//! attributes (cached, shared) have no effect. The processor asks for RAM page by page ([`crate::cpu::Cpu::protect`]) and for everything
//! else when an access has failed anyway.

use std::ops::RangeInclusive;

/// What an access wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    Execute,
}

#[derive(Clone, Copy, Debug, Default)]
struct Region {
    rbar: u32,
    rasr: u32,
}

#[derive(Default)]
pub struct Mpu {
    ctrl: u32,
    rnr: usize,
    regions: [Region; 16],
    /// Something was written since [`Mpu::take_changed`].
    changed: bool,
}

/// MPU_TYPE to the last alias of MPU_RASR.
pub const REGISTERS: RangeInclusive<u32> = 0xe000_ed90..=0xe000_edb8;

impl Region {
    fn contains(&self, address: u32) -> bool {
        let bits = (self.rasr >> 1 & 31) + 1;
        if self.rasr & 1 == 0 || bits < 5 {
            return false;
        }
        let base = u64::from(self.rbar) & (u64::MAX << bits);
        let off = u64::from(address).wrapping_sub(base);
        let disabled = self.rasr >> 8 & 0xff;
        off < 1 << bits && (bits < 8 || disabled >> (off >> (bits - 3)) & 1 == 0)
    }

    fn allows(&self, access: Access) -> bool {
        let (read, write) = match self.rasr >> 24 & 7 {
            1..=3 => (true, true),
            5..=7 => (true, false),
            _ => (false, false),
        };
        match access {
            Access::Read => read,
            Access::Write => write,
            Access::Execute => read && self.rasr >> 28 & 1 == 0,
        }
    }
}

impl Mpu {
    /// Whether the unit is on and refuses the access. Where several regions overlap the highest number decides.
    pub fn forbids(&self, address: u32, access: Access) -> bool {
        const PRIVDEFENA: u32 = 1 << 2;
        if self.ctrl & 1 == 0 || address >> 28 == 0xe {
            return false;
        }
        match self.regions.iter().rev().find(|r| r.contains(address)) {
            Some(region) => !region.allows(access),
            None => self.ctrl & PRIVDEFENA == 0,
        }
    }

    pub fn read(&self, address: u32) -> u32 {
        let region = |alias: u32| &self.regions[self.rnr & !3 | alias as usize & 3];
        match address - REGISTERS.start() {
            0x00 => 16 << 8,
            0x04 => self.ctrl,
            0x08 => self.rnr as u32,
            0x0c => self.regions[self.rnr].rbar | self.rnr as u32,
            0x10 => self.regions[self.rnr].rasr,
            off if off % 8 == 4 => region(off / 8 - 1).rbar,
            off => region(off / 8 - 2).rasr,
        }
    }

    pub fn write(&mut self, address: u32, v: u32) {
        const VALID: u32 = 1 << 4;
        self.changed = true;
        match address - REGISTERS.start() {
            0x04 => self.ctrl = v & 7,
            0x08 => self.rnr = (v & 15) as usize,
            off if off >= 0x0c && off % 8 == 4 => {
                if v & VALID != 0 {
                    self.rnr = (v & 15) as usize;
                }
                self.regions[self.rnr].rbar = v & !0x1f;
            }
            off if off >= 0x10 => self.regions[self.rnr].rasr = v,
            _ => {}
        }
    }

    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(regions: &[(u32, u32)], ctrl: u32) -> Mpu {
        let mut mpu = Mpu::default();
        for (i, (rbar, rasr)) in regions.iter().enumerate() {
            mpu.write(0xe000_ed98, i as u32);
            mpu.write(0xe000_ed9c, *rbar);
            mpu.write(0xe000_eda0, *rasr);
        }
        mpu.write(0xe000_ed94, ctrl);
        mpu
    }

    #[test]
    fn subregions_and_order_decide() {
        // Nothing in 4 GiB but eighths 0, 1, 2 and 7; the first 64 KiB read-only.
        let mpu = with(&[(0, 0x1004_873f), (0, 0x0608_001f)], 5);
        for (address, access, forbidden) in [
            (0x6000_0000, Access::Read, true),
            (0xdfff_ffff, Access::Execute, true),
            (0x2000_0000, Access::Write, false),
            (0x0000_0400, Access::Write, true),
            (0x0000_0400, Access::Execute, false),
            (0x0001_0000, Access::Write, false),
            (0xe000_ed94, Access::Write, false),
        ] {
            let found = mpu.forbids(address, access);
            assert_eq!(found, forbidden, "{address:#x} {access:?}");
        }
        assert_eq!(mpu.read(0xe000_eda0), 0x0608_001f);
        let off = with(&[(0, 0x1004_873f)], 4);
        assert!(!off.forbids(0x6000_0000, Access::Read));
    }

    #[test]
    fn without_the_default_map_everything_else_is_closed() {
        let mpu = with(&[(0x2000_0000, 0x0300_0021)], 1);
        assert!(!mpu.forbids(0x2001_ffff, Access::Write));
        assert!(mpu.forbids(0x2002_0000, Access::Read));
    }
}
