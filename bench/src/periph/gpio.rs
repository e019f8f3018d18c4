//! GPIO ports A–K with pin levels (RM0433 §11).
//!
//! A pin's level is what drives it: an output of the chip, else an outside source (button, jumper), else its
//! pull resistor, else low. Not modelled: drive strength, analogue use, lock.

/// A pin: port 0 = A … 10 = K, and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pin {
    pub port: usize,
    pub number: u32,
}

impl std::str::FromStr for Pin {
    type Err = String;

    fn from_str(s: &str) -> Result<Pin, String> {
        let bad = || format!("\"{s}\" is not a pin name like PA15");
        let rest = s.strip_prefix('P').ok_or_else(bad)?;
        let port = rest
            .bytes()
            .next()
            .filter(|b| (b'A'..=b'K').contains(b))
            .ok_or_else(bad)?;
        let number: u32 = rest[1..].parse().map_err(|_| bad())?;
        if number > 15 {
            return Err(bad());
        }
        Ok(Pin {
            port: usize::from(port - b'A'),
            number,
        })
    }
}

impl std::fmt::Display for Pin {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "P{}{}", (b'A' + self.port as u8) as char, self.number)
    }
}

pub const PORTS: usize = 11;

#[derive(Clone, Copy)]
struct Port {
    moder: u32,
    otyper: u32,
    ospeedr: u32,
    pupdr: u32,
    odr: u32,
    lckr: u32,
    afr: [u32; 2],
    /// Levels driven from outside, where `driven` is 1.
    outside: u32,
    driven: u32,
}

pub struct Gpio {
    ports: [Port; PORTS],
}

impl Default for Gpio {
    fn default() -> Self {
        let mut ports = [Port {
            moder: 0xffff_ffff,
            otyper: 0,
            ospeedr: 0,
            pupdr: 0,
            odr: 0,
            lckr: 0,
            afr: [0; 2],
            outside: 0,
            driven: 0,
        }; PORTS];
        ports[0].moder = 0xabff_ffff;
        ports[0].pupdr = 0x6400_0000;
        ports[1].moder = 0xffff_febf;
        ports[1].pupdr = 0x0000_0100;
        Gpio { ports }
    }
}

impl Gpio {
    /// A chip reset: pins are inputs again, outside levels stay.
    pub fn reset(&mut self) {
        let mut fresh = Gpio::default();
        for (new, old) in fresh.ports.iter_mut().zip(&self.ports) {
            new.outside = old.outside;
            new.driven = old.driven;
        }
        *self = fresh;
    }

    /// Drives a pin from outside (`None` = lets go).
    pub fn drive(&mut self, pin: Pin, level: Option<bool>) {
        let p = &mut self.ports[pin.port];
        let bit = 1 << pin.number;
        p.driven &= !bit;
        p.outside &= !bit;
        if let Some(high) = level {
            p.driven |= bit;
            p.outside |= if high { bit } else { 0 };
        }
    }

    fn mode(&self, pin: Pin) -> u32 {
        self.ports[pin.port].moder >> (2 * pin.number) & 3
    }

    /// Alternate function number, when the pin is in that mode.
    pub fn alternate(&self, pin: Pin) -> Option<u32> {
        let afr = self.ports[pin.port].afr[pin.number as usize / 8];
        (self.mode(pin) == 2).then_some(afr >> (4 * (pin.number % 8)) & 15)
    }

    /// Level of a pin as a general-purpose output, if it is one.
    pub fn output(&self, pin: Pin) -> Option<bool> {
        (self.mode(pin) == 1).then_some(self.ports[pin.port].odr >> pin.number & 1 != 0)
    }

    /// Level the pin's input buffer sees.
    pub fn level(&self, pin: Pin) -> bool {
        let p = &self.ports[pin.port];
        let open_drain_high = p.otyper >> pin.number & 1 != 0 && p.odr >> pin.number & 1 != 0;
        if let Some(high) = self.output(pin).filter(|_| !open_drain_high) {
            return high;
        }
        if p.driven >> pin.number & 1 != 0 {
            return p.outside >> pin.number & 1 != 0;
        }
        p.pupdr >> (2 * pin.number) & 3 == 1
    }

    pub fn read(&self, port: usize, off: u32) -> Option<u32> {
        let p = self.ports.get(port)?;
        Some(match off {
            0x00 => p.moder,
            0x04 => p.otyper,
            0x08 => p.ospeedr,
            0x0c => p.pupdr,
            0x10 => (0..16).fold(0, |v, number| {
                v | u32::from(self.level(Pin { port, number })) << number
            }),
            0x14 => p.odr,
            0x18 => 0,
            0x1c => p.lckr,
            0x20 | 0x24 => p.afr[(off as usize - 0x20) / 4],
            _ => return None,
        })
    }

    pub fn write(&mut self, port: usize, off: u32, v: u32) -> Option<()> {
        let p = self.ports.get_mut(port)?;
        match off {
            0x00 => p.moder = v,
            0x04 => p.otyper = v & 0xffff,
            0x08 => p.ospeedr = v,
            0x0c => p.pupdr = v,
            0x10 => {}
            0x14 => p.odr = v & 0xffff,
            0x18 => p.odr = p.odr & !(v >> 16) | v & 0xffff,
            0x1c => p.lckr = v,
            0x20 | 0x24 => p.afr[(off as usize - 0x20) / 4] = v,
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_reset_register_moves_single_pins() {
        let mut g = Gpio::default();
        let led: Pin = "PB14".parse().unwrap();
        g.write(1, 0x00, 0xffff_febf & !(3 << 28) | 1 << 28);
        g.write(1, 0x18, 1 << 14);
        assert_eq!((g.output(led), g.level(led)), (Some(true), true));
        g.write(1, 0x18, 1 << 30);
        assert_eq!(g.output(led), Some(false));
    }

    #[test]
    fn button_reads_through_pull_and_drive() {
        let mut g = Gpio::default();
        let button: Pin = "PC13".parse().unwrap();
        g.write(2, 0x00, 0);
        assert!(!g.level(button));
        g.drive(button, Some(true));
        assert_eq!(g.read(2, 0x10).unwrap() >> 13 & 1, 1);
        g.reset();
        assert!(g.level(button), "outside levels survive a chip reset");
        g.drive(button, None);
        g.write(2, 0x0c, 1 << 26);
        assert!(g.level(button), "pull-up");
    }

    #[test]
    fn pin_names_are_checked() {
        assert_eq!("PA15".parse::<Pin>().unwrap().to_string(), "PA15");
        for bad in ["A15", "PL1", "PA16", "PA", ""] {
            assert!(bad.parse::<Pin>().is_err(), "{bad}");
        }
    }
}
