//! Estimated processor cycles (`--cycles`): pipeline, caches, wait states, branches, register accesses.
//!
//! ```text
//! block ──► issue (in order, two per cycle, latencies) ─┐
//!       ──► I-cache 16 KiB, 2 ways ──► line fills ──────┤
//!       ──► branch table, 64 entries ──► flushes ───────┼──► cycles ──► virtual time, CYCCNT, tick statistics
//! load, store ──► D-cache 16 KiB, 4 ways ──► line fills ┤
//! register access ──► bus bridges ──────────────────────┘
//! ```
//!
//! ITCM and DTCM cost nothing beyond the pipeline. A line fill from flash takes the array's wait states (FLASH_ACR), four beats of
//! the 64-bit bus and the way through the interconnect, all in bus clocks; the processor waits for the whole line, and no fill overlaps
//! another. Without an enabled cache every block pays for every line it touches.
//!
//! What it is: deterministic, documented, meant to be too high rather than too low. What it is not: measured. No board has confirmed
//! it yet; the first one that does sets the constants of this folder. Not modelled: prefetching, critical word first, write buffers, the
//! flash interface's own buffer, bus contention, ECC correction.
//!
//! | file | job |
//! |---|---|
//! | [`issue`], [`decode`] | cycles of a block when everything is at hand |
//! | [`cache`] | which lines must be fetched |
//! | [`branch`] | which branches were not foreseen |

pub mod branch;
pub mod cache;
pub mod decode;
pub mod issue;

use crate::cpu::code::Code;
use branch::{Branches, End};
use cache::{Cache, LINE};
use issue::BlockCost;

/// Beats of a line fill on the 64-bit bus [bus clocks].
const BEATS: u32 = 4;
/// From the processor to the memory and back: clock-domain crossing, interconnect, arbitration [bus clocks].
const INTERCONNECT: u32 = 8;
/// A register of a peripheral on AHB, from load to use [bus clocks].
const AHB_READ: u32 = 10;
/// The same behind an APB bridge, whose clock is half.
const APB_READ: u32 = 18;
/// A store does not wait for its end, the next one does.
const REGISTER_WRITE: u32 = 6;
/// The processor's own registers: NVIC, SysTick, DWT [processor cycles].
const PRIVATE: u32 = 3;
/// Caches after reset: off, and cleared in that many cycles when invalidated: by the program, which pays for it itself.
const CACHE_BYTES: u32 = 16 * 1024;

/// Where an address lies, as far as its cost goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    TightlyCoupled,
    Flash,
    Sram,
}

impl Memory {
    #[inline(always)]
    fn of(address: u32) -> Memory {
        match address >> 24 {
            0x08 => Memory::Flash,
            0x24 | 0x30 | 0x38 | 0x1f => Memory::Sram,
            _ => Memory::TightlyCoupled,
        }
    }
}

/// What happened since the counters were last taken: one tick's share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub code_fills: u64,
    pub data_fills: u64,
    pub flushes: u64,
}

pub struct Cost {
    pub code_cache: Cache<2>,
    pub data_cache: Cache<4>,
    branches: Branches,
    known: Known,
    /// How the last block ended: (how, address behind it), and results still on their way then.
    came_from: (End, u32),
    late: Vec<(u8, u8)>,
    /// Processor cycles of a line fill from flash and from SRAM, and per bus clock.
    fill_flash: u32,
    fill_sram: u32,
    per_bus_clock: u32,
    wait_states: u32,
}

/// Costs of blocks by address and size: an index for each halfword of the first 2 MiB of flash and 64 KiB of ITCM.
#[derive(Default)]
struct Known {
    costs: Vec<(u32, BlockCost)>,
    index: Vec<u32>,
}

impl Known {
    /// Place of an address in `index`; everything else shares one that is always computed anew.
    fn slot(address: u32) -> usize {
        const FLASH: u32 = 0x10_0000;
        match address >> 16 {
            0 => (FLASH + address / 2) as usize,
            0x0800..=0x081f => (address & 0x1f_ffff) as usize / 2,
            _ => (FLASH + 0x8000) as usize,
        }
    }

