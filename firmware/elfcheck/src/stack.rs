//! Worst-case stack from the call graph.
//!
//! Direct calls are exact. An indirect call may reach any function whose address is stored somewhere;
//! how deep such calls nest cannot be read from machine code, so the caller states a limit
//! (`levels`), and results for threads are bounds under that assumption. The tick has no indirect
//! calls and its result needs none.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::program::Program;

pub struct Stack<'a> {
    program: &'a Program,
    known: RefCell<BTreeMap<(u32, u32), u32>>,
}

/// Result for one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Stack that a call needs at most [bytes], if nothing in `recursive` calls itself again.
    pub bytes: u32,
    /// Names of functions that call themselves, directly or not.
    pub recursive: BTreeSet<String>,
}

impl<'a> Stack<'a> {
    pub fn new(program: &'a Program) -> Self {
        Self {
            program,
            known: RefCell::default(),
        }
    }

    /// Worst case of a call of `function`, with at most `levels` nested indirect calls.
    pub fn deepest(&self, function: u32, levels: u32) -> Depth {
        let mut recursive = BTreeSet::new();
        let bytes = self.visit(function, levels, &mut BTreeSet::new(), &mut recursive);
        Depth { bytes, recursive }
    }

    fn visit(
        &self,
        at: u32,
        levels: u32,
        open: &mut BTreeSet<u32>,
        recursive: &mut BTreeSet<String>,
    ) -> u32 {
        if let Some(&bytes) = self.known.borrow().get(&(at, levels)) {
            return bytes;
        }
        let Some(function) = self.program.functions.get(&at) else {
            return 0;
        };
        if !open.insert(at) {
            recursive.insert(function.name.clone());
            return 0;
        }
        let mut below = 0;
        for &callee in function.callees.keys() {
            below = below.max(self.visit(callee, levels, open, recursive));
        }
        if !function.indirect.is_empty() && levels > 0 {
            for &target in &self.program.taken {
                // A cycle through a stored address is bounded by `levels`.
                let bytes = self.visit(target, levels - 1, &mut BTreeSet::new(), recursive);
                below = below.max(bytes);
            }
        }
        open.remove(&at);
        let bytes = function.frame + below;
        self.known.borrow_mut().insert((at, levels), bytes);
        bytes
    }
}
