//! Friction: the shape of the Brown–McPhee law, its derivative, and what the missing square does.

use stribeck_core::model::friction::Friction;
use stribeck_core::number::dual::Dual;

const LAW: Friction<f64> = Friction {
    mu_d: 0.4,
    mu_s: 0.7,
    mu_v: 0.0,
    vt: 0.05,
    fnt: 0.01,
    ..Friction::NONE
};

/// Largest value and where, on a fine grid of r = ω/vt.
fn peak(f: impl Fn(f64) -> f64) -> (f64, f64) {
    (1..200_000)
        .map(|i| i as f64 * 1e-4)
        .map(|r| (r, f(r)))
        .fold((0.0, 0.0), |best, x| if x.1 > best.1 { x } else { best })
}

#[test]
fn peaks_near_vt_at_mu_s_and_falls_to_mu_d() {
    let (at, top) = peak(|r| LAW.torque(r * LAW.vt, 2.0));
    assert!((at - 1.0).abs() < 0.01, "peak at {at}·vt");
    assert!((top - 2.0 * 0.7).abs() < 1e-3, "peak {top}");
    let far = LAW.torque(50.0 * LAW.vt, 2.0);
    assert!((far - 2.0 * 0.4).abs() < 1e-3, "far from zero {far}");
    assert_eq!(LAW.torque(0.0, 2.0), 0.0);
    assert_eq!(LAW.torque(-0.03, 2.0), -LAW.torque(0.03, 2.0));
}

/// Paper 000 eq. (5) as printed lacks the square: the Stribeck term r/(r²/4 + 3/4) peaks at 1.155 at √3 instead of 1
/// at 1, and at 50·vt a third of … of it is still there.
#[test]
fn the_printed_law_without_the_square_peaks_at_sqrt3_and_does_not_come_down() {
    let printed = |r: f64| r / (0.25 * r * r + 0.75);
    let correct = |r: f64| r / (0.25 * r * r + 0.75).powi(2);
    let (at, top) = peak(printed);
    assert!(
        (at - 3f64.sqrt()).abs() < 1e-3 && (top - 1.1547).abs() < 1e-4,
        "{at} {top}"
    );
    let (at, top) = peak(correct);
    assert!(
        (at - 1.0).abs() < 1e-3 && (top - 1.0).abs() < 1e-9,
        "{at} {top}"
    );
    assert!(printed(50.0) > 0.079 && correct(50.0) < 2e-4);
    // The product has the square.
    let stribeck = |r: f64| {
        LAW.torque(r * LAW.vt, 1.0)
            - Friction {
                mu_s: LAW.mu_d,
                ..LAW
            }
            .torque(r * LAW.vt, 1.0)
    };
    for r in [0.1, 1.0, 3f64.sqrt(), 10.0] {
        assert!((stribeck(r) - (LAW.mu_s - LAW.mu_d) * correct(r)).abs() < 1e-12);
    }
}

#[test]
fn viscous_term_needs_load() {
    let f = Friction {
        mu_d: 0.0,
        mu_s: 0.0,
        mu_v: 0.3,
        ..LAW
    };
    assert_eq!(f.torque(2.0, 0.0), 0.0);
    assert!((f.torque(2.0, 1.0) - 0.6).abs() < 1e-12);
}

#[test]
fn drag_and_asymmetry() {
    let f = Friction {
        mu_d: 0.4,
        mu_s: 0.4,
        drag: 0.1,
        delta_d: 0.05,
        delta_v: 0.02,
        mu_v: 0.2,
        ..LAW
    };
    // Far from zero tanh is 1: f(±ω) = ±(Fn·μd + μv·ω + d·ω²) + Fn·Δd + Δv·ω.
    let (w, fn_) = (3.0, 2.0);
    let symmetric = fn_ * 0.4 + 0.2 * w + 0.1 * w * w;
    let asymmetric = fn_ * 0.05 + 0.02 * w;
    assert!((f.torque(w, fn_) - (symmetric + asymmetric)).abs() < 1e-12);
    assert!((f.torque(-w, fn_) - (-symmetric + asymmetric)).abs() < 1e-12);
}

#[test]
fn slope_at_zero_is_the_derivative() {
    let f = Friction { mu_v: 0.3, ..LAW };
    let lifted =
        Friction::brown_mcphee([f.mu_d, f.mu_s, f.mu_v, f.vt, f.fnt].map(Dual::<f64, 1>::constant));
    let slope = lifted
        .torque(Dual::variable(0.0, 0), Dual::constant(2.0))
        .du[0];
    assert!(
        (slope - f.slope_at_zero(2.0)).abs() < 1e-9 * slope,
        "{slope}"
    );
}
