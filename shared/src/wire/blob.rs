//! An encoded configuration: bytes to the wire, flash and log. What they mean is the device's business
//! (`device::config` seals and opens them), so that the configuration can grow without touching any frame.

use serde::{Deserialize, Serialize};

use super::Bytes;

/// Room for an encoded configuration.
pub const BLOB_BYTES: usize = 768;

/// An encoded configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob(Bytes<BLOB_BYTES>);

impl Blob {
    /// `None`: longer than any configuration.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Bytes::copy_from(bytes).map(Blob)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
