//! Tables of every shape to `identify`: ramps, steps, noise, NaN, foreign units, half files. An error, or numbers of the right motion.

use std::f64::consts::PI;
use std::fmt::Write as _;
use std::fs;

use stribeck_core::model::sim::Rng;

use crate::child;
use crate::frames::{below, damage};
use crate::score::{Effort, Ending, Row};

const METHODS: [&str; 5] = ["greybox", "energy", "logdec", "ekf", "all"];

pub fn run(effort: &Effort) -> anyhow::Result<Row> {
    let folder = tempfile::tempdir()?;
    let mut row = Row::default();
    let mut rng = Rng::new(effort.seed);
    let mut numbers = 0u64;
    while effort.wants(row.inputs, 40, 500) {
        let (text, what, honest) = table(&mut rng);
        fs::write(folder.path().join("table.csv"), &text)?;
        let method = METHODS[below(&mut rng, METHODS.len())];
        let args = [
            "identify",
            "table.csv",
            "--time",
            "t",
            "--angle",
            "theta",
            "--method",
            method,
            "--json",
        ];
        let output = child::run(&args, folder.path())?;
        numbers += u64::from(output.code == Some(0));
        let ending = match output.disaster() {
            Some(ending) => ending,
            // Only a decay is a decay: estimates from anything else must not be called explained.
            None if output.code == Some(0) && !honest => Ending::SilentlyWrong,
            None => Ending::Good,
        };
        row.count(ending, || {
            format!(
                "{what}, --method {method}, input {} of seed {}; {}",
                row_number(&text),
                effort.seed,
                output.last_words()
            )
        });
    }
    row.note = format!("tables × methods; {numbers} identified");
    Ok(row)
}

fn row_number(text: &[u8]) -> String {
    format!("{} bytes", text.len())
}

/// A pendulum with Coulomb and viscous friction: θ̈ = −25·sin θ − .1·ω − .05·sgn ω.
struct Swing {
    angle: f64,
    speed: f64,
}

impl Swing {
    fn advance(&mut self, seconds: f64) {
        let steps = (seconds / 1e-4).ceil();
        let dt = seconds / steps;
        for _ in 0..steps as usize {
            // Semi-implicit Euler: coarse, and a decay that rests where friction holds it.
            let drive = -25.0 * self.angle.sin() - 0.1 * self.speed;
            let next = self.speed + dt * (drive - 0.05 * self.speed.signum());
            let held = drive.abs() < 0.05 && (self.speed == 0.0 || next * self.speed < 0.0);
            self.speed = if held { 0.0 } else { next };
            self.angle += dt * self.speed;
        }
    }
}

/// A table, what it is, and whether a method may find friction in it.
fn table(rng: &mut Rng) -> (Vec<u8>, &'static str, bool) {
    let n = [3, 40, 400, 2000][below(rng, 4)];
    let dt = 10f64.powf(rng.within(-3.0, -1.7));
    let kind = below(rng, 12);
    let mut swing = Swing {
        angle: 1.2,
        speed: 0.0,
    };
    let noise = [0.0, 1e-4, 1e-2][below(rng, 3)];
    let mut text = String::from("t,theta\n");
    for i in 0..n {
        let t = i as f64 * dt;
        let decay = swing.angle;
        swing.advance(dt);
        let angle = match kind {
            0 => t,
            1 => 1.0,
            2 => rng.normal(),
            3 => f64::from(u8::from(i > n / 2)),
            4 => 0.5 * (t * t).sin() * t,
            5 => 0.1 * (0.3 * t).exp() * (4.0 * t).sin(),
            6 => 1e300 * decay,
            _ => decay,
        } + noise * rng.normal();
        let _ = match kind {
            7 if i == n / 2 => writeln!(text, "{t},NaN"),
            8 => writeln!(text, "{},{angle}", (t * 1e9).round()),
            9 => writeln!(text, "{t};{angle}"),
            10 if i % 7 == 3 => writeln!(text, "{t},"),
            _ => writeln!(text, "{t},{angle}"),
        };
    }
    let names = [
        "ramp",
        "constant",
        "white noise",
        "step",
        "chirp that grows",
        "motion that gains energy",
        "decay times 1e300",
        "decay with a NaN",
        "decay, time in ns",
        "decay, semicolons",
        "decay with empty cells",
        "damaged decay",
    ];
    let mut bytes = text.into_bytes();
    if kind == 11 {
        let other = format!("{}", PI).into_bytes();
        for _ in 0..1 + below(rng, 6) {
            damage(rng, &mut bytes, &other);
        }
    }
    (bytes, names[kind], kind >= 7)
}
