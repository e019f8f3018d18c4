//! Checksum of a column of numbers: CRC-32 of the bits of every value as f64, so that who reads a table back finds a damaged one.

/// Of one column, value by value.
#[derive(Clone, Default)]
pub struct Checksum(crc32fast::Hasher);

impl Checksum {
    pub fn add(&mut self, x: f64) {
        self.0.update(&x.to_bits().to_le_bytes());
    }

    /// As it is kept.
    pub fn text(&self) -> String {
        format!("{:08x}", self.0.clone().finalize())
    }
}

/// The name under which the checksum of a column is kept.
pub fn key(column: &str) -> String {
    format!("crc32.{column}")
}
