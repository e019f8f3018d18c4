//! Where a run stands and who changed it: the words that blocks, events, Hello and Status share with the run logic.

use serde::{Deserialize, Serialize};

use crate::number::numbered::numbered;
use crate::number::words::{Path, Put, Words};

numbered! {
    /// Where the run stands.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Phase {
        #[default]
        Idle,
        Armed,
        Swinging,
        AtRest,
        /// The motor drives.
        Driving,
    }
}

impl Words for Phase {
    #[inline(always)]
    fn save(&self, put: &mut impl Put) {
        put.word(*self as u32);
    }
    #[inline(always)]
    fn load(get: &mut impl FnMut() -> u32) -> Self {
        Phase::from_number(get()).unwrap_or_default()
    }
    fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
        visit(path);
    }
}

numbered! {
    /// Who or what caused a transition.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Cause {
        /// The device itself: start-up, `auto_arm`.
        #[default]
        Device,
        /// A command of the host.
        Host,
        /// The user button.
        Button,
        /// The links moved.
        Motion,
        /// The links came to rest.
        Rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_leads_back_to_its_variant() {
        for (number, phase) in (0..).zip(Phase::ALL) {
            assert_eq!(
                (*phase as u32, Phase::from_number(number)),
                (number, Some(*phase))
            );
        }
        for (number, cause) in (0..).zip(Cause::ALL) {
            assert_eq!(
                (*cause as u32, Cause::from_number(number)),
                (number, Some(*cause))
            );
        }
        assert_eq!((Phase::from_number(5), Cause::from_number(5)), (None, None));
        assert_eq!(Phase::from_number(u32::MAX), None);
    }
}
