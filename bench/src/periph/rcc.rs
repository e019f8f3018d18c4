//! RCC: clock tree, peripheral clock gates and reset causes (RM0433 §8).
//!
//! Frequencies are computed from what the firmware writes (oscillators, PLL1/PLL3, prescalers), never assumed.
//! The external oscillator (on a Nucleo: the ST-LINK's clock output) may be missing: HSERDY then never comes, and a PLL that is fed
//! from it does not lock. When it is there HSERDY comes [`HSE_START`] after HSEON; the other ready bits follow at once.
//! Not modelled: start-up of the other oscillators, clock security, low-power modes.

use crate::time::{MS, Time};

/// What restarted the chip; decides the flags of RCC_RSR and whether RAM survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetCause {
    PowerOn,
    BrownOut,
    Pin,
    Software,
    Watchdog,
}

impl ResetCause {
    /// Flags of RCC_RSR (RM0433 table 56).
    fn flags(self) -> u32 {
        const CPU: u32 = 1 << 17;
        const BOR: u32 = 1 << 21;
        const PIN: u32 = 1 << 22;
        match self {
            ResetCause::PowerOn => 0x00fe_0000,
            ResetCause::BrownOut => CPU | BOR | PIN,
            ResetCause::Pin => CPU | PIN,
            ResetCause::Software => CPU | PIN | 1 << 24,
            ResetCause::Watchdog => CPU | PIN | 1 << 26,
        }
    }

    /// True when the supply went away: RAM contents are lost.
    pub fn loses_ram(self) -> bool {
        matches!(self, ResetCause::PowerOn | ResetCause::BrownOut)
    }
}

/// Frequencies [Hz] that follow from the registers; 0 = the clock is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    pub cpu: u64,
    pub hclk: u64,
    /// Kernel clock of the timers on APB1 (TIM2–7, 12–14).
    pub tim_apb1: u64,
    /// Kernel clock of the timers on APB2 (TIM1, 8, 15–17).
    pub tim_apb2: u64,
    /// Kernel clock of both USB cores.
    pub usb: u64,
}

/// Oscillators of the board and what they are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oscillators {
    /// External clock [Hz]; 0 = missing.
    pub hse_hz: u64,
    /// Error of the internal 64 MHz oscillator [ppm].
    pub hsi_ppm: i64,
}

/// From HSEON to HSERDY: start-up of a crystal (DS12110 table 45); a clock from outside is faster.
pub const HSE_START: Time = 2 * MS;

const HSI: u64 = 64_000_000;
const CSI: u64 = 4_000_000;
const HSI48: u64 = 48_000_000;
const WORDS: usize = 0x180 / 4;

const HSEON: u32 = 1 << 16;

const CR: usize = 0x00;
const CFGR: usize = 0x10;
const D1CFGR: usize = 0x18;
const D2CFGR: usize = 0x1c;
const PLLCKSELR: usize = 0x28;
const PLLCFGR: usize = 0x2c;
const PLL1DIVR: usize = 0x30;
const PLL1FRACR: usize = 0x34;
const PLL3DIVR: usize = 0x40;
const PLL3FRACR: usize = 0x44;
const D2CCIP2R: usize = 0x54;
const BDCR: usize = 0x70;
const CSR: usize = 0x74;
const RSR: usize = 0xd0;

pub struct Rcc {
    regs: [u32; WORDS],
    oscillators: Oscillators,
    /// When HSEON was set.
    hse_since: Time,
    pub clocks: Clocks,
}

impl Rcc {
    pub fn new(oscillators: Oscillators, cause: ResetCause) -> Self {
        let mut rcc = Rcc {
            regs: [0; WORDS],
            oscillators,
            hse_since: 0,
            clocks: Clocks {
                cpu: HSI,
                hclk: HSI,
                tim_apb1: HSI,
                tim_apb2: HSI,
                usb: 0,
            },
        };
        rcc.regs[CR / 4] = 0x83;
        rcc.regs[PLLCKSELR / 4] = 0x0202_0200;
        rcc.regs[PLLCFGR / 4] = 0x01ff_0000;
        for divr in [PLL1DIVR, 0x38, PLL3DIVR] {
            rcc.regs[divr / 4] = 0x0101_0280;
        }
        rcc.regs[RSR / 4] = cause.flags();
        rcc.clocks = rcc.compute();
        rcc
    }

