//! NVIC and the pending side of system exceptions (ARMv7-M B3.4): enable, pending, active and priority of each
//! exception, and which one the processor must take next.
//!
//! Peripheral lines are levels: a high line of an inactive interrupt sets its pending bit. The H743 implements 4 priority
//! bits and 150 interrupts. Priority grouping is ignored: every priority bit pre-empts.

use crate::time::Time;

/// Interrupts of the chip, rounded up to whole words.
pub const LINES: usize = 160;
const WORDS: usize = LINES / 32;

pub const HARD_FAULT: u32 = 3;
pub const MEM_MANAGE: u32 = 4;
pub const BUS_FAULT: u32 = 5;
pub const USAGE_FAULT: u32 = 6;
pub const SVCALL: u32 = 11;
pub const PENDSV: u32 = 14;
pub const SYSTICK: u32 = 15;
/// Exception number of interrupt 0.
pub const IRQ0: u32 = 16;

/// Priority of code that runs in no exception.
pub const THREAD_PRIORITY: i32 = 256;

#[derive(Clone, Default)]
pub struct Nvic {
    enabled: [u32; WORDS],
    pending: [u32; WORDS],
    active: [u32; WORDS],
    priority: Vec<u8>,
    /// SHPR1–3 as bytes: priority of exceptions 4–15.
    pub system_priority: [u8; 12],
    /// Pending system exceptions, bit = exception number.
    system_pending: u32,
    /// Running exceptions, innermost last: (number, priority).
    pub stack: Vec<(u32, i32)>,
    /// When each line's pending bit was set.
    since: Vec<Time>,
}

impl Nvic {
    pub fn new() -> Self {
        Nvic {
            priority: vec![0; LINES],
            since: vec![0; LINES],
            ..Nvic::default()
        }
    }

    /// Takes a peripheral's line at its level; `since` = when it rose.
    #[inline]
    pub fn line(&mut self, irq: u32, high: bool, since: Time) {
        let (w, bit) = (irq as usize / 32, 1 << (irq % 32));
        if high && (self.active[w] | self.pending[w]) & bit == 0 {
            self.pending[w] |= bit;
            self.since[irq as usize] = since;
        }
    }

    pub fn pend_system(&mut self, exception: u32) {
        self.system_pending |= 1 << exception;
    }

    pub fn unpend_system(&mut self, exception: u32) {
        self.system_pending &= !(1 << exception);
    }

    pub fn is_system_pending(&self, exception: u32) -> bool {
        self.system_pending >> exception & 1 != 0
    }

    /// Priority of an exception; lower is more urgent.
    pub fn priority_of(&self, exception: u32) -> i32 {
        match exception {
            2 => -2,
            HARD_FAULT => -1,
            4..=15 => i32::from(self.system_priority[exception as usize - 4]),
            _ => i32::from(self.priority[(exception - IRQ0) as usize]),
        }
    }

    /// The most urgent pending and enabled exception with its priority; ties go to the lower number.
    pub fn next(&self) -> Option<(u32, i32)> {
        let mut best: Option<(u32, i32)> = None;
        let mut consider = |exception: u32, priority: i32| {
            if best.is_none_or(|b| priority < b.1) {
                best = Some((exception, priority));
            }
        };
        let mut system = self.system_pending;
        while system != 0 {
            let e = system.trailing_zeros();
            system &= system - 1;
            consider(e, self.priority_of(e));
        }
        for w in 0..WORDS {
            let mut bits = self.pending[w] & self.enabled[w];
            while bits != 0 {
                let irq = w as u32 * 32 + bits.trailing_zeros();
                bits &= bits - 1;
                consider(irq + IRQ0, i32::from(self.priority[irq as usize]));
            }
        }
        best
    }

    /// Priority of what runs now.
    pub fn running_priority(&self) -> i32 {
        self.stack
            .iter()
            .map(|s| s.1)
            .min()
            .unwrap_or(THREAD_PRIORITY)
    }

    /// The exception starts: pending → active. Returns when it became pending (interrupts only).
    pub fn enter(&mut self, exception: u32) -> Option<Time> {
        let priority = self.priority_of(exception);
        self.stack.push((exception, priority));
        if exception < IRQ0 {
            self.unpend_system(exception);
            return None;
        }
        let irq = exception - IRQ0;
        self.pending[irq as usize / 32] &= !(1 << (irq % 32));
        self.active[irq as usize / 32] |= 1 << (irq % 32);
        Some(self.since[irq as usize])
    }

    /// The innermost exception ends; returns its number.
    pub fn leave(&mut self) -> Option<u32> {
        let (exception, _) = self.stack.pop()?;
        if exception >= IRQ0 {
            let irq = exception - IRQ0;
            self.active[irq as usize / 32] &= !(1 << (irq % 32));
        }
        Some(exception)
    }

