//! `campaign report`: one page. Pooled friction with both scatters, friction against each design variable, outliers with
//! links to their logs, coverage where the truth is known, what failed, and where it all comes from.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde::Serialize;

use crate::error::Result;
use crate::identify::study::tally::{Mark, Tally};
use crate::report::chart::{Chart, Mark as Drawn, Series};
use crate::report::markup::{Scaled, facts, table, text};
use crate::report::page::Page;

use super::chunk;
use super::plan::Plan;
use super::pool::{Pooled, distance, pool};
use super::result::{RunResult, Status};
use super::spec::{Bench, Variable};
use super::table as columns;

/// A run this many standard deviations from the pooled mean is listed.
const OUTLIER: f64 = 3.5;
/// Rows of a list on the page; the dataset has them all.
const LISTED: usize = 50;

/// One usable estimate of one run.
#[derive(Clone, Debug)]
struct Point {
    run: u64,
    value: f64,
    stderr: f64,
    truth: Option<f64>,
}

/// A parameter as one method found it over the campaign.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    pub method: String,
    pub parameter: String,
    pub unit: String,
    /// None where every run has its own truth.
    pub pooled: Option<Pooled>,
    /// Per design variable and level, in order.
    pub levels: Vec<Level>,
    pub outliers: Vec<Outlier>,
}

/// A parameter at one level of a design variable.
#[derive(Clone, Debug, Serialize)]
pub struct Level {
    pub variable: String,
    pub level: Variable,
    pub pooled: Pooled,
}

/// A run far from the others of its setting.
#[derive(Clone, Debug, Serialize)]
pub struct Outlier {
    pub run: u64,
    pub input: String,
    pub value: f64,
    pub sigmas: f64,
}

/// The numbers of the page.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub runs: u64,
    pub found: Vec<Found>,
    /// Per method and design setting, where the truth is known.
    pub coverage: Vec<Tally>,
    /// Runs and reasons.
    pub failed: Vec<(u64, String, String)>,
    pub duplicates: u64,
}

/// Read the chunks of a finished campaign.
pub fn build(plan: &Plan) -> Result<Report> {
    let mut results: Vec<RunResult> = Vec::new();
    for index in 0..plan.chunks() {
        results.extend(chunk::read(plan, index)?);
    }
    let settings: Vec<Vec<Option<Variable>>> =
        results.iter().map(|r| plan.variables(r.run)).collect();
    let mut found = Vec::new();
    for method in &plan.spec.identify.methods {
        for (id, unit, points) in parameters(&results, method) {
            found.push(one(plan, method, id, unit, &points, &settings));
        }
    }
    let mut failed = Vec::new();
    for r in &results {
        for j in r.judgements.iter().filter(|j| j.status == Status::Failed) {
            let reason = j.reason.clone().unwrap_or_default();
            failed.push((r.run, j.method.clone(), reason));
        }
    }
    let duplicate = |r: &&RunResult| r.judgements.iter().any(|j| j.status == Status::Duplicate);
    Ok(Report {
        runs: plan.frozen.runs,
        coverage: coverage(plan, &results, &settings),
        duplicates: results.iter().filter(duplicate).count() as u64,
        found,
        failed,
    })
}

/// Friction parameters of a method: ASCII name, unit, usable estimates.
fn parameters(results: &[RunResult], method: &str) -> Vec<(String, String, Vec<Point>)> {
    let mut out: Vec<(String, String, Vec<Point>)> = Vec::new();
    for r in results {
        for j in r.judgements.iter().filter(|j| j.method == method) {
            for e in &j.estimates {
                let usable = e.identifiable && j.holds;
                let (Some(value), Some(stderr), true) = (e.value, e.record_stderr, usable) else {
                    continue;
                };
                let point = Point {
                    run: r.run,
                    value,
                    stderr,
                    truth: e.truth,
                };
                match out.iter_mut().find(|o| o.0 == e.id) {
                    Some(o) => o.2.push(point),
                    None => out.push((e.id.clone(), e.unit.clone(), vec![point])),
                }
            }
        }
    }
    out
}

fn pairs(points: &[&Point]) -> Vec<(f64, f64)> {
    points.iter().map(|p| (p.value, p.stderr)).collect()
}

