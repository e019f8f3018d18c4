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

impl<'a> Stack<'a> {
    pub fn new(program: &'a Program) -> Self {
        Self {
            program,
            known: RefCell::default(),
        }
    }

    /// Bytes of stack that a call of `function` needs at most; `Err`: the name of a function that calls
    /// itself, directly or not.
    pub fn deepest(&self, function: u32, levels: u32) -> Result<u32, String> {
        self.visit(function, levels, &mut BTreeSet::new())
    }

    fn visit(&self, at: u32, levels: u32, open: &mut BTreeSet<u32>) -> Result<u32, String> {
        if let Some(&bytes) = self.known.borrow().get(&(at, levels)) {
            return Ok(bytes);
        }
        let Some(function) = self.program.functions.get(&at) else {
            return Ok(0);
        };
        if !open.insert(at) {
            return Err(function.name.clone());
        }
        let mut below = 0;
        for &callee in &function.callees {
            below = below.max(self.visit(callee, levels, open)?);
        }
        if !function.indirect.is_empty() && levels > 0 {
            for &target in &self.program.taken {
                // A cycle through a stored address is the assumption's business, not recursion.
                below = below.max(self.visit(target, levels - 1, &mut BTreeSet::new())?);
            }
        }
        open.remove(&at);
        let bytes = function.frame + below;
        self.known.borrow_mut().insert((at, levels), bytes);
        Ok(bytes)
    }
}
