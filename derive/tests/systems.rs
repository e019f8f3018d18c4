//! Known equations of motion, as exact identities: the systems of SymPy's mechanics tests, and the benchmark bicycle's numbers.

use stribeck_derive::canonical::{Basis, Ring};
use stribeck_derive::catalogue::{find, n_link_on_cart};
use stribeck_derive::constraint::{Reduced, reduce};
use stribeck_derive::expr::{Ex, int, zero};
use stribeck_derive::field::agree;
use stribeck_derive::kane;
use stribeck_derive::lagrange;
use stribeck_derive::linear::linearise;
use stribeck_derive::mechanism::{BodyText, Description, Mechanism};

fn read(name: &str) -> Mechanism {
    Mechanism::read(find(name).unwrap().toml).unwrap()
}

fn symbols<const N: usize>(m: &Mechanism, names: [&str; N]) -> [Ex; N] {
    names.map(|n| m.scope.lookup(n).unwrap_or_else(|| panic!("{n}?")))
}

/// Left − right of every equation of both methods, against the expected.
fn check(m: &Mechanism, expected: &[Ex]) {
    let (l, k) = (lagrange::derive(m).unwrap(), kane::derive(m).unwrap());
    for motion in [&l.motion, &k.motion] {
        for (r, e) in expected.iter().enumerate() {
            let ours = motion.left(r, &m.a) - motion.effort[r];
            assert!(
                Ring::new(Basis::Cosines).equal(ours, *e).unwrap(),
                "{} equation {r}",
                m.name
            );
        }
    }
}

/// u̇ − expected = 0, after M·u̇ + c = Q is multiplied out: M·expected + c − Q vanishes identically.
fn check_rates(reduced: &Reduced, expected: &[Ex]) {
    for (r, row) in reduced.mass.iter().enumerate() {
        let inertia: Ex = row.iter().zip(expected).map(|(m, x)| *m * *x).sum();
        let left = inertia + reduced.rest[r];
        assert!(
            agree(&[left], &[reduced.effort[r]], 4, 1).is_some(),
            "speed {r}"
        );
    }
}

#[test]
fn pend_and_simp_pen() {
    let m = Description::new("pend")
        .gravity(["g", "0", "0"])
        .parameter("m", "kg", 1.0)
        .parameter("l", "m", 1.0)
        .parameter("g", "m/s^2", 9.81)
        .body(BodyText::revolute("A", "q", "z").mass("m", ["l", "0", "0"]))
        .build()
        .unwrap();
    let [mass, l, g, q, qdd] = symbols(&m, ["m", "l", "g", "q", "q_dd"]);
    check(&m, &[mass * l * l * qdd + mass * g * l * q.sin()]);
}

#[test]
fn two_dof() {
    let m = read("twomass");
    let [mass, k1, k2, c1, c2] = symbols(&m, ["m", "k1", "k2", "c1", "c2"]);
    let [x1, x2, v1, v2, a1, a2] = symbols(&m, ["x1", "x2", "x1_d", "x2_d", "x1_dd", "x2_dd"]);
    check(
        &m,
        &[
            int(2) * mass * a1 + mass * a2 + k1 * x1 + c1 * v1,
            mass * (a1 + a2) + k2 * x2 + c2 * v2,
        ],
    );
}

#[test]
fn dub_pen() {
    let m = read("doublependulum");
    let [mass, l, g, q1, q2] = symbols(&m, ["m", "l", "g", "q1", "q2"]);
    let [w1, w2, a1, a2] = symbols(&m, ["q1_d", "q2_d", "q1_dd", "q2_dd"]);
    let (ml2, mgl) = (mass * l * l, mass * g * l);
    let (s, c) = ((q1 - q2).sin(), (q1 - q2).cos());
    check(
        &m,
        &[
            ml2 * (int(2) * a1 + a2 * c + w2 * w2 * s) + int(2) * mgl * q1.sin(),
            ml2 * (a2 + a1 * c - w1 * w1 * s) + mgl * q2.sin(),
        ],
    );
}

