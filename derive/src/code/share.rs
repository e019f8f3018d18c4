//! Common subexpressions: the most frequent pair of factors, or of terms, gets a node of its own, until no pair occurs twice.

use super::program::{Op, reachable};
use crate::field::mix;
use crate::hash::Map;

/// A pair of factors, or of terms with equal or opposite signs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Pair {
    Factors(usize, usize),
    Terms(usize, usize, bool),
}

/// Calls `f` for every pair in one operation, with the number of times it could be taken out.
fn each(op: &Op, mut f: impl FnMut(Pair, usize)) {
    match op {
        Op::Prod(factors) => {
            let mut runs: Vec<(usize, usize)> = vec![];
            for x in factors {
                match runs.last_mut() {
                    Some(r) if r.0 == *x => r.1 += 1,
                    _ => runs.push((*x, 1)),
                }
            }
            for (i, a) in runs.iter().enumerate() {
                if a.1 >= 2 {
                    f(Pair::Factors(a.0, a.0), a.1 / 2);
                }
                for b in &runs[i + 1..] {
                    f(Pair::Factors(a.0, b.0), a.1.min(b.1));
                }
            }
        }
        Op::Sum(t) => {
            for (i, a) in t.iter().enumerate() {
                for b in &t[i + 1..] {
                    f(Pair::Terms(a.0, b.0, a.1 != b.1), 1);
                }
            }
        }
        _ => {}
    }
}

/// How often every pair occurs; kept up to date as operations change.
#[derive(Default)]
struct Tally(Map<Pair, usize>);

impl Tally {
    fn add(&mut self, op: &Op) {
        each(op, |pair, n| *self.0.entry(pair).or_default() += n);
    }
    fn remove(&mut self, op: &Op) {
        each(op, |pair, n| {
            if let Some(count) = self.0.get_mut(&pair) {
                *count -= n;
                if *count == 0 {
                    self.0.remove(&pair);
                }
            }
        });
    }
    /// The most frequent pairs, sorted; nothing when none occurs twice.
    fn best(&self) -> Option<Vec<Pair>> {
        let most = self.0.values().copied().max().filter(|n| *n >= 2)?;
        let mut best: Vec<Pair> = self
            .0
            .iter()
            .filter(|p| *p.1 == most)
            .map(|p| *p.0)
            .collect();
        best.sort_unstable();
        Some(best)
    }
}

fn holds(op: &Op, pair: Pair) -> bool {
    let mut found = false;
    each(op, |p, _| found |= p == pair);
    found
}

/// Replaces the pair in one operation, as often as it occurs.
fn replace(op: &mut Op, pair: Pair, node: usize) {
    match (op, pair) {
        (Op::Prod(f), Pair::Factors(a, b)) => {
            let find = |f: &[usize]| {
                let i = f.iter().position(|x| *x == a)?;
                let j = (0..f.len()).find(|j| f[*j] == b && *j != i)?;
                Some((i, j))
            };
            while let Some((i, j)) = find(f) {
                f.remove(i.max(j));
                f.remove(i.min(j));
                f.push(node);
                f.sort_unstable();
            }
        }
        (Op::Sum(t), Pair::Terms(a, b, differ)) => {
            let at = |x: usize| t.iter().position(|y| y.0 == x);
            if let (Some(i), Some(j)) = (at(a), at(b))
                && i != j
                && (t[i].1 != t[j].1) == differ
            {
                let sign = t[i].1;
                t.remove(i.max(j));
                t.remove(i.min(j));
                t.push((node, sign));
                t.sort_unstable();
            }
        }
        _ => {}
    }
}

pub(super) fn share(ops: &mut Vec<Op>, roots: &[usize], seed: u64) {
    let mut state = mix(seed ^ 0x5555);
    let mut alive = reachable(ops, roots);
    let mut tally = Tally::default();
    ops.iter()
        .zip(&alive)
        .filter(|x| *x.1)
        .for_each(|(op, _)| tally.add(op));
    while let Some(best) = tally.best() {
        state = mix(state);
        let pair = best[state as usize % best.len()];
        let op = match pair {
            Pair::Factors(a, b) => Op::Prod(vec![a, b]),
            Pair::Terms(a, b, differ) => Op::Sum(vec![(a, false), (b, differ)]),
        };
        let node = ops.iter().position(|o| *o == op).unwrap_or_else(|| {
            ops.push(op);
            alive.push(false);
            ops.len() - 1
        });
        for (i, op) in ops.iter_mut().enumerate() {
            if i != node && alive[i] && holds(op, pair) {
                tally.remove(op);
                replace(op, pair, node);
                tally.add(op);
            }
        }
        if !std::mem::replace(&mut alive[node], true) {
            tally.add(&ops[node]);
        }
    }
}