    fn get(&mut self, address: u32, size: u32, compute: impl FnOnce() -> BlockCost) -> &BlockCost {
        let slot = Known::slot(address);
        if self.index.is_empty() {
            self.index = vec![0; 0x10_0000 + 0x8000 + 1];
            self.costs.push((0, BlockCost::default()));
        }
        let outside = slot == self.index.len() - 1;
        let at = self.index[slot] as usize;
        if at == 0 || outside || self.costs[at].0 != size {
            self.costs.push((size, compute()));
            self.index[slot] = self.costs.len() as u32 - 1;
        }
        &self.costs[self.index[slot] as usize].1
    }
}

impl Default for Cost {
    fn default() -> Self {
        let mut cost = Cost {
            code_cache: Cache::new(CACHE_BYTES),
            data_cache: Cache::new(CACHE_BYTES),
            branches: Branches::default(),
            known: Known::default(),
            came_from: (End::Falls, 0),
            late: Vec::new(),
            fill_flash: 0,
            fill_sram: 0,
            per_bus_clock: 1,
            wait_states: 7,
        };
        cost.recompute();
        cost
    }
}

impl Cost {
    /// A reset: caches off and empty, wait states at their reset value.
    pub fn reset(&mut self) {
        *self = Cost {
            per_bus_clock: self.per_bus_clock,
            ..Cost::default()
        };
        self.recompute();
    }

    /// Processor and bus clock [Hz].
    pub fn set_clocks(&mut self, cpu: u64, bus: u64) {
        self.per_bus_clock = cpu.div_ceil(bus.max(1)).max(1) as u32;
        self.recompute();
    }

    /// FLASH_ACR.LATENCY.
    pub fn set_wait_states(&mut self, n: u32) {
        self.wait_states = n;
        self.recompute();
    }

    /// CCR.IC and CCR.DC.
    pub fn enable(&mut self, code: bool, data: bool) {
        self.code_cache.enabled = code;
        self.data_cache.enabled = data;
    }

    fn recompute(&mut self) {
        self.fill_flash = self.per_bus_clock * (self.wait_states + 1 + BEATS + INTERCONNECT);
        self.fill_sram = self.per_bus_clock * (1 + BEATS + INTERCONNECT);
    }

    fn fill(&self, memory: Memory) -> u32 {
        match memory {
            Memory::TightlyCoupled => 0,
            Memory::Flash => self.fill_flash,
            Memory::Sram => self.fill_sram,
        }
    }

    /// Cycles of the block at `address`, with its fetches and the branch that led to it.
    pub fn block(&mut self, address: u32, size: u32, code: &Code) -> u32 {
        let block = self.known.get(address, size, || {
            let code = code.bytes(address, address.wrapping_add(size));
            code.map_or_else(|| unknown(size), issue::cost)
        });
        let (how, from) = std::mem::replace(&mut self.came_from, (block.end, address + size));
        let branch = self.branches.went(how, from, address);
        let waits = block.waits(&self.late, branch);
        self.late.clone_from(&block.late);
        let cycles = block.cycles + waits + branch;
        cycles + self.fetch(address, size)
    }

    fn fetch(&mut self, address: u32, size: u32) -> u32 {
        let memory = Memory::of(address);
        if memory == Memory::TightlyCoupled {
            return 0;
        }
        let mut fills = 0;
        let mut line = address & !(LINE - 1);
        while line < address + size {
            fills += u32::from(self.code_cache.access(line));
            line += LINE;
        }
        fills * self.fill(memory)
    }

    /// The processor goes on somewhere else (exception entry or return): no branch of the program.
    pub fn redirected(&mut self) {
        self.came_from = (End::Falls, 0);
        self.late.clear();
    }

