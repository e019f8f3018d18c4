//! What is fitted: the shared equations of motion with free parameters, their integration, the choice of friction terms.

pub mod motion;
pub mod parametric;
pub mod plant;
pub mod terms;
