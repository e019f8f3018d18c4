//! The schema text, traced from the types themselves: `src/wire/schema.txt` cannot be out of date.
//!
//! A deserializer without data walks every field of a type and notes its path and type; enums are walked once per
//! variant. serde's names, no second description.

use std::collections::HashMap;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor};
use stribeck_core::device::config::Config;
use stribeck_core::wire::{
    Block, Body, Command, Event, Hello, Pattern, Reply, SCHEMA, SCHEMA_HASH, Status, fnv1a,
};

use crate::same_as_file;

type Error = de::value::Error;

#[derive(Default)]
struct Walk {
    lines: Vec<String>,
    /// Which variant of the enum at a path comes next.
    turns: HashMap<String, usize>,
}

impl Walk {
    fn line(&mut self, path: &str, what: &str) {
        let line = format!("{path}: {what}");
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }
}

struct At<'w> {
    walk: &'w mut Walk,
    path: String,
}

macro_rules! leaves {
    ($($method:ident $visit:ident $name:literal $value:expr;)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.walk.line(&self.path, $name);
            visitor.$visit($value)
        })+
    };
}

impl<'de> de::Deserializer<'de> for At<'_> {
    type Error = Error;

    leaves! {
        deserialize_bool visit_bool "bool" false;
        deserialize_u8 visit_u8 "u8" 0;
        deserialize_u16 visit_u16 "u16" 0;
        deserialize_u32 visit_u32 "u32" 0;
        deserialize_u64 visit_u64 "u64" 0;
        deserialize_i32 visit_i32 "i32" 0;
        deserialize_f32 visit_f32 "f32" 0.0;
        deserialize_str visit_str "str" "";
        deserialize_bytes visit_bytes "bytes" &[];
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        panic!("{}: a type this test does not know", self.path)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.walk.line(&self.path, "option");
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        self.walk.line(&self.path, &format!("{len} of"));
        let path = format!("{}[]", self.path);
        visitor.visit_seq(Fields {
            walk: self.walk,
            paths: vec![path; len].into_iter(),
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let paths: Vec<_> = fields
            .iter()
            .map(|field| format!("{}.{field}", self.path))
            .collect();
        visitor.visit_seq(Fields {
            walk: self.walk,
            paths: paths.into_iter(),
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.walk
            .line(&self.path, &format!("one of {}", variants.join(" ")));
        let turn = self.walk.turns.entry(self.path.clone()).or_default();
        let variant = variants[*turn % variants.len()];
        *turn += 1;
        let path = format!("{}.{variant}", self.path);
        visitor.visit_enum(Variant {
            at: At {
                walk: self.walk,
                path,
            },
            variant,
        })
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i64 i128 u128 f64 char string byte_buf unit unit_struct seq tuple_struct map identifier ignored_any
    }
}

struct Fields<'w> {
    walk: &'w mut Walk,
    paths: std::vec::IntoIter<String>,
}

impl<'de> de::SeqAccess<'de> for Fields<'_> {
    type Error = Error;
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some(path) = self.paths.next() else {
            return Ok(None);
        };
        let walk = &mut *self.walk;
        seed.deserialize(At { walk, path }).map(Some)
    }
}

struct Variant<'w> {
    at: At<'w>,
    variant: &'static str,
}

impl<'de, 'w> de::EnumAccess<'de> for Variant<'w> {
    type Error = Error;
    type Variant = At<'w>;
    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, At<'w>), Error> {
        let name: StrDeserializer<'static, Error> = self.variant.into_deserializer();
        Ok((seed.deserialize(name)?, self.at))
    }
}

impl<'de> de::VariantAccess<'de> for At<'_> {
    type Error = Error;
    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }
    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        de::Deserializer::deserialize_tuple(self, len, visitor)
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        de::Deserializer::deserialize_struct(self, "", fields, visitor)
    }
}

/// Every field of `T`, after enough walks that each variant of each enum has had its turn.
fn trace<T: DeserializeOwned>(name: &str) -> String {
    let mut walk = Walk::default();
    for _ in 0..100 {
        let path = name.to_owned();
        T::deserialize(At {
            walk: &mut walk,
            path,
        })
        .unwrap();
    }
    walk.lines.join("\n") + "\n"
}

fn frame<T: DeserializeOwned + Body>(name: &str) -> String {
    format!(
        "\n# kind {} rev {}\n{}",
        T::KIND as u8,
        T::REV,
        trace::<T>(name)
    )
}

#[test]
fn schema_text_is_that_of_the_types() {
    let text = [
        "# Every field of every frame, in wire order. Written by a test; see wire.rs for the growth rule.\n".to_owned(),
        frame::<Hello>("hello"),
        frame::<Block>("block"),
        frame::<Status>("status"),
        frame::<Event>("event"),
        frame::<Reply>("reply"),
        frame::<Pattern>("pattern"),
        frame::<Command>("command"),
        format!("\n# the configuration blob\n{}", trace::<Config>("config")),
    ]
    .concat();
    same_as_file("src/wire/schema.txt", &text);
}

#[test]
fn schema_hash_is_that_of_the_text() {
    assert_eq!(SCHEMA_HASH, fnv1a(SCHEMA.as_bytes()));
    // The published test vector of FNV-1a.
    assert_eq!(fnv1a(b"foobar"), 0xBF9C_F968);
}
