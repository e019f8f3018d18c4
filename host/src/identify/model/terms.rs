//! Which friction terms does the record support? Greedy choice, judged twice.
//!
//! Starting from Coulomb + viscous (+ quadratic of one joint), the addition that lowers the Bayesian information criterion most is kept as
//! long as it also predicts the held-out last 30 % of the record no worse than before (fitted to the first 70 %, run freely beyond). BIC =
//! n·ln(χ²/n) + k·ln n, with n the effective sample size rather than the number of readings: residuals of a model that is nearly right are
//! strongly correlated. What is rarely needed (asymmetry, another kind of load) is tried only while the record is not explained.

use crate::config::axes::Axes;
use crate::identify::data::free_motion::FreeMotion;
use crate::identify::data::record::Record;
use crate::identify::fit::fitted::{Fitted, Options, Prepared, fit};
use crate::identify::model::motion::{free_run, stiffness};
use crate::identify::model::parametric::{Coef, Load, Model, Param};
use crate::identify::verdict::EXPLAINED;
use crate::number;

/// A Stribeck peak is looked for from a corner this wide on [rad per time scale]: a peak narrower than what the
/// samples show has no influence, and the search would not move.
const WIDE_CORNER: f64 = 0.03;

/// Part of the record that the rest is predicted from.
const HEAD: f64 = 0.7;

/// Steepest friction over inertia that is tried, per sample.
const STEEP_PER_SAMPLE: f64 = 10.0;
/// A term must lower the criterion by this much …
const LEAST_GAIN: f64 = 6.0;
/// … and predict the held-out part no worse than this many times before.
const HELD_OUT_SLACK: f64 = 1.05;

/// One candidate and its marks.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub terms: Vec<Coef>,
    /// What the Coulomb term is proportional to.
    pub load: Load,
    /// χ² per degree of freedom.
    pub chi2: f64,
    /// RMS of the free run over the held-out part, in `unit`; not computed where the criterion already says no.
    pub held_out: Option<f64>,
    /// Of `held_out`; joints that differ in kind are each taken relative to their own motion.
    pub unit: &'static str,
    pub fit: Vec<f64>,
    pub chosen: bool,
    /// Why it was (not) taken, for the table.
    pub why: String,
}

/// A step away from the present model.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Addition {
    Terms(&'static [Coef]),
    /// The Coulomb term follows the reaction instead of being constant, or the other way round.
    Load,
}

impl Candidate {
    fn name(&self) -> String {
        let load = match self.load {
            Load::Reaction => "load",
            Load::Constant => "constant",
        };
        format!("{} ({load})", name(&self.terms))
    }

    /// A line of the table.
    pub fn line(&self) -> String {
        let held = self.held_out.map_or("–".to_string(), |h| format!("{h:.5}"));
        let fit: Vec<String> = self.fit.iter().map(|f| format!("{f:.4}")).collect();
        format!(
            "{} {:<50} χ² {:>9.2}  held-out RMS {held:>8} {}  fit {} %  {}",
            if self.chosen { "*" } else { " " },
            self.name(),
            self.chi2,
            self.unit,
            fit.join(" / "),
            self.why
        )
    }
}

/// Terms as a user writes them.
pub fn name(terms: &[Coef]) -> String {
    let word = |c: &Coef| match c {
        Coef::Coulomb => "coulomb",
        Coef::Viscous => "viscous",
        Coef::Drag => "quadratic",
        Coef::Stribeck => "stribeck",
        Coef::Transition => "corner",
        Coef::DeltaCoulomb => "asym-coulomb",
        Coef::DeltaViscous => "asym-viscous",
    };
    terms.iter().map(word).collect::<Vec<_>>().join("+")
}

/// The terms of a `--terms` list; `stribeck` brings its transition velocity, `asymmetry` both differences.
pub fn parse(text: &str) -> Option<Vec<Coef>> {
    let mut terms = Vec::new();
    for word in text.split([',', '+']) {
        match word.trim() {
            "coulomb" => terms.push(Coef::Coulomb),
            "viscous" => terms.push(Coef::Viscous),
            "quadratic" | "drag" => terms.push(Coef::Drag),
            "stribeck" => terms.extend([Coef::Stribeck, Coef::Transition]),
            "corner" => terms.push(Coef::Transition),
            "asymmetry" => terms.extend([Coef::DeltaCoulomb, Coef::DeltaViscous]),
            "asym-coulomb" => terms.push(Coef::DeltaCoulomb),
            "asym-viscous" => terms.push(Coef::DeltaViscous),
            _ => return None,
        }
    }
    // A term named twice, or brought by another, is one term.
    let mut once = Vec::new();
    for t in terms {
        if !once.contains(&t) {
            once.push(t);
        }
    }
    Some(once)
}

