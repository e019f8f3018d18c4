//! What a configuration costs at worst, known before it is accepted.
//!
//! Counted in instructions of the board's processor (Cortex-M7, firmware profile), measured on the virtual bench with
//! `firmware/tests/budget.rs`, which also proves that no tick there takes longer than this says, and rounded up. Only fields
//! that change the work of one tick appear; everything else is in the base. In brackets what was measured.
//!
//! ```text
//! worst = base + (substeps − 1)·substep + (drag: two more states) + (cycle < 10: several jobs of the covariance) + (drive: control)
//! ```

use crate::device::config::Config;
use crate::number::range::{OutOfRange, check as within};

/// Both observers, digest, block and records with one integration step of fifteen states (9,491 while the joint filter
/// starts; 10,813 with blocks of one tick).
const BASE: u32 = 11_000;
/// Each further integration step of the EKF (1,021).
const SUBSTEP: u32 = 1_300;
/// The EKF with seventeen states instead of fifteen (1,673).
const DRAG: u32 = 2_000;
/// Each further of the covariance's ten jobs in the same tick (1,274 with seventeen states).
const JOB: u32 = 1_300;
const JOBS: u32 = 10;
/// Control and its words in the digest; tracking with the identified friction is the most.
const DRIVE: u32 = 2_000;

/// Most instructions a tick can take under this configuration.
pub fn worst_tick(config: &Config) -> u32 {
    without_substeps(config) + SUBSTEP * (config.ekf.substeps.max(1) as u32 - 1)
}

fn without_substeps(config: &Config) -> u32 {
    fixed(config, config.ekf.cycle)
}

fn fixed(config: &Config, cycle: u8) -> u32 {
    let drag = if config.ekf.drag { DRAG } else { 0 };
    let drive = if config.drive.is_some() { DRIVE } else { 0 };
    let jobs = JOBS.div_ceil(u32::from(cycle.max(1)));
    BASE + drag + drive + JOB * (jobs - 1)
}

/// Refuse a configuration whose worst tick takes more than `budget`, by the field that can be lowered.
pub fn check(config: &Config, budget: u32) -> Result<(), OutOfRange> {
    let fits = |cycle: u8| fixed(config, cycle) <= budget;
    let shortest = (1..JOBS as u8).find(|&c| fits(c)).unwrap_or(JOBS as u8);
    within("ekf.cycle", config.ekf.cycle as f32, shortest as f32, 100.0)?;
    let fixed = without_substeps(config);
    let most = budget.saturating_sub(fixed) / SUBSTEP + 1;
    within("ekf.substeps", config.ekf.substeps as f32, 1.0, most as f32)
}