fn one(
    plan: &Plan,
    method: &str,
    parameter: String,
    unit: String,
    points: &[Point],
    settings: &[Vec<Option<Variable>>],
) -> Found {
    let every: Vec<&Point> = points.iter().collect();
    let truths: Vec<f64> = points.iter().filter_map(|p| p.truth).collect();
    // Random rigs have nothing in common that could be pooled.
    let bench = plan.spec.simulation.as_ref().map(|s| s.bench);
    let alike = bench.is_none_or(|b| b == Bench::Scenario);
    let one_truth = alike && truths.windows(2).all(|w| w[0] == w[1]);
    let mut levels = Vec::new();
    for (v, name) in plan.frozen.variables.iter().enumerate() {
        for level in ordered(settings.iter().filter_map(|s| s[v].as_ref())) {
            let at = |p: &&Point| settings[p.run as usize][v].as_ref() == Some(&level);
            let these: Vec<&Point> = points.iter().filter(at).collect();
            if let (Some(pooled), true) = (pool(&pairs(&these)), one_truth) {
                levels.push(Level {
                    variable: name.clone(),
                    level,
                    pooled,
                });
            }
        }
    }
    // A run is compared with those of the same setting, where there are enough of them.
    let mut groups: BTreeMap<String, Vec<&Point>> = BTreeMap::new();
    for p in points {
        let setting = format!("{:?}", settings[p.run as usize]);
        groups.entry(setting).or_default().push(p);
    }
    let mut outliers = Vec::new();
    for group in groups.values().filter(|g| g.len() >= 5 && one_truth) {
        for (i, p) in group.iter().enumerate() {
            let mut others = group.clone();
            others.remove(i);
            let Some(pooled) = pool(&pairs(&others)) else {
                continue;
            };
            let sigmas = distance((p.value, p.stderr), &pooled);
            if sigmas > OUTLIER {
                outliers.push(Outlier {
                    run: p.run,
                    input: plan.input(p.run),
                    value: p.value,
                    sigmas,
                });
            }
        }
    }
    Found {
        method: method.into(),
        parameter,
        unit,
        pooled: pool(&pairs(&every)).filter(|_| one_truth),
        levels,
        outliers,
    }
}

/// Levels of a variable: numbers by size, then texts.
fn ordered<'a>(values: impl Iterator<Item = &'a Variable>) -> Vec<Variable> {
    let mut out: Vec<Variable> = Vec::new();
    for v in values {
        if !out.contains(v) {
            out.push(v.clone());
        }
    }
    out.sort_by(|a, b| match (a, b) {
        (Variable::Number(a), Variable::Number(b)) => a.total_cmp(b),
        (Variable::Number(_), _) => std::cmp::Ordering::Less,
        (_, Variable::Number(_)) => std::cmp::Ordering::Greater,
        (Variable::Text(a), Variable::Text(b)) => a.cmp(b),
    });
    out
}

/// The study's tally per setting and method, where any truth is known.
fn coverage(plan: &Plan, results: &[RunResult], settings: &[Vec<Option<Variable>>]) -> Vec<Tally> {
    let mut rows: Vec<(String, Vec<&RunResult>)> = Vec::new();
    for (r, setting) in results.iter().zip(settings) {
        if (r.run as usize) < plan.frozen.files.len() {
            continue;
        }
        let named = plan.frozen.variables.iter().zip(setting);
        let words: Vec<String> = named
            .filter_map(|(n, v)| Some(format!("{n} {}", v.as_ref()?)))
            .collect();
        let name = match words.is_empty() {
            true => "all".to_string(),
            false => words.join(", "),
        };
        match rows.iter_mut().find(|row| row.0 == name) {
            Some(row) => row.1.push(r),
            None => rows.push((name, vec![r])),
        }
    }
    let mut out = Vec::new();
    for (name, runs) in &rows {
        for method in plan.spec.methods() {
            let of = runs.iter().flat_map(|r| &r.judgements);
            let ok = of.filter(|j| j.method == method.name() && j.status == Status::Ok);
            let marks: Vec<Mark> = ok.map(|j| j.mark()).collect();
            let tally = Tally::new(name, false, method.name(), runs.len() as u64, &marks);
            if !tally.parameters.is_empty() {
                out.push(tally);
            }
        }
    }
    out
}

