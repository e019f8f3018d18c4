//! `stribeck derive`: equations of motion of a mechanism, by Lagrange and by Kane, proved equal.
//!
//! The mechanism is one of the repository's (`stribeck derive` lists them), `nlink3` for three links on a cart, or a description in TOML.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stribeck_derive::catalogue::{self, n_link_on_cart};
use stribeck_derive::code;
use stribeck_derive::expr::Ex;
use stribeck_derive::kane::{self, Kane};
use stribeck_derive::lagrange::{self, Lagrange};
use stribeck_derive::linear::{Matrix, equations, linearise};
use stribeck_derive::mechanism::Mechanism;
use stribeck_derive::motion::Step;
use stribeck_derive::page::{page, verdict};
use stribeck_derive::print::{Format, equation, formula, reduced_equation};
use stribeck_derive::proof::{Identity, Proof, prove};
use stribeck_derive::reaction::reactions;

use crate::cli::exit::Exit;
use crate::error::Error;
use crate::file;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Method {
    Lagrange,
    Kane,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    Text,
    Latex,
    Mathml,
    /// A page with steps, proof, schematic and animation that needs nothing else
    Html,
    /// The source of a plant
    Rust,
}

/// Derive a mechanism's equations of motion by Lagrange and by Kane, and prove them equal
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stribeck derive                                   the mechanisms of the repository
  stribeck derive acrobot --steps                   every step of both methods
  stribeck derive furuta --check                    the three proofs; exits with 4 if one fails
  stribeck derive mine.toml --format html -o mine.html
  stribeck derive nlink3 --method kane --format latex

