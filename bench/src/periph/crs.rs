//! CRS: trims the internal 48 MHz oscillator HSI48 to an outside rhythm (RM0433 §9).
//!
//! Inputs: start-of-frame packets with the core that received them. Output: the frequency error of HSI48 [ppm], which decides whether
//! the USB core understands its host (`periph::otg`). Only the source that SYNCSRC selects trims: 2 is the core at PB14/PB15
//! (OTG_HS, USB1), 3 the one at PA11/PA12 (OTG_FS, USB2). A step of TRIM is .14 % of the frequency (DS12110 table 49).
//! Not modelled: LSE and pin as sources, the prescaler, polarity, interrupts.

/// SYNCSRC of the core at PA11/PA12.
const SYNC_USB2: u32 = 3;
/// One step of TRIM [ppm].
const STEP_PPM: i64 = 1_400;
const CENTRE: i64 = 32;

const CEN: u32 = 1 << 5;
const AUTOTRIMEN: u32 = 1 << 6;
const SWSYNC: u32 = 1 << 7;
const SYNCOK: u32 = 1;
const SYNCWARN: u32 = 1 << 1;
const SYNCERR: u32 = 1 << 8;

pub struct Crs {
    cr: u32,
    cfgr: u32,
    isr: u32,
    /// Error of the oscillator with TRIM in the middle [ppm].
    free_ppm: i64,
}

impl Crs {
    pub fn new(free_ppm: i64) -> Self {
        Crs {
            cr: 0x2000,
            cfgr: 0x2022_bb7f,
            isr: 0,
            free_ppm,
        }
    }

    /// A chip reset.
    pub fn reset(&mut self) {
        *self = Crs::new(self.free_ppm);
    }

    fn trim(&self) -> i64 {
        i64::from(self.cr >> 8 & 0x3f)
    }

    /// Error of HSI48 as it is trimmed now [ppm].
    pub fn error_ppm(&self) -> i64 {
        self.free_ppm + STEP_PPM * (self.trim() - CENTRE)
    }

    /// OTG_FS received a start of frame.
    pub fn start_of_frame(&mut self) {
        if self.cr & CEN == 0 || self.cfgr >> 28 & 3 != SYNC_USB2 {
            return;
        }
        let periods = i64::from(self.cfgr & 0xffff) + 1;
        let error = self.error_ppm() * periods / 1_000_000;
        let limit = i64::from(self.cfgr >> 16 & 0xff);
        let (flag, steps) = match error.abs() {
            e if e < limit => (SYNCOK, 0),
            e if e < 3 * limit => (SYNCOK, 1),
            e if e < 128 * limit => (SYNCWARN, 2),
            _ => (SYNCERR, 0),
        };
        let (capture, direction) = (
            error.unsigned_abs().min(0xffff) as u32,
            u32::from(error < 0),
        );
        self.isr = self.isr & 0xffff & !0x8000 | flag | direction << 15 | capture << 16;
        if self.cr & AUTOTRIMEN != 0 {
            let trim = (self.trim() - error.signum() * steps).clamp(0, 63) as u32;
            self.cr = self.cr & !0x3f00 | trim << 8;
        }
    }

    pub fn read(&self, off: u32) -> Option<u32> {
        Some(match off {
            0x00 => self.cr,
            0x04 => self.cfgr,
            0x08 => self.isr,
            0x0c => 0,
            _ => return None,
        })
    }

    pub fn write(&mut self, off: u32, v: u32) -> Option<()> {
        match off {
            0x00 => {
                // TRIM is the hardware's while it trims.
                let kept = if v & AUTOTRIMEN != 0 { 0x3f00 } else { 0 };
                self.cr = self.cr & kept | v & 0x3fff & !kept & !SWSYNC;
            }
            // Write-protected while the counter runs.
            0x04 if self.cr & CEN == 0 => self.cfgr = v,
            0x04 | 0x08 => {}
            0x0c => {
                // ERRC clears the three error flags with their sum.
                let errors = if v & 4 != 0 { 0x700 } else { 0 };
                self.isr &= !(v & 0xf | errors);
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmed_from(source: u32, free_ppm: i64) -> Crs {
        let mut crs = Crs::new(free_ppm);
        crs.write(4, 0x0022_bb7f | source << 28);
        crs.write(0, crs.read(0).unwrap() | CEN | AUTOTRIMEN);
        (0..20).for_each(|_| crs.start_of_frame());
        crs
    }

    #[test]
    fn the_right_source_trims_to_half_a_step() {
        for free in [-10_000, -3_000, 500, 10_000] {
            let crs = trimmed_from(3, free);
            assert!(crs.error_ppm().abs() <= 710, "{free}: {}", crs.error_ppm());
            assert_eq!(crs.read(8).unwrap() & SYNCOK, SYNCOK);
        }
    }

    #[test]
    fn the_other_port_s_frames_never_come() {
        let crs = trimmed_from(2, 10_000);
        assert_eq!((crs.error_ppm(), crs.read(8)), (10_000, Some(0)));
    }

    #[test]
    fn without_automatic_trimming_it_only_measures() {
        let mut crs = Crs::new(-10_000);
        crs.write(4, 0x3022_bb7f);
        crs.write(0, 0x2000 | CEN);
        crs.start_of_frame();
        assert_eq!(crs.error_ppm(), -10_000);
        let isr = crs.read(8).unwrap();
        assert_eq!((isr & 7, isr >> 15 & 1, isr >> 16), (SYNCWARN, 1, 480));
        crs.write(0xc, 2);
        assert_eq!(crs.read(8).unwrap() & 7, 0);
    }

    #[test]
    fn the_source_cannot_be_changed_while_it_counts() {
        let mut crs = trimmed_from(2, 0);
        crs.write(4, 0x3022_bb7f);
        assert_eq!(crs.read(4).unwrap() >> 28, 2);
    }
}
