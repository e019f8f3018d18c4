//! Bond graphs against equations nobody derived from them: Lagrange, textbook circuits, differences, and code that is compiled and run.

// Signals are made with the platform's mathematics.
#![allow(clippy::disallowed_methods)]

use std::process::Command;

use stribeck::bond::EXAMPLES;
use stribeck::bond::describe::parse;
use stribeck::bond::equations::{Point, System, solve};
use stribeck::bond::formula::Formula;
use stribeck::bond::graph::{BadGraph, Builder, Kind};
use stribeck::bond::record;
use stribeck::bond::simulate::{Of, Run, simulate};
use stribeck_core::model::sim::Rng;
use stribeck_core::number::dual::Dual;

fn example(name: &str) -> System {
    let (_, text) = EXAMPLES.iter().find(|(n, _)| *n == name).unwrap();
    System::new(parse(text).unwrap()).unwrap()
}

fn parameter(system: &System, name: &str) -> usize {
    system
        .graph
        .parameters
        .iter()
        .position(|p| p.name == name)
        .unwrap()
}

/// Rates of the cart and pendulum by Lagrange, from control theory textbooks: M(α)·(v̇, ω̇) = …
fn lagrange(
    q: impl Fn(&str) -> f64,
    [p_i, p_w, alpha, p_v, _]: [f64; 5],
    u: f64,
    g: f64,
) -> [f64; 5] {
    let (i, w, v) = (p_i / q("l_a"), p_w / q("j_p"), p_v / q("m_c"));
    let n = 1.0 / (q("k_g") * q("r"));
    let (m, l) = (q("m_p"), q("l"));
    let m11 = q("m_c") + m + q("j_a") * n * n;
    let (h, m22) = (m * l * alpha.cos(), q("j_p") + m * l * l);
    let b0 = q("k_m") * n * i - q("r_c") * v + m * l * alpha.sin() * w * w;
    let b1 = m * g * l * alpha.sin();
    let det = m11 * m22 - h * h;
    let (dv, dw) = ((m22 * b0 - h * b1) / det, (m11 * b1 - h * b0) / det);
    [
        u - q("r_a") * i - q("k_m") * n * v,
        dw * q("j_p"),
        w,
        dv * q("m_c"),
        v,
    ]
}

#[test]
fn the_papers_system_equals_lagrange_at_a_thousand_random_points() {
    let system = example("cart-pendulum");
    assert_eq!(system.state_names(), ["l_a", "j_p", "alpha", "m_c", "x"]);
    let derivative: Vec<_> = system
        .plan
        .derivative
        .iter()
        .map(|p| system.graph.parts[*p].name.as_str())
        .collect();
    assert_eq!(derivative, ["j_a", "m_x", "m_y"]);
    let mut rng = Rng::new(3);
    let mut worst = 0.0f64;
    for _ in 0..1000 {
        let p: Vec<f64> = system
            .graph
            .values()
            .iter()
            .map(|v| v * rng.within(0.5, 1.5))
            .collect();
        let q = |name: &str| p[parameter(&system, name)];
        let x = [
            q("l_a") * rng.normal(),
            q("j_p") * 5.0 * rng.normal(),
            3.0 * rng.normal(),
            q("m_c") * rng.normal(),
            rng.normal(),
        ];
        let u = [10.0 * rng.normal(), 9.81];
        let found = system
            .rates(&Point {
                parameters: &p,
                x: &x,
                u: &u,
                t: 0.0,
            })
            .unwrap();
        for (a, b) in found.iter().zip(lagrange(q, x, u[0], u[1])) {
            worst = worst.max((a - b).abs() / (1.0 + b.abs()));
        }
    }
    assert!(worst < 1e-12, "{worst:e}");
    println!("rates differ from Lagrange by at most {worst:.1e} (relative)");
}

#[test]
fn dual_numbers_are_the_sensitivity_graph() {
    let system = example("cart-pendulum");
    let values = system.graph.values();
    let (x, u) = ([1e-4, 0.02, -1.2, 0.1, 0.3], [5.0, 9.81]);
    for name in ["r_c", "l", "j_a", "k_m"] {
        let k = parameter(&system, name);
        let lift =
            |v: &[f64]| -> Vec<Dual<f64, 1>> { v.iter().map(|v| Dual::constant(*v)).collect() };
        let mut p = lift(&values);
        p[k].du[0] = 1.0;
        let (xd, ud) = (lift(&x), lift(&u));
        let exact = system
            .rates(&Point {
                parameters: &p,
                x: &xd,
                u: &ud,
                t: Dual::constant(0.0),
            })
            .unwrap();
        let at = |h: f64| {
            let mut p = values.clone();
            p[k] += h;
            system
                .rates(&Point {
                    parameters: &p,
                    x: &x,
                    u: &u,
                    t: 0.0,
                })
                .unwrap()
        };
        let h = 1e-5 * values[k];
        for ((plus, minus), exact) in at(h).iter().zip(at(-h)).zip(exact) {
            let difference = (plus - minus) / (2.0 * h);
            let scale = exact.du[0].abs().max(exact.re.abs() / values[k]).max(1e-6);
            assert!(
                (difference - exact.du[0]).abs() < 1e-7 * scale,
                "{name}: {difference} {}",
                exact.du[0]
            );
        }
    }
}

