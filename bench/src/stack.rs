//! Stack high-water mark: how far down from the top the stack has ever been written.
//!
//! RAM holds random words at power-on; the lowest word of the stack region that differs from its first contents marks the depth.
//! A program that paints its stack itself (cortex-m-rt's `paint-stack`) is measured against its paint.
//! A word that happens to be written with its old value hides at most itself.

use crate::cpu::Cpu;
use crate::elf::Program;

/// Byte of cortex-m-rt's paint.
const PAINT: u8 = 0xcc;

pub struct StackMark {
    /// Lowest and first-beyond address of the region; equal when the program does not say.
    low: u32,
    top: u32,
    first: Vec<u8>,
    /// Deepest use seen [bytes].
    pub deepest: u32,
}

impl StackMark {
    pub fn new(program: &Program) -> Self {
        let top = program.address_of("_stack_start").unwrap_or(0);
        let low = ["_stack_end", "__euninit", "__ebss"]
            .iter()
            .find_map(|s| program.address_of(s))
            .unwrap_or(top);
        StackMark {
            low: low.min(top),
            top,
            first: Vec::new(),
            deepest: 0,
        }
    }

    /// Bytes between the end of static data and the top of the stack.
    pub fn size(&self) -> u32 {
        self.top - self.low
    }

    /// Remembers the present contents as untouched.
    pub fn paint(&mut self, cpu: &Cpu) {
        self.first = cpu
            .read_bytes(self.low, self.size() as usize)
            .unwrap_or_default();
    }

    /// Updates the mark.
    pub fn look(&mut self, cpu: &Cpu) {
        let Some(now) = cpu.read_bytes(self.low, self.size() as usize) else {
            return;
        };
        let untouched = |a: &[u8], b: &[u8]| a == b || a == [PAINT; 4];
        let mut words = now.chunks(4).zip(self.first.chunks(4));
        let touched = words.position(|(a, b)| !untouched(a, b));
        let depth = touched.map_or(0, |i| self.size() - 4 * i as u32);
        self.deepest = self.deepest.max(depth);
    }
}
