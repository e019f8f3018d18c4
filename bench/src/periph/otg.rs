//! OTG_FS in device mode: the Synopsys DWC2 core in slave (FIFO) mode (RM0433 §57).
//!
//! The register side is what the driver sees, the bus side (`bus_*`) is what a host does to it. FIFO sizes are
//! enforced as the firmware programs them. As in the real core, a bus reset deactivates the endpoints but leaves EPENA set: a
//! packet armed before the reset never completes unless the driver disables the endpoint. An OUT endpoint takes one
//! packet per NAK release. A clock that is more than .25 % off (USB 2.0 §7.1.11) makes the core deaf: start-of-frame packets still
//! arrive (CRS trims to them), everything longer does not. The 5 V of the cable are sensed at PA9 when GCCFG.VBDEN is set, and only then
//! begin and end a session; without it GOTGCTL's override decides. Not modelled: host mode, DMA, isochronous transfers, remote wake-up.

mod bus_side;

use std::collections::VecDeque;

pub const ENDPOINTS: usize = 9;
const EPENA: u32 = 1 << 31;
const EPDIS: u32 = 1 << 30;
const SNAK: u32 = 1 << 27;
const CNAK: u32 = 1 << 26;
const STALL: u32 = 1 << 21;
const NAKSTS: u32 = 1 << 17;
const USBAEP: u32 = 1 << 15;

/// Bits of GINTSTS that stay until cleared.
pub const OTGINT: u32 = 1 << 2;
pub const SOF: u32 = 1 << 3;
pub const USBSUSP: u32 = 1 << 11;
pub const USBRST: u32 = 1 << 12;
pub const ENUMDNE: u32 = 1 << 13;
pub const SRQINT: u32 = 1 << 30;
pub const WKUPINT: u32 = 1 << 31;
const LATCHED: u32 = OTGINT | SOF | 1 << 10 | USBSUSP | USBRST | ENUMDNE | SRQINT | WKUPINT;

const XFRC: u32 = 1;
const EPDISD: u32 = 1 << 1;
const STUP: u32 = 1 << 3;
const ITTXFE: u32 = 1 << 4;
const INEPNE: u32 = 1 << 6;
const TXFE: u32 = 1 << 7;

/// Packet status in GRXSTSP.
const OUT_DATA: u32 = 2;
const OUT_DONE: u32 = 3;
const SETUP_DONE: u32 = 4;
const SETUP_DATA: u32 = 6;

/// What the device answers to an IN or OUT token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The packet (IN) or an acknowledgement with nothing (OUT).
    Data(Vec<u8>),
    Nak,
    Stall,
}

#[derive(Clone, Default)]
struct Endpoint {
    ctl: u32,
    int: u32,
    tsiz: u32,
    fifo: VecDeque<u8>,
}

pub struct Otg {
    gotgctl: u32,
    gotgint: u32,
    gahbcfg: u32,
    gusbcfg: u32,
    latched: u32,
    gintmsk: u32,
    grxfsiz: u32,
    txf: [u32; ENDPOINTS],
    gccfg: u32,
    glpmcfg: u32,
    dcfg: u32,
    dctl: u32,
    diepmsk: u32,
    doepmsk: u32,
    daintmsk: u32,
    diepempmsk: u32,
    pcgcctl: u32,
    input: [Endpoint; ENDPOINTS],
    output: [Endpoint; ENDPOINTS],
    rx: VecDeque<(u32, Vec<u32>)>,
    rx_words: VecDeque<u32>,
    /// Frame number of the last start of frame.
    pub frame: u32,
    pub suspended: bool,
    /// 5 V on the cable.
    pub vbus: bool,
    /// PA9 is connected to them.
    vbus_wired: bool,
    /// Error of the kernel clock [ppm]; `None` = it is off.
    pub clock_error_ppm: Option<i64>,
    /// FIFO words written beyond the programmed size.
    pub fifo_overflows: u64,
}

impl Default for Otg {
    fn default() -> Self {
        let mut otg = Otg {
            gotgctl: 0,
            gotgint: 0,
            gahbcfg: 0,
            gusbcfg: 0x0000_1440,
            latched: 0,
            gintmsk: 0,
            grxfsiz: 0x400,
            txf: [0x0200_0200; ENDPOINTS],
            gccfg: 0,
            glpmcfg: 0,
            dcfg: 0x0220_0000,
            dctl: 2,
            diepmsk: 0,
            doepmsk: 0,
            daintmsk: 0,
            diepempmsk: 0,
            pcgcctl: 0,
            input: Default::default(),
            output: Default::default(),
            rx: VecDeque::new(),
            rx_words: VecDeque::new(),
            frame: 0,
            suspended: false,
            vbus: false,
            vbus_wired: true,
            clock_error_ppm: None,
            fifo_overflows: 0,
        };
        otg.input[0].ctl = USBAEP;
        otg.output[0].ctl = USBAEP;
        otg
    }
}

