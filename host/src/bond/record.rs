//! The equations as text, LaTeX and straight-line Rust: the same evaluation in a scalar that records what is computed.
//!
//! Equal sub-expressions are one node, constants are folded, sums with zero and products with one vanish. Branches are not recorded: a
//! graph whose laws compare (none of [`super::formula`]'s functions do; `abs` and `sign` are recorded as calls) has one expression
//! everywhere.

use crate::number;

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use stribeck_core::number::scalar::Scalar;

use super::equations::{BadState, Point, System, solve};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    /// Bits of an f64.
    Constant(u64),
    /// Index into the arena's names.
    Name(u32),
    Neg(u32),
    Add(u32, u32),
    Sub(u32, u32),
    Mul(u32, u32),
    Div(u32, u32),
    Call(&'static str, u32),
}

#[derive(Default)]
struct Arena {
    nodes: Vec<(Node, f64)>,
    known: HashMap<Node, u32>,
    names: Vec<String>,
}

thread_local! {
    static ARENA: RefCell<Arena> = RefCell::default();
}

impl Arena {
    fn put(&mut self, node: Node, value: f64) -> Recorded {
        if let Some(at) = self.known.get(&node) {
            return Recorded(*at);
        }
        let at = self.nodes.len() as u32;
        self.nodes.push((node, value));
        self.known.insert(node, at);
        Recorded(at)
    }
}

/// A number that remembers how it was computed, with its value at a nominal point.
#[derive(Clone, Copy, Debug)]
pub struct Recorded(u32);

fn put(node: Node, value: f64) -> Recorded {
    ARENA.with(|a| a.borrow_mut().put(node, value))
}

fn constant(x: f64) -> Recorded {
    put(Node::Constant(x.to_bits()), x)
}

impl Recorded {
    fn node(self) -> (Node, f64) {
        ARENA.with(|a| a.borrow().nodes[self.0 as usize])
    }

    fn fixed(self) -> Option<f64> {
        match self.node().0 {
            Node::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn is(self, x: f64) -> bool {
        self.fixed() == Some(x)
    }

    fn call(self, name: &'static str, of: impl Fn(f64) -> f64) -> Self {
        match self.fixed() {
            Some(x) => constant(of(x)),
            None => put(Node::Call(name, self.0), of(self.node().1)),
        }
    }
}

/// A fresh arena; 0 and 1 come first because [`Scalar`]'s constants are their places.
fn begin() {
    ARENA.with(|a| *a.borrow_mut() = Arena::default());
    constant(0.0);
    constant(1.0);
}

fn name(text: &str, value: f64) -> Recorded {
    ARENA.with(|a| {
        let mut a = a.borrow_mut();
        let at = a.names.iter().position(|n| n == text).unwrap_or_else(|| {
            a.names.push(text.into());
            a.names.len() - 1
        });
        a.put(Node::Name(at as u32), value)
    })
}

impl PartialEq for Recorded {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl PartialOrd for Recorded {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.node().1.partial_cmp(&other.node().1)
    }
}

impl Neg for Recorded {
    type Output = Self;
    fn neg(self) -> Self {
        match self.node() {
            (Node::Constant(_), x) => constant(-x),
            (Node::Neg(inner), _) => Recorded(inner),
            (_, x) => put(Node::Neg(self.0), -x),
        }
    }
}

impl Add for Recorded {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        match (self.node(), other.node()) {
            ((Node::Constant(_), x), (Node::Constant(_), y)) => constant(x + y),
            _ if self.is(0.0) => other,
            _ if other.is(0.0) => self,
            (_, (Node::Neg(b), _)) => self - Recorded(b),
            ((Node::Neg(a), _), _) => other - Recorded(a),
            ((_, x), (_, y)) => put(Node::Add(self.0, other.0), x + y),
        }
    }
}

impl Sub for Recorded {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        match (self.node(), other.node()) {
            ((Node::Constant(_), x), (Node::Constant(_), y)) => constant(x - y),
            _ if other.is(0.0) => self,
            _ if self.is(0.0) => -other,
            _ if self.0 == other.0 => constant(0.0),
            (_, (Node::Neg(b), _)) => self + Recorded(b),
            // a − (−b − c) = a + b + c
            (_, (Node::Sub(b, c), _)) if matches!(Recorded(b).node().0, Node::Neg(_)) => {
                self - Recorded(b) + Recorded(c)
            }
            ((_, x), (_, y)) => put(Node::Sub(self.0, other.0), x - y),
        }
    }
}

