//! E(x)·ẋ = f(x, u), evaluated in any scalar.
//!
//! One sweep computes every effort and flow in the plan's order. Rates are affine in the rates ż of the stores in derivative causality, and
//! ż = (∂z/∂x)·ẋ with ∂z/∂x and the slope along ż from dual numbers: column by column they give E without symbolic algebra.

use stribeck_core::number::dual::Dual;
use stribeck_core::number::scalar::Scalar;

use super::causality::{Plan, Variable, assign, source};
use super::formula::{Formula, Symbol};
use super::graph::{BadGraph, Graph, Kind, Law};

/// Why the equations have no value at a state.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadState {
    #[error(
        "the algebraic loop through {0} has no solution here: Newton's method does not converge"
    )]
    Loop(String),
    #[error("the inertia matrix E(x) is singular here")]
    Singular,
    #[error(
        "{store} is driven directly by the input {input}: the input's rate would be needed. Add the compliance or resistance between them"
    )]
    DrivenStore { store: String, input: String },
}

/// A graph with its causality: what the equations need.
#[derive(Clone, Debug)]
pub struct System {
    pub graph: Graph,
    pub plan: Plan,
    /// Index of each part among the states, or among the dependent stores.
    place: Vec<Option<usize>>,
}

/// Where the equations are evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a, S> {
    pub parameters: &'a [S],
    pub x: &'a [S],
    pub u: &'a [S],
    pub t: S,
}

/// All efforts and flows at one point.
struct Sweep<S> {
    e: Vec<S>,
    f: Vec<S>,
    /// Computed minus guessed, of the torn variables.
    rest: Vec<S>,
}

impl System {
    pub fn new(graph: Graph) -> Result<Self, BadGraph> {
        let plan = assign(&graph)?;
        for part in &graph.parts {
            let (Law::Gain(formula) | Law::Effort(formula)) = &part.law else {
                continue;
            };
            let dependent = |s: &Symbol| matches!(s, Symbol::State(p) if !plan.states.contains(p));
            if formula.any(&dependent) {
                return Err(BadGraph::NotAState {
                    part: part.name.clone(),
                });
            }
        }
        let place = (0..graph.parts.len())
            .map(|p| {
                plan.states
                    .iter()
                    .position(|q| *q == p)
                    .or(plan.derivative.iter().position(|q| *q == p))
            })
            .collect();
        Ok(System { graph, plan, place })
    }

    pub fn state_names(&self) -> Vec<String> {
        self.plan
            .states
            .iter()
            .map(|p| self.graph.parts[*p].name.clone())
            .collect()
    }

    pub fn state(&self, name: &str) -> Option<usize> {
        self.plan
            .states
            .iter()
            .position(|p| self.graph.parts[*p].name == name)
    }

    /// Sensors, in the order of the description.
    pub fn sensors(&self) -> Vec<usize> {
        let is = |p: &usize| matches!(self.graph.parts[*p].kind, Kind::De | Kind::Df);
        (0..self.graph.parts.len()).filter(is).collect()
    }

    fn value<S: Scalar>(&self, formula: &Formula<Symbol>, point: &Point<'_, S>, own: S) -> S {
        formula.value(&|symbol| match *symbol {
            Symbol::Parameter(i) => point.parameters[i],
            Symbol::Input(i) => point.u[i],
            Symbol::Time => point.t,
            Symbol::Own => own,
            Symbol::State(part) => self.place[part].map_or(S::ZERO, |i| point.x[i]),
        })
    }

