//! General-purpose and basic timers (RM0433 §39–41), evaluated lazily.
//!
//! The counter is a function of virtual time; flags are brought up to date when somebody looks. Modelled: up-counting
//! with prescaler (buffered until the next update, as in the chip), ARR, update and compare flags, one-pulse, encoder modes
//! 1–3 with polarity, input filters and wrap at ARR, toggle outputs, preloaded compare registers, repetition counter, and the protection
//! of an advanced timer's outputs (`guard`); PWM outputs are read off the registers. Not modelled: down and centre-aligned counting, DMA,
//! capture, dead time, break interrupts, slave modes other than the encoder's.

pub mod guard;
pub mod pwm;

use crate::time::{NEVER, Time};

const CEN: u32 = 1;
const UDIS: u32 = 1 << 1;
const URS: u32 = 1 << 2;
const OPM: u32 = 1 << 3;
const DIR: u32 = 1 << 4;
const UIF: u32 = 1;

/// Fixed facts of one timer.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub name: &'static str,
    pub base: u32,
    /// Interrupt of update (and compare, unless `compare_irq` differs).
    pub irq: u32,
    pub compare_irq: u32,
    pub bits: u32,
    /// Clock gate: RCC register offset and bit.
    pub gate: (u32, u32),
    pub apb2: bool,
}

const fn apb1(name: &'static str, n: u32, irq: u32, bits: u32, bit: u32) -> Kind {
    Kind {
        name,
        base: 0x4000_0000 + 0x400 * n,
        irq,
        compare_irq: irq,
        bits,
        gate: (0xe8, bit),
        apb2: false,
    }
}

const fn apb2(name: &'static str, base: u32, irq: u32, compare_irq: u32, bit: u32) -> Kind {
    Kind {
        name,
        base,
        irq,
        compare_irq,
        bits: 16,
        gate: (0xf0, bit),
        apb2: true,
    }
}

/// The timers of the chip that are modelled.
pub const TIMERS: [Kind; 12] = [
    apb1("TIM2", 0, 28, 32, 0),
    apb1("TIM3", 1, 29, 16, 1),
    apb1("TIM4", 2, 30, 16, 2),
    apb1("TIM5", 3, 50, 32, 3),
    apb1("TIM6", 4, 54, 16, 4),
    apb1("TIM7", 5, 55, 16, 5),
    apb1("TIM12", 6, 43, 16, 6),
    apb2("TIM1", 0x4001_0000, 25, 27, 0),
    apb2("TIM8", 0x4001_0400, 44, 46, 1),
    apb2("TIM15", 0x4001_4000, 116, 116, 16),
    apb2("TIM16", 0x4001_4400, 117, 117, 17),
    apb2("TIM17", 0x4001_4800, 118, 118, 18),
];

pub struct Tim {
    pub kind: Kind,
    cr1: u32,
    cr2: u32,
    smcr: u32,
    dier: u32,
    sr: u32,
    ccmr: [u32; 2],
    ccer: u32,
    bdtr: u32,
    tisel: u32,
    /// PSC as written, and as in use since the last update event.
    psc_next: u32,
    psc: u32,
    arr: u32,
    /// Compare registers as in use, and as written (taken over at the next update where OCxPE is set).
    ccr: [u32; 4],
    ccr_next: [u32; 4],
    /// Repetition counter, and overflows left before the next update.
    rcr: u32,
    repeats: u64,
    guard: guard::Guard,
    /// Units of one kernel clock cycle.
    clock: Time,
    /// Counter `base` at time `t0`, running on without wrap; `seen` = value up to which flags are done.
    base: u64,
    t0: Time,
    seen: u64,
    /// When UIF last rose.
    pub update_at: Time,
    /// Encoder input at the last look [edges], x4.
    edges: i64,
    /// Compare matches since reset, by channel (level of a toggle output = parity).
    matches: [u64; 4],
}

impl Tim {
    pub fn new(kind: Kind, clock: Time) -> Self {
        Tim {
            kind,
            cr1: 0,
            cr2: 0,
            smcr: 0,
            dier: 0,
            sr: 0,
            ccmr: [0; 2],
            ccer: 0,
            bdtr: 0,
            tisel: 0,
            psc_next: 0,
            psc: 0,
            arr: ((1u64 << kind.bits) - 1) as u32,
            ccr: [0; 4],
            ccr_next: [0; 4],
            rcr: 0,
            repeats: 0,
            guard: guard::Guard::default(),
            clock,
            base: 0,
            t0: 0,
            seen: 0,
            update_at: 0,
            edges: 0,
            matches: [0; 4],
        }
    }

