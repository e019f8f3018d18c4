//! A bad description is refused with its line and what to do; a builder makes the same mechanism as a file.

use stribeck_derive::catalogue::find;
use stribeck_derive::mechanism::{BodyText, Description, Mechanism};
use stribeck_derive::print::{Format, equation};
use stribeck_derive::{Error, kane, lagrange};

fn refused(toml: &str) -> String {
    Mechanism::read(toml).map(|_| ()).unwrap_err().to_string()
}

const HEAD: &str = r#"name = "test"
gravity = ["0", "-g", "0"]
parameter = [
  { name = "m", unit = "kg", default = 1.0 },
  { name = "l_a", unit = "m", default = 1.0 },
  { name = "g", unit = "m/s^2", default = 9.81 },
]
"#;

fn body(text: &str) -> String {
    let rest = "joint = \"revolute\"\naxis = \"z\"\n";
    format!("{HEAD}[[body]]\n{rest}{text}")
}

#[test]
fn every_error_names_its_line() {
    let two = |second: &str| {
        body(&format!(
            "name = \"A\"\ncoordinate = \"q\"\n[[body]]\njoint = \"revolute\"\naxis = \"z\"\n{second}"
        ))
    };
    for (toml, line, part) in [
        (
            body("name = \"A\"\ncoordinate = \"q\"\nmass = \"M\""),
            13,
            "is `m` meant?",
        ),
        (
            body("name = \"A\"\ncoordinate = \"q\"\nmass = \"l_a\""),
            13,
            "has the unit m, expected kg",
        ),
        (
            body("name = \"A\"\ncoordinate = \"q\"\nmass = \"m + l_a\""),
            13,
            "adds kg and m",
        ),
        (
            body("name = \"A\"\ncoordinate = \"q\"\ncom = [\"0.3\", \"0\", \"0\"]"),
            13,
            "make the number a parameter",
        ),
        (
            body("name = \"A\"\ncoordinate = \"q\"\ncom = [\"0\", \"0\"]"),
            13,
            "three components",
        ),
        (
            body("name = \"A\"\ncoordinate = \"q\"\nmass = \"sin(l_a)*m\""),
            13,
            "sine or cosine of m",
        ),
        (
            body("name = \"A\"\ncoordinate = \"m\""),
            12,
            "a parameter of this name in line 4",
        ),
        (
            two("name = \"B\"\ncoordinate = \"q\""),
            17,
            "a coordinate of this name in line 12",
        ),
        (
            two("name = \"A\"\ncoordinate = \"p\""),
            16,
            "the name is taken",
        ),
        (
            two("name = \"B\"\ncoordinate = \"p\"\nparent = \"C\""),
            18,
            "there are N, A, B",
        ),
        (
            two("name = \"B\"\ncoordinate = \"p\"\nparent = \"B\""),
            18,
            "in a loop",
        ),
        (
            two("name = \"B\"\ncoordinate = \"p\"\n[[actuator]]\nbody = \"D\"\neffort = \"u\""),
            19,
            "no body `D`",
        ),
        (
            two("name = \"B\"\ncoordinate = \"q_d\""),
            17,
            "a rate of the coordinate of this name",
        ),
        (
            body("name = \"A\"\ncoordinate = \"sin\""),
            12,
            "none of pi, sin",
        ),
        (
            body("name = \"A\"\ncoordinate = \"q\"\ncolour = \"red\""),
            13,
            "unknown field",
        ),
        (body("name = \"A\"\ncoordinate = \"q\"\nmass = "), 13, ""),
        (
            body("name = \"A\"\ncoordinate = \"q\"\nturned = [\"x\"]"),
            13,
            "AXIS by ANGLE",
        ),
        (
            body("name = \"A\"\ncoordinate = \"q\"\n[[constraint]]\nrolls = \"A\""),
            14,
            "`rolls`, `radius` and `up`",
        ),
        (
            body("name = \"A\"\ncoordinate = \"q\"\n[[constraint]]\nzero = \"q_d^2\""),
            14,
            "not linear",
        ),
        (
            body(
                "name = \"A\"\ncoordinate = \"q\"\n[[equilibrium]]\nname = \"e\"\nat = { m = \"1\" }",
            ),
            15,
            "no coordinate",
        ),
        (
            body("name = \"A\"\ncoordinate = \"q\"").replace("m/s^2", "mph"),
            6,
            "unit `mph`",
        ),
        (
            body("name = \"A\"\ncoordinate = \"q\"")
                .replace("default = 9.81", "default = 9.81, range = [0.0, 1.0]"),
            6,
            "outside its range",
        ),
    ] {
        let e = refused(&toml);
        assert!(
            e.starts_with(&format!("line {line}: ")) && e.contains(part),
            "expected line {line}, `{part}`: {e}\n{toml}"
        );
    }
    let axis =
        body("name = \"A\"\ncoordinate = \"q\"").replace("axis = \"z\"", "axis = \"1, 1, 0\"");
    assert!(refused(&axis).starts_with("line 10: axis `1, 1, 0` is not of length 1"));
}

