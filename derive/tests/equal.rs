//! Lagrange = Kane for every description of the repository and for chains of 1 … 6 links; and the proofs notice a flipped sign, a
//! lost factor and a swapped symbol.

use stribeck_derive::canonical::Basis;
use stribeck_derive::canonical::Ring;
use stribeck_derive::catalogue::{self, n_link_on_cart, n_link_on_cart_relative};
use stribeck_derive::expr::{Ex, int, unit_of};
use stribeck_derive::field::agree;
use stribeck_derive::mechanism::Mechanism;
use stribeck_derive::proof::{Identity, identity, prove, quantities};
use stribeck_derive::{kane, lagrange};

fn prove_one(m: &Mechanism) {
    let (l, k) = (lagrange::derive(m).unwrap(), kane::derive(m).unwrap());
    let proof = prove(m, &l, &k).unwrap();
    println!("{}: {proof:?}", m.name);
    assert!(proof.holds(), "{}: {proof:?}", m.name);
    if m.is_free() {
        assert!(
            matches!(proof.identity, Identity::Identical { .. }),
            "{}",
            m.name
        );
    }
}

#[test]
fn every_description() {
    for entry in catalogue::ALL {
        prove_one(&Mechanism::read(entry.toml).unwrap());
    }
}

#[test]
fn chains_of_one_to_six_links_on_a_cart() {
    for n in 1..=6 {
        prove_one(&n_link_on_cart(n).unwrap().build().unwrap());
    }
    for n in 1..=5 {
        prove_one(&n_link_on_cart_relative(n).unwrap().build().unwrap());
    }
}

#[test]
fn all_three_bases_prove_the_plants() {
    for entry in &catalogue::ALL[..5] {
        let m = Mechanism::read(entry.toml).unwrap();
        let (l, k) = (lagrange::derive(&m).unwrap(), kane::derive(&m).unwrap());
        let (_, a, b) = quantities(&m, &l, &k).unwrap();
        for basis in Basis::ALL {
            let mut ring = Ring::new(basis);
            assert!(
                a.iter().zip(&b).all(|(x, y)| ring.equal(*x, *y).unwrap()),
                "{} {basis:?}",
                m.name
            );
        }
    }
}

#[test]
fn a_wrong_term_is_noticed_by_every_proof() {
    for entry in &catalogue::ALL[..8] {
        let m = Mechanism::read(entry.toml).unwrap();
        let (l, k) = (lagrange::derive(&m).unwrap(), kane::derive(&m).unwrap());
        let (names, a, b) = quantities(&m, &l, &k).unwrap();
        let p = m.parameters[0].symbol;
        let mut ring = Ring::new(Basis::Fourier);
        for i in (0..a.len()).filter(|i| !ring.form(a[*i]).unwrap().is_zero()) {
            for wrong in [
                -b[i],
                b[i] * int(2),
                b[i] + p,
                b[i].subs(&[(p, m.parameters[1].symbol)]),
            ] {
                if wrong == b[i] {
                    continue;
                }
                let mut list: Vec<Ex> = b.clone();
                list[i] = wrong;
                assert!(agree(&a, &list, 1, 1).is_none(), "{}: {}", m.name, names[i]);
                let found = identity(&names, &a, &list).unwrap();
                assert_eq!(
                    found,
                    Identity::Different {
                        quantity: names[i].clone()
                    }
                );
            }
        }
    }
}

#[test]
fn every_step_has_the_unit_it_states() {
    for entry in catalogue::ALL {
        let m = Mechanism::read(entry.toml).unwrap();
        let (l, k) = (lagrange::derive(&m).unwrap(), kane::derive(&m).unwrap());
        for s in l.motion.steps.iter().chain(&k.motion.steps) {
            for e in &s.value {
                let unit = unit_of(*e)
                    .unwrap_or_else(|x| panic!("{} {} of {}: {x}", m.name, s.title, s.of));
                assert!(
                    unit.is_none_or(|u| u == s.unit),
                    "{} {} of {}: {unit:?}",
                    m.name,
                    s.title,
                    s.of
                );
            }
        }
    }
}
