//! The driven device on the native twin: balance, tracking, identification, every stop, and replay of all of it.

mod modes;
mod rig;
mod sight;
mod stops;
