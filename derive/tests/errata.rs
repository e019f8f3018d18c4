//! Every formula of paper 002: right as printed, or wrong as printed and right as corrected. Exact comparisons.

use stribeck_derive::printed::{Derived, paper_002};

#[test]
fn printed_formulas_are_right_or_corrected() {
    let (mut right, mut corrected) = (0, 0);
    for p in paper_002() {
        let v = Derived::new(p.mechanism).unwrap().check(&p).unwrap();
        match v.correction_right {
            None => {
                assert!(v.right, "{}: expected to be right as printed", p.place);
                right += 1;
            }
            Some(fixed) => {
                assert!(
                    !v.right,
                    "{}: the printed formula is right after all",
                    p.place
                );
                assert!(fixed, "{}: the correction is wrong", p.place);
                assert!(!p.why.is_empty(), "{}: no reason given", p.place);
                corrected += 1;
            }
        }
    }
    assert_eq!((right, corrected), (20, 19));
}

/// The missing squares of (22), the missing g of (26), and θ̈² beside θ̈ in Table 3: units alone find them.
#[test]
fn units_alone_find_the_missing_square_and_the_missing_g() {
    let mixed: Vec<&str> = paper_002()
        .iter()
        .filter(|p| {
            Derived::new(p.mechanism)
                .unwrap()
                .check(p)
                .unwrap()
                .mixed_units
                .is_some()
        })
        .map(|p| p.place)
        .collect();
    assert_eq!(
        mixed,
        [
            "(22) E_k",
            "(26) 1st",
            "Table 3 cart-pole a_B (a_y)",
            "Table 3 acrobot a_B (b_x)",
            "Table 3 acrobot a_B (b_y)",
        ]
    );
}

#[test]
fn the_errata_page_lists_every_correction() {
    let page = include_str!("../../docs/errata.md");
    let section = page
        .split("## Paper 002")
        .nth(1)
        .expect("a section on paper 002");
    let section = section.split("\n## ").next().unwrap();
    for p in paper_002().iter().filter(|p| !p.correct.is_empty()) {
        assert!(
            section.contains(p.why),
            "{}: `{}` is not in docs/errata.md",
            p.place,
            p.why
        );
    }
}
