//! Consistent overhead byte stuffing: no 0x00 inside a frame, at most one byte in 254 added, so the delimiter 0x00
//! always marks a frame's end and a reader that lost its place is back at the next one.

/// Most bytes COBS adds to `n` plain bytes (without the delimiter).
pub const fn overhead(n: usize) -> usize {
    n / 254 + 1
}

/// Stuff `buf[start..start + len]` into `buf[..]`, in place; returns the stuffed length.
///
/// Needs `start ≥ overhead(len)` (the writer never passes the reader); otherwise None, `buf` spoilt.
pub fn stuff(buf: &mut [u8], start: usize, len: usize) -> Option<usize> {
    if start < overhead(len) || start + len > buf.len() {
        return None;
    }
    let mut code_at = 0;
    let mut write = 1;
    let mut code = 1u8;
    for read in start..start + len {
        let byte = *buf.get(read)?;
        if byte != 0 {
            *buf.get_mut(write)? = byte;
            write += 1;
            code += 1;
        }
        if byte == 0 || code == 0xFF {
            *buf.get_mut(code_at)? = code;
            // A full group at the very end needs no group after it.
            if byte != 0 && read + 1 == start + len {
                return Some(write);
            }
            code_at = write;
            write += 1;
            code = 1;
        }
    }
    *buf.get_mut(code_at)? = code;
    Some(write)
}

/// Unstuff `buf[..len]` (delimiter already removed) in place; returns the plain length, None if malformed.
pub fn unstuff(buf: &mut [u8], len: usize) -> Option<usize> {
    let mut read = 0;
    let mut write = 0;
    while read < len {
        let code = *buf.get(read)? as usize;
        if code == 0 || read + code > len {
            return None;
        }
        buf.copy_within(read + 1..read + code, write);
        read += code;
        write += code - 1;
        if code != 0xFF && read < len {
            *buf.get_mut(write)? = 0;
            write += 1;
        }
    }
    Some(write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn round_trip(plain: &[u8]) -> Vec<u8> {
        let start = overhead(plain.len());
        let mut buf = std::vec![0xAA; start];
        buf.extend_from_slice(plain);
        let n = stuff(&mut buf, start, plain.len()).unwrap();
        assert!(!buf[..n].contains(&0));
        let stuffed = buf[..n].to_vec();
        let m = unstuff(&mut buf, n).unwrap();
        assert_eq!(&buf[..m], plain);
        stuffed
    }

    #[test]
    fn published_examples() {
        assert_eq!(round_trip(&[]), [1]);
        assert_eq!(round_trip(&[0]), [1, 1]);
        assert_eq!(round_trip(&[0, 0]), [1, 1, 1]);
        assert_eq!(round_trip(&[0x11, 0x22, 0, 0x33]), [3, 0x11, 0x22, 2, 0x33]);
        assert_eq!(round_trip(&[0x11, 0, 0, 0]), [2, 0x11, 1, 1, 1]);
        let long: Vec<u8> = (1..=254).collect();
        assert_eq!(round_trip(&long).len(), 255);
        let longer: Vec<u8> = (1..=255).collect();
        assert_eq!(round_trip(&longer).len(), 257);
    }

    #[test]
    fn every_length_with_and_without_zeros() {
        for len in 0..1100 {
            round_trip(&std::vec![7; len]);
            round_trip(&std::vec![0; len]);
            let mixed: Vec<u8> = (0..len).map(|i| (i % 257 % 256) as u8).collect();
            round_trip(&mixed);
        }
    }
}