/// n·Σ ln(χ²_before/χ²_after) − (k_after − k_before)·ln n: by how much a candidate lowers the criterion.
fn gain(before: &Fitted, after: &Fitted) -> f64 {
    let n = after.effective / after.rms.len() as f64;
    let lower: f64 = before
        .rms
        .iter()
        .zip(&after.rms)
        .map(|(b, a)| 2.0 * number::ln(b / a))
        .sum();
    let more = after.model.free.len() as f64 - before.model.free.len() as f64;
    n * lower - more * number::ln(after.effective.max(2.0))
}

/// Choose the terms; the fit of the chosen ones and the marks of all candidates.
pub fn choose(motion: &FreeMotion) -> (Fitted, Vec<Candidate>) {
    let chooser = Chooser::new(motion);
    let first = motion.rig.base();
    let mut best = chooser.fit(&motion.model(first), None);
    let mut mark = chooser.mark(&best, first);
    let mut predicted = chooser.predict(&best);
    mark.held_out = Some(predicted);
    mark.why = "start".into();
    let mut table = vec![mark.clone()];
    let mut left: Vec<Addition> = motion
        .rig
        .additions()
        .iter()
        .map(|t| Addition::Terms(t))
        .collect();
    let mut rare = vec![Addition::Terms(&[Coef::DeltaCoulomb]), Addition::Load];
    rare.retain(|r| !left.contains(r));
    loop {
        if left.is_empty() && !rare.is_empty() && mark.chi2 > EXPLAINED {
            left = std::mem::take(&mut rare);
        }
        if left.is_empty() {
            break;
        }
        let mut round: Vec<(usize, Fitted, Candidate, f64)> = Vec::new();
        for (i, &add) in left.iter().enumerate() {
            let (model, terms) = chooser.with(&best.model, &mark.terms, add);
            let full = chooser.fit(&model, Some(&best));
            let candidate = chooser.mark(&full, &terms);
            let gain = gain(&best, &full);
            round.push((i, full, candidate, gain));
        }
        // The largest gain is asked for its prediction first; the first good one is taken.
        round.sort_by(|a, b| b.3.total_cmp(&a.3));
        let mut taken = None;
        for (k, (_, full, candidate, gain)) in round.iter_mut().enumerate() {
            if *gain < LEAST_GAIN {
                candidate.why = format!("no: BIC only {gain:.0} lower");
            } else if taken.is_some() {
                candidate.why = format!("not now: BIC {gain:.0} lower");
            } else if full.stderr.iter().any(|s| !s.is_finite()) {
                candidate.why = "no: a parameter has no influence".into();
            } else {
                let new = chooser.predict(full);
                candidate.held_out = Some(new);
                if new > HELD_OUT_SLACK * predicted {
                    candidate.why = format!(
                        "no: predicts worse, {new:.5} for {predicted:.5} {}",
                        candidate.unit
                    );
                } else {
                    candidate.why = format!("taken: BIC {gain:.0} lower, predicts no worse");
                    taken = Some(k);
                }
            }
            table.push(candidate.clone());
        }
        let Some((i, full, candidate, gain)) = taken.map(|k| round.swap_remove(k)) else {
            left.clear();
            continue;
        };
        predicted = candidate.held_out.unwrap_or(predicted);
        (best, mark) = (full, candidate);
        left.remove(i);
        // A last small gain is not worth another round over everything that is left.
        if gain < 40.0 && mark.chi2 <= EXPLAINED {
            break;
        }
    }
    for c in &mut table {
        c.chosen = c.terms == mark.terms && c.load == mark.load;
    }
    // The chosen terms once more, to full accuracy.
    let mut prepared = motion.prepared.clone();
    prepared.nodes = best.nodes.clone();
    let options = Options {
        stiffest: chooser.stiffest,
        ..Options::default()
    };
    let priors = &motion.freedom.priors;
    let fitted = fit(&motion.record, &prepared, &best.model, priors, &options);
    (fitted, table)
}

/// What every candidate is fitted with.
struct Chooser<'a> {
    motion: &'a FreeMotion,
    /// The first 70 %.
    head: Record,
    part: Prepared,
    /// A corner much steeper than the samples are dense cannot be seen, only paid for.
    stiffest: f64,
}

