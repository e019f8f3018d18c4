//! Paper 002: every printed formula against the derived one.

use serde_json::json;
use stribeck_derive::print::{Format, formula};
use stribeck_derive::printed::{Derived, paper_002};

use crate::error::Error;

/// One printed formula, judged.
#[derive(Debug, serde::Serialize)]
struct Row {
    place: &'static str,
    mechanism: &'static str,
    printed: &'static str,
    derived: String,
    right: bool,
    why: &'static str,
    units: Option<String>,
}

fn rows() -> Result<Vec<Row>, stribeck_derive::Error> {
    let mut out = vec![];
    for p in paper_002() {
        let d = Derived::new(p.mechanism)?;
        let v = d.check(&p)?;
        out.push(Row {
            place: p.place,
            mechanism: p.mechanism,
            printed: p.printed,
            derived: formula(v.derived, Format::Text),
            right: v.right,
            why: p.why,
            units: v.mixed_units.map(|m| m.to_string()),
        });
    }
    Ok(out)
}

pub(super) fn print(as_json: bool) -> anyhow::Result<()> {
    let rows = rows().map_err(|e| {
        Error::invalid(
            e.to_string(),
            "this is a defect of stribeck: the list is part of the program",
        )
    })?;
    let right = rows.iter().filter(|r| r.right).count();
    if as_json {
        let table = json!({ "formulas": rows.len(), "right": right, "rows": rows });
        println!("{}", serde_json::to_string_pretty(&table)?);
        return Ok(());
    }
    println!(
        "Paper 002: {} formulas; {right} right as printed, {} not",
        rows.len(),
        rows.len() - right
    );
    for r in &rows {
        println!(
            "\n{} {} ({})",
            if r.right { "right" } else { "WRONG" },
            r.place,
            r.mechanism
        );
        println!("  printed  {}", r.printed);
        if !r.right {
            println!("  derived  {}", r.derived);
            println!("  why      {}", r.why);
            if let Some(units) = &r.units {
                println!("  units    {units}");
            }
        }
    }
    println!(
        "\nAn equation is given as left − right. Each was compared exactly; the corrections are in docs/errata.md."
    );
    Ok(())
}
