//! What is missing from a log file, and where.

use std::fmt;

/// One stretch of a file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The file ends inside a record; `bytes` at its end belong to no whole message.
    CutShort { offset: u64, bytes: u64 },
    /// The bytes from `offset` on are not records; reading went on at `resumed`.
    Garbage { offset: u64, resumed: u64 },
    /// The chunk at `offset` does not have the checksum it claims; its messages are judged one by one.
    Checksum { offset: u64 },
    /// The chunk at `offset` could not be decompressed.
    Compression { offset: u64 },
    /// The closing record is there and not to be trusted: its checksum or layout is wrong.
    Closing,
    /// The recording was not closed: no index, no closing record. Nothing else need be missing.
    NotClosed,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::CutShort { offset, bytes } => {
                write!(
                    f,
                    "the file ends inside a message: the last {bytes} bytes (from byte {offset}) are unusable"
                )
            }
            Damage::Garbage { offset, resumed } => {
                write!(
                    f,
                    "bytes {offset} to {} are damaged, reading resumed at byte {resumed}",
                    resumed - 1
                )
            }
            Damage::Checksum { offset } => {
                write!(
                    f,
                    "the chunk at byte {offset} is damaged (checksum); each frame in it was checked by its own CRC"
                )
            }
            Damage::Compression { offset } => write!(
                f,
                "the chunk at byte {offset} cannot be decompressed (plain and zstd are understood)"
            ),
            Damage::Closing => write!(
                f,
                "the closing record is damaged; the log was read by scanning instead"
            ),
            Damage::NotClosed => write!(
                f,
                "the recording was not closed (killed, power cut or still running): no index, read by scanning"
            ),
        }
    }
}
