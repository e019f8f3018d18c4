//! What the friction parameters are called: identifier, symbol and unit, once for wire, command line, JSON, CSV, Parquet
//! and report.
//!
//! Order: [`FRICTION`] as the fields of [`Friction`], [`UAS`] and [`EKF`] as in `wire::block::Params`. The list below must name
//! every field of [`Friction`], or it does not compile.

use super::friction::Friction;

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
}

/// Fields of [`Friction`].
pub const FIELDS: usize = 8;

macro_rules! friction {
    ($($field:ident $id:literal $symbol:literal $unit:literal $ascii:literal;)+) => {
        /// The parameters of one joint, in the order of [`Friction`]'s fields.
        pub const FRICTION: [Parameter; FIELDS] = [$(Parameter {
            id: $id,
            symbol: $symbol,
            unit: $unit,
            ascii_unit: $ascii,
        }),+];

        /// The same with the joint's number behind identifier and symbol.
        pub const OF_JOINT: [[Parameter; FIELDS]; crate::JOINTS] = [
            [$(Parameter {
                id: concat!($id, "0"),
                symbol: concat!($symbol, "0"),
                unit: $unit,
                ascii_unit: $ascii,
            }),+],
            [$(Parameter {
                id: concat!($id, "1"),
                symbol: concat!($symbol, "1"),
                unit: $unit,
                ascii_unit: $ascii,
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

friction! {
    mu_d "mu_d" "μd" "m" "m";
    mu_s "mu_s" "μs" "m" "m";
    mu_v "mu_v" "μv" "N·m·s" "N m s";
    vt "vt" "vt" "rad/s" "rad/s";
    fnt "fnt" "Fnt" "N" "N";
    drag "d" "d" "N·m·s²" "N m s^2";
    delta_d "delta_d" "Δd" "m" "m";
    delta_v "delta_v" "Δv" "N·m·s" "N m s";
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
