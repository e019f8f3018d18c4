//! Range checks of configuration values: the field, the value and the allowed range travel in the error.

use core::fmt;

/// A configuration value outside its allowed range. NaN is outside every range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutOfRange {
    pub field: &'static str,
    pub value: f32,
    pub min: f32,
    pub max: f32,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} = {} is outside {} … {}",
            self.field, self.value, self.min, self.max
        )
    }
}

impl core::error::Error for OutOfRange {}

/// `min ≤ value ≤ max`, else the error that names all four.
pub fn check(field: &'static str, value: f32, min: f32, max: f32) -> Result<(), OutOfRange> {
    if value >= min && value <= max {
        Ok(())
    } else {
        Err(OutOfRange {
            field,
            value,
            min,
            max,
        })
    }
}
