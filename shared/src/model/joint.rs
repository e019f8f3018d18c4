//! Kinds of joints, and the unit of every quantity at each: the one table for configuration, wire, command line, exports and reports.
//!
//! | quantity | revolute | prismatic |
//! |---|---|---|
//! | coordinate q, encoder zero, innovation | rad | m |
//! | velocity ω, vt | rad/s | m/s |
//! | acceleration | rad/s² | m/s² |
//! | effort u, f, G | N·m | N |
//! | inertia H | kg·m² | kg |
//! | μd, μs, Δd (effort per normal force) | m | 1 |
//! | μv, Δv, slope ∂f/∂ω of the stiffness bound | N·m·s | N·s/m |
//! | drag d | N·m·s² | N·s²/m² |
//! | normal force Fn, Fnt | N | N |
//! | encoder scale | counts per revolution | counts per metre |
//! | name in columns | `theta0`, `omega0` | `x0`, `v0` |
//!
//! Everywhere else "angle" and "rad" are said of the usual, revolute joint; the numbers of a prismatic joint are those of this table. H01
//! between a prismatic and a revolute joint is in kg·m.

use crate::number::scalar::Scalar;

/// How a joint moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Joint {
    /// Turns about its axis.
    Revolute,
    /// Slides along it.
    Prismatic,
}

/// Units of one kind of joint, as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    pub coordinate: &'static str,
    pub velocity: &'static str,
    pub acceleration: &'static str,
    pub effort: &'static str,
    pub inertia: &'static str,
    /// μd, μs, Δd.
    pub coulomb: &'static str,
    /// μv, Δv.
    pub viscous: &'static str,
    pub drag: &'static str,
    /// Fn, Fnt.
    pub normal: &'static str,
    /// Name of the encoder's scale in a configuration file.
    pub encoder_scale: &'static str,
}

const REVOLUTE: Units = Units {
    coordinate: "rad",
    velocity: "rad/s",
    acceleration: "rad/s²",
    effort: "N·m",
    inertia: "kg·m²",
    coulomb: "m",
    viscous: "N·m·s",
    drag: "N·m·s²",
    normal: "N",
    encoder_scale: "counts_per_rev",
};

const PRISMATIC: Units = Units {
    coordinate: "m",
    velocity: "m/s",
    acceleration: "m/s²",
    effort: "N",
    inertia: "kg",
    coulomb: "1",
    viscous: "N·s/m",
    drag: "N·s²/m²",
    normal: "N",
    encoder_scale: "counts_per_metre",
};

impl Joint {
    pub const fn units(self) -> &'static Units {
        match self {
            Joint::Revolute => &REVOLUTE,
            Joint::Prismatic => &PRISMATIC,
        }
    }

    /// What an encoder's counts are stated for: one revolution \[rad\], or one metre.
    #[inline(always)]
    pub fn scale<S: Scalar>(self) -> S {
        match self {
            Joint::Revolute => S::lit(2.0 * core::f64::consts::PI),
            Joint::Prismatic => S::ONE,
        }
    }

    /// Symbol of the coordinate: θ or x.
    pub const fn symbol(self) -> &'static str {
        match self {
            Joint::Revolute => "θ",
            Joint::Prismatic => "x",
        }
    }

    /// Symbol of the velocity: ω or v.
    pub const fn speed_symbol(self) -> &'static str {
        match self {
            Joint::Revolute => "ω",
            Joint::Prismatic => "v",
        }
    }

    /// The coordinate's name in columns and options: `theta` or `x`.
    pub const fn column(self) -> &'static str {
        match self {
            Joint::Revolute => "theta",
            Joint::Prismatic => "x",
        }
    }

    /// The velocity's name in columns: `omega` or `v`.
    pub const fn speed_column(self) -> &'static str {
        match self {
            Joint::Revolute => "omega",
            Joint::Prismatic => "v",
        }
    }

    /// What the coordinate is called: angle or position.
    pub const fn coordinate(self) -> &'static str {
        match self {
            Joint::Revolute => "angle",
            Joint::Prismatic => "position",
        }
    }

    /// What the effort is called: torque or force.
    pub const fn effort(self) -> &'static str {
        match self {
            Joint::Revolute => "torque",
            Joint::Prismatic => "force",
        }
    }
}