    /// A reset other than power-on: registers return to their reset values, earlier cause flags stay.
    pub fn reset(&mut self, cause: ResetCause) {
        let earlier = if cause.loses_ram() {
            0
        } else {
            self.regs[RSR / 4] & 0xfffe_0000
        };
        *self = Rcc::new(self.oscillators, cause);
        self.regs[RSR / 4] |= earlier;
    }

    pub fn read(&self, off: u32, now: Time) -> Option<u32> {
        let i = index(off)?;
        let v = self.regs[i];
        Some(match i * 4 {
            CR => {
                let ready = |on: u32, rdy: u32| (v >> on & 1) << rdy;
                let hse = self.hse() != 0 && now >= self.hse_since + HSE_START;
                let locked = if self.pll_source() != 0 {
                    ready(24, 25) | ready(26, 27) | ready(28, 29)
                } else {
                    0
                };
                v | ready(0, 2)
                    | 1 << 5
                    | ready(7, 8)
                    | ready(12, 13)
                    | 3 << 14
                    | u32::from(hse) << 17
                    | locked
            }
            CFGR => v & !(7 << 3) | self.switched() << 3,
            BDCR | CSR => v & !2 | (v & 1) << 1,
            _ => v,
        })
    }

    /// True when the clocks changed.
    pub fn write(&mut self, off: u32, v: u32, now: Time) -> Option<bool> {
        let i = index(off)?;
        match i * 4 {
            CR => {
                if v & !self.regs[i] & HSEON != 0 {
                    self.hse_since = now;
                }
                self.regs[i] = v & 0x150d_109b;
            }
            RSR if v & 1 << 16 != 0 => self.regs[i] = 0,
            RSR => {}
            PLLCKSELR => {
                let locked = self.locked_pll_inputs();
                self.regs[i] = self.regs[i] & locked | v & !locked;
            }
            PLL1DIVR if self.pll_on(1) => {}
            PLL3DIVR if self.pll_on(3) => {}
            _ => self.regs[i] = v,
        }
        let next = self.compute();
        let changed = next != self.clocks;
        self.clocks = next;
        Some(changed)
    }

    /// Whether the bus clock of the peripheral gated by bit `bit` of the register at `enr` runs.
    pub fn enabled(&self, enr: u32, bit: u32) -> bool {
        self.regs[enr as usize / 4] >> bit & 1 != 0
    }

    fn pll_on(&self, n: u32) -> bool {
        self.regs[CR / 4] >> (24 + 2 * (n - 1)) & 1 != 0
    }

    /// Bits of PLLCKSELR that cannot be written now: the divider of a running PLL, and the source while any runs.
    /// (Drivers that clear the divider of an unused PLL with a plain write rely on it.)
    fn locked_pll_inputs(&self) -> u32 {
        (1..=3)
            .filter(|&n| self.pll_on(n))
            .fold(0, |m, n| m | 3 | 0x3f << (4 + 8 * (n - 1)))
    }

    fn pll_source(&self) -> u64 {
        match self.regs[PLLCKSELR / 4] & 3 {
            0 => self.hsi(),
            1 => CSI,
            2 => self.hse(),
            _ => 0,
        }
    }

    fn hsi(&self) -> u64 {
        let real = HSI.saturating_add_signed(HSI as i64 / 1_000_000 * self.oscillators.hsi_ppm);
        real >> (self.regs[CR / 4] >> 3 & 3)
    }

    fn hse(&self) -> u64 {
        if self.regs[CR / 4] & HSEON != 0 {
            self.oscillators.hse_hz
        } else {
            0
        }
    }

    /// The 4 MHz oscillator runs; the I/O compensation cell needs it.
    pub fn csi_on(&self) -> bool {
        self.regs[CR / 4] >> 7 & 1 != 0
    }

