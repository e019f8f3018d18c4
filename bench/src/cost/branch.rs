//! Branches: a table of 64 recently taken ones with their targets, as the Cortex-M7's BTAC.
//!
//! A branch that goes where the table says costs [`PREDICTED`] more than its issue slot; a direct one that the table does not know is
//! redirected when it is decoded ([`DECODED`]); everything else empties the pipeline ([`FLUSH`]). The table is modelled as direct-mapped
//! and without hysteresis: the last way a branch went is its prediction. Both are pessimistic. The cycle counts are assumptions from the
//! length of the pipeline (six stages in front of the execution of a branch), not measurements.

/// Taken as predicted [cycles].
pub const PREDICTED: u32 = 1;
/// Unconditional direct branch not in the table.
pub const DECODED: u32 = 4;
/// Wrong or missing prediction.
pub const FLUSH: u32 = 9;

const ENTRIES: usize = 64;

/// How a block ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// Without a branch: the translator cut it.
    #[default]
    Falls,
    /// `b`, `bl`.
    Direct,
    /// Anything that tests a condition.
    Conditional,
    /// To an address in a register or from the stack.
    Indirect,
}

pub struct Branches {
    /// (branch, target); 0 = empty.
    table: [(u32, u32); ENTRIES],
    pub flushes: u64,
}

impl Default for Branches {
    fn default() -> Self {
        Branches {
            table: [(0, 0); ENTRIES],
            flushes: 0,
        }
    }
}

impl Branches {
    /// The block that ended at `from` (the address behind it) went on at `to`; cycles that cost.
    #[inline(always)]
    pub fn went(&mut self, end: End, from: u32, to: u32) -> u32 {
        if end == End::Falls {
            return 0;
        }
        let slot = &mut self.table[from as usize / 2 % ENTRIES];
        let known = slot.0 == from;
        if to == from {
            if !known {
                return 0;
            }
            *slot = (0, 0);
            self.flushes += 1;
            return FLUSH;
        }
        let right = known && slot.1 == to;
        *slot = (from, to);
        if right {
            PREDICTED
        } else if end == End::Direct {
            DECODED
        } else {
            self.flushes += 1;
            FLUSH
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_predicted_after_its_first_turn_and_missed_at_its_end() {
        let mut b = Branches::default();
        let cost: Vec<u32> = [0x100, 0x100, 0x100, 0x140, 0x140]
            .map(|to| b.went(End::Conditional, 0x140, to))
            .to_vec();
        assert_eq!(cost, [FLUSH, PREDICTED, PREDICTED, FLUSH, 0]);
        assert_eq!(b.flushes, 2);
    }

    #[test]
    fn a_return_to_another_caller_empties_the_pipeline() {
        let mut b = Branches::default();
        b.went(End::Indirect, 0x200, 0x300);
        assert_eq!(b.went(End::Indirect, 0x200, 0x300), PREDICTED);
        assert_eq!(b.went(End::Indirect, 0x200, 0x400), FLUSH);
        assert_eq!(b.went(End::Direct, 0x240, 0x500), DECODED);
        assert_eq!(b.went(End::Falls, 0x250, 0x250), 0);
    }

    #[test]
    fn more_branches_than_entries_push_each_other_out() {
        let mut b = Branches::default();
        b.went(End::Direct, 0x1000, 0x2000);
        b.went(End::Direct, 0x1000 + 2 * ENTRIES as u32, 0x2000);
        assert_eq!(b.went(End::Direct, 0x1000, 0x2000), DECODED);
    }
}
