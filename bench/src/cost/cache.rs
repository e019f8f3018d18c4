//! A set-associative cache of 32-byte lines with least-recently-used replacement: which accesses need a line fill.
//!
//! The Cortex-M7's caches replace pseudo-randomly. Least recently used is the pessimistic choice for code that runs round and round: a loop
//! one way larger than the cache misses on every line of the set.

/// Bytes of a line.
pub const LINE: u32 = 32;

/// Tags of one set, most recent first; 0 = empty.
pub struct Cache<const WAYS: usize> {
    sets: Vec<[u32; WAYS]>,
    pub enabled: bool,
    pub fills: u64,
}

impl<const WAYS: usize> Cache<WAYS> {
    /// Empty and off, as after reset.
    pub fn new(bytes: u32) -> Self {
        Cache {
            sets: vec![[0; WAYS]; (bytes / LINE) as usize / WAYS],
            enabled: false,
            fills: 0,
        }
    }

    pub fn invalidate(&mut self) {
        self.sets.fill([0; WAYS]);
    }

    /// Forgets one line.
    pub fn invalidate_line(&mut self, address: u32) {
        let (set, tag) = self.place(address);
        self.sets[set]
            .iter_mut()
            .filter(|t| **t == tag)
            .for_each(|t| *t = 0);
    }

    fn place(&self, address: u32) -> (usize, u32) {
        let line = address / LINE;
        // Tag 0 means empty: line numbers of cached memory are never 0.
        (line as usize % self.sets.len(), line)
    }

    /// An access to `address`; true = the line had to be filled. A cache that is off keeps nothing.
    #[inline(always)]
    pub fn access(&mut self, address: u32) -> bool {
        if !self.enabled {
            self.fills += 1;
            return true;
        }
        let (set, tag) = self.place(address);
        let set = &mut self.sets[set];
        if set[0] == tag {
            return false;
        }
        let found = set.iter().position(|&t| t == tag);
        let way = found.unwrap_or(WAYS - 1);
        set[..=way].rotate_right(1);
        set[0] = tag;
        self.fills += u64::from(found.is_none());
        found.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on() -> Cache<2> {
        let mut c = Cache::new(16 * 1024);
        c.enabled = true;
        c
    }

    /// One run through `bytes` of code after another; fills of the last.
    fn fills_of_a_loop(bytes: u32) -> u64 {
        let mut c = on();
        let run = |c: &mut Cache<2>| {
            let before = c.fills;
            for i in 0..bytes / LINE {
                c.access(0x0800_0000 + i * LINE);
            }
            c.fills - before
        };
        run(&mut c);
        run(&mut c)
    }

    #[test]
    fn what_fits_is_filled_once_and_what_does_not_fit_thrashes() {
        assert_eq!(fills_of_a_loop(16 * 1024), 0);
        // 2 KiB too much: 64 of 256 sets hold three lines each, and all three miss.
        assert_eq!(fills_of_a_loop(18 * 1024), 3 * 64);
        assert_eq!(fills_of_a_loop(24 * 1024), 3 * 256);
    }

    #[test]
    fn invalidation_and_off() {
        let mut c = on();
        assert!(c.access(0x0800_0000) && !c.access(0x0800_001c));
        c.invalidate_line(0x0800_0010);
        assert!(c.access(0x0800_0000));
        c.invalidate();
        assert!(c.access(0x0800_0000));
        c.enabled = false;
        assert!(c.access(0x0800_0000) && c.access(0x0800_0000));
    }

    #[test]
    fn the_least_recently_used_way_goes() {
        let mut c = on();
        let line = |n: u32| 0x0800_0000 + n * 8 * 1024; // all in one set
        assert!(c.access(line(0)) && c.access(line(1)));
        assert!(!c.access(line(0)));
        assert!(c.access(line(2)));
        assert!(!c.access(line(0)) && c.access(line(1)));
    }
}
