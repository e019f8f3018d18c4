//! EXTI lines 0–15 and the SYSCFG multiplexer that connects pins to them (RM0433 §20, §13).
//!
//! Not modelled: lines above 15, the D3 domain.

use super::gpio::{Gpio, Pin};

/// CCCSR: the I/O compensation cell has settled.
const READY: u32 = 1 << 8;

#[derive(Default)]
pub struct Exti {
    rtsr: u32,
    ftsr: u32,
    imr: u32,
    emr: u32,
    pending: u32,
    /// Pin levels at the last look, by line.
    seen: u32,
    /// SYSCFG_EXTICR1–4.
    routes: [u32; 4],
    pmcr: u32,
    plain: [u32; 3],
}

impl Exti {
    /// Looks at the pins and latches edges; true when an event (EMR) was generated.
    pub fn sample(&mut self, gpio: &Gpio) -> bool {
        if self.imr | self.emr == 0 {
            return false;
        }
        let mut now = 0;
        for line in 0..16 {
            let port = self.routes[line / 4] >> (4 * (line % 4)) & 15;
            let pin = Pin {
                port: (port as usize).min(super::gpio::PORTS - 1),
                number: line as u32,
            };
            now |= u32::from(gpio.level(pin)) << line;
        }
        let edges = (now & !self.seen & self.rtsr) | (!now & self.seen & self.ftsr);
        self.seen = now;
        self.pending |= edges & self.imr;
        edges & self.emr != 0
    }

    /// Interrupt lines that are high: (IRQ number, level).
    pub fn irqs(&self) -> [(u32, bool); 7] {
        let p = self.pending & self.imr;
        let line = |n: u32| (6 + n, p >> n & 1 != 0);
        [
            line(0),
            line(1),
            line(2),
            line(3),
            line(4),
            (23, p & 0x03e0 != 0),
            (40, p & 0xfc00 != 0),
        ]
    }

    pub fn read(&self, off: u32) -> Option<u32> {
        Some(match off {
            0x00 => self.rtsr,
            0x04 => self.ftsr,
            0x08 => 0,
            0x80 => self.imr,
            0x84 => self.emr,
            0x88 => self.pending,
            0x90..=0xa8 => 0,
            _ => return None,
        })
    }

    pub fn write(&mut self, off: u32, v: u32) -> Option<()> {
        match off {
            0x00 => self.rtsr = v,
            0x04 => self.ftsr = v,
            0x08 => self.pending |= v & 0xffff & self.imr,
            0x80 => self.imr = v,
            0x84 => self.emr = v,
            0x88 => self.pending &= !v,
            0x90..=0xa8 => {}
            _ => return None,
        }
        Some(())
    }

    /// SYSCFG_CFGR.CM7L: a locked-up core breaks the advanced timers' outputs.
    pub fn lockup_breaks(&self) -> bool {
        self.plain[0] & 1 << 6 != 0
    }

    /// `csi`: the oscillator that the compensation cell needs runs.
    pub fn syscfg_read(&self, off: u32, csi: bool) -> Option<u32> {
        Some(match off {
            0x04 => self.pmcr,
            0x08..=0x14 => self.routes[(off as usize - 8) / 4],
            0x18 | 0x1c => self.plain[(off as usize - 0x18) / 4],
            // CCCSR: READY follows EN.
            0x20 => {
                self.plain[2] & !READY
                    | if self.plain[2] & 1 != 0 && csi {
                        READY
                    } else {
                        0
                    }
            }
            _ => return None,
        })
    }

    pub fn syscfg_write(&mut self, off: u32, v: u32) -> Option<()> {
        match off {
            0x04 => self.pmcr = v,
            0x08..=0x14 => self.routes[(off as usize - 8) / 4] = v,
            0x18 | 0x1c | 0x20 => self.plain[(off as usize - 0x18) / 4] = v,
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rising_edge_of_the_button_raises_line_13() {
        let (mut exti, mut gpio) = (Exti::default(), Gpio::default());
        let button: Pin = "PC13".parse().unwrap();
        gpio.write(2, 0x00, 0);
        exti.syscfg_write(0x14, 2 << 4); // line 13 ← port C
        exti.write(0x00, 1 << 13);
        exti.write(0x80, 1 << 13);
        exti.sample(&gpio);
        gpio.drive(button, Some(true));
        exti.sample(&gpio);
        assert_eq!(exti.irqs()[6], (40, true));
        exti.write(0x88, 1 << 13);
        assert_eq!(exti.irqs()[6], (40, false));
        gpio.drive(button, Some(false));
        exti.sample(&gpio);
        assert_eq!(exti.irqs()[6], (40, false), "falling edge is not selected");
    }

    #[test]
    fn the_compensation_cell_becomes_ready_when_its_oscillator_runs() {
        let mut exti = Exti::default();
        assert_eq!(exti.syscfg_read(0x20, true), Some(0));
        exti.syscfg_write(0x20, 1);
        assert_eq!(exti.syscfg_read(0x20, false), Some(1));
        assert_eq!(exti.syscfg_read(0x20, true), Some(1 | READY));
    }
}
