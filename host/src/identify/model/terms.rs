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
use crate::identify::model::parametric::{Coef, Load, Model, Param, WAVES};
use crate::number;

/// A Stribeck peak is looked for from a corner this wide on [rad per time scale]: a peak narrower than what the
/// samples show has no influence, and the search would not move.
const WIDE_CORNER: f64 = 0.03;

/// Part of the record that the rest is predicted from.
const HEAD: f64 = 0.7;

/// Steepest friction over inertia that is tried, per sample.
const STEEP_PER_SAMPLE: f64 = 10.0;
/// Steepest that is tried at all [1/s]: a corner that is passed within a tenth of a millisecond shows nothing but its impulse.
const STEEPEST: f64 = 1e4;
/// A term must lower the criterion by this much …
const LEAST_GAIN: f64 = 6.0;
/// … and predict the held-out part no worse than this many times before.
const HELD_OUT_SLACK: f64 = 1.05;

/// While the record is explained, drag must lower it by this much: where the rig's levers are a little off, a tiny drag of either sign
/// always helps a little.
const DRAG_GAIN: f64 = 40.0;
/// The model of everything is worth having when it lowers χ² this many times, or explains the record.
const WORTH: f64 = 10.0;
/// What is this many standard errors from zero stays in it.
const SEEN: f64 = 3.0;

/// One candidate and its marks.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub terms: Vec<Coef>,
    /// What the Coulomb term is proportional to.
    pub load: Load,
    /// Of the rig, beyond what is always free.
    pub beyond: Vec<Param>,
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

/// What is rarely needed of two joints, in groups that come and go together.
const RARE: [&[Coef]; 4] = [
    &[Coef::Drag],
    &[Coef::DeltaCoulomb],
    &[Coef::Preload],
    &WAVES,
];
/// The discs of both joints.
const DISCS: [Param; 4] = [
    Param::Disc(0, 0),
    Param::Disc(0, 1),
    Param::Disc(1, 0),
    Param::Disc(1, 1),
];