    /// USB runs on HSI48, whose trimming the CRS knows.
    pub fn usb_on_hsi48(&self) -> bool {
        self.regs[D2CCIP2R / 4] >> 20 & 3 == 3
    }

    /// Output of a PLL: source / M · (N + fraction) / divider.
    fn pll(&self, n: u32, divider_shift: u32) -> u64 {
        let m = u64::from(self.regs[PLLCKSELR / 4] >> (4 + 8 * (n - 1)) & 0x3f);
        if !self.pll_on(n) || m == 0 {
            return 0;
        }
        let (divr, fracr) = if n == 1 {
            (self.regs[PLL1DIVR / 4], self.regs[PLL1FRACR / 4])
        } else {
            (self.regs[PLL3DIVR / 4], self.regs[PLL3FRACR / 4])
        };
        let fraction_on = self.regs[PLLCFGR / 4] >> (4 * (n - 1)) & 1 != 0;
        let fraction = if fraction_on {
            u64::from(fracr >> 3 & 0x1fff)
        } else {
            0
        };
        let times_8192 = (u64::from(divr & 0x1ff) + 1) * 8192 + fraction;
        let divider = u64::from(divr >> divider_shift & 0x7f) + 1;
        self.pll_source() * times_8192 / (m * 8192 * divider)
    }

    /// The clock in use (SWS): the one asked for (SW), or HSI while that one does not run.
    fn switched(&self) -> u32 {
        let asked = self.regs[CFGR / 4] & 7;
        if self.frequency(asked) == 0 { 0 } else { asked }
    }

    /// System clock number `sw` [Hz].
    fn frequency(&self, sw: u32) -> u64 {
        match sw {
            0 => self.hsi(),
            1 => CSI,
            2 => self.hse(),
            _ => self.pll(1, 9),
        }
    }

    fn compute(&self) -> Clocks {
        let sys = self.frequency(self.switched());
        let ahb_div = |field: u32| match field & 0xf {
            f @ 8..=11 => 2u64 << (f - 8),
            f @ 12..=15 => 64u64 << (f - 12),
            _ => 1,
        };
        let apb_div = |field: u32| {
            if field & 4 != 0 {
                2u64 << (field & 3)
            } else {
                1
            }
        };
        let d1 = self.regs[D1CFGR / 4];
        let d2 = self.regs[D2CFGR / 4];
        let cpu = sys / ahb_div(d1 >> 8);
        let hclk = cpu / ahb_div(d1);
        let fast = self.regs[CFGR / 4] >> 15 & 1 != 0;
        let timer = |field: u32| {
            let div = apb_div(field);
            let full = if fast { 4 } else { 2 };
            if div <= full { hclk } else { hclk / div * full }
        };
        Clocks {
            cpu,
            hclk,
            tim_apb1: timer(d2 >> 4),
            tim_apb2: timer(d2 >> 8),
            usb: match self.regs[D2CCIP2R / 4] >> 20 & 3 {
                1 => self.pll(1, 16),
                2 => self.pll(3, 16),
                3 if self.regs[CR / 4] >> 12 & 1 != 0 => HSI48,
                _ => 0,
            },
        }
    }
}

