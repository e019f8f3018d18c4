//! The rig as equations: plants, friction, and how they are integrated. Generic over the scalar; knows no measurement.

pub mod friction;
pub mod joint;
pub mod mismatch;
pub mod motor;
pub mod parameter;
pub mod plant;
pub mod rk4;
pub mod sim;
pub mod stiffness;
