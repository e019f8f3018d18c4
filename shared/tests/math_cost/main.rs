//! What the f32 functions cost on the Cortex-M7, in instructions: compiles them as the firmware does and reads the assembly.
//!
//! `cargo test -p stribeck-core --test math_cost -- --nocapture` prints the table of `math.rs`. The count is the longest way through
//! the function, prologue, return and constant loads included; inlined into a caller it is less. One instruction is not one cycle: a
//! division takes some 14. On the way the test proves: no loop, no call but into the two cold paths, so no panic; no double-precision
//! instruction; no fused multiply-add.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

/// Symbol and the most instructions it may take.
const LIMITS: [(&str, usize); 6] = [
    ("sin_cos_f32", 100),
    ("reduce_large", 120),
    ("exp_f32", 60),
    ("tanh_f32", 60),
    ("sqrt_newton_f32", 60),
    ("ln_f32", 60),
];

/// The only calls: angles beyond 8192 rad, and the root of what is no positive normal number.
const COLD: [&str; 2] = ["reduce_large", "sqrt_special"];

const CONDITIONS: [&str; 14] = [
    "eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le",
];

#[test]
fn instructions_on_cortex_m7() {
    let assembly = compile();
    println!("{:<16} instructions (limit)", "function");
    for (name, limit) in LIMITS {
        let function = Function::parse(&assembly, name);
        function.refuse_forbidden();
        let count = function
            .longest(0, &mut HashMap::new())
            .expect("a way through");
        println!("{name:<16} {count:>12} ({limit})");
        assert!(
            count <= limit,
            "{name}: {count} instructions, at most {limit}"
        );
    }
}

/// Assembly of thumb.rs with the firmware's target, processor and optimisation.
fn compile() -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/math_cost/thumb.rs");
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("math_cost.s");
    let result = Command::new("rustc")
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "asm"])
        .args(["--target", "thumbv7em-none-eabihf"])
        .args([
            "-Ctarget-cpu=cortex-m7",
            "-Copt-level=3",
            "-Ccodegen-units=1",
        ])
        .arg("-o")
        .args([&output, &source])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("rustc starts");
    assert!(
        result.status.success(),
        "rustc failed; is the target there? `rustup target add thumbv7em-none-eabihf`\n{}",
        String::from_utf8_lossy(&result.stderr)
    );
    std::fs::read_to_string(&output).expect("assembly")
}

/// Whether an instruction goes to another symbol: a call, or a jump that ends this function with one.
fn calls(mnemonic: &str, operands: &str) -> bool {
    matches!(mnemonic, "bl" | "blx") || (mnemonic.starts_with('b') && operands.starts_with('_'))
}

/// Instructions of one symbol, and where its labels point.
struct Function<'a> {
    name: &'a str,
    instructions: Vec<(&'a str, &'a str)>,
    labels: HashMap<&'a str, usize>,
}

impl<'a> Function<'a> {
    fn parse(assembly: &'a str, name: &'a str) -> Self {
        // legacy and v0 mangling both write the length before the name
        let mangled = format!("{}{name}", name.len());
        let mut function = Self {
            name,
            instructions: Vec::new(),
            labels: HashMap::new(),
        };
        let body = assembly
            .lines()
            .skip_while(|line| !(line.starts_with("_") && line.contains(&mangled)))
            .skip(1)
            .take_while(|line| !line.starts_with(".Lfunc_end"));
        for line in body {
            let text = line.trim();
            if let Some(label) = text.strip_suffix(':') {
                function.labels.insert(label, function.instructions.len());
            } else if !text.starts_with('.') && !text.starts_with('@') {
                let (mnemonic, operands) = text.split_once('\t').unwrap_or((text, ""));
                function.instructions.push((mnemonic, operands));
            }
        }
        assert!(!function.instructions.is_empty(), "no code for {name}");
        function
    }

    fn refuse_forbidden(&self) {
        for (mnemonic, operands) in &self.instructions {
            let fused = ["vfma", "vfms", "vfnm"]
                .iter()
                .any(|f| mnemonic.starts_with(f));
            let double = mnemonic.contains(".f64");
            let cold = COLD.iter().any(|cold| operands.contains(cold));
            let call = calls(mnemonic, operands) && !cold;
            assert!(
                !(fused || double || call),
                "{}: {mnemonic} {operands}",
                self.name
            );
        }
    }

    /// Instructions on the longest way from `at` to a return; `None` if every way leads through the cold call.
    fn longest(&self, at: usize, known: &mut HashMap<usize, Option<usize>>) -> Option<usize> {
        if let Some(&length) = known.get(&at) {
            return length;
        }
        let (mnemonic, operands) = self.instructions[at];
        let base = mnemonic.trim_end_matches(".w").trim_end_matches(".n");
        let target = || {
            let label = operands.rsplit([' ', '\t']).next().unwrap_or(operands);
            let to = self.labels[label];
            assert!(to > at, "{}: loop at {mnemonic} {operands}", self.name);
            to
        };
        let conditional = base
            .strip_prefix('b')
            .is_some_and(|condition| CONDITIONS.contains(&condition))
            || matches!(base, "cbz" | "cbnz");
        let returns = (base == "pop" && operands.contains("pc")) || (base == "bx");
        let rest = match base {
            _ if calls(mnemonic, operands) => None,
            "b" => self.longest(target(), known),
            _ if returns => Some(0),
            _ if conditional => {
                let taken = self.longest(target(), known);
                taken.max(self.longest(at + 1, known))
            }
            _ => self.longest(at + 1, known),
        };
        let length = rest.map(|rest| rest + 1);
        known.insert(at, length);
        length
    }
}
