//! Writes the parts of a plant's source: header, configuration, constants, the tick.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::emit::{Emit, Names, bindings, expression, literal, polynomial};
use super::program::{Op, Program};
use crate::canonical::Wave;
use crate::expr::{Ex, Unit};
use crate::lagrange::Lagrange;
use crate::mechanism::{JointKind, Mechanism, Parameter, Plant};
use crate::print::{Format, formula};

pub(super) struct Writer<'a> {
    pub m: &'a Mechanism,
    pub p: &'a Program,
    pub names: &'a Names,
    pub stated: &'a Plant,
    pub constant_h: bool,
}

/// An f32 literal; multiples of π by name.
fn number(x: f64) -> String {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    let named = [
        (PI, "PI"),
        (FRAC_PI_2, "FRAC_PI_2"),
        (FRAC_PI_4, "FRAC_PI_4"),
    ];
    let value = x as f32;
    match named.iter().find(|n| n.0 as f32 == value.abs()) {
        Some((_, name)) if value < 0.0 => format!("-core::f32::consts::{name}"),
        Some((_, name)) => format!("core::f32::consts::{name}"),
        None => format!("{value:?}"),
    }
}

/// Unit of a parameter as printed: what has none is an angle.
fn unit(p: &Parameter) -> String {
    match p.unit {
        Unit::NONE => "rad".into(),
        u => u.to_string(),
    }
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Breaks a formula before + and − so that the line fits.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let mut depth = 0i32;
    for word in text.split(' ') {
        let full = lines
            .last()
            .is_some_and(|l| l.chars().count() + word.chars().count() >= width);
        if full && depth == 0 && ["+", "−", "="].contains(&word) {
            lines.push("   ".into());
        }
        depth += word.matches('(').count() as i32 - word.matches(')').count() as i32;
        if let Some(last) = lines.last_mut() {
            if !last.is_empty() && !last.ends_with(' ') {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

impl Writer<'_> {
    /// Two entries, the second `fill` if there is one joint.
    fn pair(&self, fill: &str, entry: impl Fn(usize) -> String) -> Vec<String> {
        let mut v: Vec<String> = (0..self.m.dof()).map(entry).collect();
        v.resize(2, fill.into());
        v
    }

    fn kinds(&self) -> Vec<String> {
        self.pair("Joint::Revolute", |i| {
            format!("Joint::{:?}", self.m.bodies[i].joint)
        })
    }

    fn joint_names(&self) -> Vec<String> {
        self.pair("\"inert\"", |i| format!("{:?}", self.stated.joints[i]))
    }

    /// The equilibrium called hanging, or all zero.
    fn rest(&self) -> Vec<String> {
        let hanging = self.m.equilibria.iter().find(|e| e.name == "hanging");
        let mut values = self.m.values(&[]);
        let mut at = |q: Ex| {
            let place = hanging.and_then(|e| e.at.iter().find(|x| x.0 == q));
            number(place.map_or(0.0, |x| values.of(x.1)))
        };
        let v: Vec<String> = self.m.q.iter().map(|q| at(*q)).collect();
        self.pair("0.0", |i| v[i].clone())
    }

    /// Whether the equations hold each coordinate.
    fn shown(&self, l: &Lagrange) -> Vec<String> {
        self.pair("false", |i| {
            let still = |e: &Ex| e.diff(self.m.q[i]).is_zero();
            let motion = &l.motion;
            let fixed = motion.h.iter().flatten().chain(&motion.b).chain(&motion.g);
            format!("{}", !fixed.into_iter().all(still))
        })
    }

    fn title(&self) -> &str {
        &self.stated.type_name
    }

    pub fn header(&self, s: &mut String, l: &Lagrange) {
        let (m, file) = (self.m, &self.m.name);
        let _ = writeln!(s, "//! {}\n//!", self.stated.header);
        let _ = writeln!(
            s,
            "//! Generated from `derive/mechanisms/{file}.toml` by `cargo run -p stribeck-derive -- bless`; do not edit."
        );
        let _ = writeln!(s, "//! {}.\n//!\n//! ```text", m.note);
        for r in 0..m.dof() {
            let left = formula(l.motion.left(r, &m.a), Format::Text);
            let line = format!("{left} = {}", formula(l.motion.effort[r], Format::Text));
            for line in wrap(&line, 110) {
                let _ = writeln!(s, "//! {line}");
            }
        }
        let _ = writeln!(
            s,
            "//! ```\n\nuse serde::{{Deserialize, Serialize}};\n\nuse super::tolerance::{{Prior, Tolerance}};\nuse super::{{Bounds, Plant, Sym2, Terms, Trig, no_force}};\n\
             use crate::JOINTS;\nuse crate::model::joint::Joint;\nuse crate::number::range::{{OutOfRange, check}};\nuse crate::number::scalar::Scalar;\n"
        );
    }

    pub fn config(&self, s: &mut String, l: &Lagrange) {
        let (m, n) = (self.m, self.m.parameters.len());
        let symbols: Vec<String> = m
            .parameters
            .iter()
            .map(|p| formula(p.symbol, Format::Text))
            .collect();
        let _ = writeln!(
            s,
            "/// Geometry and masses.\n#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]\npub struct Config {{"
        );
        for (p, symbol) in m.parameters.iter().zip(&symbols) {
            let unit = unit(p);
            // rustdoc takes a single word in brackets for a link.
            let unit = match unit.chars().all(char::is_alphanumeric) {
                true => format!("\\[{unit}\\]"),
                false => format!("[{unit}]"),
            };
            let _ = writeln!(
                s,
                "/// {} {symbol} {unit}.\npub {}: f32,",
                p.doc.trim_end_matches(&format!(" {symbol}")),
                p.field
            );
        }
        let _ = writeln!(
            s,
            "}}\n\nimpl Default for Config {{\nfn default() -> Self {{\nConfig {{"
        );
        for p in &m.parameters {
            let _ = writeln!(s, "{}: {},", p.field, number(p.default));
        }
        let _ = writeln!(
            s,
            "}}\n}}\n}}\n\nimpl Config {{\n/// Kind of each joint{}.\npub const KINDS: [Joint; JOINTS] = [{}];",
            if m.dof() == 1 {
                "; the inert one is taken to turn"
            } else {
                ""
            },
            self.kinds().join(", ")
        );
        let _ = writeln!(
            s,
            "/// What each joint is called.\npub const NAMES: [&'static str; JOINTS] = [{}];\n/// Coordinates at which it hangs at rest \\[{}\\].\npub const REST: [f32; JOINTS] = [{}];",
            self.joint_names().join(", "),
            if self
                .m
                .bodies
                .iter()
                .any(|b| b.joint == JointKind::Prismatic)
            {
                "rad or m"
            } else {
                "rad"
            },
            self.rest().join(", ")
        );
        let _ = writeln!(
            s,
            "/// Unit and meaning of each field, as a configuration file states them.\npub const MEANINGS: [(&'static str, &'static str); {n}] = ["
        );
        for p in &m.parameters {
            let doc = lower_first(&p.doc);
            let _ = writeln!(s, "({:?}, {:?}),", p.field, format!("{}, {doc}", unit(p)));
        }
        let _ = writeln!(s, "];\n");
        let _ = writeln!(
            s,
            "/// The fields in their order.\npub fn values(&self) -> [f32; {n}] {{\nlet c = self;\n["
        );
        for p in &m.parameters {
            let _ = writeln!(s, "c.{},", p.field);
        }
        let _ = writeln!(
            s,
            "]\n}}\n\n/// What the tolerances leave open: the geometry as stated, the zeros of the joints whose place the motion shows.\n\
             pub fn prior(&self, t: &Tolerance) -> Prior {{\nPrior::stated(t, [{}])\n}}\n\n/// The first field outside its allowed range, if any.\npub fn validate(&self) -> Result<(), OutOfRange> {{",
            self.shown(l).join(", ")
        );
        for (i, p) in m.parameters.iter().enumerate() {
            let [low, high] = p.range.unwrap_or([-1e6, 1e6]);
            let end = if i + 1 == n { "" } else { "?;" };
            let _ = writeln!(
                s,
                "check(\"plant.{}.{}\", self.{}, {}, {}){end}",
                m.name,
                p.field,
                p.field,
                number(low),
                number(high)
            );
        }
        let _ = writeln!(s, "}}\n}}\n");
    }

    /// The struct with its constants, and how they come from the parameters.
    pub fn structure(&self, s: &mut String, potential: &[String]) {
        let (before, after) = self.tick();
        let body = [before, after, potential.to_vec()].concat().join("\n") + ";";
        let words: BTreeSet<&str> = body
            .split(|c: char| !(c.is_alphanumeric() || c == '.'))
            .collect();
        let kept = |i: usize| words.contains(format!("self.k{i}").as_str());
        let (m, title) = (self.m, self.title());
        let _ = writeln!(
            s,
            "/// The plant with its constant groups computed once.\n#[derive(Clone, Copy, Debug)]\npub struct {title}<S> {{"
        );
        for (i, c) in self.p.consts.iter().enumerate().filter(|c| kept(c.0)) {
            let _ = writeln!(s, "/// {}\nk{i}: S,", formula(c.to_ex(), Format::Text));
        }
        if self.constant_h {
            let _ = writeln!(
                s,
                "/// H does not depend on the pose.\nh: Sym2<S>,\nh_inv: Sym2<S>,"
            );
        }
        let _ = writeln!(s, "bounds: Bounds<S>,\n}}\n\nimpl<S: Scalar> {title}<S> {{");
        let _ = writeln!(
            s,
            "pub fn new(c: &Config) -> Self {{\nSelf::from_values(c.values().map(S::from_f32))\n}}\n"
        );
        let list: Vec<&str> = m
            .parameters
            .iter()
            .map(|p| self.names[&p.symbol].as_str())
            .collect();
        let _ = writeln!(
            s,
            "/// From scalars, in the order of [`Config`]'s fields: lets dual numbers differentiate by the geometry."
        );
        let _ = writeln!(
            s,
            "pub fn from_values([{}]: [S; {}]) -> Self {{",
            list.join(", "),
            list.len()
        );
        for p in &m.parameters {
            let has = |e: Ex| {
                self.p.consts.iter().any(|c| {
                    c.0.iter()
                        .any(|(m, _)| m.wave == Wave::One && m.pow.iter().any(|x| x.0 == e))
                })
            };
            if has(p.symbol.sin()) || has(p.symbol.cos()) {
                let i = &self.names[&p.symbol];
                let _ = writeln!(s, "let (sin_{i}, cos_{i}) = {i}.sin_cos();");
            }
        }
        let inertia = |e: &Vec<Ex>| -> String {
            let list: Vec<String> = e.iter().map(|x| expression(*x, self.names)).collect();
            list.into_iter()
                .reduce(|a, b| format!("({a}).min({b})"))
                .unwrap_or_default()
        };
        let pad = |mut v: Vec<String>, fill: &str| {
            v.resize(2, fill.into());
            format!("[{}]", v.join(", "))
        };
        let constants = self
            .p
            .consts
            .iter()
            .enumerate()
            .map(|(i, c)| (format!("k{i}"), polynomial(c, self.names)));
        let mut fields: Vec<String> = vec![];
        for (i, (name, value)) in constants.enumerate() {
            let _ = writeln!(s, "let {name} = {value};");
            if kept(i) {
                fields.push(name);
            }
        }
        if self.constant_h {
            let (h, inverse) = self.inertia_matrix(&|i| format!("k{i}"));
            let _ = writeln!(s, "let h = {h};\nlet h_inv = {inverse};");
            fields.extend(["h".into(), "h_inv".into()]);
        }
        let _ = writeln!(
            s,
            "let bounds = Bounds {{ inertia: {}, weight: {} }};",
            pad(self.stated.inertia.iter().map(inertia).collect(), "S::ONE"),
            pad(
                self.stated
                    .weight
                    .iter()
                    .map(|e| expression(*e, self.names))
                    .collect(),
                "S::ZERO"
            ),
        );
        fields.push("bounds".into());
        let _ = writeln!(s, "{title} {{ {} }}\n}}\n}}\n", fields.join(", "));
    }

    /// H and its inverse when both are constants.
    fn inertia_matrix(&self, name: &dyn Fn(usize) -> String) -> (String, &'static str) {
        let entry = |output: &str| match self.p.get(output) {
            None => "S::ZERO".to_string(),
            Some((i, negative)) => {
                let text = match &self.p.ops[i] {
                    Op::Const(k) => name(*k),
                    Op::Lit(r) => literal(*r),
                    _ => String::new(),
                };
                if negative { format!("-{text}") } else { text }
            }
        };
        if self.m.dof() == 1 {
            let h = format!(
                "Sym2 {{ a00: {}, a01: S::ZERO, a11: S::ONE }}",
                entry("h00")
            );
            return (h, "Sym2 { a00: S::ONE / h.a00, a01: S::ZERO, a11: S::ONE }");
        }
        let h = format!(
            "Sym2 {{ a00: {}, a01: {}, a11: {} }}",
            entry("h00"),
            entry("h01"),
            entry("h11")
        );
        (h, "h.inverse()")
    }

    /// Where the one actuator acts; nothing for a mechanism without one.
    fn actuator(&self) -> String {
        let [actuator] = self.m.actuators.as_slice() else {
            return String::new();
        };
        let share = |joint: usize| if joint == actuator.body { "1.0" } else { "0.0" };
        format!(
            "const ACTUATOR: [f32; JOINTS] = [{}, {}];\n",
            share(0),
            share(1)
        )
    }

    pub fn implementation(&self, s: &mut String, potential: &[String]) {
        let (title, n) = (self.title(), self.m.dof());
        let _ = writeln!(
            s,
            "impl<S: Scalar> Plant<S> for {title}<S> {{\nconst DOF: usize = {n};\n{}",
            self.actuator()
        );
        let _ = writeln!(
            s,
            "#[inline(always)]\nfn terms_at(&self, trig: &Trig<S>, w: [S; JOINTS], tau: [S; JOINTS]) -> Terms<S> {{"
        );
        let (before, after) = self.tick();
        let all: Vec<String> = before.iter().chain(&after).cloned().collect();
        let write = |s: &mut String, lines: &[String]| {
            lines.iter().for_each(|l| s.push_str(&format!("{l}\n")))
        };
        write(
            s,
            &bindings(&all, &[("trig.sin", "s"), ("trig.cos", "c"), ("w", "w")]),
        );
        write(s, &before);
        write(s, &bindings(&after, &[("free", "e")]));
        write(s, &after);
        let _ = writeln!(s, "Terms {{ h, h_inv, b, g, dt_dq, free, normal }}\n}}\n");
        let _ = writeln!(
            s,
            "fn energy(&self, q: [S; JOINTS], w: [S; JOINTS]) -> S {{\nlet trig = Trig::new(q);"
        );
        write(
            s,
            &bindings(
                potential,
                &[("trig.sin", "s"), ("trig.cos", "c"), ("q", "q")],
            ),
        );
        write(s, potential);
        let _ = writeln!(
            s,
            "let hw = self.terms_at(&trig, w, no_force()).h.apply(w);"
        );
        let _ = writeln!(
            s,
            "S::lit(0.5) * (w[0] * hw[0] + w[1] * hw[1]) + potential\n}}\n"
        );
        let _ = writeln!(s, "fn bounds(&self) -> Bounds<S> {{\nself.bounds\n}}\n}}");
    }

    /// Statements up to the frictionless accelerations, and those after.
    fn tick(&self) -> (Vec<String>, Vec<String>) {
        let n = self.m.dof();
        let mut e = Emit::new(self.p, self.names);
        let none = || "S::ZERO".to_string();
        if self.constant_h {
            e.body.push("let (h, h_inv) = (self.h, self.h_inv);".into());
        } else {
            let [a, b, c] = ["h00", "h01", "h11"].map(|x| e.output(x));
            let one = if n == 1 { "S::ONE".to_string() } else { none() };
            let (a, b, c) = (
                a.unwrap_or_else(none),
                b.unwrap_or_else(none),
                c.unwrap_or(one),
            );
            e.body
                .push(format!("let h = Sym2 {{ a00: {a}, a01: {b}, a11: {c} }};"));
            e.body.push("let h_inv = h.inverse();".into());
        }
        for stem in ["b", "g", "dt_dq"] {
            let v: Vec<String> = (0..2)
                .map(|i| e.output(&format!("{stem}{i}")).unwrap_or_else(none))
                .collect();
            e.body.push(format!("let {stem} = [{}];", v.join(", ")));
        }
        e.body
            .push("let free = h_inv.apply([-b[0] - g[0] + tau[0], -b[1] - g[1] + tau[1]]);".into());
        let before = std::mem::take(&mut e.body);
        let mut normal = [none(), none()];
        let mut known: BTreeSet<String> = BTreeSet::new();
        for i in (0..n).rev() {
            let b = &self.m.bodies[i];
            let mut squares = vec![];
            for (c, axis) in ["x", "y", "z"].iter().enumerate() {
                let slides = b.joint == JointKind::Prismatic && !b.axis[c].is_zero();
                if slides && i == 0 {
                    continue;
                }
                let outer = Some(format!("r{}{axis}", i + 1)).filter(|o| known.contains(o));
                let value = match (e.output(&format!("r{i}{axis}")), outer) {
                    (None, None) => continue,
                    (None, Some(o)) => o,
                    (Some(own), None) => own,
                    (Some(own), Some(o)) => match own.strip_prefix('-') {
                        Some(rest) => format!("{o} - {rest}"),
                        None => format!("{o} + {own}"),
                    },
                };
                e.body.push(format!("let r{i}{axis} = {value};"));
                known.insert(format!("r{i}{axis}"));
                if !slides {
                    squares.push(format!("r{i}{axis}"));
                }
            }
            normal[i] = match squares.as_slice() {
                [] => none(),
                [one] => format!("{one}.abs()"),
                _ => format!(
                    "({}).sqrt()",
                    squares
                        .iter()
                        .map(|x| format!("{x} * {x}"))
                        .collect::<Vec<_>>()
                        .join(" + ")
                ),
            };
        }
        e.body
            .push(format!("let normal = [{}];", normal.join(", ")));
        (before, e.body)
    }
}
