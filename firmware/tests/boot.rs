//! The test harness itself: a test runs after reset with the board initialised.
#![no_std]
#![no_main]

use defmt_rtt as _;

#[embedded_test::tests]
mod tests {
    use stribeck_firmware::board;

    #[test]
    fn board_starts() {
        let board = board::init();
        assert_eq!(board.encoders.base.count(), 0);
    }
}
