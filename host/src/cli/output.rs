//! Standard output and standard error that may be gone: a closed pipe or a full disk ends no capture and panics no command.
//!
//! The macros below take the place of the standard ones in every command (they are declared before all other modules of
//! `cli`). What could not be written is dropped; a result that could not be written makes the exit code 1, except into a
//! closed pipe, whose reader did not want it.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static RESULT_LOST: AtomicBool = AtomicBool::new(false);

/// To standard output.
pub fn result(text: Arguments<'_>) {
    let mut out = io::stdout().lock();
    let written = out.write_fmt(text).and_then(|()| out.flush());
    if written.is_err_and(|e| e.kind() != ErrorKind::BrokenPipe) {
        RESULT_LOST.store(true, Ordering::Relaxed);
    }
}

/// To standard error.
pub fn note(text: Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(text);
}

/// Whether a result could not be written.
pub fn result_lost() -> bool {
    RESULT_LOST.load(Ordering::Relaxed)
}

macro_rules! println {
    ($($text:tt)*) => { $crate::cli::output::result(format_args!("{}\n", format_args!($($text)*))) };
}
macro_rules! print {
    ($($text:tt)*) => { $crate::cli::output::result(format_args!($($text)*)) };
}
macro_rules! eprintln {
    ($($text:tt)*) => { $crate::cli::output::note(format_args!("{}\n", format_args!($($text)*))) };
}
