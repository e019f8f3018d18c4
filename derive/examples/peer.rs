//! What the peer script (derive/peers/peers.py) asks for.
//!
//! ```text
//! peer values SYSTEM    one point per line on standard input, `name=value …`; prints H (upper triangle, by rows) and Q − B − G − D
//! peer times SYSTEM N   best of 50 rounds (7 at least, 5 s), milliseconds of processor time: Lagrange, Kane, proof, code by N tie-breakings of each way of factoring; operations per
//!                       tick and operations done once
//! ```
//!
//! SYSTEM is a name of the catalogue, nlinkN (angles from the vertical) or rlinkN (angles from the link before).

use std::collections::HashMap;
use std::io::BufRead;
use std::time::Instant;

use cpu_time::ThreadTime;
use stribeck_derive::catalogue::{find, n_link_on_cart, n_link_on_cart_relative};
use stribeck_derive::code::compile;
use stribeck_derive::expr::{Ex, Values};
use stribeck_derive::linear::equations;
use stribeck_derive::mechanism::Mechanism;
use stribeck_derive::proof::prove;
use stribeck_derive::{kane, lagrange};

/// Rounds of `times`, and those made however long they take.
const ROUNDS: usize = 50;
const FEWEST: usize = 7;
const PATIENCE_S: u64 = 5;

type Failure = Box<dyn std::error::Error>;

fn read(name: &str) -> Result<Mechanism, Failure> {
    let links = |prefix: &str| name.strip_prefix(prefix).and_then(|n| n.parse().ok());
    if let Some(n) = links("nlink") {
        return Ok(n_link_on_cart(n)?.build()?);
    }
    if let Some(n) = links("rlink") {
        return Ok(n_link_on_cart_relative(n)?.build()?);
    }
    Ok(Mechanism::read(
        find(name).ok_or("no such mechanism")?.toml,
    )?)
}

/// Upper triangle of the mass matrix, then the right side.
fn outputs(
    m: &Mechanism,
    motion: &stribeck_derive::motion::Motion,
) -> Result<Vec<(String, Ex)>, Failure> {
    let eq = equations(m, motion)?;
    let n = eq.speeds.len();
    let upper = (0..n).flat_map(|i| (i..n).map(move |j| (i, j)));
    let mass = upper.map(|(i, j)| (format!("h{i}{j}"), eq.mass[i][j]));
    let right = (0..n).map(|i| (format!("f{i}"), eq.effort[i] - eq.rest[i]));
    Ok(mass.chain(right).collect())
}

fn values(name: &str) -> Result<(), Failure> {
    let m = read(name)?;
    let list = outputs(&m, &lagrange::derive(&m)?.motion)?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut point: HashMap<&str, f64> = HashMap::new();
        for pair in line.split_whitespace() {
            let (name, value) = pair.split_once('=').ok_or("name=value")?;
            point.insert(name, value.parse()?);
        }
        let mut v = Values::new(|e| {
            e.symbol()
                .and_then(|s| point.get(&*s.name).copied())
                .unwrap_or(f64::NAN)
        });
        let row: Vec<String> = list
            .iter()
            .map(|(_, e)| format!("{:e}", v.of(*e)))
            .collect();
        println!("{}", row.join(" "));
    }
    Ok(())
}

fn times(name: &str, seeds: u64) -> Result<(), Failure> {
    let mut best = [f64::INFINITY; 4];
    let mut cost = (0, 0);
    let began = Instant::now();
    // The least disturbed round of a busy machine.
    for round in 0..ROUNDS {
        if round >= FEWEST && began.elapsed().as_secs() >= PATIENCE_S {
            break;
        }
        // Each round in a thread of its own: an empty arena.
        let name = name.to_string();
        let worker = std::thread::spawn(move || -> Result<([f64; 4], (usize, usize)), String> {
            let fail = |e: Failure| e.to_string();
            let m = read(&name).map_err(fail)?;
            let mut clock = ThreadTime::now();
            let mut lap = || {
                let ms = clock.elapsed().as_secs_f64() * 1e3;
                clock = ThreadTime::now();
                ms
            };
            let l = lagrange::derive(&m).map_err(|e| e.to_string())?;
            let t0 = lap();
            let k = kane::derive(&m).map_err(|e| e.to_string())?;
            let t1 = lap();
            let proof = prove(&m, &l, &k).map_err(|e| e.to_string())?;
            let t2 = lap();
            if !proof.holds() {
                return Err("the proof fails".into());
            }
            let list = outputs(&m, &l.motion).map_err(fail)?;
            lap();
            let cost = match compile(&list, seeds) {
                Ok(p) => (
                    p.count().total,
                    p.consts
                        .iter()
                        .map(|c| c.0.iter().map(|t| t.0.pow.len()).sum::<usize>())
                        .sum(),
                ),
                Err(_) => (0, 0),
            };
            Ok(([t0, t1, t2, lap()], cost))
        });
        let (t, c) = worker.join().map_err(|_| "a round failed")??;
        cost = c;
        best.iter_mut().zip(t).for_each(|(b, t)| *b = b.min(t));
    }
    let ms: Vec<String> = best.iter().map(|x| format!("{x:.3}")).collect();
    println!("{} {} {}", ms.join(" "), cost.0, cost.1);
    Ok(())
}

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["values", system] => values(system),
        ["times", system, seeds] => times(system, seeds.parse()?),
        _ => Err("peer values SYSTEM, peer times SYSTEM N".into()),
    }
}