    /// The fetch of an exception's vector; cycles.
    pub fn vector(&mut self, address: u32) -> u32 {
        self.fetch(address, 4)
    }

    /// A load or store of memory; cycles it takes beyond the pipeline's.
    pub fn data(&mut self, address: u32) -> u32 {
        let memory = Memory::of(address);
        if memory != Memory::TightlyCoupled && self.data_cache.access(address) {
            self.fill(memory)
        } else {
            0
        }
    }

    /// A register access; cycles it takes beyond the pipeline's.
    pub fn register(&self, address: u32, write: bool) -> u32 {
        let bus_clocks = match address >> 24 {
            0xe0 => return PRIVATE,
            _ if write => REGISTER_WRITE,
            0x40 if address < 0x4002_0000 => APB_READ,
            0x50 | 0x58 if address < 0x5802_0000 => APB_READ,
            _ => AHB_READ,
        };
        bus_clocks * self.per_bus_clock
    }

    pub fn counters(&self) -> Counters {
        Counters {
            code_fills: self.code_cache.fills,
            data_fills: self.data_cache.fills,
            flushes: self.branches.flushes,
        }
    }

    /// Code was changed: costs of blocks are computed again.
    pub fn forget(&mut self) {
        self.known = Known::default();
    }
}

/// Code that cannot be read: a cycle per byte.
fn unknown(size: u32) -> BlockCost {
    BlockCost {
        cycles: size,
        end: End::Indirect,
        ..BlockCost::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::FLASH_BASE;

    /// 400 MHz processor, 200 MHz bus, two wait states, caches on.
    fn board() -> Cost {
        let mut cost = Cost::default();
        cost.set_clocks(400_000_000, 200_000_000);
        cost.set_wait_states(2);
        cost.enable(true, true);
        cost
    }

    fn code() -> Code {
        let mut code = Code::default();
        code.write_flash(FLASH_BASE, &[0x00, 0xbf].repeat(64));
        code.learn(0x100, &[0x00, 0xbf].repeat(64));
        code
    }

    #[test]
    fn a_line_fill_from_flash_is_fifteen_bus_clocks() {
        let (mut cost, code) = (board(), code());
        // 16 hints in one line: 8 cycles, two per cycle.
        assert_eq!(cost.block(FLASH_BASE, 32, &code), 8 + 2 * (2 + 1 + 4 + 8));
        assert_eq!(cost.block(FLASH_BASE, 32, &code), 8);
        assert_eq!(cost.counters().code_fills, 1);
    }

    #[test]
    fn tightly_coupled_memory_costs_the_pipeline_only() {
        let (mut cost, code) = (board(), code());
        assert_eq!(cost.block(0x100, 32, &code), 8);
        assert_eq!(cost.data(0x2000_0000), 0);
        assert_eq!(cost.counters(), Counters::default());
    }

    #[test]
    fn without_caches_every_block_pays() {
        let (mut cost, code) = (board(), code());
        cost.enable(false, false);
        assert_eq!(cost.block(FLASH_BASE + 16, 32, &code), 8 + 2 * 30);
        assert_eq!(cost.block(FLASH_BASE + 16, 32, &code), 8 + 2 * 30);
        assert_eq!(cost.data(FLASH_BASE), 30);
    }

    #[test]
    fn data_is_cached_by_the_line() {
        let mut cost = board();
        assert_eq!((cost.data(0x0801_0000), cost.data(0x0801_001c)), (30, 0));
        assert_eq!(cost.data(0x2400_0000), 26);
    }

    #[test]
    fn registers_by_their_bus() {
        let cost = board();
        assert_eq!(cost.register(0x4000_0024, false), 36); // TIM2_CNT
        assert_eq!(cost.register(0x5802_0810, false), 20); // GPIOC_IDR
        assert_eq!(cost.register(0xe000_1004, false), 3); // CYCCNT
        assert_eq!(cost.register(0x4000_1410, true), 12); // TIM7_SR
    }
}
