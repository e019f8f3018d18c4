//! A bounded byte string: on the wire a varint length and the bytes, copied whole, not element by element.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// At most `N` bytes.
///
/// An array that always holds bytes, not memory that must be cleared before words are written into it: the tick writes snapshots here.
#[derive(Clone)]
pub struct Bytes<const N: usize> {
    /// In use; never more than `N`.
    len: u32,
    bytes: [u8; N],
}

impl<const N: usize> Bytes<N> {
    pub const fn new() -> Self {
        Bytes {
            len: 0,
            bytes: [0; N],
        }
    }

    /// `None` if `bytes` is longer than `N`.
    pub fn copy_from(bytes: &[u8]) -> Option<Self> {
        let mut own = Self::new();
        own.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        own.len = bytes.len() as u32;
        Some(own)
    }

    #[inline(always)]
    pub fn room(&self) -> usize {
        N.saturating_sub(self.len as usize)
    }

    #[inline(always)]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Append one byte; without room nothing happens (callers ask [`Bytes::room`] first).
    #[inline(always)]
    pub fn push(&mut self, byte: u8) {
        if let Some(next) = self.bytes.get_mut(self.len as usize) {
            *next = byte;
            self.len += 1;
        }
    }

    /// Append a 32-bit word, low byte first; without room nothing happens.
    #[inline(always)]
    pub fn push_word(&mut self, word: u32) {
        self.push_words([word]);
    }

    /// Append `K` words, low byte first; without room for all of them nothing happens.
    #[inline(always)]
    pub fn push_words<const K: usize>(&mut self, words: [u32; K]) {
        self.extend_words(K, |room| {
            for (to, word) in room.iter_mut().zip(words) {
                *to = word.to_le_bytes();
            }
        });
    }

    /// Append `n` words that `fill` sets, low byte first; without room for all of them nothing happens.
    #[inline(always)]
    pub fn extend_words(&mut self, n: usize, fill: impl FnOnce(&mut [[u8; 4]])) {
        let from = self.len as usize;
        let room = self.bytes.get_mut(from..).unwrap_or_default();
        let (words, _) = room.as_chunks_mut::<4>();
        if let Some(words) = words.get_mut(..n) {
            fill(words);
            self.len += 4 * n as u32;
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
    #[inline(always)]
    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.len as usize).unwrap_or(&self.bytes)
    }
}

impl<const N: usize> Default for Bytes<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> PartialEq for Bytes<N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<const N: usize> Eq for Bytes<N> {}

impl<const N: usize> fmt::Debug for Bytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len)
    }
}

impl<const N: usize> Serialize for Bytes<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self)
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
