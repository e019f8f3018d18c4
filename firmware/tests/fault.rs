//! Are the last words of a crashed program found, once, and only if they are whole?
#![no_std]
#![no_main]

use defmt_rtt as _;

#[embedded_test::tests]
mod tests {
    use stribeck_firmware::{fault, reset};

    #[init]
    fn init() {
        let _ = fault::take();
    }

    #[test]
    fn nothing_was_recorded() {
        assert!(fault::take().is_none());
    }

    #[test]
    fn a_text_is_found_once() {
        fault::record(format_args!("tick.rs:{}: {}", 42, "lost"));
        assert_eq!(fault::take().as_deref(), Some("tick.rs:42: lost"));
        assert!(fault::take().is_none());
    }

    #[test]
    fn a_long_text_is_cut() {
        fault::record(format_args!("{:0>200}", 7));
        assert_eq!(fault::take().map(|text| text.len()), Some(fault::TEXT));
    }

    #[test]
    fn a_damaged_text_is_ignored() {
        fault::record(format_args!("something"));
        fault::damage();
        assert!(fault::take().is_none());
    }

    #[test]
    fn boots_are_numbered() {
        let first = reset::boot_number();
        assert_eq!(reset::boot_number(), first.wrapping_add(1));
    }
}
