//! A body to the bytes of its frame.

use super::{Body, cobs, crc32};

/// The buffer cannot hold the frame; [`super::MAX_FRAME`] bytes always can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl core::fmt::Display for Full {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("buffer too small for the frame")
    }
}

impl core::error::Error for Full {}

/// Write `kind · rev · body · crc`, stuffed and delimited, to the front of `out`; returns the length.
///
/// The plain bytes are first laid down behind the space COBS may need, then stuffed forward in place.
pub fn encode<B: Body>(body: &B, out: &mut [u8]) -> Result<usize, Full> {
    let start = cobs::overhead(out.len());
    let plain = out.get_mut(start..).ok_or(Full)?;
    let (head, rest) = plain.split_first_chunk_mut::<2>().ok_or(Full)?;
    *head = [B::KIND as u8, B::REV];
    let body_len = postcard::to_slice(body, rest).map_err(|_| Full)?.len();
    let len = 2 + body_len;
    let crc = crc32(&plain[..len]).to_le_bytes();
    plain
        .get_mut(len..len + 4)
        .ok_or(Full)?
        .copy_from_slice(&crc);
    let stuffed = cobs::stuff(out, start, len + 4).ok_or(Full)?;
    *out.get_mut(stuffed).ok_or(Full)? = 0;
    Ok(stuffed + 1)
}
