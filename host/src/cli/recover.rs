//! `stribeck recover`: save what can be saved of a damaged log, and list what cannot.

use std::path::PathBuf;

use serde_json::json;

use crate::cli::exit::Exit;
use crate::file;
use crate::log::copy;
use crate::log::text;

/// Write what can be read of a damaged log as a new, closed log
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  $ stribeck recover run.mcap -o saved.mcap
  saved 3,021 messages, 3.00 s (30,000 ticks), to saved.mcap
  everything could be read

Every message that can be read is kept byte for byte; the observers are run again and the closing record is taken
anew. What could not be read is listed with its place, and the exit code is 3.")]
pub struct Args {
    /// The log
    log: PathBuf,
    /// The log to write (default: the log's name with -recovered)
    #[arg(short, long, value_name = "LOG")]
    output: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let output = args.output.unwrap_or_else(|| {
        let stem = args.log.file_stem().unwrap_or_default().to_string_lossy();
        args.log.with_file_name(format!("{stem}-recovered.mcap"))
    });
    file::may_write(&output, args.force, &[&args.log])?;
    let copied = copy::copy(&args.log, &output, false, |_| {})?;
    let s = &copied.summary;
    let damage: Vec<String> = copied.damage.iter().map(ToString::to_string).collect();
    if args.json {
        println!(
            "{}",
            json!({ "log": output, "messages": copied.messages, "damage": damage, "summary": s })
        );
    } else {
        println!(
            "saved {} messages, {:.2} s ({} ticks), to {}",
            text::grouped(copied.messages),
            s.seconds(),
            text::grouped(s.ticks),
            output.display()
        );
        for line in &damage {
            println!("{line}");
        }
        print!("{}", text::losses(&s.losses));
        if damage.is_empty() && s.losses.is_clean() {
            println!("everything could be read");
        }
    }
    Ok(Exit::of_log(&s.losses, &copied.damage))
}
