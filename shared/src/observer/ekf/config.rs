//! Settings of the EKF and their allowed ranges.

use serde::{Deserialize, Serialize};

use crate::JOINTS;
use crate::model::plant::tolerance::Tolerance;
use crate::number::range::{OutOfRange, check};

/// Settings of the filter. Noise densities are per second, so one configuration serves every tick rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Transition velocity vt of the filter's friction law \[rad/s\]. Raised where μd would make a step unstable.
    pub vt: [f32; JOINTS],
    /// Estimate the quadratic drag d of each joint too.
    pub drag: bool,
    /// Ticks per covariance cycle.
    pub cycle: u8,
    /// Integration steps per tick.
    pub substeps: u8,
    /// Stage A: acceleration noise density at quantisation noise \[(rad/s²)²·s\].
    pub acceleration_noise: f32,
    /// Stage C: torque noise density while sliding \[(N·m)²·s\].
    pub torque_noise: f32,
    /// Stage C: torque noise density at standstill, relative to the squared Coulomb torque \[s\].
    pub slip_noise: f32,
    /// Coulomb torque assumed at least for the noise at standstill \[N·m\].
    pub slip_torque: f32,
    /// The noise at standstill fades with exp(−(ω/slip_speed)²) \[rad/s\].
    pub slip_speed: f32,
    /// Below this speed a joint's parameters are considered, not updated, and its windows left out \[rad/s\].
    pub still_speed: f32,
    /// Length of a momentum window \[s\].
    pub window_s: f32,
    /// Earliest start of stage C \[s\].
    pub start_s: f32,
    /// Latest start of stage C \[s\].
    pub start_max_s: f32,
    /// Stage C starts once 1σ of every moving joint's μd is below this part of it.
    pub start_sigma: f32,
    /// Residual variance of the momentum balance is taken this much larger for stage C's start.
    pub balance_inflation: f32,
    /// Stage C doubts its first corrections, made about a poor estimate: at 1, 2 and 4 times this after its start \[s\] …
    pub doubt_s: f32,
    /// … every parameter's σ grows by this factor, at most back to that of the start.
    pub doubt: f32,
    /// Standard deviation of μd \[m\], μv \[N·m·s\] and d \[N·m·s²\] about zero before any data.
    pub prior: [f32; 3],
    /// Quantisation variance (count²/12) is taken this much larger: it is not white at low speed.
    pub quantum_inflation: f32,
    /// A parameter is identifiable when its 95 % half-width is at most this part of its estimate.
    pub identifiable: f32,
    /// A mean innovation beyond this is no measurement of this motion: the filter resumes at the measured angles \[rad\].
    pub lost: f32,
    /// A cycle whose innovation exceeds this many of its standard deviations is left out and counted.
    pub gate: f32,
    /// How well the rig is known: what remains is estimated beside the friction, or added to its σ.
    pub tolerance: Tolerance,
    /// Stage C takes the momentum balance's friction for this much more uncertain, relative to its value: the balance believes the rig.
    pub start_spread: f32,
    /// Not explained: innovations summed over 0.3 s vary by more than this, relative to white ones …
    pub colour: f32,
    /// … or an estimate has moved by more than this many of the standard deviations it could still move by.
    pub drift: f32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            vt: [0.02; JOINTS],
            drag: false,
            cycle: 10,
            substeps: 1,
            acceleration_noise: 1.0,
            torque_noise: 8e-12,
            slip_noise: 0.1,
            slip_torque: 1e-4,
            slip_speed: 0.12,
            still_speed: 0.05,
            window_s: 0.1,
            start_s: 3.0,
            start_max_s: 6.0,
            start_sigma: 3.0,
            balance_inflation: 9.0,
            doubt_s: 0.5,
            doubt: 4.0,
            prior: [1e-2; 3],
            quantum_inflation: 4.0,
            identifiable: 0.5,
            lost: 0.3,
            gate: 10.0,
            tolerance: Tolerance::default(),
            start_spread: 0.3,
            colour: 3.0,
            drift: 3.5,
        }
    }
}

impl Config {
    /// The first field outside its allowed range, if any.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check("ekf.vt[0]", self.vt[0], 1e-4, 10.0)?;
        check("ekf.vt[1]", self.vt[1], 1e-4, 10.0)?;
        check("ekf.cycle", f32::from(self.cycle), 1.0, 100.0)?;
        check("ekf.substeps", f32::from(self.substeps), 1.0, 100.0)?;
        check("ekf.acceleration_noise", self.acceleration_noise, 1e-9, 1e6)?;
        check("ekf.torque_noise", self.torque_noise, 1e-18, 1.0)?;
        check("ekf.slip_noise", self.slip_noise, 0.0, 100.0)?;
        check("ekf.slip_torque", self.slip_torque, 0.0, 10.0)?;
        check("ekf.slip_speed", self.slip_speed, 1e-3, 100.0)?;
        check("ekf.still_speed", self.still_speed, 1e-4, 100.0)?;
        check("ekf.window_s", self.window_s, 1e-3, 10.0)?;
        check("ekf.start_s", self.start_s, 0.1, 1e4)?;
        check("ekf.start_max_s", self.start_max_s, self.start_s, 1e4)?;
        check("ekf.start_sigma", self.start_sigma, 1e-3, 10.0)?;
        check("ekf.balance_inflation", self.balance_inflation, 1.0, 1e6)?;
        check("ekf.doubt_s", self.doubt_s, 1e-3, 1e4)?;
        check("ekf.doubt", self.doubt, 1.0, 1e3)?;
        check("ekf.prior[0]", self.prior[0], 1e-9, 1e3)?;
        check("ekf.prior[1]", self.prior[1], 1e-9, 1e3)?;
        check("ekf.prior[2]", self.prior[2], 1e-9, 1e3)?;
        check("ekf.quantum_inflation", self.quantum_inflation, 1.0, 1e3)?;
        check("ekf.identifiable", self.identifiable, 0.0, 10.0)?;
        check("ekf.lost", self.lost, 1e-3, 1e3)?;
        check("ekf.gate", self.gate, 3.0, 1e6)?;
        self.tolerance.validate()?;
        check("ekf.start_spread", self.start_spread, 0.0, 10.0)?;
        check("ekf.colour", self.colour, 1.1, 1e6)?;
        check("ekf.drift", self.drift, 1.0, 1e6)
    }
}
