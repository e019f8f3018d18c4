//! PWM outputs, read off the registers: what somebody with an oscilloscope would see.

use super::{CEN, Tim};
use crate::time::SECOND;

/// One running PWM output.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Pwm {
    pub timer: &'static str,
    /// 1 to 4.
    pub channel: usize,
    pub frequency_hz: f64,
    /// Part of the period the pin is high.
    pub duty: f64,
}

impl Tim {
    /// The channels (0 to 3) that run in PWM mode 1 or 2, edge-aligned.
    pub fn pwm(&self, channel: usize) -> Option<Pwm> {
        const MAIN_OUTPUT: u32 = 1 << 15;
        let mode = self.ccmr[channel / 2] >> (8 * (channel % 2)) >> 4 & 7;
        let output = self.ccer >> (4 * channel) & 3;
        let on = self.cr1 & CEN != 0
            && output & 1 != 0
            && (!self.kind.apb2 || self.bdtr & MAIN_OUTPUT != 0);
        if !on || !matches!(mode, 6 | 7) {
            return None;
        }
        let active = (f64::from(self.ccr[channel]) / self.period() as f64).min(1.0);
        let inverted = (mode == 7) != (output & 2 != 0);
        Some(Pwm {
            timer: self.kind.name,
            channel: channel + 1,
            frequency_hz: SECOND as f64 / (self.tick() as f64 * self.period() as f64),
            duty: if inverted { 1.0 - active } else { active },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::periph::tim::TIMERS;
    use crate::time::cycle;

    #[test]
    fn frequency_and_duty_follow_the_registers() {
        let kind = TIMERS.into_iter().find(|k| k.name == "TIM1").unwrap();
        let mut t = Tim::new(kind, cycle(200_000_000));
        t.write(0x2c, 9_999, 0);
        t.write(0x34, 2_500, 0);
        t.write(0x18, 6 << 4, 0);
        t.write(0x20, 1, 0);
        t.write(0x00, CEN, 0);
        assert_eq!(t.pwm(0), None, "main output off");
        t.write(0x44, 1 << 15, 0);
        let pwm = t.pwm(0).unwrap();
        assert_eq!((pwm.frequency_hz, pwm.duty), (20_000.0, 0.25));
        t.write(0x20, 3, 0);
        assert_eq!(t.pwm(0).unwrap().duty, 0.75, "active low");
        assert_eq!(t.pwm(1), None);
    }
}
