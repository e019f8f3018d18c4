//! A bounded byte string: on the wire a varint length and the bytes, copied whole, not element by element.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// At most `N` bytes.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bytes<const N: usize>(heapless::Vec<u8, N>);

impl<const N: usize> Bytes<N> {
    pub const fn new() -> Self {
        Bytes(heapless::Vec::new())
    }

    /// `None` if `bytes` is longer than `N`.
    pub fn copy_from(bytes: &[u8]) -> Option<Self> {
        heapless::Vec::from_slice(bytes).ok().map(Bytes)
    }

    #[inline(always)]
    pub fn room(&self) -> usize {
        N - self.0.len()
    }

    #[inline(always)]
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Append one byte; without room nothing happens (callers ask [`Bytes::room`] first).
    #[inline(always)]
    pub fn push(&mut self, byte: u8) {
        let _ = self.0.push(byte);
    }

    /// Append a 32-bit word, low byte first; without room nothing happens.
    #[inline(always)]
    pub fn push_word(&mut self, word: u32) {
        let _ = self.0.extend_from_slice(&word.to_le_bytes());
    }

    /// Append `n` words that `fill` sets one by one, low byte first; without room for all of them nothing happens.
    #[inline(always)]
    pub fn extend_words(
        &mut self,
        n: usize,
        fill: impl FnOnce(&mut core::slice::IterMut<'_, [u8; 4]>),
    ) {
        let from = self.0.len();
        if self.0.resize_default(from + 4 * n).is_err() {
            return;
        }
        if let Some(room) = self.0.get_mut(from..) {
            let (words, _) = room.as_chunks_mut::<4>();
            fill(&mut words.iter_mut());
        }
    }

    /// Append a varint of the zig-zag of `delta`: small differences of either sign take one byte, any at most five.
    #[inline(always)]
    pub fn push_zigzag(&mut self, delta: i32) {
        let mut z = ((delta << 1) ^ (delta >> 31)) as u32;
        while z >= 0x80 {
            self.push(z as u8 | 0x80);
            z >>= 7;
        }
        self.push(z as u8);
    }
}

impl<const N: usize> core::ops::Deref for Bytes<N> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<const N: usize> fmt::Debug for Bytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl<const N: usize> Serialize for Bytes<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Bytes<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<const N: usize>;
        impl<const N: usize> de::Visitor<'_> for Visitor<N> {
            type Value = Bytes<N>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {N} bytes")
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Bytes<N>, E> {
                Bytes::copy_from(bytes).ok_or_else(|| E::invalid_length(bytes.len(), &self))
            }
        }
        deserializer.deserialize_bytes(Visitor)
    }
}

/// Read one varint zig-zag from the front of `bytes`.
pub fn take_zigzag(bytes: &mut &[u8]) -> Option<i32> {
    let mut z = 0u32;
    for shift in [0, 7, 14, 21, 28] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        z |= ((byte & 0x7F) as u32) << shift;
        if byte < 0x80 {
            return Some((z >> 1) as i32 ^ -((z & 1) as i32));
        }
    }
    None
}

/// Read one little-endian word from the front of `bytes`.
pub fn take_word(bytes: &mut &[u8]) -> Option<u32> {
    let (word, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zigzag_round_trip() {
        for d in [
            0,
            1,
            -1,
            63,
            -64,
            64,
            -65,
            8191,
            -8192,
            8192,
            i32::MAX,
            i32::MIN,
        ] {
            let mut b = Bytes::<5>::new();
            b.push_zigzag(d);
            let mut rest = &b[..];
            assert_eq!(take_zigzag(&mut rest), Some(d));
            assert!(rest.is_empty());
        }
        let mut b = Bytes::<5>::new();
        b.push_zigzag(-64);
        assert_eq!(b.len(), 1);
    }

    #[test]
    fn unfinished_or_endless_varints_are_refused() {
        assert_eq!(take_zigzag(&mut &[0x80u8][..]), None);
        assert_eq!(take_zigzag(&mut &[0x80u8; 9][..]), None);
        assert_eq!(take_word(&mut &[1u8, 2, 3][..]), None);
    }
}
