//! Whether the model explains the record: said before any number, by every method.
//!
//! A verdict comes from a method's own residuals: their size against the noise of the readings, how they hang together,
//! and, where the model fails, the pattern they leave, which names the likely cause.

use serde::Serialize;

use crate::identify::fit::uncertainty::lag_one;
use crate::number;

/// χ² per degree of freedom of a model that explains its record; clean records of two joints lie at 1.00 to 1.01.
pub const EXPLAINED: f64 = 1.5;
/// Misfit smaller than this part of a count is no pattern anybody can name: it is in the inflation.
pub const FINEST: f64 = 1.0 / 16.0;
/// Variance inflation that goes without saying.
const INFLATED: f64 = 2.0;
/// Share of the residuals' square that a pattern must explain to be named.
const NAMED: f64 = 0.3;

/// What the residuals look like, and what usually makes them so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// The same all the time.
    Constant,
    /// Once per revolution of the joint.
    Revolution,
    /// Large where the joint turns round.
    Reversal,
    /// Proportional to time and speed.
    Growing,
    /// The measured motion is the model's, mirrored.
    Mirrored,
    /// Friction would have to drive.
    Driving,
    /// None of these.
    Unnamed,
}

impl Pattern {
    /// For a reader: pattern and likely cause.
    pub fn wording(self) -> &'static str {
        match self {
            Pattern::Constant => "a constant offset: the zero of an encoder is off",
            Pattern::Revolution => "once per revolution: an eccentric encoder or a cable's spring",
            Pattern::Reversal => "at reversals: presliding, backlash or a friction law with memory",
            Pattern::Growing => "growing with time: the clock, or a rig that is not as configured",
            Pattern::Mirrored => "mirrored: a channel is reversed",
            Pattern::Driving => "friction would have to drive: a push, or a wrong rig",
            Pattern::Unnamed => {
                "no simple pattern: another friction law, a moving base, or a disturbance"
            }
        }
    }
}

/// The judgement of one method on one dataset.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// Residuals are the noise of the readings.
    Explained,
    /// They are a little more, in no harmful pattern: variances were multiplied.
    Inflated { variance: f64 },
    /// No interval holds.
    NotExplained { pattern: Pattern },
    /// The search did not end at a minimum.
    NotConverged,
    /// The numbers are a prior: no record can confirm them.
    Prior,
}

impl Verdict {
    /// Intervals may be believed.
    pub fn holds(self) -> bool {
        matches!(self, Verdict::Explained | Verdict::Inflated { .. })
    }

    /// One line for a table's head.
    pub fn line(self) -> String {
        match self {
            Verdict::Explained => "explained: what is left is the noise of the readings".into(),
            Verdict::Inflated { variance } => format!(
                "explained with inflated uncertainty: standard errors × {:.1} for what is left",
                variance.sqrt()
            ),
            Verdict::NotExplained { pattern } => format!(
                "not explained: the model does not explain this record, no interval holds; what is left is {}",
                pattern.wording()
            ),
            Verdict::NotConverged => "not converged: no interval holds".into(),
            Verdict::Prior => "not judged: a prior, not a measurement".into(),
        }
    }
}

/// Residuals of one joint in units of the readings' σ, with the motion they belong to.
#[derive(Clone, Copy, Debug)]
pub struct Left<'a> {
    /// \[s\]
    pub t: &'a [f64],
    /// Angles \[rad\] and velocities [rad/s] of the model.
    pub q: &'a [f64],
    pub w: &'a [f64],
    pub r: &'a [f64],
}

/// The pattern that explains most of the residuals of the worst joint.
pub fn pattern(joints: &[Left]) -> Pattern {
    let square = |r: &[f64]| r.iter().map(|r| r * r).sum::<f64>();
    let worst = joints.iter().max_by(|a, b| {
        let mean = |l: &Left| square(l.r) / l.r.len().max(1) as f64;
        mean(a).total_cmp(&mean(b))
    });
    let Some(l) = worst.filter(|l| l.r.len() > 20 && square(l.r) > 0.0) else {
        return Pattern::Unnamed;
    };
    let ones: Vec<f64> = vec![1.0; l.r.len()];
    let sin: Vec<f64> = l.q.iter().map(|q| number::sin(*q)).collect();
    let cos: Vec<f64> = l.q.iter().map(|q| number::cos(*q)).collect();
    let late: Vec<f64> = l.t.iter().zip(l.w).map(|(t, w)| t * w).collect();
    let typical = (square(l.w) / l.w.len() as f64).sqrt();
    let slow = |w: f64| w.abs() < 0.15 * typical;
    let count = l.w.iter().filter(|w| slow(**w)).count();
    let turning: f64 =
        l.r.iter()
            .zip(l.w)
            .filter(|(_, w)| slow(**w))
            .map(|(r, _)| r * r)
            .sum::<f64>()
            / square(l.r);
    // How much more of the residuals lies at reversals than of the time.
    let excess = turning - count as f64 / l.r.len() as f64;
    let constant = share(l.r, &[&ones]);
    let candidates = [
        (Pattern::Constant, constant),
        (Pattern::Growing, share(l.r, &[&late])),
        (
            Pattern::Revolution,
            share(l.r, &[&ones, &sin, &cos]) - constant,
        ),
        (Pattern::Reversal, excess),
    ];
    let best = candidates
        .into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|b| b.1 > NAMED);
    best.map_or(Pattern::Unnamed, |b| b.0)
}

