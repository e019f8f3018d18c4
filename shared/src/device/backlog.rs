//! Frames that wait for a host that does not read: whole, oldest first, in one ring of bytes.
//!
//! A block in its queue takes the room of the longest one (2 kB); as a frame it takes what it needs (0.4 kB at the default
//! rates). So the thread side moves blocks here as soon as they are closed. A frame ends with its only zero byte (COBS),
//! which is all the ring needs to know. When a frame does not fit, the oldest ones are dropped, whole, and counted.

use heapless::Deque;

/// Up to `N` bytes of frames.
#[derive(Debug, Default)]
pub struct Backlog<const N: usize> {
    bytes: Deque<u8, N>,
    frames: u32,
}

impl<const N: usize> Backlog<N> {
    pub const fn new() -> Self {
        Backlog {
            bytes: Deque::new(),
            frames: 0,
        }
    }

    /// Add a frame; returns how many were dropped for it (itself, if it is empty or longer than the ring).
    pub fn push(&mut self, frame: &[u8]) -> u32 {
        debug_assert!(frame.iter().position(|b| *b == 0) == frame.len().checked_sub(1));
        if frame.is_empty() || frame.len() > N {
            return 1;
        }
        let mut dropped = 0;
        while N - self.bytes.len() < frame.len() {
            while self.bytes.pop_front().is_some_and(|b| b != 0) {}
            self.frames -= 1;
            dropped += 1;
        }
        for &byte in frame {
            let _ = self.bytes.push_back(byte);
        }
        self.frames += 1;
        dropped
    }

    /// Take the oldest frame; its length, 0: none waits. `into` must hold the longest frame.
    pub fn pop(&mut self, into: &mut [u8]) -> usize {
        let mut length = 0;
        while let Some(byte) = self.bytes.pop_front() {
            if let Some(place) = into.get_mut(length) {
                *place = byte;
            }
            length += 1;
            if byte == 0 {
                self.frames -= 1;
                break;
            }
        }
        length
    }

    /// Drop everything; returns how many frames that were.
    pub fn clear(&mut self) -> u32 {
        self.bytes.clear();
        core::mem::take(&mut self.frames)
    }

    pub fn is_empty(&self) -> bool {
        self.frames == 0
    }

    /// Bytes waiting.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;

    fn frame(number: u8, length: usize) -> Vec<u8> {
        let mut frame = std::vec![number; length];
        frame[length - 1] = 0;
        frame
    }

    #[test]
    fn what_fits_comes_out_in_order_and_whole() {
        let mut backlog = Backlog::<100>::new();
        let mut out = [0; 100];
        let mut expected = 1;
        // Lengths that never divide the ring: every position is a seam once.
        for number in 1..=200 {
            assert_eq!(backlog.push(&frame(number, 33)), 0);
            if number % 2 == 0 {
                for _ in 0..2 {
                    let n = backlog.pop(&mut out);
                    assert_eq!(out[..n], frame(expected, 33));
                    expected += 1;
                }
            }
        }
        assert!(backlog.is_empty());
        assert_eq!(backlog.pop(&mut out), 0);
    }

    #[test]
    fn the_oldest_give_way_and_are_counted() {
        let mut backlog = Backlog::<100>::new();
        let mut out = [0; 100];
        for number in 1..=10 {
            assert_eq!(backlog.push(&frame(number, 10)), 0);
        }
        assert_eq!(backlog.bytes(), 100);
        assert_eq!(backlog.push(&frame(11, 25)), 3);
        let n = backlog.pop(&mut out);
        assert_eq!(out[..n], frame(4, 10), "a whole frame after the gap");
        assert_eq!(backlog.push(&frame(12, 100)), 7);
        assert_eq!(backlog.push(&frame(13, 101)), 1, "longer than the ring");
        let n = backlog.pop(&mut out);
        assert_eq!(out[..n], frame(12, 100));
        assert!(backlog.is_empty());
        backlog.push(&frame(14, 5));
        backlog.push(&frame(15, 5));
        assert_eq!((backlog.clear(), backlog.clear()), (2, 0));
        assert_eq!(backlog.bytes(), 0);
    }
}
