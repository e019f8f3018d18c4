//! The USB serial port (CDC-ACM): packets in, packets out, and every way a cable can fail.
//!
//! The port is *open* while the host has configured the device, the bus is not suspended and the host
//! program holds DTR. Nothing here waits without limit: a write that the host does not collect ends
//! after [`WRITE_LIMIT`] and can be repeated with the same bytes, because embassy's driver cancels
//! before it touches the FIFO.
//!
//! Known trap: a packet that is armed while the bus resets (unplug, replug) stays armed (EPENA) in this
//! USB core, and the driver (embassy-usb-synopsys-otg 0.3.3) would wait for it for ever.
//! [`Port::forget_armed`] disables it by hand each time the port opens; a packet left from an earlier
//! connection is stale anyway.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use embassy_stm32::peripherals::USB_OTG_FS;
use embassy_stm32::{bind_interrupts, pac, uid, usb};
use embassy_time::{Duration, with_timeout};
use embassy_usb::class::cdc_acm::{CdcAcmClass, Receiver, Sender, State};
use embassy_usb::driver::EndpointError;
use embassy_usb::{Builder, Config, Handler, UsbDevice};
use static_cell::{ConstStaticCell, StaticCell};

use crate::board::UsbPort;

pub const VENDOR: u16 = 0xC0DE;
pub const PRODUCT: u16 = 0xCAFE;
/// Full-speed bulk packet.
pub const PACKET: usize = 64;
/// How long one packet may wait for the host: one block, well inside the queue.
pub const WRITE_LIMIT: Duration = Duration::from_millis(10);
/// IN endpoints of the class: 1 notifications, 2 data.
const IN_ENDPOINTS: core::ops::RangeInclusive<usize> = 1..=2;

pub type Driver = usb::Driver<'static, USB_OTG_FS>;

bind_interrupts!(struct Irqs {
    OTG_FS => usb::InterruptHandler<USB_OTG_FS>;
});

static CONFIGURED: AtomicBool = AtomicBool::new(false);
static SUSPENDED: AtomicBool = AtomicBool::new(false);

/// The host has chosen the configuration.
pub fn is_configured() -> bool {
    CONFIGURED.load(Relaxed)
}

/// Why a packet did not go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// The host did not collect the packet before it: try the same bytes again.
    Waiting,
    /// The port is closed.
    Closed,
}

/// Sending half of the port.
pub struct Port {
    sender: Sender<'static, Driver>,
}

/// Build the device. The first part must be run for ever by its own task.
pub fn build(port: UsbPort) -> (UsbDevice<'static, Driver>, Port, Receiver<'static, Driver>) {
    static OUT_PACKETS: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);
    static CONFIG_DESCRIPTOR: ConstStaticCell<[u8; 128]> = ConstStaticCell::new([0; 128]);
    static BOS_DESCRIPTOR: ConstStaticCell<[u8; 32]> = ConstStaticCell::new([0; 32]);
    static CONTROL: ConstStaticCell<[u8; 64]> = ConstStaticCell::new([0; 64]);
    static STATE: StaticCell<State<'static>> = StaticCell::new();
    static BUS: ConstStaticCell<Bus> = ConstStaticCell::new(Bus);

    let mut driver_config = usb::Config::default();
    // The board has power without this cable, so it must not pull a data line up before the host supplies
    // 5 V: the USB core senses them on PA9 (docs/first-power-on.md).
    driver_config.vbus_detection = true;
    let driver = Driver::new_fs(
        port.peripheral,
        Irqs,
        port.dp,
        port.dm,
        OUT_PACKETS.take(),
        driver_config,
    );
    let mut config = Config::new(VENDOR, PRODUCT);
    config.manufacturer = Some("stribeck");
    config.product = Some("stribeck pendulum observer");
    config.serial_number = Some(uid::uid_hex());
    config.self_powered = true;
    config.max_power = 100;
    let mut builder = Builder::new(
        driver,
        config,
        CONFIG_DESCRIPTOR.take(),
        BOS_DESCRIPTOR.take(),
        &mut [],
        CONTROL.take(),
    );
    builder.handler(BUS.take());
    let class = CdcAcmClass::new(&mut builder, STATE.init(State::new()), PACKET as u16);
    let (sender, receiver) = class.split();
    (builder.build(), Port { sender }, receiver)
}

impl Port {
    /// A host program is listening.
    pub fn is_open(&self) -> bool {
        is_configured() && !SUSPENDED.load(Relaxed) && self.sender.dtr()
    }

    /// Send one packet of at most [`PACKET`] bytes.
    pub async fn send(&mut self, packet: &[u8]) -> Result<(), NotSent> {
        match with_timeout(WRITE_LIMIT, self.sender.write_packet(packet)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(EndpointError::Disabled | EndpointError::BufferOverflow)) => {
                // The bus was reset; its end, and a new configuration, are still to come.
                CONFIGURED.store(false, Relaxed);
                Err(NotSent::Closed)
            }
            Err(_) if self.is_open() => Err(NotSent::Waiting),
            Err(_) => Err(NotSent::Closed),
        }
    }

    /// Take back packets that an earlier connection left armed. See the module header.
    pub fn forget_armed(&mut self) {
        for endpoint in IN_ENDPOINTS {
            critical_section::with(|_| disarm(endpoint));
        }
    }
}

/// Disable an armed IN endpoint and flush its FIFO [RM0433 §57.15.6, "disabling an IN endpoint"].
fn disarm(endpoint: usize) {
    /// Polls of a flag that the core sets within a few USB clocks; a bound so that nothing can hang.
    const POLLS: usize = 10_000;
    let otg = pac::USB_OTG_FS;
    if !otg.diepctl(endpoint).read().epena() {
        return;
    }
    otg.diepctl(endpoint).modify(|w| w.set_snak(true));
    (0..POLLS).find(|_| otg.diepint(endpoint).read().inepne());
    otg.diepctl(endpoint).modify(|w| {
        w.set_snak(true);
        w.set_epdis(true);
    });
    (0..POLLS).find(|_| otg.diepint(endpoint).read().epdisd());
    otg.diepint(endpoint).write(|w| w.set_epdisd(true));
    otg.grstctl().write(|w| {
        w.set_txfnum(endpoint as u8);
        w.set_txfflsh(true);
    });
    (0..POLLS).find(|_| !otg.grstctl().read().txfflsh());
}

/// Follows the bus state, which the class does not expose.
struct Bus;

impl Handler for Bus {
    fn enabled(&mut self, _enabled: bool) {
        CONFIGURED.store(false, Relaxed);
    }
    fn reset(&mut self) {
        CONFIGURED.store(false, Relaxed);
        SUSPENDED.store(false, Relaxed);
    }
    fn configured(&mut self, configured: bool) {
        CONFIGURED.store(configured, Relaxed);
    }
    fn suspended(&mut self, suspended: bool) {
        SUSPENDED.store(suspended, Relaxed);
    }
}
