//! Just enough Thumb-2: instruction lengths, to count instructions and to place one in time.

/// Length in bytes of the instruction whose first halfword is `h`.
#[inline]
pub fn length(h: u16) -> usize {
    if h >> 11 >= 0b11101 { 4 } else { 2 }
}

/// Instructions in `code` (little-endian bytes, starting on an instruction).
pub fn count(code: &[u8]) -> u32 {
    let (mut at, mut n) = (0, 0);
    while at + 1 < code.len() {
        at += length(u16::from_le_bytes([code[at], code[at + 1]]));
        n += 1;
    }
    n
}

/// Number of instructions an IT instruction makes conditional; 0 for anything else.
pub fn it_length(h: u16) -> u32 {
    if h & 0xff00 != 0xbf00 || h & 0xf == 0 {
        return 0;
    }
    4 - (h & 0xf).trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_lengths() {
        // push {r7, lr}; ldr.w r0, [r1]; bl; nop
        let code: Vec<u8> = [0xb580u16, 0xf8d1, 0x0000, 0xf000, 0xf800, 0xbf00]
            .iter()
            .flat_map(|h| h.to_le_bytes())
            .collect();
        assert_eq!(count(&code), 4);
    }

    #[test]
    fn if_then_lengths() {
        assert_eq!(it_length(0xbf08), 1); // it eq
        assert_eq!(it_length(0xbf0c), 2); // ite eq
        assert_eq!(it_length(0xbf01), 4); // itttt eq
        assert_eq!(it_length(0xbf20), 0); // wfe
    }
}
