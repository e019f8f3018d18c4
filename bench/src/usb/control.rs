//! Control transfers on endpoint 0: the requests of an enumeration, their stages, and what the descriptors say.

use crate::periph::otg::{Answer, Otg};

/// One request with its data, on its way through setup, data and status stage.
#[derive(Clone, Debug)]
pub struct Transfer {
    pub request: Request,
    setup: [u8; 8],
    out: Vec<u8>,
    stage: Stage,
    pub data: Vec<u8>,
}

/// What the host asks; decides what it does with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    DeviceStart,
    SetAddress,
    Device,
    ConfigurationStart,
    Configuration,
    Text(u8),
    /// Full-speed-only devices must answer with a stall.
    Qualifier,
    SetConfiguration,
    LineCoding,
    /// DTR and RTS.
    LineState(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Setup,
    DataIn,
    DataOut,
    StatusIn,
    StatusOut,
}

/// Progress of a transfer in one bus slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A packet moved.
    Moved,
    /// The device was not ready.
    Waiting,
    Done,
    Stalled,
}

impl Transfer {
    pub fn new(request: Request) -> Self {
        let (kind, code, value, len): (u8, u8, u16, u16) = match request {
            Request::DeviceStart => (0x80, 6, 0x100, 64),
            Request::SetAddress => (0, 5, 5, 0),
            Request::Device => (0x80, 6, 0x100, 18),
            Request::ConfigurationStart => (0x80, 6, 0x200, 9),
            Request::Configuration => (0x80, 6, 0x200, 255),
            Request::Text(n) => (0x80, 6, 0x300 | u16::from(n), 255),
            Request::Qualifier => (0x80, 6, 0x600, 10),
            Request::SetConfiguration => (0, 9, 1, 0),
            Request::LineCoding => (0x21, 0x20, 0, 7),
            Request::LineState(on) => (0x21, 0x22, if on { 3 } else { 0 }, 0),
        };
        let index: u16 = if matches!(request, Request::Text(1..)) {
            0x409
        } else {
            0
        };
        let (v, i, l) = (value.to_le_bytes(), index.to_le_bytes(), len.to_le_bytes());
        let out = if request == Request::LineCoding {
            vec![0x00, 0xc2, 0x01, 0x00, 0, 0, 8] // 115200 8N1
        } else {
            Vec::new()
        };
        Transfer {
            request,
            setup: [kind, code, v[0], v[1], i[0], i[1], l[0], l[1]],
            out,
            stage: Stage::Setup,
            data: Vec::new(),
        }
    }

    /// The requests of an enumeration after the bus reset.
    pub fn enumeration(dtr: bool) -> Vec<Transfer> {
        use Request::*;
        [
            DeviceStart,
            SetAddress,
            Device,
            ConfigurationStart,
            Configuration,
            Text(0),
            Text(1),
            Text(2),
            Text(3),
            Qualifier,
            SetConfiguration,
            LineCoding,
            LineState(dtr),
        ]
        .map(Transfer::new)
        .to_vec()
    }

    /// Does the next transaction.
    pub fn step(&mut self, otg: &mut Otg) -> Progress {
        let len = usize::from(u16::from_le_bytes([self.setup[6], self.setup[7]]));
        let answer = match self.stage {
            Stage::Setup => {
                otg.bus_setup(&self.setup);
                self.stage = match (len, self.setup[0] & 0x80 != 0) {
                    (0, _) => Stage::StatusIn,
                    (_, true) => Stage::DataIn,
                    _ => Stage::DataOut,
                };
                return Progress::Moved;
            }
            Stage::DataIn | Stage::StatusIn => otg.bus_in(0),
            Stage::DataOut => otg.bus_out(0, &self.out),
            Stage::StatusOut => otg.bus_out(0, &[]),
        };
        let packet = match answer {
            Answer::Nak => return Progress::Waiting,
            Answer::Stall => return Progress::Stalled,
            Answer::Data(packet) => packet,
        };
        match self.stage {
            Stage::DataIn => {
                let short = packet.len() < 64;
                self.data.extend(packet);
                if short || self.data.len() >= len {
                    self.stage = Stage::StatusOut;
                }
                Progress::Moved
            }
            Stage::DataOut => {
                self.stage = Stage::StatusIn;
                Progress::Moved
            }
            _ => Progress::Done,
        }
    }
}

/// What an enumeration learned about the device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    pub vendor: u16,
    pub product: u16,
    pub manufacturer_name: String,
    pub product_name: String,
    pub serial: String,
    /// Bulk endpoint numbers.
    pub bulk_in: usize,
    pub bulk_out: usize,
}

impl Identity {
    /// Takes the answer of a finished request.
    pub fn learn(&mut self, t: &Transfer) {
        match t.request {
            Request::Device if t.data.len() == 18 => {
                self.vendor = u16::from_le_bytes([t.data[8], t.data[9]]);
                self.product = u16::from_le_bytes([t.data[10], t.data[11]]);
            }
            Request::Configuration => self.endpoints(&t.data),
            Request::Text(1) => self.manufacturer_name = text(&t.data),
            Request::Text(2) => self.product_name = text(&t.data),
            Request::Text(3) => self.serial = text(&t.data),
            _ => {}
        }
    }

    fn endpoints(&mut self, mut d: &[u8]) {
        while d.len() >= 2 && usize::from(d[0]) <= d.len() && d[0] >= 2 {
            if d[1] == 5 && d[0] >= 7 && d[3] & 3 == 2 {
                let n = usize::from(d[2] & 15);
                if d[2] & 0x80 != 0 {
                    self.bulk_in = n;
                } else {
                    self.bulk_out = n;
                }
            }
            d = &d[usize::from(d[0])..];
        }
    }
}

fn text(descriptor: &[u8]) -> String {
    let units: Vec<u16> = descriptor
        .get(2..)
        .unwrap_or(&[])
        .chunks_exact(2)
        .map(|c| u16::from_le_bytes([c[0], c[1]]))
        .collect();
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_found_in_the_configuration() {
        let mut id = Identity::default();
        id.endpoints(&[
            9, 2, 0, 0, 2, 1, 0, 0x80, 50, 7, 5, 0x81, 3, 8, 0, 255, 7, 5, 0x82, 2, 64, 0, 0, 7, 5,
            0x01, 2, 64, 0, 0,
        ]);
        assert_eq!((id.bulk_in, id.bulk_out), (2, 1));
    }

    #[test]
    fn a_truncated_descriptor_does_not_loop() {
        let mut id = Identity::default();
        id.endpoints(&[9, 2, 0, 0, 0, 5]);
        id.endpoints(&[0, 0, 0]);
        assert_eq!(id, Identity::default());
    }

    #[test]
    fn names_are_utf16() {
        assert_eq!(text(&[6, 3, b'o', 0, b'k', 0]), "ok");
    }
}
