//! Gains and laws written as text: `l·cos(alpha)` is `l*cos(alpha)`; evaluated in any scalar.
//!
//! Numbers, names, `+ - * / ^` (whole exponents), brackets, and sin, cos, tanh, exp, sqrt, ln, abs, sign. A name is a parameter, a
//! state, an input, the time `t`, or what the law is about (`e`, `f`); who knows the names decides ([`Formula::bind`]).

use std::fmt;

use stribeck_core::number::scalar::Scalar;

/// Why a text is no formula, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{text}`: {what} at column {column}")]
pub struct BadFormula {
    pub text: String,
    pub what: String,
    pub column: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Sin,
    Cos,
    Tanh,
    Exp,
    Sqrt,
    Ln,
    Abs,
    Sign,
}

impl Function {
    const ALL: [(&'static str, Function); 8] = [
        ("sin", Function::Sin),
        ("cos", Function::Cos),
        ("tanh", Function::Tanh),
        ("exp", Function::Exp),
        ("sqrt", Function::Sqrt),
        ("ln", Function::Ln),
        ("abs", Function::Abs),
        ("sign", Function::Sign),
    ];

    fn of<S: Scalar>(self, x: S) -> S {
        match self {
            Function::Sin => x.sin_cos().0,
            Function::Cos => x.sin_cos().1,
            Function::Tanh => x.tanh(),
            Function::Exp => x.exp(),
            Function::Sqrt => x.sqrt(),
            Function::Ln => x.ln(),
            Function::Abs => x.abs(),
            Function::Sign => x.sign(),
        }
    }
}

/// A formula over names of type `N`: text as parsed, [`Symbol`]s once bound.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula<N = String> {
    Number(f64),
    Name(N),
    Neg(Box<Formula<N>>),
    Add(Box<Formula<N>>, Box<Formula<N>>),
    Sub(Box<Formula<N>>, Box<Formula<N>>),
    Mul(Box<Formula<N>>, Box<Formula<N>>),
    Div(Box<Formula<N>>, Box<Formula<N>>),
    Power(Box<Formula<N>>, i32),
    Call(Function, Box<Formula<N>>),
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    Parameter(usize),
    /// Component whose state it is.
    State(usize),
    Input(usize),
    Time,
    /// The variable a law is about: the flow of an R given by its effort.
    Own,
}

impl Formula {
    pub fn parse(text: &str) -> Result<Formula, BadFormula> {
        let mut parser = Parser { text, at: 0 };
        let formula = parser.sum()?;
        parser.blanks();
        if parser.at < text.len() {
            return Err(parser.bad("an operator is expected"));
        }
        Ok(formula)
    }
}

impl<N> Formula<N> {
    /// The same formula with every name looked up; the first unknown name is the error.
    pub fn bind<M, E>(&self, of: &mut impl FnMut(&N) -> Result<M, E>) -> Result<Formula<M>, E> {
        let mut boxed = |f: &Formula<N>| f.bind(of).map(Box::new);
        Ok(match self {
            Formula::Number(x) => Formula::Number(*x),
            Formula::Neg(a) => Formula::Neg(boxed(a)?),
            Formula::Add(a, b) => Formula::Add(boxed(a)?, boxed(b)?),
            Formula::Sub(a, b) => Formula::Sub(boxed(a)?, boxed(b)?),
            Formula::Mul(a, b) => Formula::Mul(boxed(a)?, boxed(b)?),
            Formula::Div(a, b) => Formula::Div(boxed(a)?, boxed(b)?),
            Formula::Power(a, n) => Formula::Power(boxed(a)?, *n),
            Formula::Call(function, a) => Formula::Call(*function, boxed(a)?),
            Formula::Name(name) => Formula::Name(of(name)?),
        })
    }

    /// The value, names given by `of`.
    pub fn value<S: Scalar>(&self, of: &impl Fn(&N) -> S) -> S {
        match self {
            Formula::Number(x) => S::lit(*x),
            Formula::Name(name) => of(name),
            Formula::Neg(a) => -a.value(of),
            Formula::Add(a, b) => a.value(of) + b.value(of),
            Formula::Sub(a, b) => a.value(of) - b.value(of),
            Formula::Mul(a, b) => a.value(of) * b.value(of),
            Formula::Div(a, b) => a.value(of) / b.value(of),
            Formula::Power(a, n) => power(a.value(of), *n),
            Formula::Call(function, a) => function.of(a.value(of)),
        }
    }

    /// Whether any name satisfies this.
    pub fn any(&self, is: &impl Fn(&N) -> bool) -> bool {
        match self {
            Formula::Number(_) => false,
            Formula::Name(name) => is(name),
            Formula::Neg(a) | Formula::Power(a, _) | Formula::Call(_, a) => a.any(is),
            Formula::Add(a, b) | Formula::Sub(a, b) | Formula::Mul(a, b) | Formula::Div(a, b) => {
                a.any(is) || b.any(is)
            }
        }
    }
}