    /// One variable from what is known; `zdot` are the rates of the dependent stores.
    fn compute<S: Scalar>(
        &self,
        v: &Variable,
        s: &Sweep<S>,
        point: &Point<'_, S>,
        zdot: &[S],
    ) -> S {
        let part = source(&self.graph, &self.plan.stroke, v);
        let description = &self.graph.parts[part];
        let at = &self.graph.at[part];
        let (b, twin) = (v.bond, || if at[0] == v.bond { at[1] } else { at[0] });
        let gain = || match &description.law {
            Law::Gain(formula) | Law::Effort(formula) => self.value(formula, point, s.f[b]),
            Law::None => S::ONE,
        };
        let stored = || self.place[part].map_or(S::ZERO, |i| point.x[i]);
        let rate = || self.place[part].map_or(S::ZERO, |i| zdot[i]);
        match (description.kind, v.effort) {
            (Kind::Se | Kind::Sf, _) => gain(),
            (Kind::I, false) => stored() / gain(),
            (Kind::C, true) => stored() / gain(),
            (Kind::I, true) | (Kind::C, false) => rate(),
            (Kind::Integrator | Kind::De | Kind::Df, _) => S::ZERO,
            (Kind::R, true) if matches!(description.law, Law::Effort(_)) => gain(),
            (Kind::R, true) => gain() * s.f[b],
            (Kind::R, false) => s.e[b] / gain(),
            (Kind::Tf, true) if at[0] == b => gain() * s.e[twin()],
            (Kind::Tf, true) => s.e[twin()] / gain(),
            (Kind::Tf, false) if at[0] == b => s.f[twin()] / gain(),
            (Kind::Tf, false) => gain() * s.f[twin()],
            (Kind::Gy, true) => gain() * s.f[twin()],
            (Kind::Gy, false) => s.e[twin()] / gain(),
            (Kind::Ae, true) => gain() * s.e[at[0]],
            (Kind::Af, false) => gain() * s.f[at[0]],
            (Kind::Ae | Kind::Af, _) => S::ZERO,
            (Kind::Zero, true) | (Kind::One, false) => self.common(part, v, s),
            (Kind::Zero, false) | (Kind::One, true) => self.balance(part, v, s),
        }
    }

    /// The common variable of a junction, from the bond that decides it.
    fn common<S: Scalar>(&self, part: usize, v: &Variable, s: &Sweep<S>) -> S {
        let zero = self.graph.parts[part].kind == Kind::Zero;
        let decides = |b: &&usize| **b != v.bond && (self.plan.stroke[**b] == part) == zero;
        let bond = self.graph.at[part]
            .iter()
            .find(decides)
            .copied()
            .unwrap_or(v.bond);
        if v.effort { s.e[bond] } else { s.f[bond] }
    }

    /// The variable that makes a junction's sum zero.
    fn balance<S: Scalar>(&self, part: usize, v: &Variable, s: &Sweep<S>) -> S {
        let into = |bond: usize| self.graph.bonds[bond].head == part;
        let mut sum = S::ZERO;
        for &bond in self.graph.at[part].iter().filter(|b| **b != v.bond) {
            let term = if v.effort { s.e[bond] } else { s.f[bond] };
            if into(bond) == into(v.bond) {
                sum -= term;
            } else {
                sum += term;
            }
        }
        sum
    }

    fn sweep<S: Scalar>(&self, point: &Point<'_, S>, zdot: &[S], guess: &[S]) -> Sweep<S> {
        let n = self.graph.bonds.len();
        let mut s = Sweep {
            e: vec![S::ZERO; n],
            f: vec![S::ZERO; n],
            rest: Vec::new(),
        };
        let set = |s: &mut Sweep<S>, v: &Variable, value: S| {
            if v.effort {
                s.e[v.bond] = value;
            } else {
                s.f[v.bond] = value;
            }
        };
        for (v, value) in self.plan.torn.iter().zip(guess) {
            set(&mut s, v, *value);
        }
        for v in &self.plan.order {
            let value = self.compute(v, &s, point, zdot);
            set(&mut s, v, value);
        }
        s.rest = self
            .plan
            .torn
            .iter()
            .zip(guess)
            .map(|(v, g)| self.compute(v, &s, point, zdot) - *g)
            .collect();
        s
    }

    /// A sweep whose torn variables are right.
    fn closed<S: Scalar>(&self, point: &Point<'_, S>, zdot: &[S]) -> Result<Sweep<S>, BadState> {
        let n = self.plan.torn.len();
        let mut guess = vec![S::ZERO; n];
        if n == 0 {
            return Ok(self.sweep(point, zdot, &guess));
        }
        let real = |values: &[S]| -> Vec<f64> { values.iter().map(|v| v.to_f64()).collect() };
        let (p, x, u, z) = (
            real(point.parameters),
            real(point.x),
            real(point.u),
            real(zdot),
        );
        // The value converges first; two more steps with the exact Jacobian carry first and second derivatives along.
        let mut left = 40;
        let mut after = 0;
        while after < 3 {
            let s = self.sweep(point, zdot, &guess);
            let size: f64 = s.rest.iter().map(|r| r.to_f64().abs()).fold(0.0, f64::max);
            let scale: f64 = guess.iter().map(|g| g.to_f64().abs()).fold(1e-9, f64::max);
            if size <= 1e-12 * scale {
                after += 1;
            }
            left -= 1;
            if left == 0 || !size.is_finite() {
                return Err(BadState::Loop(self.loop_names()));
            }
            let jacobian = self.jacobian(&p, &x, &u, point.t.to_f64(), &z, &real(&guess));
            let lifted = jacobian
                .iter()
                .map(|row| row.iter().map(|v| S::lit(*v)).collect())
                .collect();
            let step = solve(lifted, s.rest).ok_or_else(|| BadState::Loop(self.loop_names()))?;
            for (g, d) in guess.iter_mut().zip(step) {
                *g -= d;
            }
        }
        Ok(self.sweep(point, zdot, &guess))
    }

