//! From an expression to a page: terms in the reader's order, coefficients collected, common factors in front.

use std::collections::BTreeMap;

use crate::canonical::{Form, Mono, Wave, shortest};
use crate::expr::*;
use crate::hash::Map;

pub(super) enum Doc {
    Num(Rat),
    Name(Symbol),
    Pow(Box<Doc>, i32),
    Fn(&'static str, Box<Doc>),
    Prod(Vec<Doc>),
    Over(Box<Doc>, Box<Doc>),
    /// (negative, term).
    Sum(Vec<(bool, Doc)>),
    /// Too long to be read: its number of factors.
    Long(u64),
}

/// Terms beyond which a form is not worth computing for display, and factors beyond which a formula is only counted.
const TERMS: usize = 500;
const FACTORS: u64 = 2000;

pub(super) fn document(e: Ex) -> Doc {
    // A quotient is shown as one: numerator and denominator each in their own form.
    if let Some((above, below)) = quotient(e) {
        return Doc::Over(Box::new(document(above)), Box::new(document(below)));
    }
    match shortest(e, TERMS) {
        Some(f) if f.size() <= 4 * size(e).max(10) => page(&f),
        _ => match written(e, &mut Map::default()) {
            n if n > FACTORS => Doc::Long(n),
            _ => unexpanded(e),
        },
    }
}

fn quotient(e: Ex) -> Option<(Ex, Ex)> {
    let (factors, content) = match e.node() {
        Node::Prod(f) => (f, Rat::ONE),
        Node::Sum(t) if t.len() == 1 => match t[0].0.node() {
            Node::Prod(f) => (f, t[0].1),
            _ => return None,
        },
        _ => return None,
    };
    let (below, above): (Vec<_>, Vec<_>) = factors.iter().partition(|(_, n)| *n < 0);
    let below = prod(below.into_iter().map(|(x, n)| (x, -n)));
    let above = prod(above) * num(content);
    (below != one()).then_some((above, below))
}

/// Factors of the expression written out, shared parts as often as they occur.
fn written(e: Ex, memo: &mut Map<Ex, u64>) -> u64 {
    if let Some(n) = memo.get(&e) {
        return *n;
    }
    let n = e
        .children()
        .iter()
        .fold(1u64, |n, c| n.saturating_add(written(*c, memo)));
    memo.insert(e, n);
    n
}

/// Factors of the expression as it stands, each node once.
fn size(e: Ex) -> usize {
    let mut seen = std::collections::BTreeSet::new();
    let mut stack = vec![e];
    let mut count = 0;
    while let Some(e) = stack.pop() {
        if seen.insert(e) {
            count += 1;
            stack.extend(e.children());
        }
    }
    count
}

fn is_moving(e: Ex) -> bool {
    match e.symbol() {
        Some(s) => s.kind != Kind::Parameter,
        None => e.children().into_iter().any(is_moving),
    }
}

/// Splits a form: moving factors → coefficient in the parameters.
pub(crate) fn collect(f: &Form) -> BTreeMap<Mono, Form> {
    let mut out: BTreeMap<Mono, Form> = BTreeMap::new();
    for (m, c) in &f.0 {
        let (moving, fixed): (Vec<_>, Vec<_>) = m.pow.iter().partition(|(e, _)| is_moving(*e));
        let key = Mono {
            wave: m.wave.clone(),
            pow: moving,
        };
        let coefficient = Mono {
            wave: Wave::One,
            pow: fixed,
        };
        out.entry(key).or_default().0.push((coefficient, *c));
    }
    out
}

fn page(f: &Form) -> Doc {
    let mut terms: Vec<(Mono, Form)> = collect(f).into_iter().collect();
    // Accelerations first, then speeds, then the rest.
    let rank = |m: &Mono| -> Vec<(Kind, usize)> {
        let symbols = m.pow.iter().filter_map(|(e, _)| e.symbol());
        symbols.map(|s| (s.kind, s.index)).collect()
    };
    terms.sort_by_key(|(m, _)| {
        let r = rank(m);
        (r.is_empty(), r)
    });
    Doc::Sum(terms.iter().map(|(m, c)| term(m, c)).collect())
}

/// Coefficient, then moving factors.
fn term(m: &Mono, coefficient: &Form) -> (bool, Doc) {
    let common = common_factors(coefficient);
    let left = |k: &Mono| -> Vec<(Ex, i32)> {
        let less = |e: Ex| common.iter().find(|x| x.0 == e).map_or(0, |x| x.1);
        k.pow
            .iter()
            .map(|(e, n)| (*e, n - less(*e)))
            .filter(|x| x.1 != 0)
            .collect()
    };
    let mut rest: Vec<(Rat, Vec<(Ex, i32)>)> =
        coefficient.0.iter().map(|(k, c)| (*c, left(k))).collect();
    rest.sort_by_key(|x| {
        x.1.iter()
            .map(|(e, n)| (e.symbol().map(|s| s.name), *n))
            .collect::<Vec<_>>()
    });
    let content = match rest.as_slice() {
        [(c, _)] => *c,
        _ => rational_content(&rest),
    };
    let negative = content.is_negative();
    let mut factors = vec![];
    if content.abs() != Rat::ONE {
        factors.push(Doc::Num(content.abs()));
    }
    factors.extend(powers(&common));
    if rest.len() > 1 {
        let inner = rest.iter().map(|(c, f)| {
            let c = *c * content.recip();
            let mut fs = if c.abs() == Rat::ONE && !f.is_empty() {
                vec![]
            } else {
                vec![Doc::Num(c.abs())]
            };
            fs.extend(powers(f));
            (c.is_negative(), product(fs))
        });
        factors.push(Doc::Sum(inner.collect()));
    }
    let mut moving = m.pow.clone();
    moving.sort_by_key(|(e, _)| (e.symbol().is_some(), *e));
    factors.extend(powers(&moving));
    match &m.wave {
        Wave::One => {}
        Wave::Cos(k) => factors.push(Doc::Fn("cos", Box::new(angle(k)))),
        Wave::Sin(k) => factors.push(Doc::Fn("sin", Box::new(angle(k)))),
    }
    (negative, product(factors))
}

/// The rational all terms share, negative when most of them are.
fn rational_content(terms: &[(Rat, Vec<(Ex, i32)>)]) -> Rat {
    let minus = terms.iter().filter(|t| t.0.is_negative()).count();
    let sign = if 2 * minus > terms.len() {
        -Rat::ONE
    } else {
        Rat::ONE
    };
    let size = terms[0].0.abs();
    if terms.iter().all(|t| t.0.abs() == size) {
        sign * size
    } else {
        sign
    }
}

fn angle(k: &[(Ex, i32)]) -> Doc {
    let part = |(e, n): &(Ex, i32)| {
        let s = atom(*e);
        let doc = match n.unsigned_abs() {
            1 => s,
            n => Doc::Prod(vec![Doc::Num(Rat::int(n.into())), s]),
        };
        (*n < 0, doc)
    };
    Doc::Sum(k.iter().map(part).collect())
}

fn product(mut f: Vec<Doc>) -> Doc {
    match f.len() {
        0 => Doc::Num(Rat::ONE),
        1 => f.remove(0),
        _ => Doc::Prod(f),
    }
}

fn common_factors(f: &Form) -> Vec<(Ex, i32)> {
    let mut all = f.0.iter().map(|t| &t.0.pow);
    let mut common = all.next().cloned().unwrap_or_default();
    for pow in all {
        common = common
            .into_iter()
            .filter_map(|(e, n)| pow.iter().find(|x| x.0 == e).map(|x| (e, n.min(x.1))))
            .collect();
    }
    common
}

/// Parameters first, by name.
fn powers(f: &[(Ex, i32)]) -> Vec<Doc> {
    let mut f = f.to_vec();
    f.sort_by_key(|(e, _)| e.symbol().map(|s| (s.kind != Kind::Parameter, s.name)));
    f.iter()
        .map(|(e, n)| match n {
            1 => atom(*e),
            _ => Doc::Pow(Box::new(atom(*e)), *n),
        })
        .collect()
}

fn atom(e: Ex) -> Doc {
    match e.node() {
        Node::Sym(id) => Doc::Name(symbol(id)),
        Node::Num(r) => Doc::Num(r),
        Node::Sin(x) => Doc::Fn("sin", Box::new(document(x))),
        Node::Cos(x) => Doc::Fn("cos", Box::new(document(x))),
        Node::Sqrt(x) => Doc::Fn("sqrt", Box::new(document(x))),
        _ => document(e),
    }
}

/// The expression as it stands.
fn unexpanded(e: Ex) -> Doc {
    match e.node() {
        Node::Sum(t) => Doc::Sum(
            t.iter()
                .map(|(x, c)| {
                    let size = Doc::Num(c.abs());
                    let doc = match c.abs() {
                        Rat::ONE => unexpanded(*x),
                        _ if *x == one() => size,
                        _ => Doc::Prod(vec![size, unexpanded(*x)]),
                    };
                    (c.is_negative(), doc)
                })
                .collect(),
        ),
        Node::Prod(f) => product(
            f.iter()
                .map(|(x, n)| match n {
                    1 => unexpanded(*x),
                    _ => Doc::Pow(Box::new(unexpanded(*x)), *n),
                })
                .collect(),
        ),
        _ => atom(e),
    }
}
