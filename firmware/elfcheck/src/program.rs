//! A program as functions, calls and sizes, read from its ELF.
//!
//! Functions come from the symbol table; what is code and what is data inside them from ARM's mapping
//! symbols ($t, $d). Functions that the linker folded share an address and appear once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use object::{
    Architecture, Object, ObjectSection, ObjectSymbol, SectionFlags, SectionKind, SymbolKind, elf,
};

use crate::thumb::{Op, decode};

/// One function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Demangled, without hashes.
    pub name: String,
    /// Functions called or jumped to, by address, and from where.
    pub callees: BTreeMap<u32, u32>,
    /// Addresses of calls and jumps whose target is computed at run time.
    pub indirect: Vec<u32>,
    /// Stack it takes itself (bytes).
    pub frame: u32,
    /// Addresses of instructions that the checks may object to.
    pub marked: Vec<(u32, Op)>,
    /// Words it uses as they stand in its code: literals, and what movw and movt build.
    pub words: BTreeSet<u32>,
    pub place: Place,
}

/// Where a function is executed, by memory.x.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// ITCM, section .hot.
    Hot,
    /// Flash, section .cold: named in memory.x as not part of every tick.
    Cold,
    /// Flash.
    #[default]
    Flash,
}

/// The program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// By address.
    pub functions: BTreeMap<u32, Function>,
    /// Functions whose address is stored somewhere: what an indirect call may reach.
    pub stored: BTreeSet<u32>,
    pub sizes: Sizes,
}

/// Memory use (bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    pub code: u32,
    /// In flash.
    pub constants: u32,
    /// Initialised data and constants: in flash and in RAM.
    pub data: u32,
    /// Zeroed and uninitialised RAM.
    pub bss: u32,
    /// RAM reserved for the stack by memory.x.
    pub stack: u32,
    /// Code that is copied to ITCM; part of `code`.
    pub hot: u32,
}

impl Sizes {
    pub fn flash(&self) -> u32 {
        self.code + self.constants + self.data
    }
    pub fn ram(&self) -> u32 {
        self.data + self.bss + self.stack
    }
}

impl Program {
    /// Read an ELF for a Cortex-M.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path)
            .with_context(|| format!("cannot read {}; build it with `cargo fw`", path.display()))?;
        let file = object::File::parse(&*bytes).context("not an ELF file")?;
        ensure!(
            file.architecture() == Architecture::Arm,
            "expected an ARM ELF, found {:?}",
            file.architecture()
        );
        let mut program = Program {
            sizes: sizes(&file)?,
            ..Program::default()
        };
        let data = data_ranges(&file);
        for symbol in file.symbols() {
            if symbol.kind() != SymbolKind::Text || symbol.size() == 0 {
                continue;
            }
            let start = symbol.address() as u32 & !1;
            let Some(section) = symbol.section_index() else {
                continue;
            };
            let section = file.section_by_index(section)?;
            let Some(code) = section.data_range(start as u64, symbol.size())? else {
                continue;
            };
            let mut function = read_function(symbol.name()?, start, code, &data);
            function.place = match section.name()? {
                ".hot" => Place::Hot,
                ".cold" => Place::Cold,
                _ => Place::Flash,
            };
            program.functions.entry(start).or_insert(function);
        }
        ensure!(
            !program.functions.is_empty(),
            "{} has no function symbols: was it stripped?",
            path.display()
        );
        program.stored = stored(&file, &program.functions)?;
        Ok(program)
    }

    /// Address of the function with exactly this name.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.functions
            .iter()
            .find_map(|(&address, f)| (f.name == name).then_some(address))
    }

    /// Everything reachable from `root` by direct calls and jumps, each with the function it was first
    /// reached from. Does not look into functions for which `stop` holds.
    pub fn reachable(
        &self,
        root: u32,
        stop: impl Fn(&Function) -> bool,
    ) -> BTreeMap<u32, Option<u32>> {
        let mut from = BTreeMap::from([(root, None)]);
        let mut open = vec![root];
        while let Some(at) = open.pop() {
            if stop(&self.functions[&at]) {
                continue;
            }
            for &callee in self.functions[&at].callees.keys() {
                if self.functions.contains_key(&callee) && !from.contains_key(&callee) {
                    from.insert(callee, Some(at));
                    open.push(callee);
                }
            }
        }
        from
    }
}

/// What the linker calls the bridges it builds where a branch does not reach: movw, movt, bx.
const THUNK: &str = "__Thumbv7ABSLongThunk_";

