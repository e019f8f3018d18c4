//! Worst-case stack from the call graph, of single functions and of the whole program ([`Total`]).
//!
//! Direct calls are exact, and the tick has no others. Where an indirect call leads cannot be read from
//! machine code, so results outside the tick rest on an assumption ([`Reach`]): the executor calls task
//! polls; everything else calls any function whose address is stored somewhere, except task polls, and
//! such calls nest at most twice (a waker or driver, a formatter and its writer).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::program::Program;

pub struct Stack<'a> {
    program: &'a Program,
    known: RefCell<BTreeMap<(u32, Reach), u32>>,
}

/// How far indirect calls may lead from a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Nowhere: there must not be any.
    Nothing,
    /// Stored functions that make no indirect calls themselves.
    Once,
    /// Stored functions, twice nested: from interrupts and tasks.
    Twice,
    /// Tasks, and from there [`Reach::Twice`]: from the executor.
    Tasks,
}

impl Reach {
    fn next(self) -> Self {
        match self {
            Reach::Tasks => Reach::Twice,
            Reach::Twice => Reach::Once,
            Reach::Once | Reach::Nothing => Reach::Nothing,
        }
    }

    fn includes(self, name: &str) -> bool {
        match self {
            Reach::Nothing => false,
            Reach::Tasks => name.contains(TASK),
            Reach::Once | Reach::Twice => !name.contains(TASK),
        }
    }
}

/// Part of the name of embassy's task polls.
const TASK: &str = "TaskStorage";

/// Result for one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Stack that a call needs at most (bytes), if nothing in `recursive` calls itself again.
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

    /// Worst case of a call of `function`.
    pub fn deepest(&self, function: u32, reach: Reach) -> Depth {
        let mut recursive = BTreeSet::new();
        let bytes = self.visit(function, reach, &mut BTreeSet::new(), &mut recursive);
        Depth { bytes, recursive }
    }

    fn visit(
        &self,
        at: u32,
        reach: Reach,
        open: &mut BTreeSet<u32>,
        recursive: &mut BTreeSet<String>,
    ) -> u32 {
        if let Some(&bytes) = self.known.borrow().get(&(at, reach)) {
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
            below = below.max(self.visit(callee, reach, open, recursive));
        }
        if !function.indirect.is_empty() {
            for target in &self.program.stored {
                let called = &self.program.functions[target].name;
                if reach.includes(called) {
                    // A cycle through a stored address is bounded by `reach`.
                    let fresh = &mut BTreeSet::new();
                    below = below.max(self.visit(*target, reach.next(), fresh, recursive));
                }
            }
        }
        open.remove(&at);
        let bytes = function.frame + below;
        self.known.borrow_mut().insert((at, reach), bytes);
        bytes
    }
}

/// Exception frame with FPU registers and alignment (bytes).
pub const EXCEPTION: u32 = 104 + 4;
/// Interrupts that can be active at once with the tick, one per priority.
const INTERRUPTS: [&str; 2] = ["TIM3", "OTG_FS"];

/// The interrupt in which an executor polls its tasks, what starts it, and the frames below that. Before it starts, thread mode has the
/// stack for itself; from then on it stays within that function, or sleeps in `main`.
const SERVICE: &str = "UART4";
const STARTS: &str = "stribeck_firmware::service::start";
const ENTRY: [&str; 2] = ["main", "stribeck_firmware::__cortex_m_rt_main"];

/// Everything that can be on the one stack at once (bytes).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// The tick with its exception frame: exact.
    pub tick: u32,
    /// All other interrupts, with theirs.
    pub interrupts: u32,
    pub thread: u32,
    /// Functions outside the tick that call themselves, counted once.
    pub recursive: BTreeSet<String>,
}

/// Frame of one function (bytes).
fn frame(program: &Program, name: &str) -> Option<u32> {
    let at = program.find(name)?;
    Some(program.functions.get(&at)?.frame)
}

impl Total {
    pub fn of(program: &Program, tick: &str) -> Self {
        let stack = Stack::new(program);
        let mut recursive = BTreeSet::new();
        let mut deepest = |name: &str, reach: Reach| {
            let depth = program
                .find(name)
                .map_or(Depth::default(), |root| stack.deepest(root, reach));
            recursive.extend(depth.recursive);
            depth.bytes
        };
        Total {
            tick: deepest(tick, Reach::Nothing) + EXCEPTION,
            interrupts: INTERRUPTS
                .iter()
                .map(|name| deepest(name, Reach::Twice) + EXCEPTION)
                .sum(),
            thread: match program.find(SERVICE) {
                // Tasks are polled in thread mode.
                None => deepest("main", Reach::Tasks),
                Some(_) => {
                    let entry: u32 = ENTRY.iter().filter_map(|name| frame(program, name)).sum();
                    let starting = entry + deepest(STARTS, Reach::Twice);
                    let serving = starting + deepest(SERVICE, Reach::Tasks) + EXCEPTION;
                    serving.max(deepest("main", Reach::Twice))
                }
            },
            recursive,
        }
    }

    pub fn bytes(&self) -> u32 {
        self.tick + self.interrupts + self.thread
    }
}
