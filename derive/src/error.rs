//! What can go wrong, with the place in the description and the way out.

use crate::expr::Mixed;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A description that is not valid. `line` counts from 1; 0 when the description was built in code.
    #[error("{}{what}", place(*line))]
    Description { line: usize, what: String },
    /// A formula whose terms have different units.
    #[error("{}`{formula}` {mixed}", place(*line))]
    Units {
        line: usize,
        formula: String,
        mixed: Mixed,
    },
    /// A rational number beyond 128 bits, or a division by zero.
    #[error("a rational number does not fit into 128 bits, or something is divided by zero")]
    Overflow,
    /// The canonical form has more terms than allowed; the field test still decides.
    #[error("the canonical form has more than {limit} terms")]
    TooLarge { limit: usize },
    /// The constraints or the generalized speeds do not determine the coordinates' rates.
    #[error("{0}")]
    Constraint(String),
    /// The mechanism is sound, but this cannot be made from it.
    #[error("{0}")]
    Unsupported(String),
}

fn place(line: usize) -> String {
    if line == 0 {
        String::new()
    } else {
        format!("line {line}: ")
    }
}

impl Error {
    pub(crate) fn at(line: usize, what: impl Into<String>) -> Error {
        Error::Description {
            line,
            what: what.into(),
        }
    }
}