#[test]
fn chaos_pendulum() {
    let m = read("chaospendulum");
    let [ma, mb, la, lb, g] = symbols(&m, ["mA", "mB", "lA", "lB", "g"]);
    let [ia, bx, by, bz] = symbols(&m, ["IAxx", "IBxx", "IByy", "IBzz"]);
    let [theta, phi, w, a] = symbols(&m, ["theta", "phi", "theta_d", "phi_d"]);
    let [wd, ad] = symbols(&m, ["theta_dd", "phi_dd"]);
    let sc = phi.sin() * phi.cos();
    let inertia =
        ia + bx * phi.sin().squared() + by * phi.cos().squared() + la * la * ma + lb * lb * mb;
    check(
        &m,
        &[
            inertia * wd + int(2) * (bx - by) * a * w * sc + g * (la * ma + lb * mb) * theta.sin(),
            bz * ad - (bx - by) * w * w * sc,
        ],
    );
}

#[test]
fn non_central_inertia() {
    let m = read("car");
    let [ma, mb, a, b, r] = symbols(&m, ["mA", "mB", "a", "b", "R"]);
    let [ia, j, k, u1, u2] = symbols(&m, ["IA", "J", "K", "u1", "u2"]);
    let two = int(2);
    for motion in [
        &kane::derive(&m).unwrap().motion,
        &lagrange::derive(&m).unwrap().motion,
    ] {
        let reduced = reduce(&m, motion).unwrap();
        // Both wheels forbid slipping sideways, and neither can leave the ground.
        assert_eq!(
            (reduced.speeds.clone(), reduced.redundant),
            (vec![u1, u2], 3)
        );
        let expected = [
            ia + two * j * b * b / (r * r) + two * k + ma * a * a + two * mb * b * b,
            zero(),
            zero(),
            ma + two * mb + two * j / (r * r),
            ma * a * u1 * u2,
            -ma * a * u1 * u1,
        ];
        let ours: Vec<Ex> = reduced
            .mass
            .iter()
            .flatten()
            .chain(&reduced.rest)
            .copied()
            .collect();
        assert!(agree(&ours, &expected, 4, 1).is_some());
        let mut wrong = expected;
        wrong[4] = -wrong[4];
        assert!(agree(&ours, &wrong, 4, 1).is_none());
    }
}

#[test]
fn rolling_disc() {
    let m = read("rollingdisc");
    let [r, g, q2, u1, u2, u3] = symbols(&m, ["r", "g", "q2", "u1", "u2", "u3"]);
    let tan = q2.sin() / q2.cos();
    let expected = [
        (int(6) * u2 * u3 * r - u3 * u3 * r * tan + int(4) * g * q2.sin()) / (int(5) * r),
        int(-2) * u1 * u3 / int(3),
        u1 * (u3 * tan - int(2) * u2),
    ];
    check_rates(
        &reduce(&m, &kane::derive(&m).unwrap().motion).unwrap(),
        &expected,
    );
    check_rates(
        &reduce(&m, &lagrange::derive(&m).unwrap().motion).unwrap(),
        &expected,
    );
}

#[test]
fn n_link_pendulum_on_cart_of_one_link() {
    let m = n_link_on_cart(1).unwrap().build().unwrap();
    let [m0, m1, l, g, f] = symbols(&m, ["m0", "m1", "l0", "g", "F"]);
    let [q, w, a0, a1] = symbols(&m, ["q1", "q1_d", "q0_dd", "q1_dd"]);
    check(
        &m,
        &[
            (m0 + m1) * a0 - m1 * l * q.cos() * a1 + m1 * l * w * w * q.sin() - f,
            m1 * l * l * a1 - m1 * l * q.cos() * a0 - m1 * g * l * q.sin(),
        ],
    );
}

