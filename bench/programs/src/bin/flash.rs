//! Erases a sector of bank 2, programs it and reads it back through embassy's driver.
#![no_std]
#![no_main]

use embassy_executor::Spawner;
use embassy_stm32::flash::Flash;
use stribeck_programs::{clocks, exit};

/// The last sector, as an offset into the flash.
const SECTOR: u32 = 0x1e_0000;

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let p = embassy_stm32::init(clocks());
    let mut flash = Flash::new_blocking(p.FLASH);
    let mut found = [0; 64];
    defmt::unwrap!(flash.blocking_erase(SECTOR, SECTOR + 0x2_0000));
    defmt::unwrap!(flash.blocking_read(SECTOR, &mut found));
    assert!(found.iter().all(|&b| b == 0xff));
    let text: [u8; 64] = core::array::from_fn(|i| i as u8);
    defmt::unwrap!(flash.blocking_write(SECTOR, &text));
    defmt::unwrap!(flash.blocking_read(SECTOR, &mut found));
    assert_eq!(found, text);
    exit(0);
}
