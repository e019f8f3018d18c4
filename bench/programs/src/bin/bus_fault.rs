//! A load from nowhere, with the bus fault handler enabled: it must find the cause and the address.
#![no_std]
#![no_main]

use cortex_m::peripheral::scb::Exception;
use cortex_m::peripheral::{Peripherals, SCB};
use cortex_m_rt::{entry, exception};
use stribeck_programs::exit;

const NOWHERE: usize = 0x6000_0010;

#[exception]
fn BusFault() {
    // SAFETY: reading the fault status registers has no side effect.
    let scb = unsafe { &*SCB::PTR };
    let (status, address) = (scb.cfsr.read(), scb.bfar.read());
    defmt::info!("cfsr {:x}, bfar {:x}", status, address);
    // PRECISERR and BFARVALID.
    assert_eq!((status, address as usize), (0x8200, NOWHERE));
    exit(0);
}

#[entry]
fn main() -> ! {
    let mut core = Peripherals::take().expect("once");
    core.SCB.enable(Exception::BusFault);
    // SAFETY: there is nothing there, which is the point.
    let _ = unsafe { core::ptr::read_volatile(NOWHERE as *const u32) };
    exit(1);
}