impl Mul for Recorded {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        match (self.node(), other.node()) {
            ((Node::Constant(_), x), (Node::Constant(_), y)) => constant(x * y),
            _ if self.is(0.0) || other.is(0.0) => constant(0.0),
            _ if self.is(1.0) => other,
            _ if other.is(1.0) => self,
            _ if self.is(-1.0) => -other,
            _ if other.is(-1.0) => -self,
            ((Node::Neg(a), _), (Node::Neg(b), _)) => Recorded(a) * Recorded(b),
            ((Node::Neg(a), _), _) => -(Recorded(a) * other),
            (_, (Node::Neg(b), _)) => -(self * Recorded(b)),
            (_, (Node::Div(one, b), _)) if Recorded(one).is(1.0) => self / Recorded(b),
            ((_, x), (_, y)) => put(Node::Mul(self.0, other.0), x * y),
        }
    }
}

impl Div for Recorded {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        match (self.node(), other.node()) {
            ((Node::Constant(_), x), (Node::Constant(_), y)) => constant(x / y),
            _ if self.is(0.0) => self,
            _ if other.is(1.0) => self,
            _ if self.0 == other.0 => constant(1.0),
            ((Node::Neg(a), _), _) => -(Recorded(a) / other),
            (_, (Node::Neg(b), _)) => -(self / Recorded(b)),
            ((_, x), (_, y)) => put(Node::Div(self.0, other.0), x / y),
        }
    }
}

macro_rules! assign {
    ($($tr:ident $f:ident $op:tt),+) => {
        $(impl $tr for Recorded {
            fn $f(&mut self, other: Self) {
                *self = *self $op other;
            }
        })+
    };
}
assign!(AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *);

impl Scalar for Recorded {
    const ZERO: Self = Recorded(0);
    const ONE: Self = Recorded(1);
    fn lit(x: f64) -> Self {
        constant(x)
    }
    fn from_f32(x: f32) -> Self {
        constant(f64::from(x))
    }
    fn to_f64(self) -> f64 {
        self.node().1
    }
    fn sin_cos(self) -> (Self, Self) {
        (
            self.call("sin", |x| number::sin_cos(x).0),
            self.call("cos", |x| number::sin_cos(x).1),
        )
    }
    fn exp(self) -> Self {
        self.call("exp", Scalar::exp)
    }
    fn tanh(self) -> Self {
        self.call("tanh", Scalar::tanh)
    }
    fn sqrt(self) -> Self {
        self.call("sqrt", Scalar::sqrt)
    }
    fn ln(self) -> Self {
        self.call("ln", Scalar::ln)
    }
    fn abs(self) -> Self {
        self.call("abs", Scalar::abs)
    }
    fn sign(self) -> Self {
        self.call("sign", Scalar::sign)
    }
    fn is_finite(self) -> bool {
        self.node().1.is_finite()
    }
}

/// Why a graph has no closed equations.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotRecorded {
    #[error("the algebraic loop through {0} is solved by iteration: it has no closed form")]
    Loop(String),
    #[error(transparent)]
    State(#[from] BadState),
}

/// How equations are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Latex,
}

/// E(x)·ẋ = f(x, u), one line per state.
pub fn equations(system: &System, form: Form) -> Result<String, NotRecorded> {
    let (e, f) = recorded(system, false)?;
    let names: Vec<_> = (system.state_names().iter().enumerate())
        .map(|(i, name)| state_symbol(system, i, name))
        .collect();
    let rate = |name: &str| match form {
        Form::Text => format!("{name}'"),
        Form::Latex => format!("\\dot{{{}}}", latex_name(name)),
    };
    let mut text = String::new();
    for (i, (row, f)) in e.iter().zip(&f).enumerate() {
        let mut left = String::new();
        for (j, entry) in row.iter().enumerate() {
            if entry.is(0.0) {
                continue;
            }
            let negative = matches!(entry.node().0, Node::Neg(_));
            let entry = if negative { -*entry } else { *entry };
            let joint = match (left.is_empty(), negative) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            let factor = match (entry.is(1.0), form) {
                (true, _) => String::new(),
                (false, Form::Text) => format!("{}·", write(entry, form, 2)),
                (false, Form::Latex) => format!("{}\\,", write(entry, form, 2)),
            };
            let _ = write!(left, "{joint}{factor}{}", rate(&names[j]));
        }
        if left.is_empty() {
            left = rate(&names[i]);
        }
        let right = write(*f, form, 0);
        let _ = match form {
            Form::Text => writeln!(text, "{left} = {right}"),
            Form::Latex => writeln!(text, "{left} &= {right} \\\\"),
        };
    }
    Ok(text)
}

