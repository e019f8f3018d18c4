//! Names of symbols: `theta1_dd` → θ̈1, `\ddot{\theta}_{1}`; `l_a` → l_a.

use super::Format;
use crate::expr::{Kind, Symbol};

const GREEK: [(&str, &str); 17] = [
    ("alpha", "α"),
    ("beta", "β"),
    ("gamma", "γ"),
    ("delta", "δ"),
    ("epsilon", "ε"),
    ("zeta", "ζ"),
    ("eta", "η"),
    ("theta", "θ"),
    ("lambda", "λ"),
    ("mu", "μ"),
    ("pi", "π"),
    ("rho", "ρ"),
    ("sigma", "σ"),
    ("tau", "τ"),
    ("phi", "φ"),
    ("psi", "ψ"),
    ("omega", "ω"),
];

/// Letter, index and number of dots.
fn parts(s: &Symbol) -> (&str, &str, usize) {
    let ending = match s.kind {
        Kind::Speed => "_d",
        Kind::Acceleration => "_dd",
        _ => "",
    };
    let (base, dots) = match s.name.strip_suffix(ending) {
        Some(base) if !ending.is_empty() => (base, ending.len() - 1),
        // The rate of a generalized speed has one dot.
        _ => match s.name.strip_suffix("_d") {
            Some(base) if s.kind == Kind::Acceleration => (base, 1),
            _ => (&*s.name, 0),
        },
    };
    let digit = base
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(base.len());
    let (stem, index) = base.split_once('_').unwrap_or_else(|| base.split_at(digit));
    (stem, index, dots)
}

pub fn symbol_name(s: &Symbol, f: Format) -> String {
    let (stem, index, dots) = parts(s);
    let greek = GREEK.iter().find(|g| g.0 == stem);
    let letter = greek.map_or(stem, |g| g.1);
    match f {
        Format::Text => {
            let dot = ["", "\u{307}", "\u{308}"][dots];
            let separator = if s.name.contains(&format!("{stem}_{index}")) && !index.is_empty() {
                "_"
            } else {
                ""
            };
            format!("{letter}{dot}{separator}{index}")
        }
        Format::Latex => {
            let base = match greek {
                Some(g) => format!("\\{}", g.0),
                None if stem.len() > 1 => format!("\\mathrm{{{stem}}}"),
                None => stem.to_string(),
            };
            let dotted = match dots {
                0 => base,
                1 => format!("\\dot{{{base}}}"),
                _ => format!("\\ddot{{{base}}}"),
            };
            if index.is_empty() {
                dotted
            } else {
                format!("{dotted}_{{{}}}", index.replace('_', ","))
            }
        }
        Format::MathMl => {
            let base = format!("<mi>{letter}</mi>");
            let dotted = match dots {
                0 => base,
                1 => format!("<mover>{base}<mo>˙</mo></mover>"),
                _ => format!("<mover>{base}<mo>¨</mo></mover>"),
            };
            if index.is_empty() {
                dotted
            } else {
                format!("<msub>{dotted}<mi>{index}</mi></msub>")
            }
        }
    }
}
