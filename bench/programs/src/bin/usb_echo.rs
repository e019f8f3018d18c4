//! A USB serial port that sends back what it gets. Never ends.
#![no_std]
#![no_main]

use embassy_executor::Spawner;
use embassy_stm32::peripherals::USB_OTG_FS;
use embassy_stm32::{bind_interrupts, usb};
use embassy_usb::Builder;
use embassy_usb::class::cdc_acm::{CdcAcmClass, State};
use embassy_usb::driver::EndpointError;
use static_cell::{ConstStaticCell, StaticCell};
use stribeck_programs::clocks;

bind_interrupts!(struct Irqs {
    OTG_FS => usb::InterruptHandler<USB_OTG_FS>;
});

type Driver = usb::Driver<'static, USB_OTG_FS>;

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    static OUT_PACKETS: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);
    static CONFIG: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);
    static BOS: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);
    static CONTROL: ConstStaticCell<[u8; 64]> = ConstStaticCell::new([0; 64]);
    static STATE: StaticCell<State<'static>> = StaticCell::new();
    let p = embassy_stm32::init(clocks());
    let mut driver_config = usb::Config::default();
    driver_config.vbus_detection = true;
    let driver = Driver::new_fs(
        p.USB_OTG_FS,
        Irqs,
        p.PA12,
        p.PA11,
        OUT_PACKETS.take(),
        driver_config,
    );
    let mut config = embassy_usb::Config::new(0xc0de, 0xcafe);
    config.manufacturer = Some("stribeck");
    config.product = Some("echo");
    let mut builder = Builder::new(
        driver,
        config,
        CONFIG.take(),
        BOS.take(),
        &mut [],
        CONTROL.take(),
    );
    let class = CdcAcmClass::new(&mut builder, STATE.init(State::new()), 64);
    let mut device = builder.build();
    spawner.spawn(echo(class).expect("spawned once"));
    device.run().await;
}

#[embassy_executor::task]
async fn echo(mut class: CdcAcmClass<'static, Driver>) {
    loop {
        class.wait_connection().await;
        defmt::info!("connected");
        while repeat(&mut class).await.is_ok() {}
    }
}

async fn repeat(class: &mut CdcAcmClass<'static, Driver>) -> Result<(), EndpointError> {
    let mut packet = [0; 64];
    let n = class.read_packet(&mut packet).await?;
    class.write_packet(&packet[..n]).await?;
    if n == packet.len() {
        class.write_packet(&[]).await?;
    }
    Ok(())
}
