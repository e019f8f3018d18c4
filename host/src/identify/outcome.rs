//! What a method found, in one form for all methods: a verdict, numbers with their uncertainty, and how well they fit.

use std::borrow::Cow;

use nalgebra::DMatrix;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::config::axes::Axes;
use crate::identify::data::free_motion::FreeMotion;
use crate::identify::data::record::fit_percent;
use crate::identify::model::motion::free_run;
use crate::identify::model::parametric::{Coef, Model, Param};
use crate::identify::verdict::Verdict;
use crate::number;

/// 97.5 % quantile of a normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// Half-width of a 95 % interval in standard errors when these come from `freedom` independent readings.
pub fn quantile(freedom: f64) -> f64 {
    if !(1.0..1e6).contains(&freedom) {
        return NORMAL;
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(NORMAL, |t| number::rounded(t.inverse_cdf(0.975)))
}

/// One estimated quantity.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Estimate {
    pub name: String,
    /// The name in ASCII, for machines.
    pub id: String,
    pub value: f64,
    /// Standard error with the rig's tolerances; absent where the method has none or the record shows nothing.
    pub stderr: Option<f64>,
    /// Standard error that the record alone leaves.
    pub record_stderr: Option<f64>,
    /// The 95 % interval.
    pub interval: Option<[f64; 2]>,
    pub unit: Cow<'static, str>,
    pub identifiable: bool,
    /// Why (not), or what else must be known about the number.
    pub why: String,
    /// Found beside what was asked for: a value of the rig, or a difference that may well be zero.
    #[serde(skip)]
    pub beside: bool,
}

impl Estimate {
    /// Identifiable when the 95 % interval excludes zero and is narrower than the estimate itself.
    pub fn new(
        name: impl Into<String>,
        value: f64,
        stderr: f64,
        unit: impl Into<Cow<'static, str>>,
    ) -> Estimate {
        let name: String = name.into();
        Estimate {
            id: name.clone(),
            name,
            value,
            stderr: None,
            record_stderr: None,
            interval: None,
            unit: unit.into(),
            identifiable: false,
            why: "the record has no sensitivity to it".into(),
            beside: false,
        }
        .with_errors(stderr, stderr, NORMAL)
    }

    /// A number that is no measurement.
    pub fn prior(name: impl Into<String>, value: f64, unit: &'static str, why: String) -> Estimate {
        Estimate {
            why,
            ..Estimate::new(name, value, f64::INFINITY, unit)
        }
    }

    pub fn called(mut self, id: impl Into<String>) -> Estimate {
        self.id = id.into();
        self
    }

    /// Not what was asked for.
    pub(crate) fn beside(mut self) -> Estimate {
        self.beside = true;
        self
    }

    /// Standard errors of the record alone and with the rig's tolerances; `quantile` of them are half the interval.
    fn with_errors(mut self, record: f64, total: f64, quantile: f64) -> Estimate {
        if !total.is_finite() {
            return self;
        }
        self.stderr = Some(total);
        self.record_stderr = Some(record);
        self.interval = Some([self.value - quantile * total, self.value + quantile * total]);
        let relative = total / self.value.abs().max(1e-300);
        self.identifiable = relative <= 0.5;
        self.why = if self.identifiable {
            String::new()
        } else {
            format!(
                "standard error is {:.0} % of the estimate",
                100.0 * relative.min(1e6)
            )
        };
        self
    }

    /// A difference or an offset of zero is a finding, not a lack of data.
    pub(crate) fn null(mut self) -> Estimate {
        if self.stderr.is_some() {
            self.identifiable = true;
            self.why.clear();
        }
        self
    }

    /// Not to be used, and why.
    pub fn withdraw(&mut self, why: &str) {
        self.identifiable = false;
        if self.why.is_empty() {
            self.why = why.into();
        }
    }

    /// Half of the 95 % interval.
    pub fn half_width(&self) -> Option<f64> {
        self.interval.map(|[lo, hi]| 0.5 * (hi - lo))
    }
}

/// What is left of the readings of a method that fits motion, in units of their σ.
#[derive(Clone, Debug, Default)]
pub struct Residuals {
    /// \[s\]
    pub t: Vec<f64>,
    pub r: Vec<[f64; 2]>,
    /// Standard deviation of a good reading \[rad\].
    pub sigma: [f64; 2],
    /// χ² per degree of freedom.
    pub chi2: f64,
    /// Variance inflation by what they show.
    pub inflation: f64,
}

/// Result of one method on one dataset: look at the verdict before any number.
///
/// ```
/// use stribeck::{Config, IdentifyOptions, Scenario, identify, read_log, simulate};
///
/// let folder = tempfile::tempdir()?;
/// let log = folder.path().join("run.mcap");
/// simulate(&log, &Config::default(), &Scenario::default(), 6.0)?;
/// let found = identify("ekf", &read_log(&log)?.dataset(), &IdentifyOptions::default())?;
/// println!("{:?}", found.verdict);
/// for e in &found.estimates {
///     println!("{} = {:.3e} {} {}", e.name, e.value, e.unit, if e.identifiable { "" } else { "(not identifiable)" });
/// }
/// assert!(found.estimate("μd1").is_some_and(|e| (e.value - 6e-4).abs() < 1e-4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Outcome {
    pub method: &'static str,
    pub verdict: Verdict,
    pub estimates: Vec<Estimate>,
    /// Of the estimates in their order and unit, as the record alone leaves it; none where the method has none.
    pub covariance: Option<DMatrix<f64>>,
    pub residuals: Option<Residuals>,
    /// Free-run fit per joint [%].
    pub fit: Vec<f64>,
    /// RMS of the free-run residual per joint.
    pub rms: Vec<f64>,
    /// Its unit: rad, m, or both in the order of the joints.
    pub rms_unit: Cow<'static, str>,
    /// The same in encoder counts, where the size of a count is known.
    pub rms_counts: Vec<Option<f64>>,
    /// Time taken \[s\].
    pub seconds: f64,
    /// Time per second of record and sample \[1\], eq. (54) of paper 000.
    pub normalised: f64,
    /// What the reader must know.
    pub notes: Vec<String>,
    /// Lines of a table that shows how terms were chosen.
    pub choice: Vec<String>,
    /// Free run at the record's times, for plots.
    pub path: Vec<[f64; 2]>,
}

