//! What can be said about a model that was held against data: the word that estimators, wire and host share.

use serde::{Deserialize, Serialize};

use super::numbered::numbered;

numbered! {
    /// Whether the model explains the data.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Verdict {
        /// Too little data so far.
        #[default]
        NotConverged,
        /// The residuals are white and the estimates stay where they are.
        Explained,
        /// Explained, but the estimates moved more than their variance allows: σ was multiplied by as much.
        Inflated,
        /// The bench does something the model does not: no interval is to be believed.
        NotExplained,
    }
}

impl Verdict {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Verdict::NotConverged => "not converged",
            Verdict::Explained => "explained",
            Verdict::Inflated => "explained with inflated uncertainty",
            Verdict::NotExplained => "not explained",
        }
    }

    /// Intervals may be printed.
    pub fn trusts(self) -> bool {
        matches!(self, Verdict::Explained | Verdict::Inflated)
    }
}