impl Candidate {
    fn name(&self) -> String {
        let load = match self.load {
            Load::Reaction => "load",
            Load::Constant => "constant",
        };
        let disc = self.beyond.iter().any(|p| matches!(p, Param::Disc(..)));
        let cable = self.beyond.iter().any(|p| matches!(p, Param::Rig(_)));
        let more = match (disc, cable) {
            (false, false) => "",
            (true, false) => "+discs",
            (false, true) => "+cable",
            (true, true) => "+discs+cable",
        };
        format!("{}{more} ({load})", name(&self.terms))
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
    let mut out: Vec<&str> = Vec::new();
    let word = |c: &Coef| match c {
        Coef::Coulomb => "coulomb",
        Coef::Viscous => "viscous",
        Coef::Drag => "quadratic",
        Coef::Stribeck => "stribeck",
        Coef::Transition => "corner",
        Coef::DeltaCoulomb => "asym-coulomb",
        Coef::DeltaViscous => "asym-viscous",
        Coef::Preload => "preload",
        Coef::Wave(_) => "position",
    };
    for w in terms.iter().map(word) {
        if !out.contains(&w) {
            out.push(w);
        }
    }
    out.join("+")
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
            "preload" => terms.push(Coef::Preload),
            "position" => terms.extend(WAVES),
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
    // Two joints show so much that all of it is tried at once, below.
    let mut rare = match motion.rig.joints() {
        1 => vec![
            Addition::Terms(&[Coef::DeltaCoulomb]),
            Addition::Load,
            Addition::Terms(&WAVES),
        ],
        _ => Vec::new(),
    };
    rare.retain(|r| !left.contains(r));
    loop {
        if left.is_empty() && !rare.is_empty() && !chooser.explained(&best) {
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
        let explained = chooser.explained(&best);
        let round_index: Vec<usize> = round.iter().map(|r| r.0).collect();
        for (k, (_, full, candidate, gain)) in round.iter_mut().enumerate() {
            let least = match left[round_index[k]] {
                Addition::Terms(&[Coef::Drag]) if explained => DRAG_GAIN,
                _ => LEAST_GAIN,
            };
            if *gain < least {
                candidate.why = format!("no: BIC only {gain:.0} lower");
            } else if taken.is_some() {
                candidate.why = format!("not now: BIC {gain:.0} lower");
            } else if full.stderr.iter().any(|s| !s.is_finite()) {
                candidate.why = "no: a parameter has no influence".into();
            } else if drives(full) {
                candidate.why = "no: friction would have to drive".into();
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
        if gain < 40.0 && chooser.explained(&best) {
            break;
        }
    }
    if motion.rig.joints() == 2
        && !chooser.explained(&best)
        && let Some((full, mut candidate)) = chooser.everything(&best, predicted, &mut table)
    {
        candidate.chosen = true;
        best = full;
        mark = candidate;
    }
    let chosen = mark.name();
    for c in &mut table {
        c.chosen = c.name() == chosen;
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
                .min(STEEPEST),
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
            beyond: {
                let usual = &self.motion.freedom.free;
                let more = |p: &&Param| !matches!(p, Param::Friction(..)) && !usual.contains(p);
                fitted.model.free.iter().filter(more).copied().collect()
            },
            chi2: fitted.residuals.chi2,
            held_out: None,
            unit: held_out_unit(self.motion),
            fit: fitted.fit.clone(),
            chosen: false,
            why: String::new(),
        }
    }

    /// What is left is the noise of the readings, or too small a part of a count to name.
    fn explained(&self, fitted: &Fitted) -> bool {
        fitted.explained(&self.motion.record)
    }

    /// Every law and every part of the rig at once, then without what is not seen. None where that does not help.
    fn everything(
        &self,
        best: &Fitted,
        predicted: f64,
        table: &mut Vec<Candidate>,
    ) -> Option<(Fitted, Candidate)> {
        let corner: &[Coef] = &[Coef::Stribeck, Coef::Transition];
        let mut terms = self.motion.rig.base().to_vec();
        let wide = Addition::Terms(corner);
        let (with_corner, _) = self.with(&best.model, &terms, wide);
        terms.extend(corner);
        terms.extend(RARE.into_iter().flatten());
        let mut model = widened(self.motion, &with_corner, &terms);
        let mut free = model.free.clone();
        free.extend(DISCS);
        free.extend(self.motion.rig.parameter("cable"));
        model.release(&free);
        let full = self.fit(&model, Some(best));
        let mut candidate = self.mark(&full, &terms);
        let worth =
            |f: &Fitted| self.explained(f) || f.residuals.chi2 * WORTH < best.residuals.chi2;
        if !worth(&full) {
            candidate.why = "no: does not explain the record either".into();
            table.push(candidate);
            return None;
        }
        candidate.why = "explains more".into();
        table.push(candidate);
        // Without what is not seen.
        let seen = |p: Param| {
            let at = full.model.place(p);
            at.is_some_and(|i| full.model.get(p).abs() > SEEN * full.stderr[i])
        };
        let mut lean = full.model.clone();
        let mut kept = self.motion.rig.base().to_vec();
        kept.extend(corner);
        for group in RARE {
            let of_group = |p: &&Param| matches!(p, Param::Friction(c, _) if group.contains(c));
            let params: Vec<Param> = full.model.free.iter().filter(of_group).copied().collect();
            if params.iter().any(|p| seen(*p)) {
                kept.extend(group);
            } else {
                params.iter().for_each(|p| lean.set(*p, 0.0));
            }
        }
        let discs = DISCS.into_iter().any(seen);
        let cable = self.motion.rig.parameter("cable").filter(|p| seen(*p));
        let mut free = widened(
            self.motion,
            &model_without_beyond(&lean, self.motion),
            &kept,
        )
        .free;
        if discs {
            free.extend(DISCS);
        } else {
            DISCS.into_iter().for_each(|p| lean.set(p, 0.0));
        }
        match (cable, self.motion.rig.parameter("cable")) {
            (Some(p), _) => free.push(p),
            (None, Some(p)) => lean.set(p, 0.0),
            (None, None) => {}
        }
        lean.release(&free);
        let found = self.fit(&lean, Some(&full));
        let mut candidate = self.mark(&found, &kept);
        let new = self.predict(&found);
        candidate.held_out = Some(new);
        let good = worth(&found) && new <= HELD_OUT_SLACK * predicted;
        candidate.why = match good {
            true => "taken: explains more with what is seen, predicts no worse".into(),
            false => {
                format!("no: predicts worse, {new:.5} for {predicted:.5} rad, or explains less")
            }
        };
        table.push(candidate.clone());
        good.then_some((found, candidate))
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

/// A coefficient is negative beyond its interval.
fn drives(f: &Fitted) -> bool {
    let negative = |(p, s): (&Param, &f64)| p.dissipates() && f.model.get(*p) < -SEEN * s;
    f.model.free.iter().zip(&f.stderr).any(negative)
}

/// `model` with nothing free of the rig but what always is.
fn model_without_beyond(model: &Model, motion: &FreeMotion) -> Model {
    let mut out = model.clone();
    out.release(&motion.freedom.free);
    out
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
