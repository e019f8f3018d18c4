//! The Rust source of a plant: configuration, constants in `from_values`, H, B, G, ∂T/∂q and joint reactions in `terms_at`, energy,
//! bounds. What does not move is computed once, an inertia that is constant is inverted once, sines are only of joint angles.

use super::emit::{Emit, Names};
use super::program::{Count, Op, Program, compile};
use super::source::Writer;
use crate::canonical::Form;
use crate::error::{Error, Result};
use crate::expr::{Ex, Kind, V3, mv};
use crate::kane::Kane;
use crate::lagrange::Lagrange;
use crate::mechanism::{JointKind, Mechanism, Plant};
use crate::print::{Format, formula};
use crate::reaction::reactions;

/// Tie-breakings searched per way of factoring.
const SEEDS: u64 = 100;

/// A generated source, before rustfmt.
pub struct Source {
    pub text: String,
    /// Operations of one `terms_at`, without the inverse of H.
    pub count: Count,
    pub constants: usize,
}

/// What one tick needs, in the order it is needed; reactions use the accelerations e of the frictionless system.
fn outputs(m: &Mechanism, l: &Lagrange, k: &Kane) -> Vec<(String, Ex)> {
    let n = m.dof();
    let mut out = vec![];
    for i in 0..n {
        for j in i..n {
            out.push((format!("h{i}{j}"), l.motion.h[i][j]));
        }
    }
    for (name, v) in [("b", &l.motion.b), ("g", &l.motion.g), ("dt_dq", &l.dt_dq)] {
        out.extend(
            v.iter()
                .enumerate()
                .map(|(i, e)| (format!("{name}{i}"), *e)),
        );
    }
    let r = reactions(m, k);
    // The outer joint in its parent's frame; the inner one adds its own body's share in that frame.
    let forces: Vec<(usize, V3)> = match n {
        1 => vec![(0, r.force[0])],
        _ => vec![(1, mv(&m.bodies[1].turn, r.force[1])), (0, r.load[0])],
    };
    for (i, force) in forces {
        // Along a slide's axis the joint carries nothing: that is the actuator's and friction's share.
        let b = &m.bodies[i];
        let slides = |c: usize| i == 0 && b.joint == JointKind::Prismatic && !b.axis[c].is_zero();
        for (c, axis) in ["x", "y", "z"].iter().enumerate().filter(|x| !slides(x.0)) {
            out.push((format!("r{i}{axis}"), force[c]));
        }
    }
    out
}

/// Refuses what the core's `Plant` cannot carry.
fn check(m: &Mechanism) -> Result<&Plant> {
    let refuse = |what: &str| {
        Err(Error::Unsupported(format!(
            "`{}` cannot become a plant: {what}",
            m.name
        )))
    };
    let chain = m
        .bodies
        .iter()
        .enumerate()
        .all(|(i, b)| b.parent == i.checked_sub(1) && b.turns_in == b.parent && b.q == i);
    if m.dof() > 2 {
        return refuse("encoders, observers and wire carry two joints");
    }
    if !chain || !m.is_free() {
        return refuse(
            "it must be a chain of one or two joints, listed from the ground, without constraints",
        );
    }
    if !m.springs.is_empty() || !m.dampers.is_empty() {
        return refuse("springs and dampers have no place in it; friction is the observer's");
    }
    match &m.plant {
        Some(p) => Ok(p),
        None => refuse("the description has no [plant] section (type, header, inertia, weight)"),
    }
}

/// Names of the parameters in the source: the paper's, lower case; the field's where two would coincide.
fn names(m: &Mechanism) -> Names {
    let lower = |i: usize| m.parameters[i].name.to_lowercase();
    let unique = |i: usize| {
        (0..m.parameters.len())
            .all(|j| j == i || lower(j) != lower(i) || m.parameters[i].name == lower(i))
    };
    (0..m.parameters.len())
        .map(|i| {
            (
                m.parameters[i].symbol,
                if unique(i) {
                    lower(i)
                } else {
                    m.parameters[i].field.clone()
                },
            )
        })
        .collect()
}

pub fn plant(m: &Mechanism, l: &Lagrange, k: &Kane) -> Result<Source> {
    let stated = check(m)?;
    let list = outputs(m, l, k);
    let mut p = compile(&list, SEEDS)?;
    if let Some(e) = p.ops.iter().find_map(|o| match o {
        Op::Atom(e) if e.is_symbol(Kind::Coordinate) => Some(*e),
        _ => None,
    }) {
        return Err(Error::Unsupported(format!(
            "`{}` cannot become a plant: its equations hold {} itself, and `terms_at` sees sines, cosines and rates",
            m.name,
            formula(e, Format::Text)
        )));
    }
    let names = names(m);
    let potential = potential(&mut p, l, &names)?;
    let writer = Writer {
        m,
        p: &p,
        names: &names,
        stated,
        constant_h: constant_inertia(m, &p),
    };
    let mut text = String::new();
    writer.header(&mut text, l);
    writer.config(&mut text, l);
    writer.structure(&mut text, &potential);
    writer.implementation(&mut text, &potential);
    Ok(Source {
        text,
        count: p.count(),
        constants: p.consts.len(),
    })
}

fn constant_inertia(m: &Mechanism, p: &Program) -> bool {
    let fixed = |o: Option<(usize, bool)>| {
        o.is_none_or(|(i, _)| matches!(p.ops[i], Op::Const(_) | Op::Lit(_)))
    };
    let upper = (0..m.dof()).flat_map(|i| (i..m.dof()).map(move |j| format!("h{i}{j}")));
    upper.into_iter().all(|name| fixed(p.get(&name)))
}

/// The potential energy as an expression; its constants join those of the tick.
fn potential(p: &mut Program, l: &Lagrange, names: &Names) -> Result<Vec<String>> {
    let mut v = compile(&[("v".into(), l.potential)], 1)?;
    let place = |c: &Form, p: &mut Program| {
        p.consts.iter().position(|d| d == c).unwrap_or_else(|| {
            p.consts.push(c.clone());
            p.consts.len() - 1
        })
    };
    let map: Vec<usize> = v.consts.iter().map(|c| place(c, p)).collect();
    for op in &mut v.ops {
        if let Op::Const(k) = op {
            *k = map[*k];
        }
    }
    let mut e = Emit::new(&v, names);
    let value = e.output("v").unwrap_or_else(|| "S::ZERO".into());
    let mut lines = e.body;
    lines.push(format!("let potential = {value};"));
    Ok(lines)
}