/// Share of Σ r² that the least squares of these columns explain.
fn share(r: &[f64], columns: &[&[f64]]) -> f64 {
    let mut eq = crate::identify::fit::triangle::Triangle::new(columns.len());
    for i in 0..r.len() {
        let mut row: Vec<f64> = columns.iter().map(|c| c[i]).collect();
        row.push(r[i]);
        eq.add(&mut row);
    }
    let square: f64 = r.iter().map(|r| r * r).sum();
    1.0 - eq.residual() / square
}

/// From the size of standardised residuals and the variance inflation they ask for. `benign`: χ² up to which misfit without
/// a named pattern is covered by inflation.
pub fn judge(chi2: f64, inflation: f64, benign: f64, pattern: impl Fn() -> Pattern) -> Verdict {
    if !chi2.is_finite() {
        return Verdict::NotConverged;
    }
    match () {
        () if chi2 <= EXPLAINED && inflation <= INFLATED => Verdict::Explained,
        () if chi2 <= benign.max(EXPLAINED) => Verdict::Inflated {
            variance: inflation,
        },
        () => Verdict::NotExplained { pattern: pattern() },
    }
}

/// Of residuals whose noise is not known beforehand: white ones are explained, others inflated.
pub fn by_whiteness(r: &[f64]) -> (Verdict, f64) {
    let rho = lag_one(r);
    let limit = 2.0 / (r.len().max(1) as f64).sqrt();
    if rho < limit {
        return (Verdict::Explained, 1.0);
    }
    let variance = crate::identify::fit::uncertainty::autoregression(rho);
    (Verdict::Inflated { variance }, variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(make: impl Fn(f64, f64, f64) -> f64) -> Pattern {
        let t: Vec<f64> = (0..2000).map(|i| 0.01 * f64::from(i)).collect();
        let q: Vec<f64> = t.iter().map(|t| 1.5 * (4.0 * t).cos()).collect();
        let w: Vec<f64> = t.iter().map(|t| -6.0 * (4.0 * t).sin()).collect();
        let r: Vec<f64> = (0..t.len())
            .map(|i| make(t[i], q[i], w[i]) + 0.3 * (f64::from(i as u32) * 1.7).sin())
            .collect();
        pattern(&[Left {
            t: &t,
            q: &q,
            w: &w,
            r: &r,
        }])
    }

    #[test]
    fn patterns_are_named_by_their_cause() {
        assert_eq!(of(|_, _, _| 3.0), Pattern::Constant);
        assert_eq!(of(|_, q, _| 3.0 * (q + 0.4).sin()), Pattern::Revolution);
        assert_eq!(of(|t, _, w| 0.2 * t * w), Pattern::Growing);
        assert_eq!(
            of(|t, _, w| if w.abs() < 0.5 {
                5.0 * (40.0 * t).sin()
            } else {
                0.0
            }),
            Pattern::Reversal
        );
        assert_eq!(of(|t, _, _| 3.0 * (17.0 * t).sin()), Pattern::Unnamed);
    }

    #[test]
    fn size_decides_first() {
        let never = || -> Pattern { unreachable!() };
        assert_eq!(judge(1.0, 1.2, 1.5, never), Verdict::Explained);
        assert!(judge(1.0, 9.0, 1.5, never).holds());
        let not = judge(3.0, 9.0, 1.5, || Pattern::Growing);
        assert!(!not.holds() && not.line().contains("clock"));
        assert!(judge(3.0, 9.0, 10.0, never).holds());
        assert_eq!(judge(f64::NAN, 1.0, 1.5, never), Verdict::NotConverged);
    }
}
