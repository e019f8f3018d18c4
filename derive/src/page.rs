//! A page of one derivation that needs nothing else: both methods' steps side by side, the proof, a schematic that any mechanism draws
//! of itself from r(q), and an animation of the same equations with sliders and an energy trace.
//!
//! The page is text; the command writes it to a file, the studio serves it.

mod script;
mod steps;

use std::fmt::Write;

use crate::error::Result;
use crate::expr::*;
use crate::hash::Map;
use crate::kane::Kane;
use crate::lagrange::Lagrange;
use crate::linear::{equations, linearise};
use crate::mechanism::{Constraint, JointKind, Mechanism};
use crate::print::{Format, equation, formula, reduced_equation};
use crate::printed::{Derived, paper_002};
use crate::proof::{Identity, Proof};
use script::{Places, function, size};

const STYLE: &str = include_str!("page/page.css");
const RUNTIME: &str = include_str!("page/page.js");

/// Nodes beyond which the equations are not sent to the browser.
const SCRIPT_LIMIT: usize = 6000;

pub(crate) fn escape(s: &str) -> String {
    s.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn math(inner: &str) -> String {
    format!("<math>{inner}</math>")
}

/// The whole page.
pub fn page(m: &Mechanism, l: &Lagrange, k: &Kane, proof: &Proof) -> Result<String> {
    let mut s = String::new();
    let title = escape(&m.name);
    let _ = write!(
        s,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}: equations of motion</title><style>{STYLE}</style></head><body>\
         <h1>{title}</h1><p>{}.</p>",
        escape(&m.note)
    );
    motion(&mut s, m, l, k)?;
    s += "<h2>Equations of motion</h2>";
    let free = m.is_free();
    if !free {
        let eq = equations(m, &k.motion)?;
        for r in 0..eq.speeds.len() {
            s += &reduced_equation(&eq, r, Format::MathMl);
        }
        s += "<p>Rates of the coordinates in the speeds:</p>";
        for (q, rate) in m.w.iter().zip(&eq.q_rates).filter(|p| p.0 != p.1) {
            let (left, right) = (formula(*q, Format::MathMl), formula(*rate, Format::MathMl));
            let _ = write!(s, "<math display=\"block\">{left}<mo>=</mo>{right}</math>");
        }
        s += "<p>In the coordinates, before the constraints are applied:</p>";
    }
    for r in 0..m.dof() {
        s += &equation(m, &l.motion, r, Format::MathMl);
    }
    let _ = write!(
        s,
        "<p class=\"{}\">{}</p>",
        if proof.holds() { "equal" } else { "differs" },
        escape(&verdict(proof))
    );
    let _ = write!(
        s,
        "<div class=\"columns\"><section><h2>Lagrange</h2>{}</section><section><h2>Kane</h2>{}</section></div>",
        steps::column(&l.motion.steps),
        steps::column(&k.motion.steps)
    );
    linear(&mut s, m, l)?;
    printed(&mut s, m)?;
    s += "</body></html>\n";
    Ok(s)
}

/// One sentence for the three proofs.
pub fn verdict(p: &Proof) -> String {
    let first = match &p.identity {
        Identity::Identical { terms, .. } => format!(
            "canonical forms identical ({} quantities, {terms} terms)",
            p.quantities
        ),
        Identity::Different { quantity } => format!("canonical forms differ in {quantity}"),
        Identity::Undecided { why } => format!("canonical form does not decide ({why})"),
    };
    let second = match &p.field {
        Some(a) => format!(
            "{} points of GF(2^61-1) agree (error probability ≤ {:.0e})",
            a.points, a.error
        ),
        None => "a point of GF(2^61-1) differs".into(),
    };
    let word = if p.holds() {
        "Lagrange = Kane"
    } else {
        "Lagrange ≠ Kane"
    };
    format!(
        "{word}: {first}; {second}; {} random states differ by at most {:.0e}",
        p.states, p.largest
    )
}

