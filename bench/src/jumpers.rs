//! Jumper wires from output pins to the inputs of an encoder timer: quadrature made by a test program.
//!
//! Each input has the timer's digital filter: a level counts once it has been there for the filter's length. Phases in the order
//! (A, B) = 00, 10, 11, 01 count up.

use crate::periph::gpio::{Gpio, Pin};
use crate::scenario::PinName;
use crate::time::Time;

#[derive(Clone, Copy, Debug)]
struct Channel {
    /// Input of the timer, and the output pin wired to it.
    pin: Pin,
    from: Option<Pin>,
    raw: bool,
    since: Time,
    /// Level behind the filter.
    passed: bool,
}

/// The two inputs of one encoder timer.
#[derive(Clone, Copy, Debug)]
pub struct JumperInput {
    channels: [Channel; 2],
    edges: i64,
}

impl JumperInput {
    /// The inputs, if a jumper ends at one of these pins.
    pub fn new(pins: [Pin; 2], jumpers: &[[PinName; 2]], gpio: &Gpio, now: Time) -> Option<Self> {
        let source = |pin: Pin| jumpers.iter().find(|j| j[1].0 == pin).map(|j| j[0].0);
        if pins.iter().all(|&p| source(p).is_none()) {
            return None;
        }
        let channel = |pin: Pin| {
            let from = source(pin);
            let level = level(pin, from, gpio);
            Channel {
                pin,
                from,
                raw: level,
                since: now,
                passed: level,
            }
        };
        Some(JumperInput {
            channels: pins.map(channel),
            edges: 0,
        })
    }

    pub fn pins(&self) -> [Pin; 2] {
        self.channels.map(|c| c.pin)
    }

    /// Pins may have changed at `now`.
    pub fn look(&mut self, gpio: &Gpio, filters: [Time; 2], now: Time) {
        self.pass(filters, now);
        for c in &mut self.channels {
            let level = level(c.pin, c.from, gpio);
            if level != c.raw {
                c.raw = level;
                c.since = now;
            }
        }
        self.pass(filters, now);
    }

    /// Edges that have passed the filters by `now`.
    pub fn edges(&mut self, filters: [Time; 2], now: Time) -> i64 {
        self.pass(filters, now);
        self.edges
    }

    fn pass(&mut self, filters: [Time; 2], now: Time) {
        let mut order = [0, 1];
        order.sort_by_key(|&i| self.channels[i].since);
        for i in order {
            let c = self.channels[i];
            if c.raw != c.passed && now - c.since >= filters[i] {
                let before = self.phase();
                self.channels[i].passed = c.raw;
                self.edges += if (self.phase() - before).rem_euclid(4) == 1 {
                    1
                } else {
                    -1
                };
            }
        }
    }

    fn phase(&self) -> i64 {
        match self.channels.map(|c| c.passed) {
            [false, false] => 0,
            [true, false] => 1,
            [true, true] => 2,
            [false, true] => 3,
        }
    }
}

/// What the wire brings, or the input's own pull resistor when nothing drives the wire.
fn level(pin: Pin, from: Option<Pin>, gpio: &Gpio) -> bool {
    from.and_then(|p| gpio.output(p))
        .unwrap_or_else(|| gpio.level(pin))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILTER: Time = 100;
    const FILTERS: [Time; 2] = [FILTER; 2];

    fn wired() -> (JumperInput, Gpio) {
        let pin = |s: &str| PinName(s.parse().unwrap());
        let mut gpio = Gpio::default();
        gpio.write(2, 0x00, 0x5555_5555); // port C: outputs
        let jumpers = [[pin("PC6"), pin("PA15")], [pin("PC7"), pin("PB3")]];
        let input = JumperInput::new([pin("PA15").0, pin("PB3").0], &jumpers, &gpio, 0).unwrap();
        (input, gpio)
    }

    fn set(input: &mut JumperInput, gpio: &mut Gpio, ab: u32, now: Time) {
        gpio.write(2, 0x14, ab << 6);
        input.look(gpio, FILTERS, now);
    }

    #[test]
    fn a_before_b_counts_up_and_back_down() {
        let (mut input, mut gpio) = wired();
        for (i, ab) in [1, 3, 2, 0, 1, 3, 1, 0].into_iter().enumerate() {
            set(&mut input, &mut gpio, ab, 1000 * (i as Time + 1));
        }
        assert_eq!(
            input.edges(FILTERS, 8000),
            5,
            "the last edge is still in the filter"
        );
        assert_eq!(input.edges(FILTERS, 8100), 4);
    }

    #[test]
    fn a_pulse_shorter_than_the_filter_is_not_seen() {
        let (mut input, mut gpio) = wired();
        set(&mut input, &mut gpio, 1, 1000);
        set(&mut input, &mut gpio, 0, 1000 + FILTER - 1);
        assert_eq!(input.edges(FILTERS, 9000), 0);
    }

    #[test]
    fn pins_without_a_jumper_are_not_ours() {
        let pin = |s: &str| s.parse::<Pin>().unwrap();
        assert!(JumperInput::new([pin("PA0"), pin("PA1")], &[], &Gpio::default(), 0).is_none());
    }
}
