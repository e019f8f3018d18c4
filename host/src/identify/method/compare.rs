//! Methods against each other: estimates whose intervals exclude each other are an alarm, never ranked by fit.

use serde::Serialize;

use crate::identify::outcome::Outcome;

/// Two methods that cannot both be right.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conflict {
    pub parameter: String,
    pub methods: [&'static str; 2],
    pub values: [f64; 2],
    /// Distance of the estimates in standard errors of their difference.
    pub sigmas: f64,
}

impl Conflict {
    pub fn line(&self) -> String {
        format!(
            "{}: {} says {:.4e}, {} says {:.4e}, {:.1} standard errors apart: at least one model is wrong. Likely a friction law that \
             neither has (presliding, position, load), a rig that is not as configured, or a disturbance; look at --plot",
            self.parameter,
            self.methods[0],
            self.values[0],
            self.methods[1],
            self.values[1],
            self.sigmas
        )
    }
}

/// Every pair of identifiable estimates of one parameter whose 95 % intervals do not overlap.
pub fn conflicts(outcomes: &[Outcome]) -> Vec<Conflict> {
    let mut found = Vec::new();
    for (k, a) in outcomes.iter().enumerate() {
        for b in &outcomes[k + 1..] {
            for ea in a.estimates.iter().filter(|e| e.identifiable) {
                let Some(eb) = b.estimates.iter().find(|e| e.id == ea.id && e.identifiable) else {
                    continue;
                };
                let (Some(ia), Some(ib), Some(sa), Some(sb)) =
                    (ea.interval, eb.interval, ea.record_stderr, eb.record_stderr)
                else {
                    continue;
                };
                if ia[1] < ib[0] || ib[1] < ia[0] {
                    let spread = (sa * sa + sb * sb).sqrt();
                    found.push(Conflict {
                        parameter: ea.name.clone(),
                        methods: [a.method, b.method],
                        values: [ea.value, eb.value],
                        sigmas: (ea.value - eb.value).abs() / spread,
                    });
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identify::outcome::Estimate;
    use crate::identify::verdict::Verdict;

    fn outcome(method: &'static str, value: f64, stderr: f64) -> Outcome {
        let e = Estimate::new("c", value, stderr, "N·m");
        Outcome::bare(method, Verdict::Explained, vec![e])
    }

    #[test]
    fn intervals_that_exclude_each_other_are_an_alarm() {
        let a = outcome("a", 1.0, 0.01);
        assert!(conflicts(&[a.clone(), outcome("b", 1.03, 0.01)]).is_empty());
        let found = conflicts(&[a.clone(), outcome("b", 1.05, 0.01)]);
        assert_eq!(found.len(), 1);
        assert!(found[0].line().contains("c: a says") && found[0].sigmas > 3.0);
        // What is not identifiable cannot contradict.
        assert!(conflicts(&[a, outcome("b", 2.0, 1.5)]).is_empty());
    }
}
