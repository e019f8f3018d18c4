//! Expressions as JavaScript: one assignment per node of the DAG that is used more than once.

use std::fmt::Write;

use crate::expr::{Ex, Node, Rat};
use crate::hash::Map;

/// Where a symbol's value is found, e.g. `q[0]`.
pub(super) type Places = Map<Ex, String>;

fn number(r: Rat) -> String {
    match r.denominator() {
        1 => r.numerator().to_string(),
        d => format!("{}/{d}", r.numerator()),
    }
}

struct Script<'a> {
    places: &'a Places,
    uses: Map<Ex, usize>,
    named: Map<Ex, String>,
    body: String,
}

impl Script<'_> {
    fn count(&mut self, e: Ex) {
        let n = self.uses.entry(e).or_default();
        *n += 1;
        if *n == 1 {
            e.children().into_iter().for_each(|c| self.count(c));
        }
    }

    fn text(&mut self, e: Ex) -> String {
        if let Some(n) = self.named.get(&e) {
            return n.clone();
        }
        let text = match e.node() {
            Node::Num(r) => return format!("({})", number(r)),
            Node::Sym(_) if e == Ex::PI => return "Math.PI".into(),
            Node::Sym(_) => return self.places.get(&e).cloned().unwrap_or_else(|| "0".into()),
            Node::Sum(t) => {
                let terms: Vec<String> = t
                    .iter()
                    .map(|(x, c)| match (*c, *x) {
                        (c, Ex::ONE) => format!("({})", number(c)),
                        (Rat::ONE, x) => self.text(x),
                        (c, x) => format!("({})*{}", number(c), self.text(x)),
                    })
                    .collect();
                format!("({})", terms.join("+"))
            }
            Node::Prod(f) => {
                let mut s = "1".to_string();
                for (x, n) in f.iter() {
                    let x = self.text(*x);
                    let operator = if *n > 0 { '*' } else { '/' };
                    for _ in 0..n.unsigned_abs() {
                        let _ = write!(s, "{operator}{x}");
                    }
                }
                format!("({})", s.strip_prefix("1*").unwrap_or(&s))
            }
            Node::Sin(x) => format!("Math.sin({})", self.text(x)),
            Node::Cos(x) => format!("Math.cos({})", self.text(x)),
            Node::Sqrt(x) => format!("Math.sqrt({})", self.text(x)),
        };
        if self.uses.get(&e).copied().unwrap_or(0) > 1 {
            let name = format!("t{}", self.named.len());
            let _ = write!(self.body, "const {name}={text};");
            self.named.insert(e, name.clone());
            return name;
        }
        text
    }
}

/// `(p,q,w,u)=>{…;return[…]}`: the outputs from parameters, coordinates, speeds and efforts.
pub(super) fn function(outputs: &[Ex], places: &Places) -> String {
    let mut s = Script {
        places,
        uses: Map::default(),
        named: Map::default(),
        body: String::new(),
    };
    outputs.iter().for_each(|e| s.count(*e));
    let list: Vec<String> = outputs.iter().map(|e| s.text(*e)).collect();
    format!("(p,q,w,u)=>{{{}return[{}]}}", s.body, list.join(","))
}

/// Nodes of the DAG: how long the script would be.
pub(super) fn size(outputs: &[Ex]) -> usize {
    let mut seen: Map<Ex, ()> = Map::default();
    let mut stack = outputs.to_vec();
    while let Some(e) = stack.pop() {
        if seen.insert(e, ()).is_none() {
            stack.extend(e.children());
        }
    }
    seen.len()
}
