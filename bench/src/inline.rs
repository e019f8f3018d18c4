//! Which source function an instruction belongs to, inlined ones included (from DWARF).
//!
//! With link-time optimisation a whole tick is one symbol; the debug information still knows the functions.

use addr2line::Context;
use gimli::{EndianRcSlice, LittleEndian};

use crate::elf::Program;

pub struct Inlined {
    context: Option<Context<EndianRcSlice<LittleEndian>>>,
}

impl Inlined {
    pub fn new(program: &Program) -> Self {
        let load = |id: gimli::SectionId| -> Result<_, gimli::Error> {
            let data = program.section(id.name()).unwrap_or_default();
            Ok(EndianRcSlice::new(data.into(), LittleEndian))
        };
        let context = gimli::Dwarf::load(load)
            .ok()
            .and_then(|d| Context::from_dwarf(d).ok());
        Inlined { context }
    }

    /// The innermost function at `pc` that is not the standard library's (an inlined `f32::mul` says nothing); the symbol when there
    /// is no debug information.
    pub fn function(&self, pc: u32, program: &Program) -> String {
        self.innermost(pc).unwrap_or_else(|| program.describe(pc))
    }

    /// The function at `pc` with file and line, leaving out those that only wrap a register access.
    pub fn place(&self, pc: u32, program: &Program) -> (String, Option<String>) {
        self.outside_of_wrappers(pc)
            .unwrap_or_else(|| (program.describe(pc), None))
    }

    fn outside_of_wrappers(&self, pc: u32) -> Option<(String, Option<String>)> {
        let context = self.context.as_ref()?;
        let found = context.find_frames(u64::from(pc));
        let mut frames = found.skip_all_loads().ok()?;
        let mut place = None;
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|f| f.demangle().ok());
            let at = frame.location.as_ref();
            let path = at.and_then(|l| l.file).unwrap_or_default();
            let file = path.rsplit('/').next().unwrap_or_default();
            let line = at.and_then(|l| Some(format!("{file}:{}", l.line?)));
            place = name.map(|n| (n.into_owned(), line)).or(place);
            let wrapper = [
                "/library/core/",
                "compiler-builtins",
                "metapac",
                "vcell",
                "volatile-register",
            ];
            if !wrapper.iter().any(|w| path.contains(w)) {
                break;
            }
        }
        place
    }

    fn innermost(&self, pc: u32) -> Option<String> {
        let mut frames = self
            .context
            .as_ref()?
            .find_frames(u64::from(pc))
            .skip_all_loads()
            .ok()?;
        let mut found = None;
        while let Ok(Some(frame)) = frames.next() {
            let Some(name) = frame
                .function
                .and_then(|f| Some(f.demangle().ok()?.into_owned()))
            else {
                continue;
            };
            let file = frame.location.and_then(|l| l.file).unwrap_or_default();
            let standard = file.contains("/library/core/") || file.contains("compiler-builtins");
            found = Some(name);
            if !standard {
                break;
            }
        }
        found
    }
}
