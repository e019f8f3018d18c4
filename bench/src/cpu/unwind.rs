//! Backtraces: call frames from `.debug_frame`, through exception frames, with function names from the ELF.

use gimli::{
    BaseAddresses, CfaRule, DebugFrame, LittleEndian, Register, RegisterRule, UnwindContext,
    UnwindSection,
};

use crate::elf::Program;

/// One line of a backtrace.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Call {
    pub pc: u32,
    pub function: String,
    /// Interrupted by an exception rather than calling a function.
    pub interrupted: bool,
}

const SP: usize = 13;
const LR: usize = 14;
const PC: usize = 15;
const DEPTH: usize = 48;

/// Follows the calls from `regs` (R0–R12, SP, LR, PC); `word` reads memory.
pub fn backtrace(
    program: &Program,
    mut regs: [u32; 16],
    word: impl Fn(u32) -> Option<u32>,
) -> Vec<Call> {
    let data = program.section(".debug_frame").unwrap_or_default();
    let mut frames = DebugFrame::new(&data, LittleEndian);
    frames.set_address_size(4);
    let mut calls = Vec::new();
    let mut interrupted = true;
    // A jump into nowhere: the caller is all there is to see.
    if program.function(regs[PC]).is_none() {
        regs[PC] = regs[LR];
        interrupted = false;
    }
    while calls.len() < DEPTH {
        let pc = regs[PC] & !1;
        let Some(function) = program.function(pc) else {
            break;
        };
        calls.push(Call {
            pc,
            function: function.to_string(),
            interrupted,
        });
        // A return address points behind the call, maybe into the next function's frame.
        let look_up = if interrupted {
            pc
        } else {
            pc.saturating_sub(2)
        };
        let Some(up) = step(&frames, &regs, look_up, &word) else {
            break;
        };
        regs = up;
        interrupted = regs[PC] >= 0xff00_0000;
        if interrupted {
            let Some(up) = unstack(&regs, &word) else {
                break;
            };
            regs = up;
        }
        if regs[PC] == 0 || regs[PC] == 0xffff_ffff {
            break;
        }
    }
    calls
}

fn step(
    frames: &DebugFrame<gimli::EndianSlice<LittleEndian>>,
    regs: &[u32; 16],
    pc: u32,
    word: &impl Fn(u32) -> Option<u32>,
) -> Option<[u32; 16]> {
    let mut context = UnwindContext::new();
    let row = frames
        .unwind_info_for_address(
            &BaseAddresses::default(),
            &mut context,
            u64::from(pc),
            DebugFrame::cie_from_offset,
        )
        .ok()?;
    let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else {
        return None;
    };
    let cfa = regs
        .get(usize::from(register.0))?
        .wrapping_add(*offset as u32);
    let mut up = *regs;
    for (n, r) in up.iter_mut().enumerate().take(LR + 1) {
        if let RegisterRule::Offset(o) = row.register(Register(n as u16)) {
            *r = word(cfa.wrapping_add(o as u32))?;
        }
    }
    up[SP] = cfa;
    up[PC] = up[LR];
    (up[PC] != regs[PC] || up[SP] != regs[SP]).then_some(up)
}

/// Registers before the exception whose frame lies at SP; PC holds its EXC_RETURN.
fn unstack(regs: &[u32; 16], word: &impl Fn(u32) -> Option<u32>) -> Option<[u32; 16]> {
    let sp = regs[SP];
    let at = |i: u32| word(sp + 4 * i);
    let mut up = *regs;
    for (i, r) in [0usize, 1, 2, 3, 12, LR, PC].into_iter().enumerate() {
        up[r] = at(i as u32)?;
    }
    let xpsr = at(7)?;
    let size = if regs[PC] & 0x10 == 0 { 26 * 4 } else { 8 * 4 };
    up[SP] = sp + size + if xpsr >> 9 & 1 != 0 { 4 } else { 0 };
    Some(up)
}