/// Word index of a register; the C1_ aliases (0x130…) are the same registers on a single-core part.
fn index(off: u32) -> Option<usize> {
    let off = if (0x130..0x180).contains(&off) {
        off - 0x60
    } else {
        off
    };
    (off < 0x130).then_some(off as usize / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUCLEO: Oscillators = Oscillators {
        hse_hz: 8_000_000,
        hsi_ppm: 0,
    };
    const LATER: Time = 10 * MS;

    #[test]
    fn starts_on_the_internal_oscillator() {
        let rcc = Rcc::new(NUCLEO, ResetCause::PowerOn);
        assert_eq!(rcc.clocks.cpu, 64_000_000);
        assert_eq!(rcc.clocks.tim_apb1, 64_000_000);
        assert_eq!(rcc.clocks.usb, 0);
    }

    #[test]
    fn eight_megahertz_to_400_through_pll1() {
        let mut rcc = Rcc::new(NUCLEO, ResetCause::PowerOn);
        rcc.write(CR as u32, 0x83 | 1 << 16 | 1 << 18 | 1 << 12, 0);
        rcc.write(PLLCKSELR as u32, 2 | 2 << 4, 0);
        rcc.write(PLL1DIVR as u32, 199 | 1 << 9 | 3 << 16, 0); // ×200 /2 P /4 Q
        rcc.write(CR as u32, 0x83 | 1 << 16 | 1 << 18 | 1 << 12 | 1 << 24, 0);
        assert_eq!(rcc.read(CR as u32, LATER).unwrap() >> 25 & 1, 1, "PLL1RDY");
        rcc.write(D1CFGR as u32, 8 | 4 << 4, 0); // AHB /2
        rcc.write(D2CFGR as u32, 4 << 4 | 4 << 8, 0); // APB1, APB2 /2
        assert_eq!(rcc.write(CFGR as u32, 3, 0), Some(true));
        rcc.write(D2CCIP2R as u32, 3 << 20, 0);
        rcc.write(PLLCKSELR as u32, 0, 0);
        rcc.write(PLL1DIVR as u32, 0, 0);
        let c = rcc.clocks;
        assert_eq!(
            (c.cpu, c.hclk, c.tim_apb1, c.usb),
            (400_000_000, 200_000_000, 200_000_000, 48_000_000)
        );
        rcc.write(D2CFGR as u32, 5 << 4, 0); // APB1 /4: timers at 2·50 MHz
        assert_eq!(rcc.clocks.tim_apb1, 100_000_000);
    }

    #[test]
    fn reset_flags_accumulate_until_cleared() {
        let mut rcc = Rcc::new(NUCLEO, ResetCause::PowerOn);
        rcc.write(RSR as u32, 1 << 16, 0);
        assert_eq!(rcc.read(RSR as u32, LATER), Some(0));
        rcc.reset(ResetCause::Watchdog);
        assert_eq!(
            rcc.read(RSR as u32, LATER),
            Some(1 << 26 | 1 << 22 | 1 << 17)
        );
        rcc.reset(ResetCause::Software);
        assert_eq!(
            rcc.read(0x130, LATER).unwrap() >> 24 & 5,
            5,
            "software and watchdog flags, by the alias"
        );
    }

    #[test]
    fn a_missing_external_clock_never_becomes_ready() {
        let absent = Oscillators {
            hse_hz: 0,
            ..NUCLEO
        };
        let mut rcc = Rcc::new(absent, ResetCause::PowerOn);
        rcc.write(PLLCKSELR as u32, 2 | 2 << 4, 0);
        rcc.write(CR as u32, 0x83 | HSEON | 1 << 24, 0);
        let cr = rcc.read(CR as u32, LATER).unwrap();
        assert_eq!((cr >> 17 & 1, cr >> 25 & 1), (0, 0), "HSERDY, PLL1RDY");
        rcc.write(CFGR as u32, 3, 0);
        assert_eq!(
            rcc.read(CFGR as u32, LATER).unwrap() >> 3 & 7,
            0,
            "still on HSI"
        );
        assert_eq!(rcc.clocks.cpu, 64_000_000);
        // The fall-back: 64 MHz / 8 · 100 / 2.
        rcc.write(CR as u32, 0x83, 0);
        rcc.write(PLLCKSELR as u32, 8 << 4, 0);
        rcc.write(PLL1DIVR as u32, 99 | 1 << 9, 0);
        rcc.write(CR as u32, 0x83 | 1 << 24, 0);
        assert_eq!(rcc.read(CR as u32, LATER).unwrap() >> 25 & 1, 1, "PLL1RDY");
        assert_eq!(rcc.clocks.cpu, 400_000_000);
    }

    #[test]
    fn an_external_clock_takes_its_time() {
        let mut rcc = Rcc::new(NUCLEO, ResetCause::PowerOn);
        rcc.write(CR as u32, 0x83 | HSEON, MS);
        assert_eq!(rcc.read(CR as u32, 2 * MS).unwrap() >> 17 & 1, 0);
        assert_eq!(rcc.read(CR as u32, MS + HSE_START).unwrap() >> 17 & 1, 1);
    }
}
