//! One file per subcommand; each `run` returns whether all went well.

pub mod configurations;
pub mod run;
pub mod test;
pub mod vhil;