impl<'a> Chooser<'a> {
    fn new(motion: &'a FreeMotion) -> Chooser<'a> {
        let record = &motion.record;
        let head = record.slice(0..record.index(HEAD * record.duration()));
        let start = motion.model(motion.rig.base());
        Chooser {
            motion,
            part: Prepared::new(&head),
            head,
            stiffest: (STEEP_PER_SAMPLE / record.dt())
                .max(4.0 * stiffness(&start))
                .min(Options::default().stiffest),
        }
    }

    fn options(&self, iterations: usize) -> Options {
        Options {
            iterations,
            tolerance: 0.3,
            stiffest: self.stiffest,
        }
    }

    /// A fit of the whole record, from the motion of an earlier one.
    fn fit(&self, model: &Model, from: Option<&Fitted>) -> Fitted {
        let mut prepared = self.motion.prepared.clone();
        if let Some(f) = from {
            prepared.nodes = f.nodes.clone();
        }
        let priors = &self.motion.freedom.priors;
        fit(
            &self.motion.record,
            &prepared,
            model,
            priors,
            &self.options(20),
        )
    }

    fn mark(&self, fitted: &Fitted, terms: &[Coef]) -> Candidate {
        Candidate {
            terms: terms.to_vec(),
            load: fitted.model.load,
            chi2: fitted.residuals.chi2,
            held_out: None,
            unit: held_out_unit(self.motion),
            fit: fitted.fit.clone(),
            chosen: false,
            why: String::new(),
        }
    }

    /// The model with an addition, and its terms.
    fn with(&self, model: &Model, terms: &[Coef], add: Addition) -> (Model, Vec<Coef>) {
        let mut wider = terms.to_vec();
        let mut out = model.clone();
        match add {
            Addition::Load => {
                out.load = match model.load {
                    Load::Reaction => Load::Constant,
                    Load::Constant => Load::Reaction,
                };
            }
            Addition::Terms(list) => {
                wider.extend(list.iter().filter(|c| !terms.contains(c)));
                out = widened(self.motion, model, &wider);
                if list.contains(&Coef::Transition) && !terms.contains(&Coef::Transition) {
                    for j in 0..model.joints() {
                        let wide = WIDE_CORNER / self.motion.prepared.scale;
                        let vt = Param::Friction(Coef::Transition, j);
                        out.set(vt, out.get(vt).max(wide));
                    }
                }
            }
        }
        (out, wider)
    }

    /// RMS over the held-out part of a fit to the rest, from the motion already found, in one piece. Its corner stays: the
    /// fast first part hardly visits it.
    fn predict(&self, full: &Fitted) -> f64 {
        let whole = Prepared {
            segment: self.head.duration() + 1.0,
            nodes: vec![full.nodes[0]],
            ..self.part.clone()
        };
        let mut model = full.model.clone();
        model
            .free
            .retain(|p| !matches!(p, Param::Friction(Coef::Transition, _)));
        let priors = &self.motion.freedom.priors;
        held_out(
            self.motion,
            &fit(&self.head, &whole, &model, priors, &self.options(6)),
        )
    }
}

/// `model` with these friction terms free.
fn widened(motion: &FreeMotion, model: &Model, terms: &[Coef]) -> Model {
    let mut free = motion.freedom.free.clone();
    for j in 0..model.joints() {
        free.extend(terms.iter().map(|&c| Param::Friction(c, j)));
    }
    let mut out = model.clone();
    out.release(&free);
    out
}

/// RMS ([`held_out_unit`]) over the last 30 % of a free run of a model fitted to the first 70 %.
fn held_out(motion: &FreeMotion, head: &Fitted) -> f64 {
    let r = &motion.record;
    let from = r.index(HEAD * r.duration());
    let path = free_run(&head.model, &head.start, &r.t);
    let scale = held_out_scale(motion);
    let mut sum = 0.0;
    for i in from..r.t.len() {
        for j in 0..r.joints {
            sum += ((path[i][j] - r.q[i][j]) / scale[j]).powi(2);
        }
    }
    (sum / ((r.t.len() - from) * r.joints) as f64).sqrt()
}

/// Unit of the held-out RMS.
fn held_out_unit(motion: &FreeMotion) -> &'static str {
    let axes = Axes::of(&motion.rig.config());
    match axes.is_mixed() {
        false => axes.units(0).coordinate,
        true => "of the motion",
    }
}

/// What each joint's error is divided by: metres and radians do not add up, parts of each joint's own motion do.
fn held_out_scale(motion: &FreeMotion) -> [f64; 2] {
    if !Axes::of(&motion.rig.config()).is_mixed() {
        return [1.0; 2];
    }
    let r = &motion.record;
    std::array::from_fn(|j| {
        let n = r.q.len().max(1) as f64;
        let mean = r.q.iter().map(|q| q[j]).sum::<f64>() / n;
        let variance = r.q.iter().map(|q| (q[j] - mean).powi(2)).sum::<f64>() / n;
        variance.sqrt().max(f64::MIN_POSITIVE)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_named_twice_is_one_term() {
        let terms = parse("coulomb,corner,stribeck,coulomb").unwrap();
        let expected = [Coef::Coulomb, Coef::Transition, Coef::Stribeck];
        assert_eq!(terms, expected);
        assert!(parse("coulomb,magic").is_none());
    }
}
