//! Formulas of a description: + − * / ^ ( ) sin cos sqrt, decimal numbers, `pi` and declared names.

use crate::expr::{Ex, Rat, Scope, num};

/// The expression, or what is wrong with the text.
pub fn parse(text: &str, scope: Scope) -> Result<Ex, String> {
    let mut p = Parser {
        text: text.as_bytes(),
        at: 0,
        scope,
        depth: 0,
    };
    let e = p.sum()?;
    match p.peek() {
        None => Ok(e),
        Some(c) => Err(format!(
            "`{text}`: `{}` is not expected at column {}",
            c as char,
            p.at + 1
        )),
    }
}

/// Nesting a formula may have: a guard of the stack, far beyond any formula.
const DEPTH: usize = 100;

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    scope: Scope,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }
    fn eat(&mut self, c: u8) -> bool {
        let hit = self.peek() == Some(c);
        self.at += usize::from(hit);
        hit
    }
    fn take(&mut self, ok: impl Fn(u8) -> bool) -> String {
        self.peek();
        let from = self.at;
        while self.text.get(self.at).is_some_and(|c| ok(*c)) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.text[from..self.at]).into_owned()
    }

    fn sum(&mut self) -> Result<Ex, String> {
        let mut e = if self.eat(b'-') {
            -self.product()?
        } else {
            self.product()?
        };
        loop {
            e = if self.eat(b'+') {
                e + self.product()?
            } else if self.eat(b'-') {
                e - self.product()?
            } else {
                return Ok(e);
            }
        }
    }
    fn product(&mut self) -> Result<Ex, String> {
        let mut e = self.power()?;
        loop {
            e = if self.eat(b'*') {
                e * self.power()?
            } else if self.eat(b'/') {
                let d = self.power()?;
                if d.is_zero() {
                    return Err("division by zero".into());
                }
                e / d
            } else {
                return Ok(e);
            }
        }
    }
    fn power(&mut self) -> Result<Ex, String> {
        let base = self.atom()?;
        if !self.eat(b'^') {
            return Ok(base);
        }
        let n = self.take(|c| c.is_ascii_digit());
        match n.parse() {
            Ok(n) if n <= 16 => Ok(base.pow(n)),
            _ => Err(format!(
                "`^{n}`: an exponent is a whole number from 0 to 16"
            )),
        }
    }
    fn atom(&mut self) -> Result<Ex, String> {
        match self.peek() {
            Some(b'(') => {
                self.depth += 1;
                if self.depth > DEPTH {
                    return Err(format!("more than {DEPTH} brackets in each other"));
                }
                self.at += 1;
                let e = self.sum()?;
                self.depth -= 1;
                if self.eat(b')') {
                    Ok(e)
                } else {
                    Err("`)` is missing".into())
                }
            }
            Some(c) if c.is_ascii_digit() => {
                let t = self.take(|c| c.is_ascii_digit() || c == b'.');
                Rat::parse(&t)
                    .map(num)
                    .ok_or(format!("`{t}` is not a number"))
            }
            Some(c) if c.is_ascii_alphabetic() => self.name(),
            Some(c) => Err(format!(
                "`{}` is not expected at column {}",
                c as char,
                self.at + 1
            )),
            None => Err("the formula ends too early".into()),
        }
    }
    fn name(&mut self) -> Result<Ex, String> {
        let name = self.take(|c| c.is_ascii_alphanumeric() || c == b'_');
        if self.peek() == Some(b'(') {
            let argument = self.atom()?;
            return match name.as_str() {
                "sin" => Ok(argument.sin()),
                "cos" => Ok(argument.cos()),
                "sqrt" => Ok(argument.sqrt()),
                _ => Err(format!("`{name}` is not a function: sin, cos, sqrt are")),
            };
        }
        self.scope.lookup(&name).ok_or_else(|| {
            format!("`{name}` is neither a parameter nor a coordinate of this description")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Unit, int};

    #[test]
    fn formulas_are_read_with_the_usual_precedence() {
        let s = Scope::new();
        let [a, b] = ["a", "b_1"].map(|n| s.parameter(n, Unit::NONE));
        let read = |t: &str| parse(t, s).unwrap();
        assert_eq!(read("a + 2*b_1^2/4 - 0"), a + b.pow(2).half());
        assert_eq!(read("-(a - b_1)*sin(a)^2"), (b - a) * a.sin().pow(2));
        assert_eq!(read("cos(pi)"), int(-1));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let s = Scope::new();
        for (text, part) in [
            ("nobody", "`nobody` is neither"),
            ("1 +", "ends too early"),
            ("(1", "`)` is missing"),
            ("tan(1)", "sin, cos, sqrt"),
            ("1 2", "column 3"),
            ("2^x", "whole number"),
            ("1/0", "division by zero"),
            ("1.2.3", "not a number"),
        ] {
            let e = parse(text, s).unwrap_err();
            assert!(e.contains(part), "{text}: {e}");
        }
        assert!(parse(&"(".repeat(100_000), s).is_err());
    }
}