How a description is written: derive/mechanisms/*.toml and CONTRIBUTING.md.")]
pub struct Args {
    /// Name of a mechanism, nlinkN, or a description in TOML; without it the mechanisms are listed
    mechanism: Option<String>,
    /// Whose equations to print
    #[arg(long, value_enum, default_value_t = Method::Both)]
    method: Method,
    /// What to write
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
    /// Every step, the joint reactions and the linearisation
    #[arg(long)]
    steps: bool,
    /// Prove Lagrange = Kane: canonical forms, points of a finite field, random states
    #[arg(long)]
    check: bool,
    /// Write to this file instead of standard output
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long, requires = "output")]
    force: bool,
    /// Machine-readable result on standard output
    #[arg(long)]
    json: bool,
}

/// A mechanism, derived both ways.
struct Derivation {
    m: Mechanism,
    l: Lagrange,
    k: Kane,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let Some(name) = &args.mechanism else {
        for e in catalogue::ALL {
            println!("{:<16} {}", e.name, e.title);
        }
        println!("{:<16} n links on a cart", "nlinkN");
        return Ok(Exit::Success);
    };
    if let Some(path) = &args.output {
        file::may_write(path, args.force, &[Path::new(name)])?;
    }
    let m = read(name)?;
    let d = Derivation {
        l: lagrange::derive(&m).map_err(invalid)?,
        k: kane::derive(&m).map_err(invalid)?,
        m,
    };
    let wanted = args.check || args.json || args.format == Output::Html;
    let proof = match wanted {
        true => Some(prove(&d.m, &d.l, &d.k).map_err(invalid)?),
        false => None,
    };
    let text = if args.json {
        serde_json::to_string_pretty(&d.json(&args, proof.as_ref())?)? + "\n"
    } else {
        d.text(&args, proof.as_ref())?
    };
    match &args.output {
        None => print!("{text}"),
        Some(path) => {
            file::replace(path, text)?;
            eprintln!("wrote {}", path.display());
        }
    }
    Ok(match proof {
        Some(p) if !p.holds() => Exit::Differs,
        _ => Exit::Success,
    })
}

fn invalid(e: stribeck_derive::Error) -> Error {
    Error::invalid(
        e.to_string(),
        "derive/mechanisms/*.toml are working descriptions, CONTRIBUTING.md explains one",
    )
}

fn read(name: &str) -> anyhow::Result<Mechanism> {
    if let Some(entry) = catalogue::find(name) {
        return Ok(Mechanism::read(entry.toml).map_err(invalid)?);
    }
    if let Some(n) = name.strip_prefix("nlink").and_then(|n| n.parse().ok()) {
        let n: usize = n;
        if !(1..=12).contains(&n) {
            return Err(Error::invalid(
                format!("{name}: 1 to 12 links are possible"),
                "try nlink3",
            )
            .into());
        }
        return Ok(n_link_on_cart(n).and_then(|d| d.build()).map_err(invalid)?);
    }
    let path = Path::new(name);
    if !path.exists() && path.extension().is_none() {
        let names: Vec<&str> = catalogue::ALL.iter().map(|e| e.name).collect();
        let what = format!("`{name}` is neither a mechanism nor a file");
        return Err(Error::invalid(
            what,
            format!(
                "there are {}, nlinkN, and descriptions in TOML",
                names.join(", ")
            ),
        )
        .into());
    }
    let toml = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
    let located = |e: stribeck_derive::Error| {
        let help =
            "derive/mechanisms/*.toml are working descriptions, CONTRIBUTING.md explains one";
        Error::invalid(format!("{}: {e}", path.display()), help)
    };
    Ok(Mechanism::read(&toml).map_err(located)?)
}

impl Derivation {
    fn methods(&self, method: Method) -> Vec<(&'static str, &[Step])> {
        let both = [
            ("Lagrange", &self.l.motion.steps[..]),
            ("Kane", &self.k.motion.steps[..]),
        ];
        match method {
            Method::Both => both.to_vec(),
            Method::Lagrange => both[..1].to_vec(),
            Method::Kane => both[1..].to_vec(),
        }
    }

    fn equations(&self, method: Method, f: Format) -> anyhow::Result<Vec<String>> {
        let motion = if method == Method::Kane {
            &self.k.motion
        } else {
            &self.l.motion
        };
        if self.m.is_free() {
            return Ok((0..self.m.dof())
                .map(|r| equation(&self.m, motion, r, f))
                .collect());
        }
        let eq = equations(&self.m, motion).map_err(invalid)?;
        let rates = self.m.w.iter().zip(&eq.q_rates).filter(|p| p.0 != p.1);
        let rates = rates.map(|(q, rate)| format!("{} = {}", formula(*q, f), formula(*rate, f)));
        let motion = (0..eq.speeds.len()).map(|r| reduced_equation(&eq, r, f));
        Ok(motion.chain(rates).collect())
    }

    fn text(&self, args: &Args, proof: Option<&Proof>) -> anyhow::Result<String> {
        let f = match args.format {
            Output::Html => {
                let proof = proof.expect("the page is made with its proof");
                return Ok(page(&self.m, &self.l, &self.k, proof).map_err(invalid)?);
            }
            Output::Rust => {
                let source = code::plant(&self.m, &self.l, &self.k).map_err(invalid)?;
                return Ok(code::rustfmt(&source.text).unwrap_or(source.text));
            }
            Output::Text => Format::Text,
            Output::Latex => Format::Latex,
            Output::Mathml => Format::MathMl,
        };
        let mut out = String::new();
        if args.steps {
            for (name, steps) in self.methods(args.method) {
                out += &format!("{name}\n");
                for s in steps {
                    out += &step(s, f);
                }
                out += "\n";
            }
            out += &self.reactions(f);
            out += &self.linear(f)?;
            out += "Equations of motion\n";
        }
        for line in self.equations(args.method, f)? {
            out += &format!("{line}\n");
        }
        if args.check
            && let Some(p) = proof
        {
            out += &check(p);
        }
        Ok(out)
    }

    /// Force in every joint, accelerations as symbols.
    fn reactions(&self, f: Format) -> String {
        let r = reactions(&self.m, &self.k);
        let mut out = "Joint reactions [N], in the body's frame\n".to_string();
        for (b, force) in self.m.bodies.iter().zip(&r.force) {
            let parts: Vec<String> = force.iter().map(|e| formula(*e, f)).collect();
            out += &format!("  {}: ({})\n", b.name, parts.join(", "));
        }
        out + "\n"
    }

    fn linear(&self, f: Format) -> anyhow::Result<String> {
        let mut out = String::new();
        for at in &self.m.equilibria {
            let lin = linearise(&self.m, &self.l.motion, at).map_err(invalid)?;
            let states: Vec<String> = lin.states.iter().map(|e| formula(*e, f)).collect();
            out += &format!(
                "Linearised about \"{}\", x = ({})\n",
                at.name,
                states.join(", ")
            );
            if !lin.inputs.is_empty()
                && let Some(n) = lin.controllable_states()
            {
                out += &format!("  {n} of {} states are controllable\n", states.len());
            }
            if let Some((a, b)) = lin.formulas() {
                for (name, matrix) in [("A", &a), ("B", &b)] {
                    for (i, row) in matrix.iter().enumerate() {
                        for (j, e) in row.iter().enumerate().filter(|e| !e.1.is_zero()) {
                            out += &format!("  {name}[{i}][{j}] = {}\n", formula(*e, f));
                        }
                    }
                }
            }
            out += "\n";
        }
        Ok(out)
    }

    fn json(&self, args: &Args, proof: Option<&Proof>) -> anyhow::Result<Value> {
        let steps: Value = self
            .methods(args.method)
            .into_iter()
            .map(|(name, steps)| {
                let list: Vec<Value> = steps.iter().map(step_json).collect();
                (name.to_lowercase(), json!(list))
            })
            .collect::<serde_json::Map<_, _>>()
            .into();
        let texts = |list: &[Ex]| -> Vec<String> {
            list.iter().map(|e| formula(*e, Format::Text)).collect()
        };
        let h: Vec<Vec<String>> = self.l.motion.h.iter().map(|r| texts(r)).collect();
        let mut linear = vec![];
        for at in &self.m.equilibria {
            let lin = linearise(&self.m, &self.l.motion, at).map_err(invalid)?;
            let numbers: Option<(Matrix<f64>, Matrix<f64>)> = lin.numbers(&self.m, &[]);
            linear.push(json!({
                "equilibrium": at.name,
                "states": texts(&lin.states),
                "inputs": texts(&lin.inputs),
                "a": numbers.as_ref().map(|n| &n.0),
                "b": numbers.as_ref().map(|n| &n.1),
                "controllable_states": lin.controllable_states(),
            }));
        }
        let normal = texts(&reactions(&self.m, &self.k).force.concat());
        Ok(json!({
            "mechanism": self.m.name,
            "note": self.m.note,
            "equations": { "text": self.equations(args.method, Format::Text)?, "latex": self.equations(args.method, Format::Latex)? },
            "h": h,
            "b": texts(&self.l.motion.b),
            "g": texts(&self.l.motion.g),
            "d": texts(&self.l.motion.d),
            "effort": texts(&self.l.motion.effort),
            "kinetic_energy": formula(self.l.kinetic, Format::Text),
            "potential_energy": formula(self.l.potential, Format::Text),
            "joint_forces": normal,
            "linear": linear,
            "proof": proof.map(proof_json),
            "steps": if args.steps { steps } else { Value::Null },
        }))
    }
}

fn step(s: &Step, f: Format) -> String {
    let parts: Vec<String> = s.value.iter().map(|e| formula(*e, f)).collect();
    let value = match parts.as_slice() {
        [one] => one.clone(),
        _ => format!("({}) in {}", parts.join(", "), s.frame),
    };
    format!(
        "  {} of {}, {} [{}] = {value}\n",
        s.symbol, s.of, s.title, s.unit
    )
}

fn step_json(s: &Step) -> Value {
    let text: Vec<String> = s.value.iter().map(|e| formula(*e, Format::Text)).collect();
    json!({ "title": s.title, "symbol": s.symbol, "of": s.of, "frame": s.frame, "unit": s.unit.to_string(), "value": text })
}

fn check(p: &Proof) -> String {
    let mut out = format!("{}\n", verdict(p).split(':').next().unwrap_or_default());
    out += &match &p.identity {
        Identity::Identical { basis, terms } => {
            format!(
                "  canonical forms  identical: {} quantities, {terms} terms ({basis:?} basis)\n",
                p.quantities
            )
        }
        Identity::Different { quantity } => format!("  canonical forms  DIFFERENT in {quantity}\n"),
        Identity::Undecided { why } => format!("  canonical forms  decide nothing here: {why}\n"),
    };
    out += &match &p.field {
        Some(a) => format!(
            "  GF(2^61-1)       equal at {} points; degree ≤ {:.0}, a difference stays unseen with probability ≤ {:.0e}\n",
            a.points, a.degree, a.error
        ),
        None => "  GF(2^61-1)       DIFFERENT\n".into(),
    };
    out + &format!(
        "  random states    {}: largest difference {:.1e}\n",
        p.states, p.largest
    )
}

fn proof_json(p: &Proof) -> Value {
    let (verdict, detail) = match &p.identity {
        Identity::Identical { terms, .. } => ("identical", json!(terms)),
        Identity::Different { quantity } => ("different", json!(quantity)),
        Identity::Undecided { why } => ("undecided", json!(why)),
    };
    json!({
        "holds": p.holds(),
        "quantities": p.quantities,
        "canonical": { "verdict": verdict, "detail": detail },
        "field": p.field.map(|a| json!({ "points": a.points, "degree": a.degree, "error_probability": a.error })),
        "states": { "count": p.states, "largest_difference": p.largest },
    })
}
