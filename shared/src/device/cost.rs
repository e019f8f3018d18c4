//! What a configuration costs at worst, known before it is accepted.
//!
//! Counted in estimated cycles and in instructions of the board's processor (Cortex-M7, firmware profile), measured on the virtual bench
//! with `firmware/tests/budget.rs` (`cargo vhil --cycles budget` and `cargo vhil budget`), which also proves that no tick there takes longer
//! than this says, and rounded up. Only fields that change the work of one tick appear; everything else is in the base. In brackets what was
//! measured.
//!
//! ```text
//! worst = base + (substeps − 1)·substep + (drag: two more states) + (cycle < 10: several jobs of the covariance) + (drive: control)
//! ```

use crate::device::config::Config;
use crate::number::range::{OutOfRange, check as within};

/// Work of one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Processor cycles as the virtual bench estimates them (`bench/src/cost`).
    pub cycles: u32,
    pub instructions: u32,
}

impl Work {
    const fn new(cycles: u32, instructions: u32) -> Self {
        Work {
            cycles,
            instructions,
        }
    }

    const fn times(self, n: u32) -> Self {
        Work::new(self.cycles * n, self.instructions * n)
    }

    const fn plus(self, other: Work) -> Self {
        Work::new(
            self.cycles + other.cycles,
            self.instructions + other.instructions,
        )
    }

    const fn within(self, budget: Work) -> bool {
        self.cycles <= budget.cycles && self.instructions <= budget.instructions
    }
}

/// Both observers, digest, block and records with one integration step of fifteen states (11,999 and 8,462: an acrobot, blocks of one tick).
const BASE: Work = Work::new(12_500, 9_000);
/// Each further integration step of the EKF (1,758 and 1,185).
const SUBSTEP: Work = Work::new(1_800, 1_200);
/// The EKF with seventeen states instead of fifteen (359 and 360).
const DRAG: Work = Work::new(1_000, 800);
/// Each further of the covariance's ten jobs in the same tick (1,462 and 1,155 with seventeen states).
const JOB: Work = Work::new(1_500, 1_200);
const JOBS: u32 = 10;
/// Control, from flash and at worst none of it in the cache, and its words in the digest; tracking with the identified friction is the
/// most. Not measured here: a bound from the code's size.
const DRIVE: Work = Work::new(3_500, 2_000);

/// Most that a tick can take under this configuration.
pub fn worst_tick(config: &Config) -> Work {
    let more = u32::from(config.ekf.substeps.max(1)) - 1;
    fixed(config, config.ekf.cycle).plus(SUBSTEP.times(more))
}

/// All but the integration steps.
fn fixed(config: &Config, cycle: u8) -> Work {
    let jobs = JOBS.div_ceil(u32::from(cycle.max(1)));
    BASE.plus(DRAG.times(u32::from(config.ekf.drag)))
        .plus(DRIVE.times(u32::from(config.drive.is_some())))
        .plus(JOB.times(jobs - 1))
}

/// Refuse a configuration whose worst tick takes more than `budget`, by the field that can be lowered.
pub fn check(config: &Config, budget: Work) -> Result<(), OutOfRange> {
    let fits = |cycle: u8| fixed(config, cycle).within(budget);
    let shortest = (1..JOBS as u8).find(|&c| fits(c)).unwrap_or(JOBS as u8);
    within("ekf.cycle", config.ekf.cycle as f32, shortest as f32, 100.0)?;
    let fixed = fixed(config, config.ekf.cycle);
    let steps = |budget: u32, fixed: u32, each: u32| budget.saturating_sub(fixed) / each + 1;
    let most = steps(budget.cycles, fixed.cycles, SUBSTEP.cycles).min(steps(
        budget.instructions,
        fixed.instructions,
        SUBSTEP.instructions,
    ));
    within("ekf.substeps", config.ekf.substeps as f32, 1.0, most as f32)
}
