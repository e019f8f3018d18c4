//! What is identified: typed channels with units, each at its own times, and the plant they were measured on.
//!
//! A file becomes a dataset ([`crate::identify::data::import`]), every method takes one and says itself whether it
//! suits ([`crate::identify::method::Method::suits`]). Adding a channel is one line in the list of [`Quantity`].
//!
//! The free motion of a passive plant (checked, cut, smoothed) is derived once and kept: [`Dataset::motion`].

use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::identify::data::free_motion::FreeMotion;
use crate::identify::data::graphed::Graphed;
use crate::identify::data::record::Record;
use crate::identify::model::parametric::{Freedom, Rig};

macro_rules! quantities {
    ($($(#[$doc:meta])* $variant:ident: $word:literal, $unit:literal;)+) => {
        /// What a channel measures.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Quantity { $($(#[$doc])* $variant),+ }

        impl Quantity {
            pub const ALL: &[Quantity] = &[$(Quantity::$variant),+];
            pub fn word(self) -> &'static str {
                match self { $(Quantity::$variant => $word),+ }
            }
            /// Unit of a channel's values.
            pub fn unit(self) -> &'static str {
                match self { $(Quantity::$variant => $unit),+ }
            }
        }
    };
}

quantities! {
    /// From the hanging position, unwrapped.
    Angle: "angle", "rad";
    /// Position of a stage.
    Displacement: "displacement", "m";
    Force: "force", "N";
    Torque: "torque", "N·m";
    Voltage: "voltage", "V";
    /// A command whose unit is not known; of a bond graph: the input of that number.
    Input: "input", "1";
    /// What a bond graph's output of that number was measured to be.
    Output: "output", "1";
}

/// Values of one quantity over time.
#[derive(Clone, Debug)]
pub struct Channel {
    pub quantity: Quantity,
    /// The joint or axis it belongs to, from 0.
    pub joint: usize,
    /// Times \[s\], strictly increasing; channels sampled together share them.
    pub t: Arc<[f64]>,
    /// Values in the quantity's unit.
    pub x: Vec<f64>,
    /// Size of one count; 0: unknown.
    pub quantum: f64,
}

/// How the free motion is derived.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Cut off held starts and the rest at the end.
    pub trim: bool,
    /// What of the rig is estimated beside the friction.
    pub freedom: Freedom,
}

/// Channels measured together, and what moved. Methods say themselves whether they suit:
///
/// ```
/// use stribeck::{Channel, Dataset, METHODS, Quantity};
///
/// let t: Vec<f64> = (0..100).map(|i| 0.01 * f64::from(i)).collect();
/// let x = t.iter().map(|t| (5.0 * t).sin()).collect();
/// let channel = Channel { quantity: Quantity::Voltage, joint: 0, t: t.into(), x, quantum: 0.0 };
/// let data = Dataset::driven("a voltage alone", vec![channel]);
/// assert!(METHODS.iter().all(|m| m.suits(&data).is_err()));
/// ```
#[derive(Debug)]
pub struct Dataset {
    pub name: String,
    pub channels: Vec<Channel>,
    /// The passive plant whose angles were measured; none where a force drives a stage.
    pub rig: Option<Rig>,
    /// The bond graph whose inputs and outputs were measured.
    pub graph: Option<Graphed>,
    pub setup: Setup,
    /// What was assumed when it was read.
    pub notes: Vec<String>,
    motion: OnceLock<FreeMotion>,
}

impl Dataset {
    /// Channels of something that is no passive plant.
    pub fn driven(name: impl Into<String>, channels: Vec<Channel>) -> Dataset {
        Dataset {
            name: name.into(),
            channels,
            rig: None,
            graph: None,
            setup: Setup {
                trim: false,
                freedom: Freedom::none(),
            },
            notes: Vec::new(),
            motion: OnceLock::new(),
        }
    }

    /// Angles of a passive plant; its rig is as free as it is by default.
    pub fn passive(record: &Record, rig: Rig) -> Dataset {
        let t: Arc<[f64]> = record.t.clone().into();
        let channels = (0..record.joints)
            .map(|j| Channel {
                quantity: Quantity::Angle,
                joint: j,
                t: t.clone(),
                x: record.joint(j),
                quantum: record.quantum[j],
            })
            .collect();
        Dataset {
            rig: Some(rig),
            setup: Setup {
                trim: true,
                freedom: rig.freedom(),
            },
            ..Dataset::driven(record.name.clone(), channels)
        }
    }

    /// The same with another choice of what is free.
    pub fn with(mut self, freedom: Freedom) -> Dataset {
        self.setup.freedom = freedom;
        self.motion = OnceLock::new();
        self
    }

    /// The same without anything cut off.
    pub fn whole(mut self) -> Dataset {
        self.setup.trim = false;
        self.motion = OnceLock::new();
        self
    }

    /// The channel of a quantity on a joint.
    pub fn channel(&self, quantity: Quantity, joint: usize) -> Option<&Channel> {
        self.channels
            .iter()
            .find(|c| c.quantity == quantity && c.joint == joint)
    }

    /// Whether it holds the angles of a passive plant with this many joints.
    pub fn is_passive(&self, joints: usize) -> bool {
        self.rig.is_some_and(|r| r.joints() == joints)
            && (0..joints).all(|j| self.channel(Quantity::Angle, j).is_some())
    }

    /// The angles at common times.
    pub fn record(&self) -> Result<Record> {
        let missing = |what: String| {
            Error::invalid(
                format!("{}: {what}", self.name),
                "give the columns with --angle, the rig with --rig",
            )
        };
        let rig = self
            .rig
            .ok_or_else(|| missing("no plant is named".into()))?;
        let joints = rig.joints();
        let mut channels = Vec::new();
        for j in 0..joints {
            let found = self.channel(Quantity::Angle, j);
            channels
                .push(found.ok_or_else(|| missing(format!("the angle of joint {j} is missing")))?);
        }
        let first = channels[0];
        if let Some(other) = channels.iter().find(|c| c.t != first.t) {
            return Err(missing(format!(
                "joint {} is sampled at other times than joint 0",
                other.joint
            )));
        }
        let mut record = Record {
            name: self.name.clone(),
            t: first.t.to_vec(),
            q: vec![[0.0; 2]; first.x.len()],
            joints,
            quantum: [0.0; 2],
        };
        for c in channels {
            record.quantum[c.joint] = c.quantum;
            for (q, x) in record.q.iter_mut().zip(&c.x) {
                q[c.joint] = *x;
            }
        }
        Ok(record)
    }

    /// The free motion in it, derived at the first call.
    pub fn motion(&self) -> Result<&FreeMotion> {
        if let Some(m) = self.motion.get() {
            return Ok(m);
        }
        let record = self.record()?;
        let rig = self.rig.ok_or_else(|| {
            Error::invalid(
                format!("{}: no plant is named", self.name),
                "give --plant, or --rig with its configuration",
            )
        })?;
        let mut motion = FreeMotion::new(&record, rig, &self.setup)?;
        motion.notes.splice(0..0, self.notes.iter().cloned());
        Ok(self.motion.get_or_init(|| motion))
    }
}
