//! Enums whose variants are numbered 0, 1, 2 … in order: one list gives the type and the way back from its number.
//!
//! The number is what postcard sends, what a state word holds and what an atomic of the firmware carries, so a second list
//! would be a second truth.

/// Define an enum with `ALL` (its variants in order) and `from_number`.
macro_rules! numbered {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$meta])*
        pub enum $name { $($(#[$variant_meta])* $variant),+ }

        impl $name {
            /// Every variant, at the index of its number.
            pub const ALL: &'static [Self] = &[$($name::$variant),+];

            /// The variant with this number (`variant as u32`).
            pub fn from_number(number: u32) -> Option<Self> {
                Self::ALL.get(number as usize).copied()
            }
        }
    };
}
pub(crate) use numbered;