    /// As after power-on.
    pub fn reset(&mut self) {
        let (edges, guard) = (self.edges, self.guard);
        *self = Tim::new(self.kind, self.clock);
        self.edges = edges;
        self.guard = guard.after_reset();
    }

    /// Counts pulses of an encoder (SMCR.SMS = 1, 2 or 3) instead of its clock.
    pub fn encoder_mode(&self) -> bool {
        (1..=3).contains(&(self.smcr & 7))
    }

    /// Length a level on each of the two encoder inputs must have to pass its input filter (RM0433 §41.4.7): N equal samples of
    /// the timer's clock, or of the dead-time clock (CR1.CKD: the timer's, a half or a quarter of it) divided further.
    pub fn filter_times(&self) -> [Time; 2] {
        // (samples, timer clocks or dead-time clocks per sample)
        const FILTERS: [(Time, Time); 16] = [
            (0, 1),
            (2, 1),
            (4, 1),
            (8, 1),
            (6, 2),
            (8, 2),
            (6, 4),
            (8, 4),
            (6, 8),
            (8, 8),
            (5, 16),
            (6, 16),
            (8, 16),
            (5, 32),
            (6, 32),
            (8, 32),
        ];
        let dead_time = self.clock << (self.cr1 >> 8 & 3).min(2);
        [4, 12].map(|shift| {
            let chosen = (self.ccmr[0] >> shift & 15) as usize;
            let (n, division) = FILTERS[chosen];
            n * division * if chosen < 4 { self.clock } else { dead_time }
        })
    }

    fn counting(&self) -> bool {
        self.cr1 & CEN != 0 && !self.encoder_mode()
    }

    fn tick(&self) -> Time {
        self.clock.saturating_mul(Time::from(self.psc) + 1)
    }

    fn period(&self) -> u64 {
        u64::from(self.arr) + 1
    }

    fn value(&self, now: Time) -> u64 {
        if self.counting() {
            self.base + (now - self.t0) / self.tick()
        } else {
            self.base
        }
    }

    fn time_of(&self, value: u64) -> Time {
        self.t0 + (value - self.base) * self.tick()
    }

    /// First value > `after` at which the counter, modulo its period, equals `target`.
    fn next_hit(&self, after: u64, target: u64) -> u64 {
        let p = self.period();
        (after + p - target) / p * p + target
    }

    /// Brings flags up to date.
    pub fn sync(&mut self, now: Time) {
        let to = self.value(now);
        if to == self.seen {
            return;
        }
        let p = self.period();
        for i in 0..4 {
            let c = u64::from(self.ccr[i]);
            if c < p {
                let hits = (to + p - c) / p - (self.seen + p - c) / p;
                self.matches[i] += hits;
                self.sr |= u32::from(hits > 0) << (1 + i);
            }
        }
        let overflows = to / p - self.seen / p;
        if overflows > 0 && overflows <= self.repeats {
            self.repeats -= overflows;
        } else if overflows > 0 {
            let first = self.time_of(self.next_update());
            let every = u64::from(self.rcr) + 1;
            self.repeats = every - 1 - (overflows - 1 - self.repeats) % every;
            self.update(first);
            if self.cr1 & OPM != 0 {
                (self.base, self.t0, self.seen) = (0, now, 0);
                self.cr1 &= !CEN;
                return;
            }
            if self.psc != self.psc_next {
                self.base = 0;
                self.t0 = first;
                self.seen = 0;
                self.psc = self.psc_next;
                return self.sync(now);
            }
        }
        self.seen = to;
    }

    /// Value of the counter at the next update event.
    fn next_update(&self) -> u64 {
        self.next_hit(self.seen, 0) + self.repeats * self.period()
    }

    fn update(&mut self, at: Time) {
        if self.cr1 & UDIS == 0 {
            self.ccr = self.ccr_next;
            if self.sr & UIF == 0 {
                self.update_at = at;
            }
            self.sr |= UIF;
        }
    }

    /// When the next enabled interrupt condition will arise.
    pub fn next(&self) -> Time {
        if !self.counting() {
            return NEVER;
        }
        let waiting = self.dier & !self.sr;
        let mut at = NEVER;
        let reloads = self.ccr != self.ccr_next;
        if (waiting & UIF != 0 || reloads) && self.cr1 & UDIS == 0 {
            at = self.time_of(self.next_update());
        }
        for i in 0..4 {
            let c = u64::from(self.ccr[i]);
            if waiting >> (1 + i) & 1 != 0 && c < self.period() {
                at = at.min(self.time_of(self.next_hit(self.seen, c)));
            }
        }
        at
    }

    /// (update interrupt, compare interrupt) levels.
    pub fn irqs(&self) -> (bool, bool) {
        let p = self.sr & self.dier;
        (p & UIF != 0, p & 0x1e != 0)
    }

