//! One layout, three outputs: plain text, LaTeX, presentation MathML.

mod layout;
mod name;
mod render;

use crate::constraint::Reduced;
use crate::expr::Ex;
use crate::mechanism::Mechanism;
use crate::motion::Motion;

pub(crate) use layout::collect;
pub use name::symbol_name;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Text,
    Latex,
    MathMl,
}

/// The shortest of the three canonical forms and of the expression as it stands, common factors in front.
pub fn formula(e: Ex, f: Format) -> String {
    render::render(&layout::document(e), f)
}

/// Equation `r` in the generalized speeds: M·u̇ + c = Q.
pub fn reduced_equation(eq: &Reduced, r: usize, f: Format) -> String {
    let inertia: Ex = eq.mass[r].iter().zip(&eq.rates).map(|(m, u)| *m * *u).sum();
    join(
        formula(inertia + eq.rest[r], f),
        formula(eq.effort[r], f),
        f,
    )
}

fn join(left: String, right: String, f: Format) -> String {
    match f {
        Format::MathMl => {
            format!(
                "<math display=\"block\"><mrow>{left}</mrow><mo>=</mo><mrow>{right}</mrow></math>"
            )
        }
        _ => format!("{left} = {right}"),
    }
}

/// Equation `r`: H·q̈ + B + G + D = Q.
pub fn equation(m: &Mechanism, motion: &Motion, r: usize, f: Format) -> String {
    join(
        formula(motion.left(r, &m.a), f),
        formula(motion.effort[r], f),
        f,
    )
}
