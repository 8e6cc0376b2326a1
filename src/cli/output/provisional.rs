//! What is there to see while the answer is still being made? Its first rows, on stderr, replaced
//! until it comes.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How long nothing is shown: most answers are there by then.
const PATIENCE: Duration = Duration::from_millis(300);
/// Between two drawings.
const PAUSE: Duration = Duration::from_millis(100);

/// Lines that are drawn again and again, and gone in the end.
pub struct LiveLines {
    lines: usize,
    rows: String,
    begun: Instant,
    drawn: Option<Instant>,
}

impl LiveLines {
    /// `None` where nobody would see it.
    pub fn new() -> Option<Self> {
        let is_seen = io::stdout().is_terminal() && io::stderr().is_terminal();
        is_seen.then(|| Self {
            lines: 0,
            rows: String::new(),
            begun: Instant::now(),
            drawn: None,
        })
    }

    /// Rows that leave room for what else is on the screen.
    pub fn most_rows() -> usize {
        terminal_size::terminal_size_of(io::stderr()).map_or(10, |(_, height)| {
            usize::from(height.0).saturating_sub(4).max(1)
        })
    }

    /// Takes rows, ready to print, each on a line.
    pub fn rows(&mut self, rows: String) {
        self.rows = rows;
    }

    /// Draws the rows and how far it is.
    pub fn draw(&mut self, loaded: u64, total: u64) {
        let is_time = |drawn: Instant| drawn.elapsed() >= PAUSE;
        if self.begun.elapsed() < PATIENCE || !self.drawn.is_none_or(is_time) {
            return;
        }
        self.drawn = Some(Instant::now());
        let text = format!("{}Reading: {loaded} of {total} files …\n", self.rows);
        let back = self.back();
        self.lines = text.lines().count();
        // When it cannot be drawn, nobody misses it.
        let _ = write!(io::stderr(), "{back}{text}");
    }

    /// What takes the cursor to where the drawing begins, and clears all below.
    fn back(&self) -> String {
        match self.lines {
            0 => String::new(),
            lines => format!("\u{1b}[{lines}A\r\u{1b}[J"),
        }
    }
}

impl Drop for LiveLines {
    fn drop(&mut self) {
        let _ = write!(io::stderr(), "{}", self.back());
    }
}