/// A function in Rust that gives ẋ, and how many operations it takes.
///
/// With `fold`, parameters are the numbers of the description; otherwise they are an argument.
pub fn rust(system: &System, fold: bool) -> Result<(String, usize), NotRecorded> {
    let (e, f) = recorded(system, fold)?;
    let rates = if system.plan.derivative.is_empty() {
        f
    } else {
        solve(e, f).ok_or(BadState::Singular)?
    };
    let used = reachable(&rates);
    let graph = &system.graph;
    let (nx, nu, np) = (rates.len(), graph.inputs.len(), graph.parameters.len());
    let mut text = format!(
        "/// Rates of {}: state = ({}), input = ({}).\n",
        graph.name,
        system.state_names().join(", "),
        graph.inputs.join(", ")
    );
    let parameters = if fold {
        String::new()
    } else {
        format!(", parameter: &[f64; {np}]")
    };
    let _ = writeln!(
        text,
        "pub fn rates(state: &[f64; {nx}], input: &[f64; {nu}], t: f64{parameters}) -> [f64; {nx}] {{"
    );
    let names = system.state_names();
    let places = (names
        .iter()
        .enumerate()
        .map(|(i, n)| (state_symbol(system, i, n), format!("state[{i}]"))))
    .chain(
        graph
            .inputs
            .iter()
            .enumerate()
            .map(|(i, n)| (n.clone(), format!("input[{i}]"))),
    )
    .chain(
        graph
            .parameters
            .iter()
            .enumerate()
            .map(|(i, p)| (p.name.clone(), format!("parameter[{i}]"))),
    );
    let is_used = |wanted: &str| {
        used.iter()
            .any(|at| matches!(Recorded(*at).node().0, Node::Name(n) if name_of(n) == wanted))
    };
    for (name, place) in places.filter(|(name, _)| is_used(name)) {
        let _ = writeln!(text, "    let {} = {place};", ident(&name));
    }
    if !is_used("t") {
        text += "    let _ = t;\n";
    }
    let mut operations = 0;
    for &at in &used {
        let code = match Recorded(at).node().0 {
            Node::Constant(_) | Node::Name(_) => continue,
            Node::Neg(a) => format!("-{}", operand(a)),
            Node::Add(a, b) => format!("{} + {}", operand(a), operand(b)),
            Node::Sub(a, b) => format!("{} - {}", operand(a), operand(b)),
            Node::Mul(a, b) => format!("{} * {}", operand(a), operand(b)),
            Node::Div(a, b) => format!("{} / {}", operand(a), operand(b)),
            Node::Call("sign", a) => format!("{}.signum()", operand(a)),
            Node::Call(function, a) => format!("{}.{function}()", operand(a)),
        };
        operations += 1;
        let _ = writeln!(text, "    let v{at} = {code};");
    }
    let results: Vec<_> = rates.iter().map(|r| operand(r.0)).collect();
    let _ = writeln!(text, "    [{}]\n}}", results.join(", "));
    Ok((text, operations))
}

/// E and f with names for states, inputs and (unless folded) parameters.
#[allow(clippy::type_complexity)]
fn recorded(
    system: &System,
    fold: bool,
) -> Result<(Vec<Vec<Recorded>>, Vec<Recorded>), NotRecorded> {
    if !system.plan.torn.is_empty() {
        return Err(NotRecorded::Loop(system.loop_names()));
    }
    begin();
    let graph = &system.graph;
    // A nominal point where nothing vanishes by accident; it decides pivots only.
    let nominal = |i: usize| 0.3 + 0.137 * i as f64;
    let parameters: Vec<_> = graph
        .parameters
        .iter()
        .map(|p| {
            if fold {
                constant(p.value)
            } else {
                name(&p.name, p.value)
            }
        })
        .collect();
    let x: Vec<_> = system
        .state_names()
        .iter()
        .enumerate()
        .map(|(i, n)| name(&state_symbol(system, i, n), nominal(i)))
        .collect();
    let u: Vec<_> = graph
        .inputs
        .iter()
        .enumerate()
        .map(|(i, n)| name(n, nominal(i + 3)))
        .collect();
    let point = Point {
        parameters: &parameters,
        x: &x,
        u: &u,
        t: name("t", 0.1),
    };
    Ok(system.matrices(&point)?)
}

