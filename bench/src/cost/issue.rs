//! Cycles of a block in an in-order pipeline that can start two instructions per cycle.
//!
//! Two neighbours start together when the second needs nothing of the first and they use different units (two integer operations may);
//! branches, multiplications, floating point and memory have one unit each. Instructions under an IT start alone. A result is there after
//! its latency, also in the next block: a block tells which results are still on their way at its end and when it needs which register. An
//! addend and stored data are needed some cycles after the start. Real hardware starts more pairs (it has a second path for loads): the
//! estimate is on the high side.

use super::branch::End;
use super::decode::{FLAGS, Instruction, Unit, decode};
use crate::cpu::thumb;

/// What a block costs when all its code and data are at hand, and how it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockCost {
    pub cycles: u32,
    pub end: End,
    /// Registers whose results come only so many cycles after the end of the block.
    pub late: Vec<(u8, u8)>,
    /// Registers the block needs from before, and in which of its cycles first.
    pub needs: Vec<(u8, u8)>,
}

impl BlockCost {
    /// Cycles this block waits for results `late` of the one before, `gone` cycles after its end.
    pub fn waits(&self, late: &[(u8, u8)], gone: u32) -> u32 {
        let wait = |&(r, after): &(u8, u8)| {
            let at = self.needs.iter().find(|n| n.0 == r)?.1;
            u32::from(after).checked_sub(u32::from(at) + gone)
        };
        late.iter().filter_map(wait).max().unwrap_or(0)
    }
}

/// Cycles of the instructions in `code` (little-endian, starting on an instruction).
pub fn cost(code: &[u8]) -> BlockCost {
    let mut ready = [0u32; 64];
    let mut needs: [Option<u8>; 64] = [None; 64];
    let mut own = 0u64;
    let mut last: Option<Instruction> = None;
    let (mut cycle, mut next, mut paired, mut conditional) = (0, 0, true, 0);
    let half = |at: usize| {
        code.get(at..at + 2)
            .map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
    };
    let mut at = 0;
    while at + 1 < code.len() {
        let (h, h2) = (half(at), half(at + 2));
        at += thumb::length(h);
        let mut i = decode(h, h2);
        let under_it = conditional > 0;
        if under_it {
            conditional -= 1;
            i.reads |= FLAGS;
        }
        let needed = |r: usize| {
            let after = if i.late.0 >> r & 1 != 0 { i.late.1 } else { 0 };
            ready[r].saturating_sub(after)
        };
        let operands = registers(i.reads).map(needed).max().unwrap_or(0);
        let together =
            !paired && !under_it && operands <= cycle && last.is_some_and(|l| pairs(&l, &i));
        if together {
            paired = true;
        } else {
            cycle = operands.max(next);
            paired = i.unit == Unit::Alone || under_it || i.conditions > 0 || i.occupies > 1;
        }
        for r in registers(i.reads & !own) {
            let after = if i.late.0 >> r & 1 != 0 { i.late.1 } else { 0 };
            needs[r].get_or_insert((cycle + after).min(255) as u8);
        }
        own |= i.writes;
        next = next.max(cycle + i.occupies);
        registers(i.writes).for_each(|r| ready[r] = cycle + i.latency);
        conditional += i.conditions;
        last = Some(i);
    }
    let listed = |r: usize, v: u32| (v > 0).then_some((r as u8, v.min(255) as u8));
    BlockCost {
        cycles: next,
        late: (0..64)
            .filter_map(|r| listed(r, ready[r].saturating_sub(next)))
            .collect(),
        needs: (0..64).filter_map(|r| Some((r as u8, needs[r]?))).collect(),
        end: last.map_or(End::Falls, |l| {
            if conditional > 0 || (l.end != End::Falls && l.reads & FLAGS != 0) {
                End::Conditional
            } else {
                l.end
            }
        }),
    }
}

fn pairs(first: &Instruction, second: &Instruction) -> bool {
    let apart = first.unit != second.unit || first.unit == Unit::Integer;
    let simple = first.end == End::Falls && first.unit != Unit::Alone && second.unit != Unit::Alone;
    let independent = first.writes & (second.reads | second.writes) == 0;
    apart && simple && independent && second.occupies == 1
}

