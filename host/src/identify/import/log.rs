//! A log of this project as a record: counts of every tick, the rig from the device's own configuration.

use std::path::Path;

use stribeck_core::config::Config;
use stribeck_core::plant::PlantConfig;
use stribeck_core::run::Phase;
use stribeck_core::wire::What;

use crate::angles::Angles;
use crate::error::{Error, Result};
use crate::log::read::LogReader;
use crate::session::{Happening, Session};

use super::super::record::Record;

/// A record and the configuration it was made with.
#[derive(Clone, Debug)]
pub struct Logged {
    pub record: Record,
    pub config: Config,
}

/// Read the longest swing of a log: from the links' first motion to rest, or everything if no run was marked.
pub fn read_log(path: &Path) -> Result<Logged> {
    let mut log = LogReader::open(path)?;
    let mut session = Session::log(false);
    let mut angles: Option<Angles> = None;
    let mut config: Option<Config> = None;
    let (mut ticks, mut q) = (Vec::new(), Vec::new());
    let mut began: Option<u64> = None;
    let mut swings: Vec<(u64, u64)> = Vec::new();
    let mut take = |h: &Happening<'_>| -> Result<()> {
        match h {
            Happening::Hello { hello, begins } => {
                let c = hello.config().map_err(|e| {
                    Error::invalid(
                        format!("the device's configuration cannot be read: {e}"),
                        "use the stribeck version that wrote the log",
                    )
                })?;
                match &mut angles {
                    Some(a) if !begins => a.set_config(&c, hello.config_since),
                    slot => *slot = Some(Angles::new(&c)),
                }
                config = Some(c);
            }
            Happening::Block { block, .. } => {
                if let Some(a) = &mut angles {
                    let mut counted = Vec::new();
                    a.block(block, |c| counted.push(c));
                    for c in counted {
                        ticks.push(c.tick);
                        q.push(a.radians(c.counts));
                    }
                }
            }
            Happening::Event(event) => {
                if let What::Run { to, .. } = event.what {
                    match to {
                        Phase::Swinging => began = Some(event.tick),
                        _ => swings.extend(began.take().map(|b| (b, event.tick))),
                    }
                }
            }
            _ => {}
        }
        Ok(())
    };
    while let Some(item) = log.read_next()? {
        if item.topic.is_wire() {
            session.bytes(item.data, |h| take(&h))?;
        }
    }
    session.end(|h| take(&h))?;
    let Some(config) = config else {
        return Err(Error::invalid(
            format!("{}: the log contains no Hello", path.display()),
            "nothing in it can be interpreted; capture again",
        ));
    };
    let last = ticks.last().copied().unwrap_or(0);
    swings.extend(began.map(|b| (b, last)));
    let (from, to) = swings
        .iter()
        .copied()
        .max_by_key(|(a, b)| b - a)
        .unwrap_or((0, u64::MAX));
    let hz = f64::from(config.tick_hz);
    let (mut t, mut angles) = (Vec::new(), Vec::new());
    for (tick, q) in ticks.into_iter().zip(q) {
        if tick >= from && tick <= to && t.last().is_none_or(|&l| tick as f64 / hz > l) {
            t.push(tick as f64 / hz);
            angles.push(q);
        }
    }
    let t0 = t.first().copied().unwrap_or(0.0);
    let record = Record {
        name: path
            .file_name()
            .map_or(String::new(), |n| n.to_string_lossy().into()),
        t: t.iter().map(|t| t - t0).collect(),
        q: angles,
        joints: match config.plant {
            PlantConfig::Pendulum(_) => 1,
            _ => 2,
        },
        quantum: config
            .encoders
            .map(|e| std::f64::consts::TAU / f64::from(e.counts_per_rev)),
    };
    record.check()?;
    Ok(Logged { record, config })
}