#[test]
fn the_names_of_a_plants_joints_are_checked() {
    let text = find("cartpole").unwrap().toml;
    let joints = "joints = [\"cart\", \"pole\"]";
    let line = 1 + text.lines().position(|l| l == joints).unwrap();
    for (wrong, why) in [
        (
            "joints = [\"cart\"]",
            "plant.joints: one entry per joint is expected, found 1",
        ),
        (
            "joints = [\"cart\", \"po\\\"le\"]",
            "plant.joints: \"po\"le\" is not a word of letters",
        ),
    ] {
        let e = refused(&text.replace(joints, wrong));
        assert_eq!(e, format!("line {line}: {why}"));
    }
    let none = refused(&text.replace(joints, ""));
    assert!(none.contains("joints"), "{none}");
}

#[test]
fn a_body_may_stand_before_its_parent() {
    let text = find("acrobot").unwrap().toml;
    let (head, bodies) = text.split_at(text.find("[[body]]").unwrap());
    let parts: Vec<&str> = bodies.split("[[body]]").collect();
    let (second, rest) = parts[2].split_at(parts[2].find("[[actuator]]").unwrap());
    let swapped = format!("{head}[[body]]{second}\n[[body]]{}\n{rest}", parts[1]);
    let m = Mechanism::read(&swapped).unwrap();
    assert_eq!(m.bodies[0].name, "A");
    assert_eq!(m.q[0].symbol().unwrap().name.as_ref(), "theta2");
    let proof = stribeck_derive::proof::prove(
        &m,
        &lagrange::derive(&m).unwrap(),
        &kane::derive(&m).unwrap(),
    )
    .unwrap();
    assert!(proof.holds());
}

#[test]
fn builder_and_file_say_the_same() {
    let built = Description::new("cartpole")
        .gravity(["0", "-g", "0"])
        .parameter("m_c", "kg", 0.5)
        .parameter("m_p", "kg", 0.2)
        .parameter("l", "m", 0.3)
        .parameter("I_p", "kg*m^2", 0.006)
        .parameter("g", "m/s^2", 9.81)
        .body(BodyText::prismatic("A", "x", "x").mass("m_c", ["0", "0", "0"]))
        .body(
            BodyText::revolute("B", "theta", "-z")
                .on("A", ["0", "0", "0"])
                .mass("m_p", ["0", "l", "0"])
                .inertia(["0", "0", "I_p"]),
        )
        .actuator("A", "F_c")
        .build()
        .unwrap();
    let read = Mechanism::read(find("cartpole").unwrap().toml).unwrap();
    for r in 0..2 {
        let text =
            |m: &Mechanism| equation(m, &lagrange::derive(m).unwrap().motion, r, Format::Text);
        assert_eq!(text(&built), text(&read));
    }
    let e = Description::new("x")
        .body(BodyText::revolute("A", "q", "z").mass("m", ["0", "0", "0"]))
        .build();
    assert_eq!(
        e.unwrap_err().to_string(),
        "mass of `A`: `m` is neither a parameter nor a coordinate of this description"
    );
}

#[test]
fn equations_read_like_the_paper() {
    let m = Mechanism::read(find("cartpole").unwrap().toml).unwrap();
    let motion = lagrange::derive(&m).unwrap().motion;
    assert_eq!(
        equation(&m, &motion, 0, Format::Text),
        "(m_c + m_p)·x\u{308} + l·m_p·θ\u{308}·cos(θ) − l·m_p·θ\u{307}²·sin(θ) = F_c"
    );
    assert_eq!(
        equation(&m, &motion, 1, Format::Latex),
        "l m_{p} \\ddot{x} \\cos\\left(\\theta\\right) + \\left(I_{p} + {l}^{2} m_{p}\\right) \\ddot{\\theta} - g l m_{p} \\sin\\left(\\theta\\right) = 0"
    );
    let mathml = equation(&m, &motion, 0, Format::MathMl);
    assert!(
        mathml.starts_with("<math display=\"block\">")
            && mathml.contains("<mover><mi>x</mi><mo>¨</mo></mover>")
    );
    for tag in ["mrow", "msub", "msup", "mover", "mi", "mo"] {
        let count = |t: String| mathml.matches(&t).count();
        assert_eq!(
            count(format!("<{tag}>")),
            count(format!("</{tag}>")),
            "{tag}"
        );
    }
}

/// Coefficients that do not fit into 128 bits are an error, not a panic and not a wrong formula.
#[test]
fn a_number_too_large_is_refused() {
    let big = "123456789123456789123456789";
    let toml = body(&format!(
        "name = \"A\"\ncoordinate = \"q\"\nmass = \"m*{big}*{big}\""
    ));
    assert!(matches!(Mechanism::read(&toml), Err(Error::Overflow)));
}