/// Decode one function. `data` are the address ranges inside code that hold constants.
pub fn read_function(symbol: &str, start: u32, code: &[u8], data: &BTreeMap<u32, u32>) -> Function {
    let demangled = |name| format!("{:#}", rustc_demangle::demangle(name));
    let mut function = Function {
        words: built(code).collect(),
        ..Function::default()
    };
    if let Some(target) = symbol.strip_prefix(THUNK)
        && let [address] = *function.words.iter().collect::<Vec<_>>()
    {
        function.name = format!("way to {}", demangled(target));
        function.callees.insert(address & !1, start);
        return function;
    }
    function.name = demangled(symbol);
    let end = start + code.len() as u32;
    let half = |at: u32| {
        let i = (at - start) as usize;
        code.get(i..i + 2)
            .map_or(0, |h| u16::from_le_bytes([h[0], h[1]]))
    };
    let mut at = start;
    while at < end {
        if let Some((_, &data_end)) = data.range(..=at).next_back()
            && at < data_end
        {
            let words = (at..data_end.min(end)).step_by(4);
            function
                .words
                .extend(words.map(|at| half(at) as u32 | (half(at + 2) as u32) << 16));
            at = data_end;
            continue;
        }
        let found = decode(at, half(at), if at + 2 < end { half(at + 2) } else { 0 });
        match found.op {
            Op::Call(target) => {
                function.callees.insert(target, at);
            }
            Op::Jump(target) if !(start..end).contains(&target) => {
                function.callees.insert(target, at);
            }
            Op::IndirectCall | Op::IndirectJump => function.indirect.push(at),
            Op::Stack(bytes) => function.frame += bytes,
            Op::StackDynamic | Op::Fused | Op::Double | Op::Mask | Op::Trap => {
                function.marked.push((at, found.op));
            }
            Op::Jump(_) | Op::Other => {}
        }
        at += found.bytes;
    }
    function
}

/// Address ranges in code sections that are data, from the mapping symbols.
fn data_ranges(file: &object::File<'_>) -> BTreeMap<u32, u32> {
    let mut marks: BTreeMap<u32, bool> = BTreeMap::new();
    for symbol in file.symbols() {
        let name = symbol.name().unwrap_or("");
        let is = |mark: &str| name == mark || name.starts_with(&format!("{mark}."));
        if is("$d") {
            marks.insert(symbol.address() as u32, true);
        } else if is("$t") {
            marks.insert(symbol.address() as u32 & !1, false);
        }
    }
    let ends = marks.keys().skip(1).copied().chain([u32::MAX]);
    marks
        .iter()
        .zip(ends)
        .filter_map(|((&start, &data), end)| data.then_some((start, end)))
        .collect()
}

/// Functions whose address (with the Thumb bit) stands in some word of flash data, or is built by a
/// movw/movt pair.
fn stored(file: &object::File<'_>, functions: &BTreeMap<u32, Function>) -> Result<BTreeSet<u32>> {
    let mut stored = BTreeSet::new();
    for section in file.sections() {
        let kind = section.kind();
        let loaded = matches!(
            kind,
            SectionKind::Text | SectionKind::Data | SectionKind::ReadOnlyData
        );
        if !loaded || section.name()? == ".vector_table" {
            continue;
        }
        let bytes = section.data()?;
        for word in bytes.windows(4).step_by(2) {
            let value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            if value & 1 == 1 && functions.contains_key(&(value & !1)) {
                stored.insert(value & !1);
            }
        }
        if kind == SectionKind::Text {
            let odd = built(bytes).filter(|value| value & 1 == 1);
            stored.extend(odd.map(|v| v & !1).filter(|v| functions.contains_key(v)));
        }
    }
    Ok(stored)
}

/// Constants built by movw rX, #low … movt rX, #high within a few instructions.
fn built(code: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let words: Vec<(u32, u32)> = code
        .windows(4)
        .step_by(2)
        .map(|w| {
            let half = |i: usize| u16::from_le_bytes([w[i], w[i + 1]]) as u32;
            (half(0), half(2))
        })
        .collect();
    let immediate =
        |(a, b): (u32, u32)| (a & 0xF) << 12 | (a >> 10 & 1) << 11 | (b >> 12 & 7) << 8 | b & 0xFF;
    (0..words.len()).filter_map(move |i| {
        let (a, b) = words[i];
        let low = (a & 0xFBF0 == 0xF240).then(|| immediate((a, b)))?;
        let high = words[i + 1..]
            .iter()
            .take(24)
            .find(|(ta, tb)| ta & 0xFBF0 == 0xF2C0 && (tb >> 8 & 0xF) == (b >> 8 & 0xF))?;
        Some(immediate(*high) << 16 | low)
    })
}

fn sizes(file: &object::File<'_>) -> Result<Sizes> {
    let mut sizes = Sizes::default();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else {
            continue;
        };
        if sh_flags & elf::SHF_ALLOC as u64 == 0 {
            continue;
        }
        let size = section.size() as u32;
        if section.name()? == ".hot" {
            sizes.hot = size;
        }
        let in_ram = section.address() >= 0x2000_0000;
        let empty = matches!(section.kind(), SectionKind::UninitializedData);
        match (in_ram, empty) {
            (true, true) => sizes.bss += size,
            (true, false) => sizes.data += size,
            (false, _) if sh_flags & elf::SHF_EXECINSTR as u64 != 0 => sizes.code += size,
            (false, _) => sizes.constants += size,
        }
    }
    let symbol = |name: &str| {
        file.symbols()
            .find(|s| s.name() == Ok(name))
            .map(|s| s.address() as u32)
    };
    if let (Some(top), Some(bottom)) = (symbol("_stack_start"), symbol("_stack_end")) {
        sizes.stack = top.saturating_sub(bottom);
    }
    Ok(sizes)
}