impl Otg {
    pub fn new(vbus_wired: bool) -> Self {
        Otg {
            vbus_wired,
            ..Otg::default()
        }
    }

    /// A reset: the cable and its 5 V stay.
    pub fn reset(&mut self) {
        *self = Otg {
            vbus: self.vbus,
            vbus_wired: self.vbus_wired,
            clock_error_ppm: self.clock_error_ppm,
            ..Otg::default()
        };
    }

    /// The core sees 5 V at PA9.
    pub(super) fn senses_vbus(&self) -> bool {
        self.gccfg >> 21 & 1 != 0 && self.vbus_wired && self.vbus
    }

    /// Pull-up on: a host sees a device.
    pub fn connected(&self) -> bool {
        let session = if self.gotgctl >> 6 & 1 != 0 {
            self.gotgctl >> 7 & 1 != 0
        } else {
            self.senses_vbus()
        };
        self.gahbcfg & 1 != 0 && self.dctl & 2 == 0 && self.gccfg >> 16 & 1 != 0 && session
    }

    /// The core's clock is good enough to understand packets.
    pub fn understands(&self) -> bool {
        self.clock_error_ppm.is_some_and(|e| e.abs() <= 2_500)
    }

    pub fn irq(&self) -> bool {
        self.gahbcfg & 1 != 0 && self.gintsts() & self.gintmsk != 0
    }

    pub fn address(&self) -> u32 {
        self.dcfg >> 4 & 0x7f
    }

    fn gintsts(&self) -> u32 {
        let d = self.daint() & self.daintmsk;
        let bit = |b: bool, n: u32| u32::from(b) << n;
        self.latched
            | bit(!self.rx.is_empty(), 4)
            | bit(true, 5)
            | bit(d & 0xffff != 0, 18)
            | bit(d >> 16 != 0, 19)
            | bit(self.gotgint != 0, 2)
    }

    fn daint(&self) -> u32 {
        let mut v = 0;
        for n in 0..ENDPOINTS {
            let e = &self.input[n];
            let empty = e.fifo.is_empty() && self.diepempmsk >> n & 1 != 0;
            v |= u32::from(e.int & self.diepmsk != 0 || empty) << n;
            v |= u32::from(self.output[n].int & self.doepmsk != 0) << (16 + n);
        }
        v
    }

    fn fifo_words(&self, n: usize) -> u32 {
        self.txf[n] >> 16
    }

    pub fn read(&mut self, off: u32) -> Option<u32> {
        Some(match off {
            0x000 => self.gotgctl | if self.vbus { 1 << 19 } else { 0 },
            0x004 => self.gotgint,
            0x008 => self.gahbcfg,
            0x00c => self.gusbcfg,
            0x010 => 1 << 31,
            0x014 => self.gintsts(),
            0x018 => self.gintmsk,
            0x01c => self.rx.front().map_or(0, |x| x.0),
            0x020 => self.pop_status(),
            0x024 => self.grxfsiz,
            0x028 => self.txf[0],
            0x02c => self.fifo_words(0),
            0x038 => self.gccfg,
            0x03c => 0x0000_3100,
            0x040..=0x050 => 0,
            0x054 => self.glpmcfg,
            0x104..=0x120 => self.txf[(off as usize - 0x104) / 4 + 1],
            0x800 => self.dcfg,
            0x804 => self.dctl,
            0x808 => u32::from(self.suspended) | 3 << 1 | (self.frame & 0x3fff) << 8,
            0x810 => self.diepmsk,
            0x814 => self.doepmsk,
            0x818 => self.daint(),
            0x81c => self.daintmsk,
            0x834 => self.diepempmsk,
            0x900..=0xa1f => {
                let n = (off as usize - 0x900) / 0x20;
                let e = &self.input[n];
                let used = (e.fifo.len() as u32).div_ceil(4);
                match off & 0x1f {
                    0x00 => e.ctl,
                    0x08 => e.int | if e.fifo.is_empty() { TXFE } else { 0 },
                    0x10 => e.tsiz,
                    0x18 => self.fifo_words(n).saturating_sub(used),
                    _ => return None,
                }
            }
            0xb00..=0xc1f => {
                let e = &self.output[(off as usize - 0xb00) / 0x20];
                match off & 0x1f {
                    0x00 => e.ctl,
                    0x08 => e.int,
                    0x10 => e.tsiz,
                    _ => return None,
                }
            }
            0xe00 => self.pcgcctl,
            0x1000..=0x1_ffff => self.rx_words.pop_front().unwrap_or(0),
            _ => return None,
        })
    }

