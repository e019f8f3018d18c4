//! The commands of `stribeck` that meet hostile input: one list per boundary. To torture a new command, add its line here.
//!
//! A command that stands in no list is named on the scoreboard ([`forgotten`]).

use clap::CommandFactory;

/// A command that reads the log `run.mcap`.
pub struct Reader {
    pub name: &'static str,
    pub args: &'static [&'static str],
    /// The file it writes, if what is in it must be right too.
    pub file: Option<&'static str>,
    /// It looks at the whole log, so it must say what any other command finds damaged.
    pub whole: bool,
}

const fn reader(name: &'static str, args: &'static [&'static str]) -> Reader {
    Reader {
        name,
        args,
        file: None,
        whole: true,
    }
}

pub const READ_A_LOG: &[Reader] = &[
    reader("info", &["info", "run.mcap", "--scan", "--json"]),
    reader("replay", &["replay", "run.mcap", "--json"]),
    reader(
        "identify",
        &["identify", "run.mcap", "--method", "energy", "--json"],
    ),
    reader(
        "report",
        &["report", "run.mcap", "-o", "report.html", "--json"],
    ),
    Reader {
        file: Some("ticks.csv"),
        ..reader(
            "export",
            &["export", "run.mcap", "-o", "ticks.csv", "--json"],
        )
    },
    Reader {
        file: Some("states.parquet"),
        ..reader(
            "export --table states",
            &[
                "export",
                "run.mcap",
                "--table",
                "states",
                "-o",
                "states.parquet",
                "--json",
            ],
        )
    },
    reader(
        "recover",
        &["recover", "run.mcap", "-o", "saved.mcap", "--json"],
    ),
    reader(
        "capture",
        &[
            "capture",
            "--from",
            "run.mcap",
            "-o",
            "copied.mcap",
            "--json",
        ],
    ),
    Reader {
        whole: false,
        ..reader("config show", &["config", "show", "run.mcap", "--json"])
    },
    // Writes the log again in its place, so it comes last.
    reader("note", &["note", "run.mcap", "--note", "seen", "--json"]),
];

/// A command that opens a port, and what of the device it depends on: where that fails, exit 0 would be a lie.
pub struct Opener {
    pub name: &'static str,
    /// PORT stands for the path of the port.
    pub args: &'static [&'static str],
    /// It keeps the stream.
    pub records: bool,
    /// It orders something that must be answered.
    pub orders: bool,
    /// It takes the device's configuration for true.
    pub trusts: bool,
    /// It listens for a second or longer.
    pub listens: bool,
    /// A Hello alone is enough for it.
    pub hello_is_enough: bool,
    /// It draws on a terminal until `q`: only panics and hangs are judged.
    pub screen: bool,
}

const fn opener(name: &'static str, args: &'static [&'static str]) -> Opener {
    Opener {
        name,
        args,
        records: false,
        orders: false,
        trusts: false,
        listens: false,
        hello_is_enough: false,
        screen: false,
    }
}

pub const OPEN_A_PORT: &[Opener] = &[
    Opener {
        records: true,
        listens: true,
        ..opener(
            "capture",
            &[
                "capture",
                "--from",
                "PORT",
                "--seconds",
                "1",
                "-o",
                "run.mcap",
            ],
        )
    },
    Opener {
        records: true,
        listens: true,
        orders: true,
        ..opener(
            "capture --arm",
            &[
                "capture",
                "--from",
                "PORT",
                "--arm",
                "--seconds",
                "1",
                "-o",
                "run.mcap",
            ],
        )
    },
    Opener {
        trusts: true,
        hello_is_enough: true,
        ..opener(
            "config pull",
            &["config", "pull", "--from", "PORT", "-o", "pulled.toml"],
        )
    },
    Opener {
        orders: true,
        trusts: true,
        ..opener(
            "config push",
            &["config", "push", "rig.toml", "--from", "PORT"],
        )
    },
    Opener {
        listens: true,
        ..opener("doctor", &["doctor", "--port", "PORT"])
    },
    Opener {
        listens: true,
        ..opener(
            "doctor --bench-report",
            &["doctor", "--port", "PORT", "--bench-report", "bench.md"],
        )
    },
    Opener {
        screen: true,
        ..opener("live", &["live", "--from", "PORT"])
    },
];

/// Commands that write a file: arguments and the file. `sound.mcap` is a log, `campaign.toml` a campaign that was run.
pub const WRITE_A_FILE: &[(&[&str], &str)] = &[
    (
        &["simulate", "--seconds", "1", "--force", "-o", "out.mcap"],
        "out.mcap",
    ),
    (
        &[
            "capture",
            "--from",
            "sound.mcap",
            "--force",
            "-o",
            "copy.mcap",
        ],
        "copy.mcap",
    ),
    (
        &["recover", "sound.mcap", "--force", "-o", "saved.mcap"],
        "saved.mcap",
    ),
    (
        &["report", "sound.mcap", "--force", "-o", "out.html"],
        "out.html",
    ),
    (
        &["export", "sound.mcap", "--force", "-o", "out.csv"],
        "out.csv",
    ),
    (
        &["export", "sound.mcap", "--force", "-o", "out.parquet"],
        "out.parquet",
    ),
    (
        &[
            "config", "pull", "--from", "sim", "--force", "-o", "out.toml",
        ],
        "out.toml",
    ),
    (
        &[
            "campaign",
            "report",
            "campaign.toml",
            "--force",
            "-o",
            "out.html",
        ],
        "out.html",
    ),
];

/// Commands without such a boundary of their own.
const ELSEWHERE: &[&str] = &["demo", "derive", "paper", "study", "bond", "completions"];

/// Commands of the program that no list knows.
pub fn forgotten() -> Vec<String> {
    let listed: Vec<&str> = READ_A_LOG
        .iter()
        .map(|c| c.args[0])
        .chain(OPEN_A_PORT.iter().map(|c| c.args[0]))
        .chain(WRITE_A_FILE.iter().map(|c| c.0[0]))
        .chain(ELSEWHERE.iter().copied())
        .collect();
    stribeck::cli::Cli::command()
        .get_subcommands()
        .map(|c| c.get_name().to_string())
        .filter(|name| !listed.contains(&name.as_str()))
        .collect()
}
