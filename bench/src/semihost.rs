//! Semihosting (BKPT 0xAB): what `probe-rs run` offers to on-target tests, and text output.

use unicorn_engine::RegisterARM as R;

use crate::cpu::Cpu;

/// Requests of the program and the answers prepared for it.
#[derive(Clone, Debug, Default)]
pub struct Semihosting {
    /// Answer to SYS_GET_CMDLINE.
    pub command_line: String,
    /// Text written with SYS_WRITE0 or SYS_WRITEC.
    pub output: String,
    /// Operations that are not offered.
    pub unknown: Vec<u32>,
}

const SYS_WRITEC: u32 = 0x03;
const SYS_WRITE0: u32 = 0x04;
const SYS_GET_CMDLINE: u32 = 0x15;
const SYS_EXIT: u32 = 0x18;
const SYS_EXIT_EXTENDED: u32 = 0x20;
const APPLICATION_EXIT: u32 = 0x20026;

/// Serves the request in R0/R1; `Some` = the program has ended.
pub fn call(cpu: &mut Cpu, state: &mut Semihosting) -> Option<i32> {
    let (operation, argument) = (cpu.reg(R::R0), cpu.reg(R::R1));
    let field = |cpu: &Cpu, i: u32| cpu.read_word(argument + 4 * i).unwrap_or(0);
    let mut answer = u32::MAX;
    match operation {
        SYS_GET_CMDLINE => {
            let (buffer, size) = (field(cpu, 0), field(cpu, 1));
            let text = state.command_line.as_bytes();
            if text.len() < size as usize {
                cpu.write_bytes(buffer, text);
                cpu.write_bytes(buffer + text.len() as u32, &[0]);
                cpu.write_bytes(argument + 4, &(text.len() as u32).to_le_bytes());
                answer = 0;
            }
        }
        SYS_EXIT => return Some(i32::from(argument != APPLICATION_EXIT)),
        SYS_EXIT_EXTENDED => {
            let (reason, code) = (field(cpu, 0), field(cpu, 1));
            return Some(if reason == APPLICATION_EXIT {
                code as i32
            } else {
                1
            });
        }
        SYS_WRITEC | SYS_WRITE0 => {
            let most = if operation == SYS_WRITEC { 1 } else { 4096 };
            let bytes = (0..most)
                .map_while(|i| Some(cpu.read_bytes(argument + i, 1)?[0]).filter(|&b| b != 0));
            state
                .output
                .push_str(&String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()));
        }
        other => state.unknown.push(other),
    }
    cpu.set_reg(R::R0, answer);
    None
}