fn linear(s: &mut String, m: &Mechanism, l: &Lagrange) -> Result<()> {
    for at in &m.equilibria {
        let lin = linearise(m, &l.motion, at)?;
        let _ = write!(s, "<h2>Linearised about “{}”</h2>", escape(&at.name));
        let states: Vec<String> = lin
            .states
            .iter()
            .map(|e| formula(*e, Format::MathMl))
            .collect();
        let _ = write!(s, "<p>State {}", math(&states.join("<mo>,</mo>")));
        match (lin.inputs.is_empty(), lin.controllable_states()) {
            (false, Some(r)) if r == lin.states.len() => s.push_str("; controllable."),
            (false, Some(r)) => {
                let _ = write!(s, "; {r} of {} states are controllable.", lin.states.len());
            }
            _ => s.push_str("; no actuator."),
        }
        s.push_str("</p>");
        if let Some((a, b)) = lin.formulas() {
            for (name, matrix) in [("A", a), ("B", b)] {
                if matrix.first().is_some_and(|r| !r.is_empty()) {
                    let rows: String = matrix
                        .iter()
                        .map(|r| {
                            let cells: String = r
                                .iter()
                                .map(|e| format!("<mtd>{}</mtd>", formula(*e, Format::MathMl)))
                                .collect();
                            format!("<mtr>{cells}</mtr>")
                        })
                        .collect();
                    let _ = write!(
                        s,
                        "<math display=\"block\"><mi>{name}</mi><mo>=</mo><mtable class=\"matrix\">{rows}</mtable></math>"
                    );
                }
            }
        }
    }
    Ok(())
}

/// The paper's formulas of this mechanism, printed and derived.
fn printed(s: &mut String, m: &Mechanism) -> Result<()> {
    let rows: Vec<_> = paper_002()
        .into_iter()
        .filter(|p| p.mechanism == m.name)
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let derived = Derived::new(&m.name)?;
    s.push_str("<h2>Paper 002, printed and derived</h2>");
    for p in rows {
        let v = derived.check(&p)?;
        let class = if v.right { "equal" } else { "differs" };
        let why = if v.right { "right" } else { p.why };
        let _ = write!(
            s,
            "<article class=\"printed {class}\"><h3>{}: <span>{}</span></h3><span>printed</span><div class=\"step\">{}</div>\
             <span>derived</span><div class=\"step\">{}</div></article>",
            escape(p.place),
            escape(why),
            math(&formula(v.printed, Format::MathMl)),
            math(&formula(v.derived, Format::MathMl)),
        );
    }
    Ok(())
}

