//! The bus side of OTG_FS: what a host's tokens, resets and cable do to the core.

use super::*;

impl Otg {
    /// Sets a latched interrupt flag.
    pub fn raise(&mut self, flag: u32) {
        self.latched |= flag;
    }

    /// The firmware has not yet cleared this flag.
    pub fn is_raised(&self, flag: u32) -> bool {
        self.latched & flag != 0
    }

    /// The cable brings 5 V: a session begins, if the core looks.
    pub fn session_begin(&mut self) {
        self.vbus = true;
        if self.senses_vbus() {
            self.raise(SRQINT);
        }
    }

    /// The cable went away: the session ends, if the core looks.
    pub fn session_end(&mut self) {
        if self.senses_vbus() {
            self.gotgint |= 1 << 2;
        }
        self.vbus = false;
    }

    /// Bus reset: endpoints other than 0 become inactive; armed transfers (EPENA) stay armed.
    pub fn bus_reset(&mut self) {
        self.suspended = false;
        for n in 1..ENDPOINTS {
            self.input[n].ctl &= !USBAEP;
            self.output[n].ctl &= !USBAEP;
        }
        self.input[0].ctl &= !STALL;
        self.output[0].ctl &= !STALL;
        self.raise(USBRST);
    }

    /// SETUP token: always accepted, clears a stall.
    pub fn bus_setup(&mut self, packet: &[u8; 8]) {
        self.input[0].ctl = self.input[0].ctl & !STALL | NAKSTS;
        self.output[0].ctl = self.output[0].ctl & !STALL | NAKSTS;
        self.rx
            .push_back((8 << 4 | SETUP_DATA << 17, words(packet)));
        self.rx.push_back((SETUP_DONE << 17, Vec::new()));
    }

    /// OUT token with data.
    pub fn bus_out(&mut self, n: usize, data: &[u8]) -> Answer {
        let used: usize =
            self.rx.iter().map(|x| x.1.len() + 1).sum::<usize>() + self.rx_words.len();
        let room = self.grxfsiz as usize >= used + data.len().div_ceil(4) + 2;
        let e = &mut self.output[n];
        if e.ctl & STALL != 0 {
            return Answer::Stall;
        }
        if e.ctl & USBAEP == 0 || e.ctl & NAKSTS != 0 || !room {
            return Answer::Nak;
        }
        e.ctl |= NAKSTS;
        let at = n as u32;
        self.rx
            .push_back((at | (data.len() as u32) << 4 | OUT_DATA << 17, words(data)));
        self.rx.push_back((at | OUT_DONE << 17, Vec::new()));
        Answer::Data(Vec::new())
    }

    /// IN token: the next packet when a whole one is in the FIFO.
    pub fn bus_in(&mut self, n: usize) -> Answer {
        let e = &mut self.input[n];
        if e.ctl & STALL != 0 {
            return Answer::Stall;
        }
        if e.ctl & USBAEP == 0 || e.ctl & EPENA == 0 || e.ctl & NAKSTS != 0 {
            return Answer::Nak;
        }
        let (count_mask, size_mask) = if n == 0 { (3, 0x7f) } else { (0x3ff, 0x7_ffff) };
        let left = (e.tsiz & size_mask) as usize;
        let max = if n == 0 {
            64 >> (e.ctl & 3)
        } else {
            e.ctl as usize & 0x7ff
        };
        let len = left.min(max);
        if e.fifo.len() < len {
            e.int |= ITTXFE;
            return Answer::Nak;
        }
        let data: Vec<u8> = e.fifo.drain(..len).collect();
        e.fifo.drain(
            ..len
                .next_multiple_of(4)
                .saturating_sub(len)
                .min(e.fifo.len()),
        );
        let packets = (e.tsiz >> 19 & count_mask).saturating_sub(1);
        e.tsiz = e.tsiz & !(size_mask | count_mask << 19) | (left - len) as u32 | packets << 19;
        if packets == 0 {
            e.ctl = e.ctl & !EPENA | NAKSTS;
            e.int |= XFRC;
        }
        Answer::Data(data)
    }
}

fn words(data: &[u8]) -> Vec<u32> {
    let word = |c: &[u8]| {
        let mut b = [0; 4];
        b[..c.len()].copy_from_slice(c);
        u32::from_le_bytes(b)
    };
    data.chunks(4).map(word).collect()
}
