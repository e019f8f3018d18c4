//! A campaign as a Slurm array: a script that submits the shards, and the merge after them.

use std::fmt::Write as _;
use std::path::Path;

/// What every task of the array asks for.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Tasks of the array.
    pub shards: u64,
    pub cpus: u32,
    /// As `sbatch --time` and `--mem` take them.
    pub time: String,
    pub memory: String,
    pub partition: Option<String>,
}

/// The script. `program` and `campaign` must be paths that every node sees.
pub fn script(program: &Path, campaign: &Path, name: &str, r: &Resources) -> String {
    let program = quoted(&program.to_string_lossy());
    let campaign = quoted(&campaign.to_string_lossy());
    let name = quoted(name);
    let partition = r
        .partition
        .as_ref()
        .map_or(String::new(), |p| format!(" --partition={}", quoted(p)));
    let mut out = String::from("#!/bin/sh\n");
    let _ = write!(
        out,
        "# Submits the campaign as an array of {shards} shards and its merge after them: sh THIS_FILE\n\
         # Every shard may die, be requeued or run twice: what is merged has the bytes of a run on one machine.\n\
         set -eu\n\
         program={program}\n\
         campaign={campaign}\n\
         export program campaign\n\
         \"$program\" campaign plan \"$campaign\"\n\
         shards=$(sbatch --parsable --export=ALL --job-name={name} --array=0-{last} --requeue --ntasks=1 \\\n  \
           --cpus-per-task={cpus} --mem={memory} --time={time}{partition} --output=/dev/null \\\n  \
           --wrap='exec \"$program\" campaign shard \"$campaign\" --index \"$SLURM_ARRAY_TASK_ID\" --of {shards} --threads {cpus}')\n\
         merge=$(sbatch --parsable --export=ALL --job-name={name} --dependency=afterok:\"$shards\" --kill-on-invalid-dep=yes --ntasks=1 \\\n  \
           --cpus-per-task=1 --mem={memory} --time={time}{partition} --output=/dev/null \\\n  \
           --wrap='exec \"$program\" campaign merge \"$campaign\"')\n\
         echo \"shards: job $shards, merge: job $merge\"\n",
        shards = r.shards,
        last = r.shards.saturating_sub(1),
        cpus = r.cpus,
        memory = quoted(&r.memory),
        time = quoted(&r.time),
    );
    out
}

/// For a shell, whatever is in it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
