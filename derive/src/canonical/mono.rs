//! Monomials and their products, in each basis.

use super::Basis;
use crate::expr::{Ex, Kind, Node, Rat, one, prod, sum};

/// Factors with their powers, sorted.
type Powers = Vec<(Ex, i32)>;

/// Π atom^n · {1 | cos(k·q) | sin(k·q)}; the wave is 1 unless the basis is Fourier.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Mono {
    pub wave: Wave,
    pub pow: Powers,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Wave {
    #[default]
    One,
    Cos(Vec<(Ex, i32)>),
    Sin(Vec<(Ex, i32)>),
}

impl Wave {
    fn angle(k: &[(Ex, i32)]) -> Ex {
        sum(k.iter().map(|(s, n)| (*s, Rat::int((*n).into()))))
    }
    pub fn to_ex(&self) -> Ex {
        match self {
            Wave::One => one(),
            Wave::Cos(k) => Wave::angle(k).cos(),
            Wave::Sin(k) => Wave::angle(k).sin(),
        }
    }
}

impl Mono {
    pub fn to_ex(&self) -> Ex {
        prod(self.pow.iter().copied().chain([(self.wave.to_ex(), 1)]))
    }

    pub fn size(&self) -> usize {
        let wave = match &self.wave {
            Wave::One => 0,
            Wave::Cos(k) | Wave::Sin(k) => 1 + k.len(),
        };
        let factors = self
            .pow
            .iter()
            .map(|(e, n)| n.unsigned_abs() as usize + e.children().len());
        1 + wave + factors.sum::<usize>()
    }

    /// A product of parameters: its inverse is a monomial again.
    pub(super) fn is_invertible(&self) -> bool {
        self.wave == Wave::One && self.pow.iter().all(|(e, _)| e.is_symbol(Kind::Parameter))
    }
}

/// a + sign·b of sorted lists.
fn merge(a: &[(Ex, i32)], b: &[(Ex, i32)], sign: i32) -> Powers {
    let (mut i, mut j, mut out) = (0, 0, Vec::with_capacity(a.len() + b.len()));
    while i < a.len() || j < b.len() {
        if j == b.len() || (i < a.len() && a[i].0 < b[j].0) {
            out.push(a[i]);
            i += 1;
        } else if i == a.len() || b[j].0 < a[i].0 {
            out.push((b[j].0, sign * b[j].1));
            j += 1;
        } else {
            let n = a[i].1 + sign * b[j].1;
            if n != 0 {
                out.push((a[i].0, n));
            }
            i += 1;
            j += 1;
        }
    }
    out
}

/// cos(k·q) or ±sin(k·q) with the first component of k positive.
pub(super) fn wave(sine: bool, k: Vec<(Ex, i32)>) -> (Wave, Rat) {
    match (k.first(), sine) {
        (None, false) => (Wave::One, Rat::ONE),
        (None, true) => (Wave::One, Rat::ZERO),
        (Some(f), _) if f.1 < 0 => {
            let (w, c) = wave(sine, k.into_iter().map(|(s, n)| (s, -n)).collect());
            (w, if sine { -c } else { c })
        }
        (_, true) => (Wave::Sin(k), Rat::ONE),
        (_, false) => (Wave::Cos(k), Rat::ONE),
    }
}

/// Products to sums: cos a·cos b = ½cos(a+b) + ½cos(a−b) and so on.
fn multiply_waves(a: &Wave, b: &Wave) -> Vec<(Wave, Rat)> {
    let h = Rat::HALF;
    let both = |a: &[(Ex, i32)], b: &[(Ex, i32)], sine, plus: Rat, minus: Rat| {
        let (w1, c1) = wave(sine, merge(a, b, 1));
        let (w2, c2) = wave(sine, merge(a, b, -1));
        vec![(w1, c1 * plus), (w2, c2 * minus)]
    };
    match (a, b) {
        (Wave::One, w) | (w, Wave::One) => vec![(w.clone(), Rat::ONE)],
        (Wave::Cos(x), Wave::Cos(y)) => both(x, y, false, h, h),
        (Wave::Sin(x), Wave::Sin(y)) => both(x, y, false, -h, h),
        (Wave::Sin(x), Wave::Cos(y)) => both(x, y, true, h, h),
        (Wave::Cos(x), Wave::Sin(y)) => both(x, y, true, h, -h),
    }
}

/// The partner that replaces this atom's square: 1 − partner².
fn partner(e: Ex, basis: Basis) -> Option<Ex> {
    let fixed = |x: Ex| x.is_symbol(Kind::Parameter);
    match e.node() {
        Node::Sin(x) if basis != Basis::Sines || fixed(x) => Some(x.cos()),
        Node::Cos(x) if basis == Basis::Sines && !fixed(x) => Some(x.sin()),
        _ => None,
    }
}

pub(super) fn multiply(a: &Mono, b: &Mono, basis: Basis) -> Vec<(Mono, Rat)> {
    let mut pows = vec![(merge(&a.pow, &b.pow, 1), Rat::ONE)];
    let mut i = 0;
    while i < pows.len() {
        let square = pows[i]
            .0
            .iter()
            .filter(|f| f.1 >= 2)
            .find_map(|(e, _)| partner(*e, basis).map(|p| (*e, p)));
        match square {
            Some((e, partner)) => {
                let (p, c) = pows.swap_remove(i);
                let rest = merge(&p, &[(e, -2)], 1);
                pows.push((merge(&rest, &[(partner, 2)], 1), -c));
                pows.push((rest, c));
            }
            None => i += 1,
        }
    }
    let waves = multiply_waves(&a.wave, &b.wave);
    let mut out: Vec<(Mono, Rat)> = Vec::with_capacity(pows.len() * waves.len());
    for (wave, cw) in waves.iter().filter(|w| w.1 != Rat::ZERO) {
        for (pow, cp) in &pows {
            let m = Mono {
                wave: wave.clone(),
                pow: pow.clone(),
            };
            match out.iter_mut().find(|t| t.0 == m) {
                Some(t) => t.1 = t.1 + *cw * *cp,
                None => out.push((m, *cw * *cp)),
            }
        }
    }
    out.retain(|t| t.1 != Rat::ZERO);
    out
}
