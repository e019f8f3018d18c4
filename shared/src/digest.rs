//! The hash that proves two runs equal: 32 bits over every state word of every tick of a block.
//!
//! Two lanes of the Fx word hash, fed in turn: `lane = (rotl(lane, 5) ^ word) · K`. Every step is a bijection
//! of the lane for a given word and of the word for a given lane, so one differing word always changes the
//! result before the final mix; two lanes halve the latency chain of the multiplication. Three
//! instructions per word on a Cortex-M7.
//!
//! Not a checksum against transmission errors (that is the frame's CRC-32) and not cryptographic.

use crate::state::State;

/// Odd multiplier, 2³²/φ.
const K: u32 = 0x9E37_79B9;

/// Running digest of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Digest {
    a: u32,
    b: u32,
}

impl Default for Digest {
    fn default() -> Self {
        Self::START
    }
}

impl Digest {
    /// Every block starts from here, so any block can be checked alone.
    pub const START: Self = Digest {
        a: 0x243F_6A88,
        b: 0x85A3_08D3,
    };

    /// Mix in one word.
    #[inline(always)]
    pub fn word(&mut self, w: u32) {
        let next = (self.a.rotate_left(5) ^ w).wrapping_mul(K);
        self.a = self.b;
        self.b = next;
    }

    /// Mix in every word of a state.
    #[inline(always)]
    pub fn state(&mut self, s: &impl State) {
        // A copy, so that the lanes stay in registers.
        let mut d = *self;
        s.save(&mut |w| d.word(w));
        *self = d;
    }

    /// The 32 bits sent: both lanes, avalanched.
    #[inline(always)]
    pub fn finish(self) -> u32 {
        let mut h = self.a.rotate_left(16).wrapping_mul(K) ^ self.b;
        h = (h ^ (h >> 16)).wrapping_mul(0x85EB_CA6B);
        h = (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35);
        h ^ (h >> 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[u32]) -> u32 {
        let mut d = Digest::START;
        words.iter().for_each(|&w| d.word(w));
        d.finish()
    }

    #[test]
    fn pinned() {
        // A change of these values makes every old log unverifiable: bump `wire::NUMERICS` with it.
        assert_eq!(of(&[]), 0xEAFE_0998);
        assert_eq!(of(&[1, 2, 3]), 0xA5D4_9130);
    }

    #[test]
    fn every_single_bit_and_every_swap_changes_it() {
        let words: [u32; 64] = core::array::from_fn(|i| (i as u32).wrapping_mul(K));
        let reference = of(&words);
        for i in 0..words.len() {
            for bit in 0..32 {
                let mut changed = words;
                changed[i] ^= 1 << bit;
                assert_ne!(of(&changed), reference, "word {i} bit {bit}");
            }
            for j in 0..i {
                let mut changed = words;
                changed.swap(i, j);
                assert_ne!(of(&changed), reference, "swap {i} {j}");
            }
        }
    }
}
