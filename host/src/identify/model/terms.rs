//! Which friction terms does the record support? Greedy choice, judged twice.
//!
//! Starting from Coulomb + viscous, the addition that lowers the Bayesian information criterion most is kept as long
//! as it also predicts the held-out last 30 % of the record no worse than before (fitted to the first 70 %, run freely
//! beyond). BIC = n·ln(χ²/n) + k·ln n, with n the number of independent stretches rather than of samples: residuals
//! of a model that is nearly right are strongly correlated.

use super::greybox::{Fitted, Options, Prepared, fit};
use super::model::{Coef, Model, Param};
use super::motion::{free_run, stiffness};
use super::subject::Subject;

/// A Stribeck peak is looked for from a corner this wide on [rad per time scale]: a peak narrower than what the
/// samples show has no influence, and the search would not move.
const WIDE_CORNER: f64 = 0.03;

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
    pub bic: f64,
    /// RMS of the free run over the held-out part [rad]; not computed where the criterion already says no.
    pub held_out: Option<f64>,
    pub fit: Vec<f64>,
    pub chosen: bool,
    /// Why it was (not) taken, for the table.
    pub why: String,
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
    terms.dedup();
    Some(terms)
}

/// Choose the terms; the fit of the chosen ones and the marks of all candidates.
pub fn choose(subject: &Subject) -> (Fitted, Vec<Candidate>) {
    let additions: &[&[Coef]] = if subject.rig.joints() == 1 {
        &[
            &[Coef::Drag],
            &[Coef::Stribeck, Coef::Transition],
            &[Coef::DeltaCoulomb],
        ]
    } else {
        &[&[Coef::Stribeck, Coef::Transition], &[Coef::Drag]]
    };
    let first_part = subject
        .record
        .slice(0..subject.record.index(0.7 * subject.record.duration()));
    let part = Prepared::new(&first_part);
    // A corner much steeper than the samples are dense cannot be seen, only paid for.
    let start = subject.model(&[Coef::Coulomb, Coef::Viscous]);
    let stiffest = (STEEP_PER_SAMPLE / subject.record.dt())
        .max(4.0 * stiffness(&start))
        .min(Options::default().stiffest);
    let judge = |model: &Model, nodes: Option<&Fitted>| -> (Fitted, Candidate) {
        let mut prepared = subject.prepared.clone();
        if let Some(f) = nodes {
            prepared.nodes = f.nodes.clone();
        }
        let options = Options {
            tolerance: 0.3,
            iterations: 20,
            stiffest,
        };
        let full = fit(&subject.record, &prepared, model, &[], &options);
        let n = (8 * subject.prepared.nodes.len()) as f64;
        let mean_square: f64 = (0..full.rms.len())
            .map(|j| (full.rms[j] / subject.prepared.data.sigma[j]).powi(2))
            .map(f64::ln)
            .sum::<f64>();
        let candidate = Candidate {
            terms: Vec::new(),
            bic: n * mean_square + model.free.len() as f64 * n.ln(),
            held_out: None,
            fit: full.fit.clone(),
            chosen: false,
            why: String::new(),
        };
        (full, candidate)
    };
    // RMS over the held-out part of a fit to the rest, from the motion already found, in one piece. Its corner stays: the
    // fast first part hardly visits it.
    let predict = |full: &Fitted| -> f64 {
        let options = Options {
            iterations: 6,
            tolerance: 0.3,
            stiffest,
        };
        let whole = Prepared {
            segment: first_part.duration() + 1.0,
            nodes: vec![full.nodes[0]],
            ..part.clone()
        };
        let mut head = full.model.clone();
        head.free
            .retain(|p| !matches!(p, Param::Friction(Coef::Transition, _)));
        held_out(subject, &fit(&first_part, &whole, &head, &[], &options))
    };
    let mut terms = vec![Coef::Coulomb, Coef::Viscous];
    let (mut best, mut mark) = judge(&start, None);
    let mut predicted = predict(&best);
    mark.held_out = Some(predicted);
    mark.terms = terms.clone();
    mark.why = "start".into();
    let mut table = vec![mark.clone()];
    let mut left: Vec<&[Coef]> = additions.to_vec();
    while !left.is_empty() {
        let mut round: Vec<(usize, Fitted, Candidate)> = Vec::new();
        for (i, add) in left.iter().enumerate() {
            let mut wider = terms.clone();
            wider.extend(add.iter().filter(|c| !terms.contains(c)));
            let mut model = widened(subject, &best.model, &wider);
            if add.contains(&Coef::Transition) && !terms.contains(&Coef::Transition) {
                for j in 0..model.joints() {
                    let wide = WIDE_CORNER / subject.prepared.scale;
                    let vt = Param::Friction(Coef::Transition, j);
                    model.set(vt, model.get(vt).max(wide));
                }
            }
            let (full, mut candidate) = judge(&model, Some(&best));
            candidate.terms = wider;
            round.push((i, full, candidate));
        }
        // The lowest criterion is asked for its prediction first; the first good one is taken.
        round.sort_by(|a, b| a.2.bic.total_cmp(&b.2.bic));
        let mut taken = None;
        for (k, (_, full, candidate)) in round.iter_mut().enumerate() {
            let gain = mark.bic - candidate.bic;
            if gain < LEAST_GAIN {
                candidate.why = format!("no: BIC only {gain:.0} lower");
            } else if taken.is_some() {
                candidate.why = format!("not now: BIC {gain:.0} lower");
            } else if full.stderr.iter().any(|s| !s.is_finite()) {
                candidate.why = "no: a parameter has no influence".into();
            } else {
                let new = predict(full);
                candidate.held_out = Some(new);
                if new > HELD_OUT_SLACK * predicted {
                    candidate.why = format!("no: predicts worse, {new:.5} for {predicted:.5} rad");
                } else {
                    candidate.why = format!("taken: BIC {gain:.0} lower, predicts no worse");
                    taken = Some(k);
                }
            }
            table.push(candidate.clone());
        }
        let Some((i, full, candidate)) = taken.map(|k| round.swap_remove(k)) else {
            break;
        };
        let before = mark.bic;
        terms = candidate.terms.clone();
        predicted = candidate.held_out.unwrap_or(predicted);
        (best, mark) = (full, candidate);
        left.remove(i);
        left.retain(|add| add.iter().any(|c| !terms.contains(c)));
        // A last small gain is not worth another round over everything that is left.
        if before - mark.bic < 40.0 {
            break;
        }
    }
    for c in &mut table {
        c.chosen = c.terms == terms;
    }
    // The chosen terms once more, to full accuracy.
    let mut prepared = subject.prepared.clone();
    prepared.nodes = best.nodes.clone();
    let fitted = fit(
        &subject.record,
        &prepared,
        &best.model,
        &[],
        &Options {
            stiffest,
            ..Options::default()
        },
    );
    (fitted, table)
}

/// `model` with these friction terms free.
fn widened(subject: &Subject, model: &Model, terms: &[Coef]) -> Model {
    let mut free = subject.free_rig.clone();
    for j in 0..model.joints() {
        free.extend(terms.iter().map(|&c| Param::Friction(c, j)));
    }
    Model {
        offset: model.offset,
        ..Model::new(model.rig, model.friction, &free)
    }
}

/// RMS [rad] over the last 30 % of a free run of a model fitted to the first 70 %.
fn held_out(subject: &Subject, head: &Fitted) -> f64 {
    let r = &subject.record;
    let from = r.index(0.7 * r.duration());
    let path = free_run(&head.model, &head.start, &r.t);
    let mut sum = 0.0;
    for i in from..r.t.len() {
        for j in 0..r.joints {
            sum += (path[i][j] - r.q[i][j]).powi(2);
        }
    }
    (sum / ((r.t.len() - from) * r.joints) as f64).sqrt()
}