#[test]
fn a_series_circuit_rings_as_its_formula_says() {
    let system = example("rlc");
    let (r, l, c) = (10.0, 1e-3, 1e-6);
    let run = Run {
        seconds: 2e-3,
        step: 1e-6,
        initial: vec![0.0; 2],
        inputs: vec![Formula::parse("1").unwrap()],
    };
    let k = parameter(&system, "r");
    let motion = simulate(&system, &run, &[Of::Parameter(k), Of::Initial(1)]).unwrap();
    // i(t) = e^(−a·t)·sin(w·t)/(l·w), a = r/2l, w² = 1/lc − a².
    let a: f64 = r / (2.0 * l);
    let w = (1.0 / (l * c) - a * a).sqrt();
    for (row, t) in motion.t.iter().enumerate() {
        let i = (-a * t).exp() * (w * t).sin() / (l * w);
        assert!(
            (motion.outputs[row][0] - i).abs() < 1e-9,
            "{t}: {} {i}",
            motion.outputs[row][0]
        );
    }
    // Against differences of whole runs.
    let again = |r: f64, q0: f64| {
        let mut system = system.clone();
        system.graph.parameters[k].value = r;
        let run = Run {
            initial: vec![0.0, q0],
            ..run.clone()
        };
        simulate(&system, &run, &[]).unwrap().outputs
    };
    let (plus, minus) = (again(r + 1e-4, 0.0), again(r - 1e-4, 0.0));
    let (up, down) = (again(r, 1e-9), again(r, -1e-9));
    for row in (0..motion.t.len()).step_by(97) {
        let by_r = (plus[row][0] - minus[row][0]) / 2e-4;
        assert!((by_r - motion.doutputs[0][row][0]).abs() < 1e-9, "{by_r}");
        let by_q = (up[row][0] - down[row][0]) / 2e-9;
        assert!(
            (by_q - motion.doutputs[1][row][0]).abs() < 1e-4 * (1.0 + by_q.abs()),
            "{by_q}"
        );
    }
}

#[test]
fn tanks_settle_where_the_flow_goes_through() {
    let system = example("two-tanks");
    let run = Run {
        seconds: 4000.0,
        step: 0.5,
        initial: vec![0.0; 2],
        inputs: vec![Formula::parse("1e-5").unwrap()],
    };
    let motion = simulate(&system, &run, &[]).unwrap();
    let level = motion.outputs.last().unwrap()[0];
    assert!((level - 3e7 * 1e-5).abs() < 0.5, "{level} Pa");
}

/// Two resistances that decide each other: e = r1·f² is nonlinear, so only Newton's method closes the loop.
fn with_loop() -> System {
    let mut b = Builder::new("loop");
    b.parameter("r1", 2.0, "")
        .parameter("r2", 3.0, "")
        .parameter("c", 0.5, "")
        .input("u");
    b.part("source", Kind::Se, "u")
        .junction("series", Kind::One)
        .resistance("r1", "r1*f*abs(f) + 0.1*f");
    b.junction("node", Kind::Zero)
        .part("r2", Kind::R, "r2")
        .junction("see", Kind::De);
    b.bond("source", "series")
        .bond("series", "r1")
        .bond("series", "node")
        .bond("node", "r2")
        .bond("node", "see");
    System::new(b.build().unwrap()).unwrap()
}

#[test]
fn an_algebraic_loop_is_solved_and_its_derivative_too() {
    let system = with_loop();
    assert_eq!(system.plan.torn.len(), 1);
    let values = system.graph.values();
    let see = |u: f64, r2: f64| {
        let mut p = values.clone();
        p[1] = r2;
        system
            .outputs(&Point {
                parameters: &p,
                x: &[],
                u: &[u],
                t: 0.0,
            })
            .unwrap()[0]
    };
    // 2·f² + .1·f + 3·f = 10 → f; the sensor sees 3·f.
    let f = (-3.1 + (3.1f64 * 3.1 + 80.0).sqrt()) / 4.0;
    assert!((see(10.0, 3.0) - 3.0 * f).abs() < 1e-9);
    let lift = |v: &[f64]| -> Vec<Dual<f64, 1>> { v.iter().map(|v| Dual::constant(*v)).collect() };
    let mut p = lift(&values);
    p[1].du[0] = 1.0;
    let u = lift(&[10.0]);
    let exact = system
        .outputs(&Point {
            parameters: &p,
            x: &[],
            u: &u,
            t: Dual::constant(0.0),
        })
        .unwrap()[0]
        .du[0];
    let difference = (see(10.0, 3.0 + 1e-6) - see(10.0, 3.0 - 1e-6)) / 2e-6;
    assert!((exact - difference).abs() < 1e-7, "{exact} {difference}");
    assert!(
        record::equations(&system, record::Form::Text)
            .unwrap_err()
            .to_string()
            .contains("r1")
    );
}