/// Schematic, animation, sliders, energy: data and functions for the page's script.
fn motion(s: &mut String, m: &Mechanism, l: &Lagrange, k: &Kane) -> Result<()> {
    let eq = equations(m, &k.motion)?;
    let mut places: Places = Map::default();
    let lists = [
        (
            "p",
            m.parameters.iter().map(|p| p.symbol).collect::<Vec<Ex>>(),
        ),
        ("q", m.q.clone()),
        ("w", eq.speeds.clone()),
        ("u", m.actuators.iter().map(|a| a.effort).collect()),
    ];
    for (name, list) in &lists {
        places.extend(
            list.iter()
                .enumerate()
                .map(|(i, e)| (*e, format!("{name}[{i}]"))),
        );
    }
    // The right side Q − c, then the mass matrix, then q̇.
    let n = eq.speeds.len();
    let right = (0..n).map(|i| eq.effort[i] - eq.rest[i]);
    let rates: Vec<Ex> = right
        .chain(eq.mass.iter().flatten().copied())
        .chain(eq.q_rates.iter().copied())
        .collect();
    let pairs: Vec<(Ex, Ex)> =
        m.w.iter()
            .copied()
            .zip(eq.q_rates.iter().copied())
            .filter(|p| p.0 != p.1)
            .collect();
    let energy = [l.kinetic.subs(&pairs), l.potential];
    let moving = size(&rates) + size(&energy) <= SCRIPT_LIMIT;
    let drawn = drawing(m);

    let _ = write!(
        s,
        "<div class=\"stage\"><canvas id=\"view\" width=\"560\" height=\"420\" tabindex=\"0\"></canvas>\
         <div class=\"side\"><canvas id=\"trace\" width=\"420\" height=\"150\"></canvas><div id=\"controls\"></div></div></div>"
    );
    if !moving {
        s.push_str("<p class=\"note\">The equations of this mechanism are too long for the browser: only the schematic is shown.</p>");
    }
    let text = |list: &[Ex]| -> String {
        let names: Vec<String> = list
            .iter()
            .map(|e| format!("\"{}\"", escape(&formula(*e, Format::Text))))
            .collect();
        format!("[{}]", names.join(","))
    };
    let parameters: Vec<String> = m
        .parameters
        .iter()
        .map(|p| {
            let [low, high] = p.range.unwrap_or([f64::MIN, f64::MAX]);
            format!(
                "{{value:{:?},low:{low:?},high:{high:?},unit:\"{}\"}}",
                p.default,
                escape(&p.unit.to_string())
            )
        })
        .collect();
    let efforts: Vec<String> = m
        .actuators
        .iter()
        .map(|a| match m.bodies[a.body].joint {
            JointKind::Revolute => "\"N·m\"".to_string(),
            JointKind::Prismatic => "\"N\"".to_string(),
        })
        .collect();
    let starts: Vec<String> = m
        .equilibria
        .iter()
        .map(|e| {
            let mut values = m.values(&[]);
            let mut at = |list: &[Ex]| -> String {
                let list: Vec<String> = list
                    .iter()
                    .map(|x| {
                        e.at.iter()
                            .find(|a| a.0 == *x)
                            .map_or(0.0, |a| values.of(a.1))
                    })
                    .map(|x| format!("{x:?}"))
                    .collect();
                format!("[{}]", list.join(","))
            };
            format!(
                "{{name:\"{}\",q:{},w:{}}}",
                escape(&e.name),
                at(&m.q),
                at(&eq.speeds)
            )
        })
        .collect();
    let null = "null".to_string();
    let _ = write!(
        s,
        "<script>const model={{names:{{p:{},q:{},w:{},u:{}}},parameters:[{}],efforts:[{}],starts:[{}],bodies:[{}],\
         gravity:{},draw:{},rates:{},energy:{}}};\n{RUNTIME}</script>",
        text(&lists[0].1),
        text(&lists[1].1),
        text(&lists[2].1),
        text(&lists[3].1),
        parameters.join(","),
        efforts.join(","),
        starts.join(","),
        drawn.0.join(","),
        function(&m.gravity, &places),
        function(&drawn.1, &places),
        if moving {
            function(&rates, &places)
        } else {
            null.clone()
        },
        if moving {
            function(&energy, &places)
        } else {
            null
        },
    );
    Ok(())
}

/// Per body its kind, and what to draw: parent's point, joint, centre of gravity, two vectors that turn with it, wheel radius, mass.
fn drawing(m: &Mechanism) -> (Vec<String>, Vec<Ex>) {
    let (mut kinds, mut out) = (vec![], vec![]);
    for (i, b) in m.bodies.iter().enumerate() {
        let (joint, com) = m.positions(i);
        let start = b.parent.map_or(ORIGIN, |p| m.positions(p).0);
        let to_ground = m.to_ground(i);
        // Two directions across the axis.
        let across = if b.axis[0] == one() || b.axis[0] == -one() {
            [zero(), one(), zero()]
        } else {
            [one(), zero(), zero()]
        };
        let second = cross(b.axis, across);
        let along = match b.joint {
            JointKind::Prismatic => mv(&to_ground, b.axis),
            JointKind::Revolute => mv(&to_ground, across),
        };
        let rolls = m.constraints.iter().find_map(|c| match c {
            Constraint::Rolls { body, radius, .. } if *body == i => Some(*radius),
            _ => None,
        });
        let spins = b.joint == JointKind::Revolute && b.com == ORIGIN && !b.mass.is_zero();
        // A wheel without a given radius: that of a hoop's and a disc's mean, √(1.5·I/m).
        let inertia = dot(b.axis, mv(&b.inertia, b.axis));
        let radius = rolls.unwrap_or_else(|| {
            if spins {
                (int(3) * inertia / (int(2) * b.mass)).sqrt()
            } else {
                zero()
            }
        });
        let kind = match b.joint {
            JointKind::Prismatic => "slide",
            JointKind::Revolute if rolls.is_some() || spins => "wheel",
            JointKind::Revolute => "hinge",
        };
        kinds.push(format!(
            "{{name:\"{}\",kind:\"{kind}\",q:{}}}",
            escape(&b.name),
            b.q
        ));
        for v in [start, joint, com, along, mv(&to_ground, second)] {
            out.extend(v);
        }
        out.extend([radius, b.mass]);
    }
    (kinds, out)
}