    /// ∂rest/∂guess.
    fn jacobian(
        &self,
        p: &[f64],
        x: &[f64],
        u: &[f64],
        t: f64,
        z: &[f64],
        guess: &[f64],
    ) -> Vec<Vec<f64>> {
        let lift =
            |v: &[f64]| -> Vec<Dual<f64, 1>> { v.iter().map(|v| Dual::constant(*v)).collect() };
        let (p, x, u, z) = (lift(p), lift(x), lift(u), lift(z));
        let point = Point {
            parameters: &p,
            x: &x,
            u: &u,
            t: Dual::constant(t),
        };
        let mut rows = vec![vec![0.0; guess.len()]; guess.len()];
        for column in 0..guess.len() {
            let mut seeded = lift(guess);
            seeded[column].du[0] = 1.0;
            for (row, rest) in rows.iter_mut().zip(self.sweep(&point, &z, &seeded).rest) {
                row[column] = rest.du[0];
            }
        }
        rows
    }

    /// Components whose law closes an algebraic loop.
    pub fn loop_names(&self) -> String {
        let name = |v: &Variable| {
            self.graph.parts[source(&self.graph, &self.plan.stroke, v)]
                .name
                .clone()
        };
        self.plan
            .torn
            .iter()
            .map(name)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Rates of the states for given rates of the dependent stores.
    fn rates_of<S: Scalar>(&self, s: &Sweep<S>) -> Vec<S> {
        let rate = |p: &usize| {
            let bond = self.graph.at[*p][0];
            if self.graph.parts[*p].kind == Kind::I {
                s.e[bond]
            } else {
                s.f[bond]
            }
        };
        self.plan.states.iter().map(rate).collect()
    }

    /// Contents of the dependent stores.
    fn contents<S: Scalar>(&self, s: &Sweep<S>, point: &Point<'_, S>) -> Vec<S> {
        let content = |p: &usize| {
            let bond = self.graph.at[*p][0];
            let variable = if self.graph.parts[*p].kind == Kind::I {
                s.f[bond]
            } else {
                s.e[bond]
            };
            match &self.graph.parts[*p].law {
                Law::Gain(formula) => self.value(formula, point, variable) * variable,
                _ => variable,
            }
        };
        self.plan.derivative.iter().map(content).collect()
    }

    /// E(x) and f(x, u).
    #[allow(clippy::type_complexity)] // A matrix and a vector.
    pub fn matrices<S: Scalar>(
        &self,
        point: &Point<'_, S>,
    ) -> Result<(Vec<Vec<S>>, Vec<S>), BadState> {
        let (nx, nz) = (self.plan.states.len(), self.plan.derivative.len());
        let still = vec![S::ZERO; nz];
        let f = self.rates_of(&self.closed(point, &still)?);
        let mut e: Vec<Vec<S>> = (0..nx)
            .map(|i| {
                (0..nx)
                    .map(|j| if i == j { S::ONE } else { S::ZERO })
                    .collect()
            })
            .collect();
        if nz == 0 {
            return Ok((e, f));
        }
        // Rates are affine in ż: their slope along ż comes exact from dual numbers, without a difference that cancels.
        let lift = |v: &[S]| -> Vec<Dual<S, 1>> { v.iter().map(|v| Dual::constant(*v)).collect() };
        let (p, x, u) = (lift(point.parameters), lift(point.x), lift(point.u));
        let at = Point {
            parameters: &p,
            x: &x,
            u: &u,
            t: Dual::constant(point.t),
        };
        for j in 0..nx {
            let z = self.contents_along(point, |x, _| x[j].du[0] = S::ONE)?;
            let zdot: Vec<_> = z
                .into_iter()
                .map(|z| Dual {
                    re: S::ZERO,
                    du: [z],
                })
                .collect();
            let along = self.rates_of(&self.closed(&at, &zdot)?);
            for i in 0..nx {
                e[i][j] -= along[i].du[0];
            }
        }
        Ok((e, f))
    }

    /// Derivative of the dependent stores' contents along a seed in x or u.
    fn contents_along<S: Scalar>(
        &self,
        point: &Point<'_, S>,
        seed: impl FnOnce(&mut [Dual<S, 1>], &mut [Dual<S, 1>]),
    ) -> Result<Vec<S>, BadState> {
        let lift = |v: &[S]| -> Vec<Dual<S, 1>> { v.iter().map(|v| Dual::constant(*v)).collect() };
        let (p, mut x, mut u) = (lift(point.parameters), lift(point.x), lift(point.u));
        seed(&mut x, &mut u);
        let at = Point {
            parameters: &p,
            x: &x,
            u: &u,
            t: Dual::constant(point.t),
        };
        let still = vec![Dual::constant(S::ZERO); self.plan.derivative.len()];
        let sweep = self.closed(&at, &still)?;
        Ok(self.contents(&sweep, &at).iter().map(|z| z.du[0]).collect())
    }

    /// ẋ.
    pub fn rates<S: Scalar>(&self, point: &Point<'_, S>) -> Result<Vec<S>, BadState> {
        let (e, f) = self.matrices(point)?;
        if self.plan.derivative.is_empty() {
            return Ok(f);
        }
        solve(e, f).ok_or(BadState::Singular)
    }

    /// What the sensors see.
    pub fn outputs<S: Scalar>(&self, point: &Point<'_, S>) -> Result<Vec<S>, BadState> {
        let mut zdot = vec![S::ZERO; self.plan.derivative.len()];
        if !zdot.is_empty() {
            let rates = self.rates(point)?;
            zdot = self.contents_along(point, |x, _| {
                for (x, rate) in x.iter_mut().zip(&rates) {
                    x.du[0] = *rate;
                }
            })?;
        }
        let sweep = self.closed(point, &zdot)?;
        let seen = |p: usize| {
            let bond = self.graph.at[p][0];
            if self.graph.parts[p].kind == Kind::De {
                sweep.e[bond]
            } else {
                sweep.f[bond]
            }
        };
        Ok(self.sensors().into_iter().map(seen).collect())
    }

    /// A dependent store must not follow an input at once: its rate would need the input's rate.
    pub fn check(&self, point: &Point<'_, f64>) -> Result<(), BadState> {
        for (i, input) in self.graph.inputs.iter().enumerate() {
            let along = self.contents_along(point, |_, u| u[i].du[0] = 1.0)?;
            if let Some(k) = along.iter().position(|z| z.abs() > 0.0) {
                let store = self.graph.parts[self.plan.derivative[k]].name.clone();
                return Err(BadState::DrivenStore {
                    store,
                    input: input.clone(),
                });
            }
        }
        Ok(())
    }
}

/// a·x = b by elimination with row exchange; `None`: singular.
#[allow(clippy::needless_range_loop)] // Matrix equations read by index.
pub fn solve<S: Scalar>(mut a: Vec<Vec<S>>, mut b: Vec<S>) -> Option<Vec<S>> {
    let n = b.len();
    for c in 0..n {
        let size = |r: &usize| a[*r][c].to_f64().abs();
        let pivot = (c..n).max_by(|r, s| size(r).total_cmp(&size(s)))?;
        if size(&pivot).partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            return None;
        }
        a.swap(c, pivot);
        b.swap(c, pivot);
        for r in c + 1..n {
            // A zero value may still carry derivatives: nothing is skipped.
            let factor = a[r][c] / a[c][c];
            for k in c + 1..n {
                let term = factor * a[c][k];
                a[r][k] -= term;
            }
            let term = factor * b[c];
            b[r] -= term;
        }
    }
    for c in (0..n).rev() {
        for k in c + 1..n {
            let term = a[c][k] * b[k];
            b[c] -= term;
        }
        b[c] = b[c] / a[c][c];
    }
    Some(b)
}
