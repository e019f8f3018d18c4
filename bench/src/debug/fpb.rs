//! FPB: flash patch and breakpoint unit, version 2 as in the Cortex-M7 (ARMv7-M C1.11), used for breakpoints only.
//!
//! Eight comparators on instruction addresses at 0xE0002000. The processor halts before it executes a matching
//! instruction, if FP_CTRL enables the unit and halting debug is on. A system reset leaves them alone.

/// Comparators.
pub const COMPARATORS: usize = 8;
/// FP_CTRL: version 2, eight instruction comparators, no literal ones.
const CTRL: u32 = 0x1000_0000 | (COMPARATORS as u32) << 4;
const ENABLE: u32 = 1;
const KEY: u32 = 2;

#[derive(Clone, Debug, Default)]
pub struct Fpb {
    enabled: bool,
    comparators: [u32; COMPARATORS],
}

impl Fpb {
    /// Offset from 0xE0002000.
    pub fn read(&self, off: u32) -> Option<u32> {
        match off {
            0x00 => Some(CTRL | u32::from(self.enabled)),
            0x04 => Some(0), // FP_REMAP: not supported
            _ => self.comparators.get(index(off)?).copied(),
        }
    }

    pub fn write(&mut self, off: u32, v: u32) -> Option<()> {
        match off {
            0x00 if v & KEY != 0 => self.enabled = v & ENABLE != 0,
            0x00 | 0x04 => {}
            _ => *self.comparators.get_mut(index(off)?)? = v,
        }
        Some(())
    }

    /// Whether the instruction at `address` is one to stop at.
    pub fn hits(&self, address: u32) -> bool {
        self.enabled && self.addresses().any(|a| a == address)
    }

    /// Addresses of the comparators in use, whether the unit is on or not.
    pub fn addresses(&self) -> impl Iterator<Item = u32> + '_ {
        self.comparators
            .iter()
            .filter(|c| *c & ENABLE != 0)
            .map(|c| c & !1)
    }
}

fn index(off: u32) -> Option<usize> {
    Some(off.checked_sub(8)? as usize / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparator_hits_only_while_the_unit_is_on() {
        let mut f = Fpb::default();
        assert_eq!(f.read(0), Some(0x1000_0080), "as the chip reports itself");
        f.write(0x0c, 0x0800_1235).unwrap();
        assert_eq!(f.addresses().collect::<Vec<_>>(), [0x0800_1234]);
        assert!(!f.hits(0x0800_1234));
        f.write(0, ENABLE).unwrap();
        assert!(!f.hits(0x0800_1234), "FP_CTRL wants its key");
        f.write(0, KEY | ENABLE).unwrap();
        assert!(f.hits(0x0800_1234) && !f.hits(0x0800_1236));
        f.write(0x0c, 0).unwrap();
        assert!(!f.hits(0x0800_1234));
        assert_eq!(f.write(8 + 4 * COMPARATORS as u32, 1), None);
    }
}
