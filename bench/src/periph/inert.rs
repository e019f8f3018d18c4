//! Registers that are kept and read back but change nothing on this bench, with what they would change on the chip.
//!
//! Nothing is swallowed silently: an access to one of these is listed in the summary, apart from those to registers nobody knows. A program
//! whose behaviour depends on one of them is not judged by this bench in that respect.

/// What the register at `address` would do on the chip, if the bench ignores it.
pub fn effect(address: u32) -> Option<&'static str> {
    let off = address & 0x3ff;
    match address & !0x3ff {
        0x4000_0000..=0x4000_2000 | 0x4001_0000..=0x4001_4800 => timer(off),
        0x5802_0000..=0x5802_2800 => match off {
            0x08 => Some("slew rate of outputs"),
            0x1c => Some("lock of the pin configuration"),
            _ => None,
        },
        0x5800_0000 => (off >= 0x90).then_some("interrupt lines above 15"),
        0x5800_0400 => matches!(off, 0x04 | 0x1c).then_some("pin and supply options"),
        0x5802_4400 => rcc(off),
        0x5802_4800 => (!matches!(off, 0x04 | 0x18)).then_some("supply and wake-up"),
        0x5200_2000 => matches!(off & 0xff, 0x08 | 0x18 | 0x1c | 0x20).then_some("option bytes"),
        0x5c00_1000 => {
            (off >= 0x34).then_some("peripherals that stand still while the core is halted")
        }
        _ => match address {
            0x4008_000c => Some("USB turnaround times"),
            0x4008_0054 => Some("link power management"),
            0x4008_0e00 => Some("USB clock gating"),
            _ => core(address),
        },
    }
}

fn timer(off: u32) -> Option<&'static str> {
    match off {
        0x04 => Some("trigger output and preload control"),
        0x48 | 0x4c => Some("DMA"),
        0x68 => Some("choice of the input"),
        _ => None,
    }
}

fn rcc(off: u32) -> Option<&'static str> {
    match off {
        0x04 | 0x0c => Some("calibration of the internal oscillators"),
        0x20 => Some("divider of APB4"),
        0x38 | 0x3c => Some("PLL2"),
        0x4c..=0x58 if off != 0x54 => Some("kernel clocks of peripherals that are not here"),
        0x60..=0x68 => Some("clock interrupts"),
        0xa0 | 0xa4 => Some("global and autonomous clock control"),
        0xfc..=0x11c | 0x15c..=0x17c => Some("clocks in sleep"),
        _ => None,
    }
}

fn core(address: u32) -> Option<&'static str> {
    Some(match address {
        0xe000_e008 => "auxiliary control",
        0xe000_ed10 => "sleep modes deeper than sleep",
        0xe000_ed88 => "access to the FPU",
        0xe000_ef34..=0xe000_ef3c => "lazy stacking of the FPU's state",
        0xe000_ef90..=0xe000_efa8 => "tightly coupled memory and cache control",
        0xe000_1020..=0xe000_1054 => "watchpoints",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_models_use_is_not_listed() {
        for used in [
            0x4000_0024u32, // TIM2_CNT
            0x5802_0414,    // GPIOB_ODR
            0x5802_4400,    // RCC_CR
            0x5802_4454,    // RCC_D2CCIP2R: USB
            0x5802_44e8,    // RCC_APB1LENR
            0x5802_4818,    // PWR_D3CR
            0x5200_210c,    // FLASH_CR2
            0x5c00_1004,    // DBGMCU_CR
            0x4008_0804,    // OTG_DCTL
            0xe000_ed14,    // CCR
            0xe000_1004,    // CYCCNT
        ] {
            assert_eq!(effect(used), None, "{used:#010x}");
        }
    }

    #[test]
    fn what_they_ignore_is() {
        assert_eq!(effect(0x4001_0048), Some("DMA"));
        assert_eq!(effect(0x4001_0030), None);
        assert_eq!(effect(0x5802_0408), Some("slew rate of outputs"));
        assert_eq!(effect(0x5802_4508), Some("clocks in sleep"));
        assert_eq!(
            effect(0xe000_ef34),
            Some("lazy stacking of the FPU's state")
        );
    }
}
