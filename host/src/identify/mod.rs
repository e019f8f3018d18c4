//! Friction from a record: several methods on the same data, each with its uncertainty.
//!
//! | method | module | what it does |
//! |---|---|---|
//! | `greybox` | [`greybox`], [`prepare`], [`search`], [`shooting`], [`condense`], [`uncertainty`], [`terms`] | multiple shooting + Gauss–Newton through the shared model; chooses the friction terms |
//! | `energy` | [`energy`] | energy lost per half swing or window: linear, global |
//! | `logdec` | [`logdec`] | extended logarithmic decrement of paper 004, corrected |
//! | `ekf` | [`kalman`] | the joint EKF of the chip over the record |
//! | `uas` | [`online`] | the observer of paper 000 over the record; its parameters are a prior |
//! | `singleshoot` | [`singleshoot`] | plain output error from a cold start: the baseline |
//! | stage | [`stage`] | linear stage with known force: mass and friction by least squares |
//!
//! [`import`] reads files, [`run`] dispatches the methods, [`record`] holds the data, [`subject`] cuts it to the free motion ([`onset`]), [`model`] has the equations with
//! their free parameters, [`motion`] integrates them, [`smooth`] and [`balance`] give start values, [`triangle`] solves
//! least squares, [`outcome`] is what every method returns.

// Matrix equations read by index.
#![allow(clippy::needless_range_loop)]

pub mod balance;
pub mod condense;
pub mod energy;
pub mod greybox;
pub mod import;
pub mod kalman;
pub mod logdec;
pub mod model;
pub mod motion;
pub mod online;
pub mod onset;
pub mod outcome;
pub mod prepare;
pub mod record;
pub mod run;
pub mod search;
pub mod shooting;
pub mod singleshoot;
pub mod smooth;
pub mod stage;
pub mod subject;
pub mod terms;
pub mod triangle;
pub mod uncertainty;