    fn pop_status(&mut self) -> u32 {
        let Some((status, words)) = self.rx.pop_front() else {
            return 0;
        };
        self.rx_words.extend(words);
        let e = &mut self.output[(status & 15) as usize];
        match status >> 17 & 15 {
            SETUP_DONE => {
                e.int |= STUP;
                e.ctl &= !EPENA;
            }
            OUT_DONE => e.int |= XFRC,
            _ => {}
        }
        status
    }

    pub fn write(&mut self, off: u32, v: u32) -> Option<()> {
        match off {
            0x000 => self.gotgctl = v & 0xfff0_ffff,
            0x004 => self.gotgint &= !v,
            0x008 => self.gahbcfg = v,
            0x00c => self.gusbcfg = v,
            0x010 => self.reset_control(v),
            0x014 => self.latched &= !(v & LATCHED),
            0x018 => self.gintmsk = v,
            0x01c | 0x020 | 0x02c | 0x03c => {}
            0x024 => self.grxfsiz = v & 0xffff,
            0x028 => self.txf[0] = v,
            0x038 => {
                let before = self.senses_vbus();
                self.gccfg = v;
                if self.senses_vbus() && !before {
                    self.raise(SRQINT);
                }
            }
            0x054 => self.glpmcfg = v,
            0x104..=0x120 => self.txf[(off as usize - 0x104) / 4 + 1] = v,
            0x800 => self.dcfg = v,
            0x804 => self.dctl = v,
            0x810 => self.diepmsk = v,
            0x814 => self.doepmsk = v,
            0x81c => self.daintmsk = v,
            0x834 => self.diepempmsk = v,
            0x900..=0xa1f => {
                let n = (off as usize - 0x900) / 0x20;
                return Self::write_endpoint(&mut self.input[n], n, off & 0x1f, v);
            }
            0xb00..=0xc1f => {
                let n = (off as usize - 0xb00) / 0x20;
                return Self::write_endpoint(&mut self.output[n], n, off & 0x1f, v);
            }
            0xe00 => self.pcgcctl = v,
            0x1000..=0x1_ffff => {
                let n = (off as usize - 0x1000) / 0x1000;
                if n >= ENDPOINTS || self.input[n].fifo.len() as u32 / 4 >= self.fifo_words(n) {
                    self.fifo_overflows += 1;
                } else {
                    self.input[n].fifo.extend(v.to_le_bytes());
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// GRSTCTL: core soft reset and FIFO flushes finish at once.
    fn reset_control(&mut self, v: u32) {
        if v & 1 != 0 {
            let gccfg = self.gccfg;
            self.reset();
            self.gccfg = gccfg;
        }
        if v >> 5 & 1 != 0 {
            let which = (v >> 6 & 31) as usize;
            for (n, e) in self.input.iter_mut().enumerate() {
                if which == 16 || which == n {
                    e.fifo.clear();
                }
            }
        }
        if v >> 4 & 1 != 0 {
            self.rx.clear();
            self.rx_words.clear();
        }
    }

    fn write_endpoint(e: &mut Endpoint, n: usize, reg: u32, v: u32) -> Option<()> {
        match reg {
            0x00 => {
                let mut ctl = v & !(SNAK | CNAK | EPDIS | EPENA | NAKSTS | 3 << 28)
                    | e.ctl & (EPENA | NAKSTS);
                if n == 0 {
                    ctl |= USBAEP;
                }
                if v & EPENA != 0 {
                    ctl |= EPENA;
                }
                if v & CNAK != 0 {
                    ctl &= !NAKSTS;
                }
                if v & SNAK != 0 {
                    ctl |= NAKSTS;
                    e.int |= INEPNE;
                }
                if v & EPDIS != 0 && e.ctl & EPENA != 0 {
                    ctl &= !EPENA;
                    e.int |= EPDISD;
                }
                e.ctl = ctl;
            }
            0x08 => e.int &= !v,
            0x10 => e.tsiz = v,
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
