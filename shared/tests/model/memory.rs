//! Friction with memory: against trajectories made by other means, and the properties that each law is known for.

use stribeck_core::model::friction::{Friction, Gms, Law, LuGre, Maxwell, Springs, Step};
use stribeck_core::model::sim::Rng;
use stribeck_core::number::dual::Dual;
use stribeck_core::number::words::{Path, Words};

const LOAD: f64 = 2.5;

const LUGRE: LuGre<f64> = LuGre {
    stiffness: 4.0,
    damping: 0.02,
    fade: 30.0,
    mu_d: 5e-4,
    mu_s: 7e-4,
    vs: 0.01,
    mu_v: 2.5e-3,
};
const GMS: Gms<f64, 4> = Gms {
    stiffness: [8.0, 4.0, 2.0, 1.0],
    share: [0.1, 0.2, 0.3, 0.4],
    attraction: 0.05,
    mu_d: 5e-4,
    mu_s: 7e-4,
    vs: 0.01,
    mu_v: 2.5e-3,
};
const MAXWELL: Maxwell<f64, 4> = Maxwell {
    limit: [2e-5, 8e-5, 3e-4, 9e-4],
    stiffness: [3.0, 1.0, 0.4, 0.2],
    mu_v: 2.5e-3,
};

/// Stretches of constant velocity of one law: velocity, time, torque at the end.
fn golden(law: &str) -> Vec<[f64; 3]> {
    include_str!("../golden/slip.txt")
        .lines()
        .filter(|l| l.starts_with(law))
        .map(|l| {
            let n: Vec<f64> = l.split(' ').skip(2).map(|x| x.parse().unwrap()).collect();
            [n[0], n[1], n[2]]
        })
        .collect()
}

fn turned(w: f64, dt_s: f64) -> Step<f64> {
    Step {
        turn: w * dt_s,
        w,
        dt_s,
        fn_: LOAD,
    }
}

/// Largest difference from the golden torques [N·m], each stretch covered in `parts` steps.
fn apart<L: Law<f64>>(name: &str, law: &L, parts: u32) -> f64 {
    let rows = golden(name);
    assert_eq!(rows.len(), 80);
    let mut memory = law.relaxed();
    let mut most = 0f64;
    for [w, t, torque] in rows {
        for _ in 0..parts {
            memory = law.advance(&memory, &turned(w, t / f64::from(parts)));
        }
        most = most.max((law.torque(&memory, w, LOAD) - torque).abs());
    }
    most
}

/// Radau, event search and Masing's rules elsewhere; here one step per stretch or many: the step is exact, so its length is no matter.
#[test]
fn golden_trajectories_of_another_implementation() {
    for parts in [1, 7, 1000] {
        let [lugre, gms, maxwell] = [
            apart("lugre", &LUGRE, parts),
            apart("gms", &GMS, parts),
            apart("maxwell", &MAXWELL, parts),
        ];
        println!("{parts} steps: LuGre {lugre:.1e}, GMS {gms:.1e}, Maxwell {maxwell:.1e} N·m");
        assert!(lugre < 1e-12 && gms < 1e-12 && maxwell < 1e-15);
    }
}

/// A loop that closes returns to the force it left: the springs remember turning points, not the way between them.
#[test]
fn a_closed_inner_loop_is_forgotten() {
    let mut rng = Rng::new(3);
    for _ in 0..200 {
        let mut d = MAXWELL.relaxed();
        for _ in 0..20 {
            d = MAXWELL.deflected(&d, rng.within(-1e-3, 1e-3));
        }
        // Onwards is up: turn back by less than that, turn again, and pass the point where the loop was left.
        let up = rng.within(0.0, 1e-3);
        d = MAXWELL.deflected(&d, up);
        let (back, on) = (rng.within(0.0, up), rng.within(0.0, 5e-4));
        let straight = MAXWELL.deflected(&d, on);
        let looped = MAXWELL.deflected(&MAXWELL.deflected(&d, -back), back + on);
        for (a, b) in straight.0.iter().zip(looped.0) {
            assert!((a - b).abs() < 1e-15, "{straight:?} {looped:?}");
        }
    }
}

#[test]
fn sliding_it_is_the_law_without_memory() {
    let far = |law: &dyn Fn(f64) -> f64| law(0.5);
    let slid = far(&|w| {
        let m = LUGRE.advance(&LUGRE.relaxed(), &turned(w, 1.0));
        LUGRE.torque(&m, w, LOAD)
    });
    assert!((slid - (LOAD * 5e-4 + 0.5 * 2.5e-3)).abs() < 1e-12);
    let slid = far(&|w| {
        let m = GMS.advance(&GMS.relaxed(), &turned(w, 1.0));
        GMS.torque(&m, w, LOAD)
    });
    assert!((slid - (LOAD * 5e-4 + 0.5 * 2.5e-3)).abs() < 1e-9);
    let m = MAXWELL.advance(&MAXWELL.relaxed(), &turned(0.5, 1.0));
    let slid = MAXWELL.torque(&m, 0.5, LOAD);
    assert!((slid - (LOAD * MAXWELL.mu_d() + 0.5 * 2.5e-3)).abs() < 1e-15);
}