/// The page.
pub fn html(plan: &Plan, report: &Report) -> String {
    let mut page = Page::default();
    page.section("Friction over all runs");
    page.paragraph(html! {
        "Random effects: " i { "between" } " is the standard deviation of the runs' true values, "
        i { "within" } " the median standard error of one run; ± is the 95\u{a0}% interval of the mean. "
        "Only estimates called identifiable under a verdict that holds are pooled. What all runs of one rig "
        "have in common (tolerances of its masses) is in no scatter."
    });
    page.html(pooled_table(report));
    for variable in &plan.frozen.variables {
        against(&mut page, report, variable);
    }
    if !report.coverage.is_empty() {
        page.section("Coverage of the intervals");
        page.paragraph(text(
            "The truth of simulated runs is known. Printed: intervals called identifiable; covered: those that hold the truth. Missed: runs with an \
             estimate more than three standard errors off; flagged: the verdict says that no interval holds. × bound: half-width over its Cramér–Rao bound.",
        ));
        page.html(coverage_table(&report.coverage));
    }
    page.section("Outliers");
    outlier_section(&mut page, plan, report);
    page.section("Runs without a result");
    failed_section(&mut page, plan, report);
    page.section("Where the numbers come from");
    page.html(provenance(plan));
    let name = plan.folder.file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let below = html! { (name) " · " (report.runs) " runs" };
    page.document("Campaign", &name, below)
}

fn value_cells(p: &Pooled, unit: &str) -> Vec<Markup> {
    let scale = Scaled::new(p.mean, p.half_width.or(Some(p.within)));
    vec![
        text(scale.digits(p.mean)),
        text(p.half_width.map_or("–".into(), |h| scale.digits(h))),
        text(scale.digits(p.between)),
        text(scale.digits(p.within)),
        scale.unit(unit),
        text(p.runs.to_string()),
    ]
}

fn pooled_table(report: &Report) -> Markup {
    let head = [
        "method",
        "parameter",
        "mean",
        "±",
        "between",
        "within",
        "unit",
        "runs",
    ];
    let rows: Vec<Vec<Markup>> = report
        .found
        .iter()
        .filter_map(|f| {
            let mut row = vec![text(&f.method), text(&f.parameter)];
            row.extend(value_cells(f.pooled.as_ref()?, &f.unit));
            Some(row)
        })
        .collect();
    match rows.is_empty() {
        true => {
            html! { p { "Nothing to pool: every run has its own truth, or no estimate may be used." } "\n" }
        }
        false => table("values", &head, &[0, 1], &rows),
    }
}

/// Friction against one design variable: pooled values with their intervals, a chart per friction parameter where it is a number.
fn against(page: &mut Page, report: &Report, variable: &str) {
    let mut charts = Vec::new();
    let mut rows = Vec::new();
    for f in &report.found {
        let levels: Vec<&Level> = f.levels.iter().filter(|l| l.variable == variable).collect();
        for l in &levels {
            let mut row = vec![
                text(&f.method),
                text(&f.parameter),
                text(l.level.to_string()),
            ];
            row.extend(value_cells(&l.pooled, &f.unit));
            rows.push(row);
        }
        let points: Vec<(f64, f64, f64)> = levels
            .iter()
            .filter_map(|l| match l.level {
                Variable::Number(x) => Some((x, l.pooled.mean, l.pooled.half_width.unwrap_or(0.0))),
                Variable::Text(_) => None,
            })
            .collect();
        let friction = f.parameter.starts_with("mu_") || f.parameter.contains("_J");
        if points.len() > 1 && friction {
            let line: Vec<(f64, f64)> = points.iter().map(|p| (p.0, p.1)).collect();
            let band = points.iter().map(|p| p.2).collect();
            charts.push(
                Chart::new(
                    format!("{} ({})", f.parameter, f.method),
                    variable.to_string(),
                    format!("{} [{}]", f.parameter, f.unit),
                )
                .with(Series::new("mean and 95 % interval", 0, line.clone()).band(band))
                .with(Series::new("level", 6, line).mark(Drawn::Dots)),
            );
        }
    }
    if rows.is_empty() {
        return;
    }
    page.section(&format!("Friction against {variable}"));
    page.figure(
        &charts,
        2,
        "Pooled over all runs of a level; the band is the 95 % interval of the mean.",
    );
    let head = [
        "method",
        "parameter",
        "level",
        "mean",
        "±",
        "between",
        "within",
        "unit",
        "runs",
    ];
    page.html(table("values", &head, &[0, 1, 2], &rows));
}

