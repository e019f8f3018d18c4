//! From the page to characters.

use super::Format;
use super::layout::Doc;
use super::name::symbol_name;
use crate::expr::Rat;

pub(super) fn render(d: &Doc, f: Format) -> String {
    place(d, f, Around::Nothing)
}

/// What stands around: decides brackets.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Around {
    Nothing,
    Sum,
    Product,
    Power,
}

fn place(d: &Doc, f: Format, around: Around) -> String {
    match d {
        Doc::Num(r) => number(*r, f),
        Doc::Name(s) => symbol_name(s, f),
        Doc::Long(n) => match f {
            Format::Text => format!("[… {n} factors]"),
            Format::Latex => format!("[\\ldots\\ {n}\\ \\mathrm{{factors}}]"),
            Format::MathMl => format!("<mtext>[… {n} factors]</mtext>"),
        },
        Doc::Pow(b, n) => power(b, *n, f),
        Doc::Fn("sqrt", x) => match f {
            Format::Text => format!("√{}", bracket(place(x, f, Around::Nothing), f)),
            Format::Latex => format!("\\sqrt{{{}}}", place(x, f, Around::Nothing)),
            Format::MathMl => format!("<msqrt>{}</msqrt>", place(x, f, Around::Nothing)),
        },
        Doc::Fn(name, x) => match f {
            Format::Text => format!("{name}{}", argument(x, f)),
            Format::Latex => format!("\\{name}{}", argument(x, f)),
            Format::MathMl => format!("<mi>{name}</mi><mo>&#x2061;</mo>{}", argument(x, f)),
        },
        Doc::Prod(v) => {
            let times = match f {
                Format::Text => "·",
                Format::Latex => " ",
                Format::MathMl => "<mo>&#x2062;</mo>",
            };
            let s = v
                .iter()
                .map(|x| place(x, f, Around::Product))
                .collect::<Vec<_>>()
                .join(times);
            if around == Around::Power {
                bracket(s, f)
            } else {
                s
            }
        }
        Doc::Over(a, b) => match f {
            Format::Text => {
                let s = format!(
                    "{}/{}",
                    place(a, f, Around::Product),
                    place(b, f, Around::Power)
                );
                if around == Around::Power {
                    bracket(s, f)
                } else {
                    s
                }
            }
            Format::Latex => format!("\\frac{{{}}}{{{}}}", render(a, f), render(b, f)),
            Format::MathMl => format!(
                "<mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac>",
                render(a, f),
                render(b, f)
            ),
        },
        Doc::Sum(v) if v.is_empty() => number(Rat::ZERO, f),
        Doc::Sum(v) => {
            let inner = if v.len() > 1 || v[0].0 {
                Around::Sum
            } else {
                around
            };
            let s: String = v
                .iter()
                .enumerate()
                .map(|(i, (negative, t))| {
                    format!("{}{}", sign(i == 0, *negative, f), place(t, f, inner))
                })
                .collect();
            if around >= Around::Product && inner == Around::Sum {
                bracket(s, f)
            } else {
                s
            }
        }
    }
}

fn sign(first: bool, negative: bool, f: Format) -> &'static str {
    match (first, negative, f) {
        (true, false, _) => "",
        (_, true, Format::MathMl) => "<mo>&#x2212;</mo>",
        (_, false, Format::MathMl) => "<mo>+</mo>",
        (true, true, Format::Text) => "−",
        (true, true, Format::Latex) => "-",
        (false, true, Format::Text) => " − ",
        (false, true, Format::Latex) => " - ",
        (false, false, _) => " + ",
    }
}

fn number(r: Rat, f: Format) -> String {
    let (n, d) = (r.numerator(), r.denominator());
    match f {
        Format::Text if d == 1 => n.to_string(),
        Format::Text => match r {
            Rat::HALF => "½".into(),
            _ => format!("({r})"),
        },
        Format::Latex if d == 1 => n.to_string(),
        Format::Latex => format!("\\frac{{{n}}}{{{d}}}"),
        Format::MathMl if d == 1 => format!("<mn>{n}</mn>"),
        Format::MathMl => format!("<mfrac><mn>{n}</mn><mn>{d}</mn></mfrac>"),
    }
}

fn power(base: &Doc, n: i32, f: Format) -> String {
    match (f, base) {
        (Format::Latex, Doc::Fn(name, x)) if *name != "sqrt" => {
            format!("\\{name}^{{{n}}}{}", argument(x, f))
        }
        (Format::Text, Doc::Fn(name, x)) if *name != "sqrt" => {
            format!("{name}{}{}", superscript(n), argument(x, f))
        }
        (Format::Text, _) => format!("{}{}", place(base, f, Around::Power), superscript(n)),
        (Format::Latex, _) => format!("{{{}}}^{{{n}}}", place(base, f, Around::Power)),
        (Format::MathMl, _) => format!(
            "<msup><mrow>{}</mrow><mn>{n}</mn></msup>",
            place(base, f, Around::Power)
        ),
    }
}

fn argument(x: &Doc, f: Format) -> String {
    bracket(render(x, f), f)
}

fn bracket(s: String, f: Format) -> String {
    match f {
        Format::Text => format!("({s})"),
        Format::Latex => format!("\\left({s}\\right)"),
        Format::MathMl => format!("<mrow><mo>(</mo>{s}<mo>)</mo></mrow>"),
    }
}

fn superscript(n: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    n.to_string()
        .chars()
        .map(|c| c.to_digit(10).map_or('⁻', |d| DIGITS[d as usize]))
        .collect()
}