/// A law can only take energy: ∮ f dθ ≥ 0 over every closed path from rest.
#[test]
fn a_closed_path_takes_energy() {
    fn work<L: Law<f64>>(law: &L, path: &[f64]) -> f64 {
        let mut memory = law.relaxed();
        let mut sum = 0.0;
        for w in path {
            for _ in 0..200 {
                let step = turned(*w, 5e-5);
                let before = law.torque(&memory, *w, LOAD);
                memory = law.advance(&memory, &step);
                sum += 0.5 * (before + law.torque(&memory, *w, LOAD)) * step.turn;
            }
        }
        sum
    }
    let mut rng = Rng::new(9);
    for _ in 0..50 {
        let mut path: Vec<f64> = (0..12).map(|_| rng.within(-0.05, 0.05)).collect();
        path.push(-path.iter().sum::<f64>());
        let taken = [
            work(&LUGRE, &path),
            work(&GMS, &path),
            work(&MAXWELL, &path),
        ];
        assert!(taken.iter().all(|w| *w > 0.0), "{taken:?}");
    }
}

/// ∂δ/∂Δ is the direction of the last slip: what the identification of thresholds rests on.
#[test]
fn derivatives_pass_through_the_memory() {
    type D = Dual<f64, 1>;
    let c = D::constant;
    let law: Maxwell<D, 1> = Maxwell {
        limit: [D::variable(1e-3, 0)],
        stiffness: [c(2.0)],
        mu_v: c(0.0),
    };
    let mut d = law.relaxed();
    for (turn, value, slope) in [
        (0.4e-3, 0.4e-3, 0.0),
        (1e-3, 1e-3, 1.0),
        (-0.5e-3, 0.5e-3, 1.0),
        (-2e-3, -1e-3, -1.0),
        (0.1e-3, -0.9e-3, -1.0),
    ] {
        d = law.deflected(&d, c(turn));
        assert!((d.0[0].re - value).abs() < 1e-18);
        assert_eq!(d.0[0].du, [slope]);
    }
}

/// Memory goes through snapshots word by word and bit by bit; a law without memory has no words at all.
#[test]
fn memory_is_words() {
    fn kept<M: Words>(m: &M) -> (Vec<u32>, usize) {
        let mut words = Vec::new();
        m.save(&mut |w| words.push(w));
        let mut it = words.iter().copied();
        let again = M::load(&mut || it.next().unwrap());
        let mut twice = Vec::new();
        again.save(&mut |w| twice.push(w));
        assert_eq!(words, twice);
        let mut names = 0;
        M::names(&Path::Root, &mut |_| names += 1);
        (words, names)
    }
    let friction: Friction<f32> = Friction::NONE;
    Law::<f32>::relaxed(&friction);
    assert_eq!(kept(&()), (vec![], 0));
    assert_eq!(size_of::<<Friction<f32> as Law<f32>>::Memory>(), 0);
    let m = GMS.advance(&GMS.relaxed(), &turned(0.05, 1e-2));
    let (words, names) = kept(&m);
    assert_eq!((words.len(), names), (4 * 2 + 4, 12));
    assert_eq!(kept(&Springs([1f32, 2.0])).1, 2);
    assert_eq!(kept(&LUGRE.relaxed()).1, 2);
}

/// On the chip the same law runs in f32: near the f64 one after ten thousand steps.
#[test]
fn single_precision_follows() {
    let coarse: Maxwell<f32, 4> = Maxwell {
        limit: MAXWELL.limit.map(|x| x as f32),
        stiffness: MAXWELL.stiffness.map(|x| x as f32),
        mu_v: 0.0,
    };
    let (mut a, mut b) = (Law::<f64>::relaxed(&MAXWELL), Law::<f32>::relaxed(&coarse));
    let mut rng = Rng::new(4);
    for _ in 0..10_000 {
        let turn = rng.within(-2e-4, 2e-4) as f32;
        a = MAXWELL.deflected(&a, f64::from(turn));
        b = coarse.deflected(&b, turn);
    }
    for (x, y) in a.0.iter().zip(b.0) {
        assert!((x - f64::from(y)).abs() < 1e-8, "{x} {y}");
    }
}