/// A state's own symbol: momentum or displacement, so that it is not taken for the parameter of the same name.
fn state_symbol(system: &System, i: usize, part: &str) -> String {
    use super::graph::Kind;
    match system.graph.parts[system.plan.states[i]].kind {
        Kind::I => format!("p_{part}"),
        Kind::C => format!("q_{part}"),
        _ => part.into(),
    }
}

/// Places of everything these depend on, in the order of computation.
fn reachable(of: &[Recorded]) -> Vec<u32> {
    let mut found = std::collections::BTreeSet::new();
    let mut open: Vec<u32> = of.iter().map(|r| r.0).collect();
    while let Some(at) = open.pop() {
        if found.insert(at) {
            match Recorded(at).node().0 {
                Node::Constant(_) | Node::Name(_) => {}
                Node::Neg(a) | Node::Call(_, a) => open.push(a),
                Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) | Node::Div(a, b) => {
                    open.extend([a, b])
                }
            }
        }
    }
    found.into_iter().collect()
}

fn name_of(at: u32) -> String {
    ARENA.with(|a| a.borrow().names[at as usize].clone())
}

/// A node inside code: a constant, an element of an argument, or the temporary that holds it.
fn operand(at: u32) -> String {
    match Recorded(at).node() {
        (Node::Constant(_), x) if x < 0.0 => format!("({x:?})"),
        (Node::Constant(_), x) => format!("{x:?}"),
        (Node::Name(n), _) => ident(&name_of(n)),
        _ => format!("v{at}"),
    }
}

/// A name as an identifier that hides no argument and is no keyword.
fn ident(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let taken = [
        "state",
        "input",
        "parameter",
        "in",
        "as",
        "if",
        "fn",
        "let",
        "loop",
        "match",
        "ref",
        "use",
        "type",
        "move",
        "mod",
    ];
    let starts = plain
        .starts_with(|c: char| c.is_ascii_digit() || c == 'v' && plain[1..].parse::<u32>().is_ok());
    if starts || taken.contains(&plain.as_str()) {
        format!("_{plain}")
    } else {
        plain
    }
}

fn latex_name(name: &str) -> String {
    const GREEK: [&str; 12] = [
        "alpha", "beta", "gamma", "delta", "theta", "lambda", "mu", "omega", "phi", "psi", "tau",
        "zeta",
    ];
    match name.split_once('_') {
        Some((base, index)) => format!(
            "{}_{{\\mathrm{{{}}}}}",
            latex_name(base),
            index.replace('_', "\\,")
        ),
        None if GREEK.contains(&name) => format!("\\{name}"),
        None if name.chars().count() == 1 => name.into(),
        None => format!("\\mathrm{{{name}}}"),
    }
}

/// Precedence: 0 sum, 1 product, 2 factor.
fn write(r: Recorded, form: Form, level: u8) -> String {
    let (node, value) = r.node();
    let at = |a: u32, level: u8| write(Recorded(a), form, level);
    let (text, own) = match node {
        Node::Constant(_) => (format!("{value}"), if value < 0.0 { 0 } else { 2 }),
        Node::Name(n) if form == Form::Latex => (latex_name(&name_of(n)), 2),
        Node::Name(n) => (name_of(n), 2),
        Node::Neg(a) => (format!("-{}", at(a, 1)), 0),
        Node::Add(a, b) => (format!("{} + {}", at(a, 0), at(b, 0)), 0),
        Node::Sub(a, b) => (format!("{} - {}", at(a, 0), at(b, 1)), 0),
        Node::Mul(a, b) if form == Form::Latex => (format!("{}\\,{}", at(a, 1), at(b, 1)), 1),
        Node::Mul(a, b) => (format!("{}·{}", at(a, 1), at(b, 1)), 1),
        Node::Div(a, b) if form == Form::Latex => {
            (format!("\\frac{{{}}}{{{}}}", at(a, 0), at(b, 0)), 2)
        }
        Node::Div(a, b) => (format!("{}/{}", at(a, 1), at(b, 2)), 1),
        Node::Call(f @ ("sin" | "cos" | "tanh" | "exp" | "ln"), a) if form == Form::Latex => {
            (format!("\\{f}\\left({}\\right)", at(a, 0)), 2)
        }
        Node::Call("sqrt", a) if form == Form::Latex => (format!("\\sqrt{{{}}}", at(a, 0)), 2),
        Node::Call(f, a) => (format!("{f}({})", at(a, 0)), 2),
    };
    match (own < level, form) {
        (false, _) => text,
        (true, Form::Text) => format!("({text})"),
        (true, Form::Latex) => format!("\\left({text}\\right)"),
    }
}
