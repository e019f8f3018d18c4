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

/// One tick of 1/`tick_hz` with the button down or not.
#[inline(always)]
pub fn step(tick_hz: u32, button: &mut Button, down: bool) -> Press {
    if down {
        button.down = button.down.saturating_add(1);
        if button.down >= tick_hz && !button.done {
            button.done = true;
            return Press::Long;
        }
        return Press::None;
    }
    // Shorter than 20 ms is contact bounce.
    let short = button.down >= tick_hz / 50 && !button.done;
    *button = Button::default();
    if short { Press::Short } else { Press::None }
}
