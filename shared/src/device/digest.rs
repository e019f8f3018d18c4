//! The hash that proves two runs equal: 32 bits over the state words of every tick of a block.
//!
//! Every word of every tick, except what the EKF computes on from slowly ([`Words::sample`]): its covariance is taken two rows per tick,
//! each row once in ten, so a word of it that differs is seen within ten ticks; sums of the momentum balance and snapshots of the drift
//! test are seen in what they are computed into. Snapshots carry all words.
//!
//! Four lanes of the Fx word hash, fed in turn: `lane = (rotl(lane, 5) ^ word) · K`. Every step is a bijection
//! of the lane for a given word and of the word for a given lane, so one differing word always changes the
//! result before the final mix; four lanes keep four multiplications under way. Three
//! instructions per word on a Cortex-M7.
//!
//! Not a checksum against transmission errors (that is the frame's CRC-32) and not cryptographic.

use crate::number::words::Words;

/// Odd multiplier, 2³²/φ.
const K: u32 = 0x9E37_79B9;

/// Running digest of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Digest {
    /// The next word goes to the first.
    lanes: [u32; 4],
}

impl Default for Digest {
    fn default() -> Self {
        Self::START
    }
}

impl Digest {
    /// Every block starts from here, so any block can be checked alone.
    pub const START: Self = Digest {
        lanes: [0x243F_6A88, 0x85A3_08D3, 0x1319_8A2E, 0x0370_7344],
    };

    /// Mix in one word.
    #[inline(always)]
    pub fn word(&mut self, w: u32) {
        let [a, b, c, d] = self.lanes;
        self.lanes = [b, c, d, mix(a, w)];
    }

    /// Mix in what a tick's digest takes of a state.
    #[inline(always)]
    pub fn state(&mut self, s: &impl Words) {
        // A copy, so that the lanes stay in registers.
        let mut d = *self;
        s.sample(&mut |w| d.word(w));
        *self = d;
    }

    /// The 32 bits sent: all lanes, avalanched.
    #[inline(always)]
    pub fn finish(self) -> u32 {
        let [a, b, c, d] = self.lanes;
        let mut h = mix(mix(mix(mix(0, a), b), c), d);
        h = (h ^ (h >> 16)).wrapping_mul(0x85EB_CA6B);
        h = (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35);
        h ^ (h >> 16)
    }
}

#[inline(always)]
fn mix(lane: u32, w: u32) -> u32 {
    (lane.rotate_left(5) ^ w).wrapping_mul(K)
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
        assert_eq!(of(&[]), 0x1A32_4239);
        assert_eq!(of(&[1, 2, 3]), 0x70D5_2BE0);
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
