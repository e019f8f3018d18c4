//! The whole device, natively: commands, run logic, stream budgets, replay, faults.

mod bursts;
mod commands;
mod faults;
mod host;
mod queues;
mod replay;
mod run;
mod stream;