fn power<S: Scalar>(x: S, n: i32) -> S {
    let mut product = S::ONE;
    for _ in 0..n.unsigned_abs() {
        product *= x;
    }
    if n < 0 { S::ONE / product } else { product }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, function)| function == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn bad(&self, what: impl Into<String>) -> BadFormula {
        BadFormula {
            text: self.text.into(),
            what: what.into(),
            column: self.text[..self.at].chars().count() + 1,
        }
    }

    fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.blanks();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn sum(&mut self) -> Result<Formula, BadFormula> {
        let mut left = self.product()?;
        loop {
            if self.take('+') {
                left = Formula::Add(Box::new(left), Box::new(self.product()?));
            } else if self.take('-') {
                left = Formula::Sub(Box::new(left), Box::new(self.product()?));
            } else {
                return Ok(left);
            }
        }
    }

    fn product(&mut self) -> Result<Formula, BadFormula> {
        let mut left = self.signed()?;
        loop {
            if self.take('*') || self.take('·') {
                left = Formula::Mul(Box::new(left), Box::new(self.signed()?));
            } else if self.take('/') {
                left = Formula::Div(Box::new(left), Box::new(self.signed()?));
            } else {
                return Ok(left);
            }
        }
    }

    fn signed(&mut self) -> Result<Formula, BadFormula> {
        if self.take('-') {
            return Ok(Formula::Neg(Box::new(self.signed()?)));
        }
        let base = self.atom()?;
        if !self.take('^') {
            return Ok(base);
        }
        let negative = self.take('-');
        let digits = self.run(|c| c.is_ascii_digit());
        let exponent: i32 = digits
            .parse()
            .ok()
            .filter(|n| *n <= 64)
            .ok_or_else(|| self.bad("an exponent is a whole number up to 64"))?;
        Ok(Formula::Power(
            Box::new(base),
            if negative { -exponent } else { exponent },
        ))
    }

    fn run(&mut self, is: impl Fn(char) -> bool) -> String {
        self.blanks();
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !is(c)).unwrap_or(rest.len());
        let taken = rest[..end].to_string();
        self.at += end;
        taken
    }

    fn atom(&mut self) -> Result<Formula, BadFormula> {
        match self.peek() {
            None => Err(self.bad("the formula ends too early")),
            Some('(') => {
                self.take('(');
                let inner = self.sum()?;
                if self.take(')') {
                    Ok(inner)
                } else {
                    Err(self.bad("`)` is missing"))
                }
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => {
                let start = self.at;
                let name = self.run(|c| c.is_alphanumeric() || c == '_' || c == '.');
                if !self.take('(') {
                    return Ok(Formula::Name(name));
                }
                let Some((_, function)) =
                    Function::ALL.into_iter().find(|(known, _)| *known == name)
                else {
                    self.at = start;
                    let known = Function::ALL.map(|(known, _)| known).join(", ");
                    return Err(
                        self.bad(format!("no function is called {name} (there are {known})"))
                    );
                };
                let inner = self.sum()?;
                if self.take(')') {
                    Ok(Formula::Call(function, Box::new(inner)))
                } else {
                    Err(self.bad("`)` is missing"))
                }
            }
            Some(c) => Err(self.bad(format!("`{c}` is not expected here"))),
        }
    }

    fn number(&mut self) -> Result<Formula, BadFormula> {
        let start = self.at;
        let mut text = self.run(|c| c.is_ascii_digit() || c == '.');
        let rest = &self.text[self.at..];
        let exponent = rest
            .strip_prefix(['e', 'E'])
            .map(|r| r.trim_start_matches(['+', '-']));
        if exponent.is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit())) {
            let mut chars = rest.chars();
            text.extend(chars.next());
            self.at += 1;
            if let Some(sign @ ('+' | '-')) = chars.next() {
                text.push(sign);
                self.at += 1;
            }
            text += &self.run(|c| c.is_ascii_digit());
        }
        text.parse().map(Formula::Number).map_err(|_| {
            self.at = start;
            self.bad(format!("{text} is no number"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let names = |name: &String| match name.as_str() {
            "x" => 3.0,
            "m.r" => 0.5,
            _ => f64::NAN,
        };
        Formula::parse(text).unwrap().value(&names)
    }

    #[test]
    fn values() {
        assert_eq!(value("1 + 2*x^2 - -4/m.r"), 1.0 + 18.0 + 8.0);
        assert_eq!(value("-(x - 1)^3"), -8.0);
        assert_eq!(value("2e-1*x"), 0.2 * 3.0);
        assert_eq!(value("x^-2"), 1.0 / 9.0);
        assert!((value("sin(x)^2 + cos(x)^2") - 1.0).abs() < 1e-15);
    }

    #[test]
    fn what_is_no_formula_is_refused_with_its_place() {
        for (text, column) in [
            ("1 +", 4),
            ("2 * (x", 7),
            ("x y", 3),
            ("foo(x)", 1),
            ("x^y", 3),
            ("", 1),
            ("1..2", 1),
        ] {
            let bad = Formula::parse(text).unwrap_err();
            assert_eq!(bad.column, column, "{bad}");
        }
    }
}
