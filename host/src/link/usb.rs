//! Finding the board among the serial ports of this machine.

use serialport::{SerialPortInfo, SerialPortType};

use crate::error::{Error, Result};

/// USB identity of the firmware.
pub const VENDOR: u16 = 0xC0DE;
pub const PRODUCT: u16 = 0xCAFE;
pub const PRODUCT_NAME: &str = "stribeck pendulum observer";

/// How well a port matches the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// Another device, or not USB at all.
    Other,
    /// VID:PID of the board with another product name (0xC0DE:0xCAFE is also used by examples of other projects).
    Number,
    /// The board.
    Name,
}

/// A serial port of this machine.
#[derive(Clone, Debug)]
pub struct Port {
    pub path: String,
    pub vendor: Option<u16>,
    pub product: Option<u16>,
    pub product_name: Option<String>,
    pub matches: Match,
}

impl Port {
    fn from_info(info: SerialPortInfo) -> Self {
        match info.port_type {
            SerialPortType::UsbPort(usb) => {
                let named = usb.product.as_deref() == Some(PRODUCT_NAME);
                let numbered = (usb.vid, usb.pid) == (VENDOR, PRODUCT);
                Port {
                    path: info.port_name,
                    vendor: Some(usb.vid),
                    product: Some(usb.pid),
                    matches: match (named, numbered) {
                        (true, _) => Match::Name,
                        (false, true) => Match::Number,
                        (false, false) => Match::Other,
                    },
                    product_name: usb.product,
                }
            }
            _ => Port {
                path: info.port_name,
                vendor: None,
                product: None,
                product_name: None,
                matches: Match::Other,
            },
        }
    }
}

/// All serial ports, the best match first.
pub fn ports() -> Result<Vec<Port>> {
    let found = serialport::available_ports().map_err(|e| {
        Error::source(
            format!("the serial ports of this machine cannot be listed: {e}"),
            "name the port with --from /dev/…",
        )
    })?;
    let mut ports: Vec<Port> = found.into_iter().map(Port::from_info).collect();
    ports.sort_by(|a, b| b.matches.cmp(&a.matches).then_with(|| a.path.cmp(&b.path)));
    Ok(ports)
}

/// The path of the one board that is connected.
pub fn find() -> Result<String> {
    choose(ports()?)
}

fn choose(ports: Vec<Port>) -> Result<String> {
    let best = ports.first().map_or(Match::Other, |p| p.matches);
    if best == Match::Other {
        return Err(Error::source(
            format!(
                "no board found: {} serial port(s), none is a \"{PRODUCT_NAME}\"",
                ports.len()
            ),
            "connect the board's user USB connector and run `stribeck doctor`; without a board use --from sim",
        ));
    }
    let mut boards = ports.into_iter().filter(|p| p.matches == best);
    match (boards.next(), boards.next()) {
        (Some(port), None) => Ok(port.path),
        (Some(a), Some(b)) => Err(Error::source(
            format!("more than one board: {} and {}", a.path, b.path),
            format!("choose one with --from {}", a.path),
        )),
        (None, _) => unreachable!("`best` is the match of the first port"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(path: &str, matches: Match) -> Port {
        Port {
            path: path.into(),
            vendor: None,
            product: None,
            product_name: None,
            matches,
        }
    }

    #[test]
    fn the_board_is_preferred_to_a_stranger_with_its_numbers() {
        let ports = vec![port("/dev/b", Match::Name), port("/dev/a", Match::Number)];
        assert_eq!(choose(ports).unwrap(), "/dev/b");
    }

    #[test]
    fn none_and_two_are_refused() {
        assert!(
            choose(vec![port("/dev/ttyS0", Match::Other)])
                .unwrap_err()
                .to_string()
                .contains("no board")
        );
        let two = vec![port("/dev/a", Match::Name), port("/dev/b", Match::Name)];
        assert!(
            choose(two)
                .unwrap_err()
                .to_string()
                .contains("more than one")
        );
    }
}