/// What a method knows of the free parameters of its model.
pub struct Knowledge<'a> {
    pub model: &'a Model,
    /// Angles and velocities at the first sample.
    pub start: &'a [f64; 4],
    /// Standard errors of the free parameters; infinite where nothing is known.
    pub stderr: &'a [f64],
    pub covariance: Option<&'a DMatrix<f64>>,
    /// Independent readings behind the standard errors.
    pub freedom: f64,
}

impl Outcome {
    /// Of a method without a free run.
    pub fn bare(method: &'static str, verdict: Verdict, estimates: Vec<Estimate>) -> Outcome {
        Outcome {
            method,
            verdict,
            estimates,
            covariance: None,
            residuals: None,
            fit: Vec::new(),
            rms: Vec::new(),
            rms_unit: "rad".into(),
            rms_counts: Vec::new(),
            seconds: 0.0,
            normalised: 0.0,
            notes: Vec::new(),
            choice: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Estimates, free run and its fit from what a method knows.
    pub fn of(
        method: &'static str,
        verdict: Verdict,
        motion: &FreeMotion,
        known: &Knowledge,
    ) -> Outcome {
        let mut out = Outcome::bare(method, verdict, estimates(known));
        out.covariance = known.covariance.map(|c| {
            let factor: Vec<f64> = known
                .model
                .free
                .iter()
                .map(|&p| known.model.label(p).3)
                .collect();
            DMatrix::from_fn(c.nrows(), c.ncols(), |i, j| {
                factor[i] * factor[j] * c[(i, j)]
            })
        });
        let axes = Axes::of(&known.model.rig.config());
        out.rms_unit = axes.all(|u| u.coordinate).into();
        out.path = free_run(known.model, known.start, &motion.record.t);
        for j in 0..known.model.joints() {
            let measured = motion.record.joint(j);
            let run: Vec<f64> = out.path.iter().map(|q| q[j]).collect();
            out.fit.push(fit_percent(&measured, &run));
            let square = measured.iter().zip(&run).map(|(a, b)| (a - b).powi(2));
            let rms = (square.sum::<f64>() / measured.len() as f64).sqrt();
            out.rms.push(rms);
            let count = motion.record.quantum[j];
            out.rms_counts.push((count > 0.0).then(|| rms / count));
        }
        out
    }

    /// Time since `began`, also per sample of the record.
    pub fn timed(mut self, began: std::time::Instant, samples: f64) -> Outcome {
        self.seconds = began.elapsed().as_secs_f64();
        self.normalised = self.seconds / samples;
        self
    }

    /// The estimate with this name.
    pub fn estimate(&self, name: &str) -> Option<&Estimate> {
        self.estimates.iter().find(|e| e.name == name)
    }

    /// Whether any interval of what was asked for may be believed: a frequency without friction is no answer.
    pub fn identified(&self) -> bool {
        let found = |e: &Estimate| e.identifiable && !e.beside;
        self.verdict.holds() && self.estimates.iter().any(found)
    }
}

/// Estimates of all free parameters of a model, with what no motion shows added.
fn estimates(known: &Knowledge) -> Vec<Estimate> {
    let k = quantile(known.freedom);
    let one = |(&p, &s): (&Param, &f64)| {
        let (name, id, unit, factor) = known.model.label(p);
        let value = factor * known.model.get(p);
        let hidden = match p {
            Param::Friction(c, j) => known.model.rig.hidden(c, j) * value.abs(),
            _ => 0.0,
        };
        let record = factor * s;
        let total = (record * record + hidden * hidden).sqrt();
        let e = Estimate::new(name, value, f64::INFINITY, unit)
            .called(id)
            .with_errors(record, total, k);
        match p {
            Param::Offset(_) | Param::Disc(..) | Param::Rig(_) => e.null().beside(),
            Param::Friction(
                Coef::DeltaCoulomb | Coef::DeltaViscous | Coef::Preload | Coef::Wave(_),
                _,
            ) => e.null().beside(),
            Param::Friction(Coef::Transition, _) => logarithmic(e, k).beside(),
            Param::Friction(..) => dissipative(e),
        }
    };
    known.model.free.iter().zip(known.stderr).map(one).collect()
}

/// Friction takes energy: what is below zero of its interval is not friction.
fn dissipative(mut e: Estimate) -> Estimate {
    if let Some([lo, hi]) = &mut e.interval
        && e.value >= 0.0
    {
        (*lo, *hi) = (lo.max(0.0), hi.max(0.0));
    }
    e
}

/// The interval of a quantity that is known by its logarithm.
fn logarithmic(mut e: Estimate, quantile: f64) -> Estimate {
    if let Some(s) = e.stderr {
        let factor = number::exp((quantile * s / e.value.abs().max(1e-300)).min(50.0));
        e.interval = Some([e.value / factor, e.value * factor]);
    }
    e
}