/// Published: M·q̈ + v·C1·q̇ + (g·K0 + v²·K2)·q = f, q = (lean, steer).
#[test]
fn the_bicycles_published_matrices() {
    const M: [[f64; 2]; 2] = [
        [80.81722, 2.31941332208709],
        [2.31941332208709, 0.29784188199686],
    ];
    const C1: [[f64; 2]; 2] = [
        [0.0, 33.86641391492494],
        [-0.85035641456978, 1.68540397397560],
    ];
    const K0: [[f64; 2]; 2] = [
        [-80.95, -2.59951685249872],
        [-2.59951685249872, -0.80329488458618],
    ];
    const K2: [[f64; 2]; 2] = [[0.0, 76.59734589573222], [0.0, 2.65431523794604]];
    let solve = |b: [f64; 2]| {
        let d = M[0][0] * M[1][1] - M[0][1] * M[1][0];
        [
            (b[0] * M[1][1] - b[1] * M[0][1]) / d,
            (M[0][0] * b[1] - M[1][0] * b[0]) / d,
        ]
    };
    let m = read("bicycle");
    let motion = kane::derive(&m).unwrap().motion;
    let linear = linearise(&m, &motion, &m.equilibria[0]).unwrap();
    let index = |name: &str| {
        linear
            .states
            .iter()
            .position(|s| *s == m.scope.lookup(name).unwrap())
            .unwrap()
    };
    let [phi, delta, phi_d, delta_d] = ["phi", "delta", "phi_d", "delta_d"].map(index);
    let [speed] = symbols(&m, ["v"]);
    let mut worst: f64 = 0.0;
    for v in [0.0, 1.0, 2.0, 3.0, 5.0, 10.0] {
        let (a, b) = linear.numbers(&m, &[(speed, v)]).unwrap();
        let stiffness = |j: usize| [0, 1].map(|i| -(9.81 * K0[i][j] + v * v * K2[i][j]));
        let damping = |j: usize| [0, 1].map(|i| -v * C1[i][j]);
        let published = [stiffness(0), stiffness(1), damping(0), damping(1)].map(solve);
        for (row, i) in [phi_d, delta_d].into_iter().zip(0..) {
            for (column, theirs) in [phi, delta, phi_d, delta_d].into_iter().zip(published) {
                worst = worst.max((a[row][column] - theirs[i]).abs() / (1.0 + theirs[i].abs()));
            }
            let torque = solve([0.0, 1.0])[i];
            worst = worst.max((b[row][0] - torque).abs() / (1.0 + torque.abs()));
        }
    }
    println!("largest relative difference to the published matrices: {worst:.1e}");
    assert!(worst < 1e-10);
}

#[test]
fn controllability_is_said() {
    let rank = |name: &str, at: usize| {
        let m = read(name);
        let linear =
            linearise(&m, &lagrange::derive(&m).unwrap().motion, &m.equilibria[at]).unwrap();
        (linear.controllable_states().unwrap(), linear.states.len())
    };
    for name in ["cartpole", "acrobot", "reactionwheel"] {
        assert_eq!((rank(name, 0), rank(name, 1)), ((4, 4), (4, 4)), "{name}");
    }
    // Without an actuator nothing is reached.
    assert_eq!(rank("pendulum", 0), (0, 2));
}

/// Cart-pole upright, by hand: θ̈ = ((m_c + m_p)·m_p·g·l·θ − m_p·l·F)/Δ, Δ = (m_c + m_p)(I_p + m_p·l²) − m_p²·l².
#[test]
fn the_linear_cart_pole() {
    let m = read("cartpole");
    let linear = linearise(&m, &lagrange::derive(&m).unwrap().motion, &m.equilibria[0]).unwrap();
    let (a, b) = linear.formulas().unwrap();
    let [mc, mp, l, ip, g] = symbols(&m, ["m_c", "m_p", "l", "I_p", "g"]);
    let det = (mc + mp) * (ip + mp * l * l) - mp * mp * l * l;
    assert!(
        agree(
            &[a[3][1], b[3][0]],
            &[(mc + mp) * mp * g * l / det, -mp * l / det],
            4,
            1
        )
        .is_some()
    );
    let not = m.equilibria[0].clone();
    let tilted = stribeck_derive::mechanism::Equilibrium {
        at: vec![(m.q[1], Ex::PI.half())],
        ..not
    };
    let refused = linearise(&m, &lagrange::derive(&m).unwrap().motion, &tilted).unwrap_err();
    assert!(refused.to_string().contains("no equilibrium"), "{refused}");
}