    /// Level of a channel in output-compare toggle mode, after [`Tim::sync`].
    pub fn toggle_output(&self, channel: usize) -> Option<u64> {
        let mode = self.ccmr[channel / 2] >> (8 * (channel % 2)) >> 4 & 7;
        let enabled = self.ccer >> (4 * channel) & 1 != 0;
        (mode == 3 && enabled).then_some(self.matches[channel])
    }

    /// Encoder input moved to `edges` (quadrature edges since power-on, x4).
    pub fn encoder_input(&mut self, edges: i64, now: Time) {
        let moved = edges - self.edges;
        self.edges = edges;
        if moved == 0 || self.cr1 & CEN == 0 || !self.encoder_mode() {
            return;
        }
        // Inverting one channel turns the direction; modes 1 and 2 count the edges of one channel only.
        let sign = if (self.ccer >> 1 ^ self.ccer >> 5) & 1 != 0 {
            -1
        } else {
            1
        };
        let counted = match self.smcr & 7 {
            3 => moved,
            _ => edges.div_euclid(2) - (edges - moved).div_euclid(2),
        } * sign;
        let p = self.period() as i64;
        let raw = self.base as i64 + counted;
        if !(0..p).contains(&raw) {
            self.update(now);
        }
        self.cr1 = self.cr1 & !DIR | if counted < 0 { DIR } else { 0 };
        self.base = raw.rem_euclid(p) as u64;
        self.seen = self.base;
    }

    /// It stood still for `time` while the core was halted.
    pub fn stand_still(&mut self, time: Time) {
        self.t0 += time;
    }

    /// Same counter value, counted from `now` with a new kernel clock.
    pub fn set_clock(&mut self, clock: Time, now: Time) {
        self.rebase(now);
        self.clock = clock;
    }

    fn rebase(&mut self, now: Time) {
        self.sync(now);
        self.base = self.value(now) % self.period();
        self.t0 = now;
        self.seen = self.base;
    }

    pub fn read(&mut self, off: u32, now: Time) -> Option<u32> {
        self.sync(now);
        Some(match off {
            0x00 => self.cr1,
            0x04 => self.cr2,
            0x08 => self.smcr,
            0x0c => self.dier,
            0x10 => self.sr,
            0x14 => 0,
            0x18 | 0x1c => self.ccmr[(off as usize - 0x18) / 4],
            0x20 => self.ccer,
            0x24 => (self.value(now) % self.period()) as u32,
            0x28 => self.psc_next,
            0x2c => self.arr,
            0x30 => self.rcr,
            0x34..=0x40 => self.ccr_next[(off as usize - 0x34) / 4],
            0x44 => self.bdtr,
            0x68 => self.tisel,
            _ => return None,
        })
    }

    pub fn write(&mut self, off: u32, v: u32, now: Time) -> Option<()> {
        let mask = ((1u64 << self.kind.bits) - 1) as u32;
        self.sync(now);
        match off {
            0x00 => {
                self.rebase(now);
                self.cr1 = v & 0x0b8f | self.cr1 & DIR;
            }
            0x04 => self.cr2 = self.guard.cr2(self.cr2, v),
            0x08 => {
                self.rebase(now);
                self.smcr = v;
            }
            0x0c => self.dier = v,
            0x10 => self.sr &= v | self.guard.standing(),
            0x14 => self.generate(v, now),
            0x18 | 0x1c => {
                let i = (off as usize - 0x18) / 4;
                self.ccmr[i] = self.guard.ccmr(self.ccmr[i], v);
            }
            0x20 => self.ccer = self.guard.ccer(self.ccer, v),
            0x24 => {
                self.base = u64::from(v & mask);
                self.t0 = now;
                self.seen = self.base;
            }
            0x28 => self.psc_next = v & 0xffff,
            0x2c => {
                self.rebase(now);
                self.arr = v & mask;
            }
            0x30 => self.rcr = v & 0xffff,
            0x34..=0x40 => {
                let i = (off as usize - 0x34) / 4;
                self.ccr_next[i] = v & mask;
                if !self.preloads(i) {
                    self.ccr[i] = v & mask;
                }
            }
            0x44 => self.write_protection(v),
            0x68 => self.tisel = v,
            _ => return None,
        }
        Some(())
    }

    /// EGR: software events.
    fn generate(&mut self, v: u32, now: Time) {
        if v & 1 != 0 {
            self.psc = self.psc_next;
            self.ccr = self.ccr_next;
            self.repeats = u64::from(self.rcr);
            (self.base, self.t0, self.seen) = (0, now, 0);
            if self.cr1 & URS == 0 {
                self.update(now);
            }
        }
        self.sr |= v & 0x1e;
    }
}

#[cfg(test)]
mod tests;
