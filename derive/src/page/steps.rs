//! The steps of one method as a column: one fold per kind of step, in the order of the derivation.

use std::fmt::Write;

use super::escape;
use crate::motion::Step;
use crate::print::{Format, formula};

pub(super) fn column(steps: &[Step]) -> String {
    let mut titles: Vec<(&str, &str)> = vec![];
    for s in steps {
        if !titles.contains(&(s.title, s.symbol)) {
            titles.push((s.title, s.symbol));
        }
    }
    let mut out = String::new();
    for (title, symbol) in titles {
        let group: Vec<&Step> = steps
            .iter()
            .filter(|s| s.title == title && s.symbol == symbol)
            .collect();
        let _ = write!(
            out,
            "<details><summary>{} {} [{}]</summary>",
            escape(symbol),
            escape(title),
            group[0].unit
        );
        for s in group {
            let _ = write!(
                out,
                "<div class=\"step\"><b>{}</b> {}</div>",
                escape(&s.of),
                value(s)
            );
        }
        out += "</details>";
    }
    out
}

fn value(s: &Step) -> String {
    let parts: Vec<String> = s
        .value
        .iter()
        .map(|e| formula(*e, Format::MathMl))
        .collect();
    match parts.as_slice() {
        [one] => format!("<math>{one}</math>"),
        _ => {
            let rows: String = parts
                .iter()
                .map(|p| format!("<mtr><mtd>{p}</mtd></mtr>"))
                .collect();
            let frame = escape(&s.frame);
            format!(
                "<math><msub><mrow><mo>(</mo><mtable>{rows}</mtable><mo>)</mo></mrow><mi>{frame}</mi></msub></math>"
            )
        }
    }
}
