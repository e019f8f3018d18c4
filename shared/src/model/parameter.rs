//! What the friction parameters are called: identifier, symbol and unit, once for wire, command line, JSON, CSV, Parquet
//! and report.
//!
//! Units are those of a joint that turns; [`Parameter::unit_at`] gives them for either kind, as the table of [`Units`] has them.
//!
//! Order: [`FRICTION`] as the fields of [`Friction`], [`UAS`] and [`EKF`] as in `wire::block::Params`. The list below must name
//! every field of [`Friction`], or it does not compile.

use super::friction::Friction;
use super::joint::{Joint, Units};

/// How one parameter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// ASCII identifier: columns, JSON keys, options. With the joint's number where it belongs to one: `mu_d0`.
    pub id: &'static str,
    /// Symbol as in the theory: `μd0`.
    pub symbol: &'static str,
    /// Unit: `N·m·s`.
    pub unit: &'static str,
    /// The same in ASCII: `N m s`.
    pub ascii_unit: &'static str,
    /// Both of a joint that slides: `N·s/m`, `N s/m`.
    slide_unit: &'static str,
    slide_ascii: &'static str,
}

impl Parameter {
    /// Unit at a joint of this kind: `N·m·s` or `N·s/m`.
    pub const fn unit_at(&self, joint: Joint) -> &'static str {
        match joint {
            Joint::Revolute => self.unit,
            Joint::Prismatic => self.slide_unit,
        }
    }

    /// The same in ASCII: `N m s` or `N s/m`.
    pub const fn ascii_unit_at(&self, joint: Joint) -> &'static str {
        match joint {
            Joint::Revolute => self.ascii_unit,
            Joint::Prismatic => self.slide_ascii,
        }
    }
}

/// Fields of [`Friction`].
pub const FIELDS: usize = 8;

macro_rules! friction {
    ($($field:ident $id:literal $symbol:literal $unit:ident $ascii:literal $slide:literal;)+) => {
        /// The parameters of one joint, in the order of [`Friction`]'s fields.
        pub const FRICTION: [Parameter; FIELDS] = [$(Parameter {
            id: $id,
            symbol: $symbol,
            unit: TURNS.$unit,
            ascii_unit: $ascii,
            slide_unit: SLIDES.$unit,
            slide_ascii: $slide,
        }),+];

        /// The same with the joint's number behind identifier and symbol.
        pub const OF_JOINT: [[Parameter; FIELDS]; crate::JOINTS] = [
            [$(Parameter {
                id: concat!($id, "0"),
                symbol: concat!($symbol, "0"),
                unit: TURNS.$unit,
                ascii_unit: $ascii,
                slide_unit: SLIDES.$unit,
                slide_ascii: $slide,
            }),+],
            [$(Parameter {
                id: concat!($id, "1"),
                symbol: concat!($symbol, "1"),
                unit: TURNS.$unit,
                ascii_unit: $ascii,
                slide_unit: SLIDES.$unit,
                slide_ascii: $slide,
            }),+],
        ];

        impl<S: Copy> Friction<S> {
            /// The fields in their order.
            pub fn values(&self) -> [S; FIELDS] {
                let Friction { $($field),+ } = *self;
                [$($field),+]
            }

            /// The inverse of [`Friction::values`].
            pub fn from_values([$($field),+]: [S; FIELDS]) -> Self {
                Friction { $($field),+ }
            }

            /// The parameter with this identifier (of [`FRICTION`]) or field name.
            pub fn named(&mut self, name: &str) -> Option<&mut S> {
                match name {
                    $(name if name == $id || name == stringify!($field) => Some(&mut self.$field),)+
                    _ => None,
                }
            }
        }
    };
}

const TURNS: &Units = Joint::Revolute.units();
const SLIDES: &Units = Joint::Prismatic.units();

friction! {
    mu_d "mu_d" "μd" coulomb "m" "1";
    mu_s "mu_s" "μs" coulomb "m" "1";
    mu_v "mu_v" "μv" viscous "N m s" "N s/m";
    vt "vt" "vt" velocity "rad/s" "m/s";
    fnt "fnt" "Fnt" normal "N" "N";
    drag "d" "d" drag "N m s^2" "N s^2/m^2";
    delta_d "delta_d" "Δd" coulomb "m" "1";
    delta_v "delta_v" "Δv" viscous "N m s" "N s/m";
}

pub const MU_D: Parameter = FRICTION[0];
pub const MU_S: Parameter = FRICTION[1];
pub const MU_V: Parameter = FRICTION[2];
pub const VT: Parameter = FRICTION[3];
pub const FNT: Parameter = FRICTION[4];
pub const DRAG: Parameter = FRICTION[5];
pub const DELTA_D: Parameter = FRICTION[6];
pub const DELTA_V: Parameter = FRICTION[7];

/// What the UAS knows of one joint.
pub const UAS_OF_JOINT: [Parameter; 5] = [MU_D, MU_S, MU_V, VT, FNT];
/// What the EKF knows of one joint.
pub const EKF_OF_JOINT: [Parameter; 3] = [MU_D, MU_V, DRAG];

/// The ten parameters of the UAS.
pub const UAS: [Parameter; 10] = {
    let [a, b] = OF_JOINT;
    [a[0], a[1], a[2], a[3], a[4], b[0], b[1], b[2], b[3], b[4]]
};

/// The six parameters of the EKF.
pub const EKF: [Parameter; 6] = {
    let [a, b] = OF_JOINT;
    [a[0], a[2], a[5], b[0], b[2], b[5]]
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn identifiers_are_ascii_unique_and_lead_to_their_field() {
        let mut friction = Friction::from_values([0.0f64, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        for (n, p) in FRICTION.iter().enumerate() {
            assert!(p.id.is_ascii() && p.ascii_unit.is_ascii());
            assert_eq!(friction.named(p.id).copied(), Some(n as f64), "{}", p.id);
        }
        assert_eq!(friction.named("drag").copied(), Some(5.0));
        assert_eq!(friction.named("mu_x"), None);
        *friction.named("vt").unwrap() = 9.0;
        assert_eq!((friction.vt, friction.values()[3]), (9.0, 9.0));
    }

    #[test]
    fn ascii_units_are_the_table_s_in_ascii() {
        let plain = |u: &str| u.replace('·', " ").replace('²', "^2");
        for p in FRICTION {
            assert_eq!(p.ascii_unit, plain(p.unit), "{}", p.id);
            assert_eq!(
                p.ascii_unit_at(Joint::Prismatic),
                plain(p.unit_at(Joint::Prismatic)),
                "{}",
                p.id
            );
        }
        assert_eq!(EKF[1].unit_at(Joint::Prismatic), "N·s/m");
    }

    #[test]
    fn observers_are_in_the_order_of_the_wire() {
        let ids = |list: &[Parameter]| list.iter().map(|p| p.id).collect::<Vec<_>>();
        assert_eq!(ids(&EKF), ["mu_d0", "mu_v0", "d0", "mu_d1", "mu_v1", "d1"]);
        assert_eq!(
            ids(&UAS),
            [
                "mu_d0", "mu_s0", "mu_v0", "vt0", "fnt0", "mu_d1", "mu_s1", "mu_v1", "vt1", "fnt1"
            ]
        );
        assert_eq!(UAS[9].symbol, "Fnt1");
        assert_eq!((EKF[2].unit, EKF[2].ascii_unit), ("N·m·s²", "N m s^2"));
    }
}
