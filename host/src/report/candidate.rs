//! Parameter sets to be validated: what the device's two observers ended with, the guess they began with, and whatever
//! else is handed in (the grey box).
//!
//! Each is a friction law per joint for the free run, and a list of estimates with their uncertainty for the table.

use std::borrow::Cow;

use serde::Serialize;
use stribeck_core::JOINTS;
use stribeck_core::model::friction::Friction;
use stribeck_core::model::parameter::{EKF_OF_JOINT, UAS_OF_JOINT};
use stribeck_core::observer::ekf;

use super::swing::Swing;

/// 97.5 % quantile of the normal distribution: half-width of a 95 % interval in σ.
pub const Z95: f64 = 1.959_964;

/// Which place and colour a set has in every chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    InitialGuess,
    Uas,
    Ekf,
    /// Computed on the host from the whole record.
    Offline,
}

/// One parameter and how far it can be trusted.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// Name in ASCII, for machines: `mu_d0`.
    pub id: String,
    pub joint: usize,
    pub symbol: &'static str,
    pub unit: Cow<'static, str>,
    pub value: f64,
    /// Standard error; `None` if the method has none.
    pub sigma: Option<f64>,
    pub identifiable: bool,
    pub why: String,
    /// For the UAS: what its law would have given without data.
    pub prior: Option<Prior>,
}

/// The ASCII name of a symbol of a joint.
pub fn id(symbol: &str, joint: usize) -> String {
    let name = symbol.trim().replace('μ', "mu_").replace('−', "_minus_");
    format!("{}{joint}", name.to_lowercase())
}

impl Estimate {
    pub fn interval(&self) -> Option<[f64; 2]> {
        let half = Z95 * self.sigma?;
        Some([self.value - half, self.value + half])
    }
}

/// The UAS law moves every parameter from `initial` to `fixed_point` on any record; data decide only how far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prior {
    pub initial: f64,
    pub fixed_point: f64,
    /// Part of that way gone [%].
    pub way_percent: f64,
}

/// One set of parameters.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    pub name: String,
    pub kind: Kind,
    #[serde(skip)]
    pub friction: [Friction<f64>; JOINTS],
    pub estimates: Vec<Estimate>,
}

/// What the device itself offers for this run; empty if it sent no parameters.
pub fn on_board(swing: &Swing) -> Vec<Candidate> {
    let Some(last) = swing.last else {
        return Vec::new();
    };
    let initial = swing.config.uas.bounds.map(|b| f64::from(b.initial));
    let z = last.z.map(f64::from);
    vec![
        Candidate {
            name: "initial guess".into(),
            kind: Kind::InitialGuess,
            friction: brown_mcphee(&initial),
            estimates: Vec::new(),
        },
        Candidate {
            name: "UAS".into(),
            kind: Kind::Uas,
            friction: brown_mcphee(&z),
            estimates: uas(swing, &initial, &z),
        },
        Candidate {
            name: "EKF".into(),
            kind: Kind::Ekf,
            friction: filter_law(swing, last.p.map(f64::from)),
            estimates: kalman(swing, &last),
        },
    ]
}

fn brown_mcphee(z: &[f64; 10]) -> [Friction<f64>; JOINTS] {
    std::array::from_fn(|j| Friction::brown_mcphee(std::array::from_fn(|n| z[5 * j + n])))
}

/// The Kalman filter's law: no Stribeck peak, viscous friction at any load.
fn filter_law(swing: &Swing, p: [f64; 6]) -> [Friction<f64>; JOINTS] {
    std::array::from_fn(|j| Friction {
        mu_d: p[3 * j],
        mu_s: p[3 * j],
        mu_v: p[3 * j + 1],
        vt: f64::from(swing.config.ekf.vt[j]),
        fnt: 1e-6,
        drag: p[3 * j + 2],
        ..Friction::NONE
    })
}

fn uas(swing: &Swing, initial: &[f64; 10], z: &[f64; 10]) -> Vec<Estimate> {
    let fixed = swing.config.uas.fixed_point().map(f64::from);
    let count = 5 * swing.joints();
    (0..count)
        .map(|n| {
            let p = UAS_OF_JOINT[n % 5];
            let (symbol, unit) = (p.symbol, p.unit_at(swing.axes().joints[n / 5]));
            let distance = initial[n] - fixed[n];
            let way_percent = if distance == 0.0 {
                100.0
            } else {
                100.0 * (initial[n] - z[n]) / distance
            };
            Estimate {
                id: id(symbol, n / 5),
                joint: n / 5,
                symbol,
                unit: unit.into(),
                value: z[n],
                sigma: None,
                identifiable: false,
                why: "prior: the law contains no measurement but |e|".into(),
                prior: Some(Prior {
                    initial: initial[n],
                    fixed_point: fixed[n],
                    way_percent,
                }),
            }
        })
        .collect()
}

fn kalman(swing: &Swing, last: &stribeck_core::wire::block::Params) -> Vec<Estimate> {
    let limit = 100.0 * f64::from(swing.config.ekf.identifiable);
    let moving = swing.moving();
    let mut rows = Vec::new();
    let axes = swing.axes();
    for (joint, moving) in moving.iter().enumerate().take(swing.joints()) {
        for (k, p) in EKF_OF_JOINT.into_iter().enumerate() {
            let (symbol, unit) = (p.symbol, p.unit_at(axes.joints[joint]));
            let i = 3 * joint + k;
            let (value, sigma) = (f64::from(last.p[i]), f64::from(last.sigma[i]));
            if k == 2 && !swing.config.ekf.drag {
                continue;
            }
            let half = 100.0 * Z95 * sigma / value.abs().max(1e-30);
            let marked = last.identifiable & (1 << i) != 0;
            let (identifiable, why) = if last.stage != ekf::STAGE_JOINT {
                let why =
                    "the joint filter never started: too little motion, or the run was too short";
                (false, why.to_string())
            } else if marked {
                let why =
                    format!("95 % half-width is {half:.2} % of the value (limit {limit:.0} %)");
                (true, why)
            } else {
                let width = if value.abs() < 1e-12 {
                    "the estimate is at its lower bound, zero".to_string()
                } else {
                    format!("95 % half-width is {half:.0} % of the value (limit {limit:.0} %)")
                };
                let why = format!(
                    "{width}; the {} moved faster than {:.2} {} in {:.0} % of the run",
                    axes.name(joint),
                    swing.config.ekf.still_speed,
                    axes.units(joint).velocity,
                    100.0 * moving
                );
                (false, why)
            };
            rows.push(Estimate {
                id: id(symbol, joint),
                joint,
                symbol,
                unit: unit.into(),
                value,
                sigma: (sigma > 0.0).then_some(sigma),
                identifiable,
                why,
                prior: None,
            });
        }
    }
    rows
}
