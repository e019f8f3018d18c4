//! Motion of a system and its sensitivities, by RK4 with a fixed step.
//!
//! Sensitivities are the same motion in dual numbers: with respect to parameters (control weights are parameters of AE parts) and to
//! initial states, four at a time.

use stribeck_core::number::dual::Dual;
use stribeck_core::number::scalar::Scalar;

use super::equations::{BadState, Point, System};
use super::formula::Formula;

/// Derivatives carried per pass.
const WIDTH: usize = 4;

/// With respect to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Parameter(usize),
    Initial(usize),
}

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Run {
    pub seconds: f64,
    pub step: f64,
    pub initial: Vec<f64>,
    /// Per input a formula of `t`.
    pub inputs: Vec<Formula>,
}

/// A motion: one row per step, the first at t = 0.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    pub t: Vec<f64>,
    pub x: Vec<Vec<f64>>,
    pub outputs: Vec<Vec<f64>>,
    /// Per wanted sensitivity, per row: ∂x/∂p of every state.
    pub dx: Vec<Vec<Vec<f64>>>,
    /// Per wanted sensitivity, per row: of every output.
    pub doutputs: Vec<Vec<Vec<f64>>>,
}

/// Why a simulation stops.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadRun {
    #[error("at t = {t} s: {why}")]
    At { t: f64, why: BadState },
    #[error(
        "at t = {t} s the state is no longer finite: the step is too long for this system's fastest time constant, or it is unstable"
    )]
    NotFinite { t: f64 },
    #[error("{0}")]
    Settings(String),
}

/// Steps of a run that end in a number a person can wait for.
const MAX_STEPS: f64 = 1e8;

pub fn simulate(system: &System, run: &Run, wanted: &[Of]) -> Result<Motion, BadRun> {
    let steps = (run.seconds / run.step).round();
    // NaN is in no range.
    if !(f64::MIN_POSITIVE..=f64::MAX).contains(&run.step) || !(0.0..MAX_STEPS).contains(&steps) {
        return Err(BadRun::Settings(format!(
            "{} s in steps of {} s: give a positive step and at most {MAX_STEPS:e} of them",
            run.seconds, run.step
        )));
    }
    let (nx, nu) = (system.plan.states.len(), system.graph.inputs.len());
    if run.initial.len() != nx || run.inputs.len() != nu {
        return Err(BadRun::Settings(format!(
            "{nx} initial states and {nu} inputs are needed, {} and {} are given",
            run.initial.len(),
            run.inputs.len()
        )));
    }
    let values = system.graph.values();
    let u: Vec<f64> = run.inputs.iter().map(|f| at_time(f, 0.0)).collect();
    let start = Point {
        parameters: &values,
        x: &run.initial,
        u: &u,
        t: 0.0,
    };
    system
        .check(&start)
        .map_err(|why| BadRun::At { t: 0.0, why })?;
    let mut motion = Motion::default();
    pass::<f64>(
        system,
        run,
        steps as usize,
        &values,
        &run.initial,
        |t, x, y| {
            motion.t.push(t);
            motion.x.push(x.to_vec());
            motion.outputs.push(y.to_vec());
        },
    )?;
    for chunk in wanted.chunks(WIDTH) {
        let seed = |of: Of, v: f64| match chunk.iter().position(|c| *c == of) {
            Some(k) => Dual::<f64, WIDTH>::variable(v, k),
            None => Dual::constant(v),
        };
        let parameters: Vec<_> = values
            .iter()
            .enumerate()
            .map(|(i, v)| seed(Of::Parameter(i), *v))
            .collect();
        let initial: Vec<_> = run
            .initial
            .iter()
            .enumerate()
            .map(|(i, v)| seed(Of::Initial(i), *v))
            .collect();
        let mut rows = vec![(Vec::new(), Vec::new()); chunk.len()];
        pass(
            system,
            run,
            steps as usize,
            &parameters,
            &initial,
            |_, x, y| {
                for (k, (dx, dy)) in rows.iter_mut().enumerate() {
                    dx.push(x.iter().map(|x| x.du[k]).collect());
                    dy.push(y.iter().map(|y| y.du[k]).collect());
                }
            },
        )?;
        for (dx, dy) in rows {
            motion.dx.push(dx);
            motion.doutputs.push(dy);
        }
    }
    Ok(motion)
}

fn at_time<S: Scalar>(formula: &Formula, t: f64) -> S {
    S::lit(formula.value(&|_: &String| t))
}

fn pass<S: Scalar>(
    system: &System,
    run: &Run,
    steps: usize,
    parameters: &[S],
    initial: &[S],
    mut each: impl FnMut(f64, &[S], &[S]),
) -> Result<(), BadRun> {
    let inputs = |t: f64| -> Vec<S> { run.inputs.iter().map(|f| at_time(f, t)).collect() };
    let h = S::lit(run.step);
    let rates = |x: &[S], t: f64| {
        let u = inputs(t);
        let point = Point {
            parameters,
            x,
            u: &u,
            t: S::lit(t),
        };
        system.rates(&point).map_err(|why| BadRun::At { t, why })
    };
    let moved =
        |x: &[S], h: S, k: &[S]| -> Vec<S> { x.iter().zip(k).map(|(x, k)| *x + h * *k).collect() };
    let mut x = initial.to_vec();
    for step in 0..=steps {
        let t = step as f64 * run.step;
        let u = inputs(t);
        let point = Point {
            parameters,
            x: &x,
            u: &u,
            t: S::lit(t),
        };
        let y = system
            .outputs(&point)
            .map_err(|why| BadRun::At { t, why })?;
        if !x.iter().all(|x| x.is_finite()) {
            return Err(BadRun::NotFinite { t });
        }
        each(t, &x, &y);
        let half = S::lit(0.5 * run.step);
        let (middle, end) = (t + 0.5 * run.step, t + run.step);
        let k1 = rates(&x, t)?;
        let k2 = rates(&moved(&x, half, &k1), middle)?;
        let k3 = rates(&moved(&x, half, &k2), middle)?;
        let k4 = rates(&moved(&x, h, &k3), end)?;
        let (sixth, two) = (S::lit(run.step / 6.0), S::lit(2.0));
        for i in 0..x.len() {
            x[i] += sixth * (k1[i] + two * (k2[i] + k3[i]) + k4[i]);
        }
    }
    Ok(())
}
