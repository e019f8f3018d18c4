//! `stribeck-bench test ELF…`: the on-target tests in embedded-test programs, each on a freshly powered board.
//!
//! Output and exit code follow libtest, so that `./test` can add up the totals. The firmware's log of a test is shown when
//! it fails, or always with `--nocapture`.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use anyhow::bail;

use stribeck_bench::elf::Program;
use stribeck_bench::hil::{self, Verdict};
use stribeck_bench::scenario::Scenario;
use stribeck_bench::time::to_secs;

#[derive(clap::Args)]
pub struct Args {
    /// Test programs (embedded-test)
    #[arg(required = true)]
    elfs: Vec<PathBuf>,
    #[command(flatten)]
    pub options: Options,
}

#[derive(clap::Args, Clone)]
pub struct Options {
    /// Only tests whose name contains this
    #[arg(long)]
    filter: Option<String>,
    /// List the tests instead of running them
    #[arg(long)]
    list: bool,
    /// Run ignored tests too
    #[arg(long)]
    include_ignored: bool,
    /// Show the firmware's log of every test
    #[arg(long)]
    nocapture: bool,
    /// Scenario file instead of the board with the test jumpers
    #[arg(long)]
    scenario: Option<PathBuf>,
    /// Estimate processor cycles: caches, wait states, dual issue (slower)
    #[arg(long)]
    cycles: bool,
}

pub fn run(args: &Args) -> anyhow::Result<bool> {
    run_files(&args.elfs, &args.options)
}

/// Runs every test of every file; true = none failed. Having nothing to run is an error, not a success.
pub fn run_files(elfs: &[PathBuf], options: &Options) -> anyhow::Result<bool> {
    let mut scenario = match &options.scenario {
        Some(path) => Scenario::load(path)?,
        None => hil::board(),
    };
    scenario.cycles |= options.cycles;
    let (mut all_ok, mut found) = (true, 0);
    for elf in elfs {
        let program = Rc::new(Program::load(elf)?);
        let tests = hil::list(&program);
        found += tests.len();
        let name = elf
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if options.list {
            tests.iter().for_each(|t| println!("{}: test", t.name));
            continue;
        }
        all_ok &= run_program(&name, &program, &tests, options, &scenario)?;
    }
    if found == 0 {
        bail!("no tests in {elfs:?}: expected embedded-test programs (section .embedded_test)");
    }
    Ok(all_ok)
}

fn run_program(
    name: &str,
    program: &Rc<Program>,
    tests: &[hil::Test],
    options: &Options,
    scenario: &Scenario,
) -> anyhow::Result<bool> {
    let wanted = |t: &&hil::Test| options.filter.as_ref().is_none_or(|f| t.name.contains(f));
    let chosen: Vec<&hil::Test> = tests.iter().filter(wanted).collect();
    println!("\nrunning {} tests of {name}", chosen.len());
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    let started = Instant::now();
    for t in &chosen {
        if t.ignored && !options.include_ignored {
            ignored += 1;
            println!("test {} ... ignored", t.name);
            continue;
        }
        let run = hil::run(program, t, scenario)?;
        match &run.verdict {
            Verdict::Passed => {
                passed += 1;
                println!("test {} ... ok ({:.3} s virtual)", t.name, run.virtual_s);
            }
            Verdict::Failed(why) => {
                failed += 1;
                println!("test {} ... FAILED: {why}", t.name);
            }
        }
        if options.nocapture || run.verdict != Verdict::Passed {
            run.log
                .iter()
                .for_each(|l| println!("    {:>11.6} {}", to_secs(l.at), l.text));
        }
    }
    let filtered = tests.len() - chosen.len();
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {verdict}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; {filtered} filtered out; finished in {:.2}s",
        started.elapsed().as_secs_f64()
    );
    Ok(failed == 0)
}
