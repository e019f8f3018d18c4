//! Nussbaum functions: values against their definitions, derivatives against dual numbers, growth and sign changes.

use stribeck_core::number::dual::Dual;
use stribeck_core::observer::uas::nussbaum::{Function, Kind};

const ALL: [Kind; 4] = [
    Kind::MittagLeffler,
    Kind::CosSqrt,
    Kind::SquareCos,
    Kind::CosExp,
];

/// E3(x) = Σ xⁿ/(3n)!
fn e3(x: f64) -> f64 {
    let (mut sum, mut term, mut n) = (1.0, 1.0, 0.0);
    for _ in 0..200 {
        term *= x / ((n + 1.0) * (n + 2.0) * (n + 3.0));
        n += 3.0;
        sum += term;
    }
    sum
}

#[test]
fn mittag_leffler_is_its_series_for_any_lambda() {
    for lambda in [0.2f32, 1.0, 3.0] {
        let f = Function::<f64>::new(Kind::MittagLeffler, lambda);
        for i in 1..80 {
            let k = i as f64 * 0.1;
            let series = e3(-(lambda as f64) * k.powi(3));
            // The alternating series cancels: its rounding is the size of its largest term.
            let largest = ((lambda as f64).cbrt() * k).exp();
            let error = (f.value(k) - series).abs();
            assert!(error < 1e-13 * largest, "λ {lambda} k {k}: {error:e}");
        }
    }
}

#[test]
fn the_other_three_are_as_printed() {
    for i in 1..40 {
        let k = i as f64 * 0.11;
        let value = |kind| Function::<f64>::new(kind, 1.0).value(k);
        let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-13 * (1.0 + b.abs()), "{a} {b}");
        close(value(Kind::CosSqrt), k * k.sqrt().cos());
        close(value(Kind::SquareCos), k * k * k.cos());
        let half_pi = std::f64::consts::FRAC_PI_2;
        let grown = (k * k).exp();
        assert!((value(Kind::CosExp) - (half_pi * k).cos() * grown).abs() < 1e-12 * grown);
    }
}

#[test]
fn derivatives_are_those_of_dual_numbers() {
    for kind in ALL {
        let f = Function::<f64>::new(kind, 1.7);
        let lifted = Function::<Dual<Dual<f64, 1>, 1>>::new(kind, 1.7);
        for i in 1..30 {
            let k = i as f64 * 0.1;
            let x = f.expand(k);
            let d = lifted.value(Dual::variable(Dual::variable(k, 0), 0));
            let scale = x.n.abs() + x.slope.abs() + x.curvature.abs();
            assert!((x.slope - d.du[0].re).abs() < 1e-12 * scale, "{kind:?} {k}");
            assert!(
                (x.curvature - d.du[0].du[0]).abs() < 1e-12 * scale,
                "{kind:?} {k}"
            );
            let near = f.value(k + 1e-3);
            assert!((x.at(1e-3) - near).abs() < 1e-7 * scale, "{kind:?} {k}");
        }
    }
}

/// The defining property (11), seen: the running mean of N swings to larger and larger values of both signs.
#[test]
fn running_means_grow_in_both_directions() {
    for (kind, end, dk) in [
        (Kind::MittagLeffler, 25.0, 1e-3),
        (Kind::CosSqrt, 2000.0, 1e-2),
        (Kind::SquareCos, 60.0, 1e-3),
        (Kind::CosExp, 6.0, 1e-4),
    ] {
        let f = Function::<f64>::new(kind, 1.0);
        let (mut integral, mut k) = (0.0, 0.0);
        let [early, late] = [0.5 * end, end].map(|until| {
            let (mut low, mut high) = (0.0f64, 0.0f64);
            while k < until {
                integral += f.value(k + 0.5 * dk) * dk;
                k += dk;
                low = low.min(integral / k);
                high = high.max(integral / k);
            }
            (low, high)
        });
        assert!(
            late.0 < 1.3 * early.0 && late.1 > 1.3 * early.1,
            "{kind:?} {early:?} {late:?}"
        );
    }
}
