//! The user button: debounce and length of a press.
//!
//! Not part of the observers' state: what a press orders is in the next block, so replay needs no button.

/// How long it has been down.
#[derive(Clone, Copy, Debug, Default)]
pub struct Button {
    /// Ticks it has been down.
    down: u32,
    /// The long press has been told.
    done: bool,
}

/// What a press was, told once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Press {
    None,
    /// Released within a second.
    Short,
    /// Held for a second.
    Long,
}

impl Button {
    /// One tick with the button down or not.
    #[inline(always)]
    pub fn update(&mut self, down: bool, tick_hz: u32) -> Press {
        if down {
            self.down = self.down.saturating_add(1);
            if self.down >= tick_hz && !self.done {
                self.done = true;
                return Press::Long;
            }
            return Press::None;
        }
        // Shorter than 20 ms is contact bounce.
        let short = self.down >= tick_hz / 50 && !self.done;
        *self = Button::default();
        if short { Press::Short } else { Press::None }
    }
}