    /// STIR: the program pends interrupt `irq` itself.
    pub fn trigger(&mut self, irq: u32, now: Time) {
        if (irq as usize) < LINES {
            self.line(irq, true, now);
            self.pending[irq as usize / 32] |= 1 << (irq % 32);
        }
    }

    /// Registers 0xE000E100–0xE000E4FF.
    pub fn read(&self, address: u32) -> Option<u32> {
        let w = (address as usize & 0x7f) / 4;
        Some(match address {
            0xe000_e100..=0xe000_e1ff => *self.enabled.get(w).unwrap_or(&0),
            0xe000_e200..=0xe000_e2ff => *self.pending.get(w).unwrap_or(&0),
            0xe000_e300..=0xe000_e37f => *self.active.get(w).unwrap_or(&0),
            0xe000_e400..=0xe000_e4ef => {
                let i = (address - 0xe000_e400) as usize;
                let byte = |k: usize| u32::from(*self.priority.get(i + k).unwrap_or(&0));
                byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24
            }
            _ => return None,
        })
    }

    pub fn write(&mut self, address: u32, v: u32, now: Time) -> Option<()> {
        let w = (address as usize & 0x7f) / 4;
        if address < 0xe000_e380 && w >= WORDS {
            return Some(());
        }
        match address {
            0xe000_e100..=0xe000_e17f => self.enabled[w] |= v,
            0xe000_e180..=0xe000_e1ff => self.enabled[w] &= !v,
            0xe000_e200..=0xe000_e27f => {
                for b in 0..32 {
                    self.line(w as u32 * 32 + b, v >> b & 1 != 0, now);
                }
                self.pending[w] |= v;
            }
            0xe000_e280..=0xe000_e2ff => self.pending[w] &= !v,
            0xe000_e300..=0xe000_e37f => {}
            0xe000_e400..=0xe000_e4ef => {
                let i = (address - 0xe000_e400) as usize;
                for (k, b) in v.to_le_bytes().into_iter().enumerate() {
                    if let Some(p) = self.priority.get_mut(i + k) {
                        *p = b & 0xf0;
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(irqs: &[(u32, u8)]) -> Nvic {
        let mut n = Nvic::new();
        for &(irq, priority) in irqs {
            n.write(0xe000_e100 + irq / 32 * 4, 1 << (irq % 32), 0);
            n.priority[irq as usize] = priority;
        }
        n
    }

    #[test]
    fn a_disabled_line_stays_pending_until_enabled() {
        let mut n = Nvic::new();
        n.line(55, true, 3);
        assert_eq!(n.next(), None);
        n.write(0xe000_e104, 1 << 23, 0);
        assert_eq!(n.next(), Some((71, 0)));
        assert_eq!(n.enter(71), Some(3));
    }

    #[test]
    fn urgent_first_and_ties_by_number() {
        let mut n = with(&[(28, 0x60), (55, 0x20), (101, 0x20)]);
        for irq in [28, 101, 55] {
            n.line(irq, true, 0);
        }
        let order: Vec<u32> = std::iter::from_fn(|| {
            let (e, _) = n.next()?;
            n.enter(e);
            n.leave();
            Some(e - IRQ0)
        })
        .collect();
        assert_eq!(order, [55, 101, 28]);
    }

    #[test]
    fn a_line_that_stays_high_pends_again_after_return() {
        let mut n = with(&[(55, 0x20)]);
        n.line(55, true, 0);
        n.enter(71);
        n.line(55, true, 0);
        assert_eq!(n.next(), None, "active: not pended again");
        assert_eq!(n.running_priority(), 0x20);
        n.leave();
        n.line(55, true, 0);
        assert_eq!(n.next(), Some((71, 0x20)));
    }

    #[test]
    fn a_software_trigger_pends_even_while_active() {
        let mut n = with(&[(90, 0x40)]);
        n.trigger(90, 5);
        assert_eq!((n.next(), n.enter(106)), (Some((106, 0x40)), Some(5)));
        n.trigger(90, 6);
        n.leave();
        assert_eq!(n.next(), Some((106, 0x40)), "again");
        n.trigger(500, 7);
    }

    #[test]
    fn four_priority_bits() {
        let mut n = Nvic::new();
        n.write(0xe000_e400 + 52, 0xff << 24, 0);
        assert_eq!(n.priority_of(IRQ0 + 55), 0xf0);
        assert_eq!(n.read(0xe000_e400 + 52), Some(0xf000_0000));
    }

    #[test]
    fn pendsv_uses_its_system_priority() {
        let mut n = with(&[(55, 0x20)]);
        n.system_priority[10] = 0xf0;
        n.pend_system(PENDSV);
        assert_eq!(n.next(), Some((PENDSV, 0xf0)));
        n.line(55, true, 0);
        assert_eq!(n.next().unwrap().0, IRQ0 + 55);
        n.unpend_system(PENDSV);
        assert!(!n.is_system_pending(PENDSV));
    }
}
