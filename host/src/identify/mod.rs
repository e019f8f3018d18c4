//! Friction from a dataset: several methods on the same data, each with a verdict and its uncertainty.
//!
//! | folder | what |
//! |---|---|
//! | [`data`] | datasets of typed channels, read from anywhere, cut to the free motion |
//! | [`model`] | the shared equations with free parameters, per plant a table of what can be free |
//! | [`fit`] | multiple shooting, Gauss–Newton, least squares, uncertainty |
//! | [`method`] | the methods behind one trait, in a list |
//! | `verdict`, [`outcome`] | what every method returns |
//! | `across` | several runs side by side |
//! | `study` | Monte Carlo: do the intervals hold? |

// Matrix equations read by index.
#![allow(clippy::needless_range_loop)]

pub(crate) mod across;
pub mod data;
pub mod fit;
pub mod method;
pub mod model;
pub mod outcome;
pub(crate) mod study;
pub(crate) mod verdict;

use crate::error::{Error, Result};
use data::dataset::Dataset;
use method::{METHODS, Options};
use outcome::Outcome;

/// Run the method of this name (see [`METHODS`]) on a dataset: verdict, estimates with their intervals, residuals.
///
/// ```
/// use stribeck::{Channel, Dataset, IdentifyOptions, METHODS, Quantity, identify};
///
/// // A mass of 2 kg on a stage with 3 N of Coulomb friction, pushed by a known force.
/// let (dt, n) = (1e-3, 8000);
/// let (mut x, mut v) = (0.0f64, 0.0f64);
/// let (mut t, mut position, mut force) = (Vec::new(), Vec::new(), Vec::new());
/// for i in 0..n {
///     let now = f64::from(i) * dt;
///     let f = 12.0 * (4.0 * now).sin();
///     t.push(now);
///     position.push(x);
///     force.push(f);
///     v += dt * (f - 3.0 * (v / 1e-3).tanh()) / 2.0;
///     x += dt * v;
/// }
/// let channel = |quantity, x| Channel { quantity, joint: 0, t: t.clone().into(), x, quantum: 0.0 };
/// let data = Dataset::driven("stage", vec![
///     channel(Quantity::Displacement, position),
///     channel(Quantity::Force, force),
/// ]);
/// let suits: Vec<_> = METHODS.iter().filter(|m| m.suits(&data).is_ok()).map(|m| m.name()).collect();
/// assert_eq!(suits, ["stage"]);
/// let found = identify("stage", &data, &IdentifyOptions::default())?;
/// let mass = &found.estimates[0];
/// assert!((mass.value - 2.0).abs() < 0.05, "{mass:?}");
/// # Ok::<(), stribeck::Error>(())
/// ```
pub fn identify(method: &str, data: &Dataset, options: &Options) -> Result<Outcome> {
    let found = method::find(method).ok_or_else(|| {
        let names: Vec<&str> = METHODS.iter().map(|m| m.name()).collect();
        Error::invalid(
            format!("there is no method {method:?}"),
            format!("one of {}", names.join(", ")),
        )
    })?;
    method::run(found, data, options)
}
