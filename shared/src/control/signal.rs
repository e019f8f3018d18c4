//! References and excitations over time, with their first and second derivatives.
//!
//! Sines turn by a rotation per tick, (c, s) ← R·(c, s), kept at length one by the first term of 1/√x: eight of them cost what one sine from
//! [`crate::number::math`] costs.

use crate::number::math::sin_cos_f32;
use crate::wire::{Shape, Signal};

/// Sines of a multisine.
pub const SINES: usize = 8;

/// Value, rate, and rate of the rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Course {
    pub value: f32,
    pub rate: f32,
    pub second: f32,
}

/// A signal under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// cos and sin of each sine's phase, its turn per tick and rate \[rad/s\].
    sines: [Sine; SINES],
    used: u8,
    /// Of a chirp and of steps: seconds since its beginning, phase \[rad\].
    time: f32,
    phase: f32,
}
crate::impl_words!(State {
    sines,
    used,
    time,
    phase
});

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sine {
    cos: f32,
    sin: f32,
    turn: [f32; 2],
    rate: f32,
}
crate::impl_words!(Sine {
    cos,
    sin,
    turn,
    rate
});

const TWO_PI: f32 = 2.0 * core::f32::consts::PI;

impl State {
    pub const NONE: Self = State {
        sines: [Sine {
            cos: 1.0,
            sin: 0.0,
            turn: [1.0, 0.0],
            rate: 0.0,
        }; SINES],
        used: 0,
        time: 0.0,
        phase: 0.0,
    };

    /// At its beginning, for ticks of `dt` \[s\].
    pub fn start(signal: &Signal, dt: f32) -> Self {
        let mut s = State::NONE;
        s.used = match signal.shape {
            Shape::Sine => 1,
            Shape::Multisine => SINES as u8,
            _ => 0,
        };
        let mut bits = signal.seed | 1;
        for (i, sine) in s.sines.iter_mut().enumerate().take(usize::from(s.used)) {
            let part = i as f32 / (SINES - 1) as f32;
            let hz = signal.low_hz + part * (signal.high_hz - signal.low_hz);
            sine.rate = TWO_PI * hz;
            let (sin, cos) = sin_cos_f32(sine.rate * dt);
            sine.turn = [cos, sin];
            if signal.shape == Shape::Multisine {
                // xorshift32
                bits ^= bits << 13;
                bits ^= bits >> 17;
                bits ^= bits << 5;
                let (sin, cos) = sin_cos_f32((bits >> 8) as f32 * (TWO_PI / 16_777_216.0));
                (sine.sin, sine.cos) = (sin, cos);
            }
        }
        s
    }

    /// This tick's course; then one tick further.
    #[inline(never)]
    pub fn step(&mut self, signal: &Signal, dt: f32) -> Course {
        let mut course = Course {
            value: signal.offset,
            ..Course::default()
        };
        match signal.shape {
            Shape::Constant => {}
            Shape::Sine | Shape::Multisine => {
                // Eight sines of 1/√8 have the power of one.
                let a = if signal.shape == Shape::Sine {
                    signal.amplitude
                } else {
                    signal.amplitude * 0.353_553_4
                };
                for sine in self.sines.iter_mut().take(usize::from(self.used)) {
                    let (x, v) = (a * sine.sin, a * sine.rate * sine.cos);
                    course.value += x;
                    course.rate += v;
                    course.second -= sine.rate * sine.rate * x;
                    sine.turn();
                }
            }
            Shape::Chirp => {
                let slope = (signal.high_hz - signal.low_hz) / signal.seconds;
                let rate = TWO_PI * (signal.low_hz + slope * self.time);
                let (sin, cos) = sin_cos_f32(self.phase);
                course.value += signal.amplitude * sin;
                course.rate = signal.amplitude * rate * cos;
                course.second = signal.amplitude * (TWO_PI * slope * cos - rate * rate * sin);
                self.advance(rate * dt, dt, signal.seconds);
            }
            Shape::Steps => {
                let up = self.phase < core::f32::consts::PI;
                course.value += if up {
                    signal.amplitude
                } else {
                    -signal.amplitude
                };
                self.advance(TWO_PI * signal.low_hz * dt, dt, signal.seconds);
            }
        }
        course
    }

    fn advance(&mut self, turn: f32, dt: f32, seconds: f32) {
        self.phase += turn;
        if self.phase >= TWO_PI {
            self.phase -= TWO_PI;
        }
        self.time += dt;
        if self.time >= seconds {
            self.time = 0.0;
        }
    }
}

impl Sine {
    #[inline(always)]
    fn turn(&mut self) {
        let [c, s] = self.turn;
        let cos = c * self.cos - s * self.sin;
        let sin = s * self.cos + c * self.sin;
        let length = 1.5 - 0.5 * (cos * cos + sin * sin);
        self.cos = cos * length;
        self.sin = sin * length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::math::sqrt_f64;

    const DT: f32 = 1e-4;

    fn signal(shape: Shape) -> Signal {
        Signal {
            shape,
            offset: 0.1,
            amplitude: 0.5,
            low_hz: 0.5,
            high_hz: 3.0,
            seconds: 10.0,
            seed: 7,
        }
    }

    /// The rates are the slopes of the value, ten minutes long.
    #[test]
    fn rates_are_slopes_and_amplitudes_stay() {
        for shape in [Shape::Sine, Shape::Multisine, Shape::Chirp] {
            let signal = signal(shape);
            let mut s = State::start(&signal, DT);
            let (mut last, mut most, mut square) = (s.step(&signal, DT), 0.0f32, 0.0f64);
            for i in 1..6_000_000u32 {
                let now = s.step(&signal, DT);
                let again = i % 100_000 == 0 && shape == Shape::Chirp;
                if i % 997 == 0 && !again {
                    let slope = (now.value - last.value) / DT;
                    assert!(
                        (slope - now.rate).abs() < 0.02,
                        "{shape:?} {i}: {slope} {}",
                        now.rate
                    );
                    let slope = (now.rate - last.rate) / DT;
                    assert!(
                        (slope - now.second).abs() < 0.3,
                        "{shape:?} {i}: {slope} {}",
                        now.second
                    );
                }
                most = most.max((now.value - 0.1).abs());
                let off = f64::from(now.value - 0.1);
                square += off * off;
                last = now;
            }
            let rms = sqrt_f64(square / 6e6);
            assert!(
                (rms - 0.5 * core::f64::consts::FRAC_1_SQRT_2).abs() < 0.02,
                "{shape:?}: {rms}"
            );
            assert!(most < 1.5, "{shape:?}: {most}");
        }
    }

    #[test]
    fn steps_take_both_values_for_the_same_time() {
        let signal = signal(Shape::Steps);
        let mut s = State::start(&signal, DT);
        let up = (0..100_000)
            .filter(|_| s.step(&signal, DT).value > 0.5)
            .count();
        assert!((49_000..51_000).contains(&up), "{up}");
    }
}