#[test]
fn wrong_graphs_are_refused_by_name() {
    let mut two = Builder::new("two sources");
    two.input("u")
        .part("a", Kind::Se, "u")
        .part("b", Kind::Se, "2*u")
        .junction("node", Kind::Zero);
    two.bond("a", "node").bond("b", "node");
    let text = System::new(two.build().unwrap()).unwrap_err().to_string();
    assert!(text.contains("node") || text.contains('b'), "{text}");

    let mut open = Builder::new("open");
    open.junction("j", Kind::One)
        .part("r", Kind::R, "1")
        .bond("j", "r");
    assert!(matches!(open.build(), Err(BadGraph::Ports { part, .. }) if part == "j"));

    for (toml, needle) in [
        ("name = 'x'\n[parts]\na = { Q = '1' }", "Q is no component"),
        (
            "name = 'x'\nbonds = ['a b']\n[parts]\na = { R = '1' }",
            "a b",
        ),
        (
            "name = 'x'\nbonds = ['a -> c']\n[parts]\na = { R = '1' }\nb = { R = '1' }",
            "no component is called c",
        ),
        (
            "name = 'x'\nbonds = ['a -> b']\n[parts]\na = { R = 'k*2' }\nb = { R = '1' }",
            "nothing is called k",
        ),
        (
            "name = 'x'\nbonds = ['a -> b']\n[parts]\na = { R = '2 +' }\nb = { R = '1' }",
            "column 4",
        ),
        ("name = 'x'\n[use]\nl = 'tank'", "no [sub.tank]"),
        ("name = 'x'", "no component"),
    ] {
        let error = parse(toml).unwrap_err().to_string();
        assert!(error.contains(needle), "{toml}: {error}");
    }
}

#[test]
fn a_store_at_a_source_is_refused_with_the_way_out() {
    let mut b = Builder::new("capacitor at a source");
    b.input("u")
        .part("source", Kind::Se, "u")
        .part("c", Kind::C, "1")
        .junction("node", Kind::Zero)
        .part("r", Kind::R, "1");
    b.bond("source", "node").bond("node", "c").bond("node", "r");
    let system = System::new(b.build().unwrap()).unwrap();
    let run = Run {
        seconds: 1.0,
        step: 0.1,
        initial: vec![],
        inputs: vec![Formula::parse("t").unwrap()],
    };
    let error = simulate(&system, &run, &[]).unwrap_err().to_string();
    assert!(error.contains("driven directly by the input u"), "{error}");
}

/// The written function, compiled by rustc and run, gives the bits the evaluation gives (up to the last rounding of elimination).
#[test]
fn generated_code_compiles_and_gives_the_same_rates() {
    let folder = tempfile::tempdir().unwrap();
    for (name, _) in EXAMPLES {
        let system = example(name);
        let (code, operations) = record::rust(&system, false).unwrap();
        let (nx, nu) = (system.plan.states.len(), system.graph.inputs.len());
        let x: Vec<f64> = (0..nx).map(|i| 0.01 * (i as f64 + 1.0)).collect();
        let u: Vec<f64> = (0..nu).map(|i| 1.5 + i as f64).collect();
        let p = system.graph.values();
        let main = format!(
            "{code}\nfn main() {{ println!(\"{{:?}}\", rates(&{x:?}, &{u:?}, 0.0, &{p:?})); }}\n"
        );
        let file = folder.path().join(format!("{name}.rs"));
        std::fs::write(&file, main).unwrap();
        let program = folder.path().join(name);
        let built = Command::new("rustc")
            .args(["--edition", "2024", "-o"])
            .args([&program, &file])
            .output()
            .unwrap();
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        let out = String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap();
        let found: Vec<f64> = serde_json::from_str(out.trim()).unwrap();
        let wanted = system
            .rates(&Point {
                parameters: &p,
                x: &x,
                u: &u,
                t: 0.0,
            })
            .unwrap();
        for (a, b) in found.iter().zip(&wanted) {
            assert!(
                (a - b).abs() <= 1e-12 * (1.0 + b.abs()),
                "{name}: {found:?} {wanted:?}"
            );
        }
        println!("{name}: {operations} operations");
    }
}

#[test]
fn elimination_finds_the_solution_and_says_when_there_is_none() {
    let x = solve(vec![vec![0.0, 2.0], vec![1.0, 1.0]], vec![4.0, 3.0]).unwrap();
    assert_eq!(x, [1.0, 2.0]);
    assert_eq!(
        solve(vec![vec![1.0, 2.0], vec![2.0, 4.0]], vec![1.0, 1.0]),
        None
    );
}
