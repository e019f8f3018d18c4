//! Figure 5: friction of the cart without the pendulum, from voltage and position. The paper's record is not public: a simulated one of
//! the same kind, 20 s at 50 Hz, with an initial state that is not zero.

use stribeck_core::model::sim::Rng;

use crate::bond::EXAMPLES;
use crate::bond::describe;
use crate::bond::equations::System;
use crate::bond::estimate::{Found, Problem, Search};
use crate::bond::follow::{Driving, Follower, Output};
use crate::bond::simulate::Of;
use crate::error::{Error, Result};
use crate::number;

/// What was recorded and what was found in it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Figure5 {
    /// Time \[s\], voltage \[V\], position \[m\].
    pub record: Vec<[f64; 3]>,
    /// r_c [N·s/m] at the start and after every iteration.
    pub r_c: Vec<f64>,
    /// Standard error of the last.
    pub stderr: f64,
    /// Part of the armature current's initial value that the record does not show.
    pub current_hidden: f64,
}

/// With noise of the position \[m\], and the motor constant of the model times a factor.
pub fn figure_5(noise: f64, k_m: f64, seed: u64) -> Result<Figure5> {
    let internal = |what: String| {
        Error::invalid(
            what,
            "this is a defect of stribeck: the cart is part of the program",
        )
    };
    let text = EXAMPLES.iter().find(|(name, _)| *name == "cart");
    let graph = describe::read("cart", text.map_or("", |(_, text)| text))?;
    let system = System::new(graph).map_err(|e| internal(e.to_string()))?;
    let place = |name: &str| {
        let found = system.state(name);
        found.ok_or_else(|| internal(format!("the cart has no state {name}")))
    };
    let [i, v, x] = [place("l_a")?, place("m_c")?, place("x")?];
    let parameter = |name: &str| {
        let list = &system.graph.parameters;
        let found = list.iter().position(|p| p.name == name);
        found.ok_or_else(|| internal(format!("the cart has no parameter {name}")))
    };
    let (r_c, motor) = (parameter("r_c")?, parameter("k_m")?);
    let t: Vec<f64> = (0..1000).map(|k| 0.02 * f64::from(k)).collect();
    let wave = |t: &f64| {
        let sign = if (t / 1.3) as i64 % 2 == 0 { 1.5 } else { -1.5 };
        sign + 0.5 * number::sin(2.9 * t)
    };
    let u: Vec<f64> = t.iter().map(wave).collect();
    let driving = Driving { t, inputs: vec![u] };
    let mut values = system.graph.values();
    let mut initial = vec![0.0; 3];
    initial[i] = values[parameter("l_a")?] * 0.3;
    initial[v] = values[parameter("m_c")?] * 0.08;
    initial[x] = -0.05;
    let outputs = [Output::State(x)];
    let truth = Follower {
        system: &system,
        outputs: &outputs,
        unknown: &[],
        substeps: 8,
    };
    let run = truth
        .run(&driving, &values, &initial, false)
        .map_err(|e| internal(e.to_string()))?;
    let mut rng = Rng::new(seed);
    let y: Vec<f64> = run
        .outputs
        .iter()
        .map(|y| y[0] + noise * rng.normal())
        .collect();
    let unknown = [
        Of::Parameter(r_c),
        Of::Initial(i),
        Of::Initial(v),
        Of::Initial(x),
    ];
    values[r_c] = 0.0;
    values[motor] *= k_m;
    let found: Found = Problem {
        system: &system,
        driving: &driving,
        measured: &[(outputs[0], y.clone())],
        unknown: &unknown,
        parameters: values,
        initial: vec![0.0; 3],
    }
    .solve(&Search::default())
    .map_err(|e| internal(e.to_string()))?;
    let record = (0..y.len()).map(|k| [driving.t[k], driving.inputs[0][k], y[k]]);
    Ok(Figure5 {
        record: record.collect(),
        r_c: found.trace.iter().map(|(v, _)| v[0]).collect(),
        stderr: found.covariance[(0, 0)].sqrt(),
        current_hidden: found.unknown[1].hidden,
    })
}