fn registers(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let r = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(r)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(halfwords: &[u16]) -> u32 {
        let code: Vec<u8> = halfwords.iter().flat_map(|h| h.to_le_bytes()).collect();
        cost(&code).cycles
    }

    #[test]
    fn independent_neighbours_start_together() {
        // add.w r0, r0, #1 ×4 in two registers each: two cycles.
        assert_eq!(
            cycles(&[
                0xf100, 0x0001, 0xf101, 0x0101, 0xf102, 0x0201, 0xf103, 0x0301
            ]),
            2
        );
        // The same register four times: four cycles.
        assert_eq!(cycles(&[0xf100, 0x0001].repeat(4)), 4);
    }

    #[test]
    fn a_load_is_waited_for() {
        // ldr r0, [r1]; add.w r2, r0, #1
        assert_eq!(cycles(&[0x6808, 0xf100, 0x0201]), 3);
        // ldr r0, [r1]; add.w r2, r3, #1 beside it.
        assert_eq!(cycles(&[0x6808, 0xf103, 0x0201]), 1);
    }

    #[test]
    fn a_result_on_its_way_is_waited_for_in_the_next_block() {
        let block = |h: &[u16]| {
            let code: Vec<u8> = h.iter().flat_map(|h| h.to_le_bytes()).collect();
            cost(&code)
        };
        let divide = block(&[0xee80, 0x0a81]); // vdiv.f32 s0, s1, s2
        let sum = block(&[0xee70, 0x0a00]); // vadd.f32 s1, s0, s0
        let add = block(&[0xee30, 0x0a81]); // vadd.f32 s0, s1, s2: three cycles
        assert_eq!(
            (divide.cycles, divide.late.len()),
            (16, 0),
            "the divider is busy"
        );
        assert_eq!(add.late, [(32, 2)]);
        assert_eq!((sum.waits(&add.late, 0), sum.waits(&add.late, 1)), (2, 1));
        assert_eq!(sum.waits(&add.late, 9), 0, "hidden by a line fill");
        assert_eq!(add.waits(&add.late, 0), 0, "not needed");
    }

    #[test]
    fn two_loads_do_not_start_together_but_a_load_and_a_multiplication_do() {
        assert_eq!(cycles(&[0x6808, 0x6812]), 2);
        // vmul.f32 s0, s2, s4 with ldr r0, [r1]
        assert_eq!(cycles(&[0xee21, 0x0a02, 0x6808]), 1);
    }

    #[test]
    fn a_chain_of_floating_point_pays_its_latency() {
        // vadd.f32 s0, s0, s2 four times.
        assert_eq!(cycles(&[0xee30, 0x0a01].repeat(4)), 10);
        // vdiv.f32 s0, s1, s2; vdiv.f32 s3, s1, s2
        assert_eq!(cycles(&[0xee80, 0x0a81, 0xeec0, 0x1a81]), 32);
    }

    #[test]
    fn an_addend_and_what_is_stored_are_needed_late() {
        // vmla.f32 s0, s1, s2 four times: three cycles each; into s1, which the next one multiplies: six.
        assert_eq!(cycles(&[0xee00, 0x0a81].repeat(4)), 10);
        assert_eq!(cycles(&[0xee40, 0x0a81, 0xee00, 0x0a81]), 7);
        // vadd.f32 s0, s0, s2; vstr s0, [r0]: one cycle of the three remains.
        assert_eq!(cycles(&[0xee30, 0x0a01, 0xed80, 0x0a00]), 2);
        // ldr r0, [r1]; str r0, [r2]; and the same with r0 as the address.
        assert_eq!(cycles(&[0x6808, 0x6010]), 2);
        assert_eq!(cycles(&[0x6808, 0x6002]), 3);
    }

    #[test]
    fn conditional_instructions_start_alone() {
        // ite eq; moveq r0, #1; movne r0, #2
        assert_eq!(cycles(&[0xbf0c, 0x2001, 0x2002]), 3);
    }

    #[test]
    fn the_end_is_told() {
        let end = |h: &[u16]| {
            let code: Vec<u8> = h.iter().flat_map(|h| h.to_le_bytes()).collect();
            cost(&code).end
        };
        assert_eq!(end(&[0xbf00]), End::Falls);
        assert_eq!(end(&[0x2a05, 0xd0fe]), End::Conditional);
        assert_eq!(end(&[0x4770]), End::Indirect);
        // it eq; bxeq lr
        assert_eq!(end(&[0xbf08, 0x4770]), End::Conditional);
    }
}
