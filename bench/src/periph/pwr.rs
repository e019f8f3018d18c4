//! PWR: supply and voltage scaling (RM0433 §6). Storage, plus ready bits that answer at once.

pub struct Pwr {
    regs: [u32; 11],
}

const CSR1: u32 = 0x04;
const CR3: u32 = 0x0c;
const D3CR: u32 = 0x18;

impl Default for Pwr {
    fn default() -> Self {
        let mut regs = [0; 11];
        regs[0] = 0xf000_c000;
        regs[CR3 as usize / 4] = 0x0000_0006;
        regs[D3CR as usize / 4] = 0x0000_4000;
        Pwr { regs }
    }
}

impl Pwr {
    pub fn read(&self, off: u32) -> Option<u32> {
        let v = *self.regs.get(off as usize / 4)?;
        let vos = self.regs[D3CR as usize / 4] & 3 << 14;
        Some(match off {
            CSR1 => vos | 1 << 13,
            CR3 => v & !(1 << 26) | (v >> 24 & 1) << 26,
            D3CR => v | 1 << 13,
            _ => v,
        })
    }

    pub fn write(&mut self, off: u32, v: u32) -> Option<()> {
        *self.regs.get_mut(off as usize / 4)? = v;
        Some(())
    }
}