fn coverage_table(tallies: &[Tally]) -> Markup {
    let head = [
        "setting",
        "method",
        "runs",
        "printed",
        "covered %",
        "missed (flagged)",
        "flagged",
        "parameter",
        "covered %",
        "half-width %",
        "× bound",
    ];
    let mut rows = Vec::new();
    for t in tallies {
        for (i, p) in t.parameters.iter().enumerate() {
            let first = |text: String| if i == 0 { text } else { String::new() };
            let share = |covered: u64, printed: u64| match printed {
                0 => "–".to_string(),
                n => format!("{:.1}", 100.0 * covered as f64 / n as f64),
            };
            let row = [
                first(t.row.clone()),
                first(t.method.into()),
                first(t.records.to_string()),
                first(t.printed.to_string()),
                first(share(t.covered, t.printed)),
                first(format!("{} ({})", t.missed, t.missed_flagged)),
                first(t.flagged.to_string()),
                p.name.into(),
                share(p.covered, p.printed),
                format!("{:.2}", p.half_width_percent),
                p.over_bound.map_or("–".into(), |b| format!("{b:.2}")),
            ];
            rows.push(row.iter().map(text).collect());
        }
    }
    table("values", &head, &[0, 1, 7], &rows)
}

/// The run's name; a file is a link from the results folder.
fn linked(plan: &Plan, run: u64) -> Markup {
    let name = plan.input(run);
    let file = plan.frozen.files.get(run as usize);
    let Some(full) = file.and_then(|f| plan.base.join(&f.path).canonicalize().ok()) else {
        return text(name);
    };
    let path = full.to_string_lossy().replace('%', "%25");
    let path = path.replace(' ', "%20").replace('#', "%23");
    html! { a href={ "file://" (path) } { (name) } }
}

fn outlier_section(page: &mut Page, plan: &Plan, report: &Report) {
    let mut rows = Vec::new();
    for f in &report.found {
        for o in &f.outliers {
            rows.push(vec![
                linked(plan, o.run),
                text(&f.method),
                text(&f.parameter),
                text(format!("{:.4e}", o.value)),
                text(&f.unit),
                text(format!("{:.1}", o.sigmas)),
            ]);
        }
    }
    if rows.is_empty() {
        return page.paragraph(text(
            "None: no run lies more than 3.5 standard deviations from the others of its setting.",
        ));
    }
    page.paragraph(text(
        "Runs more than 3.5 standard deviations (between and within) from the others of their setting. They are in the means above.",
    ));
    if rows.len() > LISTED {
        page.paragraph(text(format!("The first {LISTED} of {}.", rows.len())));
        rows.truncate(LISTED);
    }
    let head = ["run", "method", "parameter", "value", "unit", "σ"];
    page.html(table("values", &head, &[0, 1, 2], &rows));
}

fn failed_section(page: &mut Page, plan: &Plan, report: &Report) {
    if report.duplicates > 0 {
        page.paragraph(text(format!(
            "{} inputs hold the same bytes as another and count once.",
            report.duplicates
        )));
    }
    if report.failed.is_empty() {
        return page.paragraph(text("None failed."));
    }
    if report.failed.len() > LISTED {
        page.paragraph(text(format!(
            "The first {LISTED} of {}.",
            report.failed.len()
        )));
    }
    let row = |(run, method, reason): &(u64, String, String)| {
        vec![linked(plan, *run), text(method), text(reason)]
    };
    let rows: Vec<Vec<Markup>> = report.failed.iter().take(LISTED).map(row).collect();
    page.html(table(
        "values",
        &["run", "method", "reason"],
        &[0, 1, 2],
        &rows,
    ));
}

fn provenance(plan: &Plan) -> Markup {
    let f = &plan.frozen;
    let kinds = columns::numeric(plan);
    let variables: Vec<String> = f
        .variables
        .iter()
        .zip(kinds)
        .map(|(n, number)| format!("{n} ({})", if number { "number" } else { "text" }))
        .collect();
    let rows = [
        ("program", format!("stribeck {}", f.program)),
        ("numerics", f.numerics.to_string()),
        ("campaign", f.campaign.clone()),
        ("methods", plan.spec.identify.methods.join(", ")),
        ("terms", plan.spec.identify.terms.clone()),
        (
            "files, simulated runs",
            format!("{}, {}", f.files.len(), f.runs - f.files.len() as u64),
        ),
        (
            "design variables",
            if variables.is_empty() {
                "none".into()
            } else {
                variables.join(", ")
            },
        ),
        (
            "dataset",
            "results/ (Parquet, partitioned by method), one row per run × method × parameter"
                .into(),
        ),
    ];
    facts(&rows.map(|(name, value)| (name, text(value))))
}
