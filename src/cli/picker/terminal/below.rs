//! Where does the picker stand that is opened below the prompt, and where is the cursor?

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::time::{Duration, Instant};

use ratatui::layout::{Position, Rect, Size};

use super::Height;

/// The terminal tells where its cursor is within so long, or it never does.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_millis(500);

/// Asks the terminal where its cursor is.
pub const QUESTION: &[u8] = b"\x1b[6n";

/// Fewer lines show no session: the query, a session's two and the last line.
const LEAST: u16 = 4;

/// Where the picker stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub area: Rect,
    /// The terminal is moved up by so many lines to make room.
    pub scroll: u16,
    /// The column in which the cursor was, where something is written in its line: the picker
    /// stands below that one.
    pub prompt: Option<u16>,
}

impl Place {
    /// Where the cursor is at the end, as it was before.
    pub fn cursor(&self) -> Position {
        match self.prompt {
            Some(column) => Position::new(column, self.area.y.saturating_sub(1)),
            None => self.area.as_position(),
        }
    }
}

/// Below the cursor, or in its line where nothing is written there yet.
pub fn place(cursor: Position, height: Height, screen: Size) -> Place {
    let prompt = (cursor.x > 0).then_some(cursor.x);
    let line = cursor.y.saturating_add(u16::from(prompt.is_some()));
    placed(line, prompt, height, screen)
}

/// In this line, as near as that can be.
pub fn placed(line: u16, prompt: Option<u16>, height: Height, screen: Size) -> Place {
    let wanted = match height {
        Height::Lines(lines) => u32::from(lines),
        Height::Percent(part) => (u32::from(screen.height) * u32::from(part)).div_ceil(100),
    };
    // The prompt is seen, if only there is room for it.
    let above = u16::from(prompt.is_some() && screen.height > LEAST);
    let wanted = u16::try_from(wanted).unwrap_or(u16::MAX);
    let height = wanted.max(LEAST).min(screen.height - above);
    let line = line.clamp(above, screen.height.max(above));
    let scroll = height.saturating_sub(screen.height - line);
    Place {
        area: Rect::new(0, line - scroll, screen.width, height),
        scroll,
        prompt,
    }
}

/// Where the cursor is, as the terminal answers, and what was typed before it did; `None`: it does
/// not answer.
#[cfg(unix)]
pub fn cursor(tty: &File) -> io::Result<(Option<Position>, String)> {
    use std::io::Read;
    use std::os::fd::AsFd;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let mut tty = tty;
    let deadline = Instant::now() + PATIENCE;
    let mut read = Vec::new();
    while answer(&read).is_none() {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut watched = [PollFd::from_borrowed_fd(tty.as_fd(), PollFlags::IN)];
        let left = Timespec::try_from(left).unwrap_or_default();
        match poll(&mut watched, Some(&left)) {
            Err(rustix::io::Errno::INTR) => continue,
            Ok(1) if watched[0].revents().contains(PollFlags::IN) => {}
            _ => break,
        }
        let mut some = [0; 256];
        match tty.read(&mut some)? {
            0 => break,
            length => read.extend_from_slice(&some[..length]),
        }
    }
    let (position, typed) = match answer(&read) {
        Some((range, position)) => (
            Some(position),
            [&read[..range.0], &read[range.1..]].concat(),
        ),
        None => (None, read),
    };
    Ok((position, String::from_utf8_lossy(&typed).into_owned()))
}

#[cfg(not(unix))]
pub fn cursor(_: &File) -> io::Result<(Option<Position>, String)> {
    let (x, y) = ratatui::crossterm::cursor::position()?;
    Ok((Some(Position::new(x, y)), String::new()))
}

/// The answer among what was read, and where it is: `ESC [ line ; column R`.
#[cfg_attr(not(unix), expect(dead_code))]
fn answer(read: &[u8]) -> Option<((usize, usize), Position)> {
    (0..read.len()).find_map(|from| {
        let text = read[from..].strip_prefix(b"\x1b[")?;
        let length = text.iter().position(|byte| *byte == b'R')?;
        let (line, column) = std::str::from_utf8(&text[..length]).ok()?.split_once(';')?;
        let (line, column): (u16, u16) = (line.parse().ok()?, column.parse().ok()?);
        let position = Position::new(column.saturating_sub(1), line.saturating_sub(1));
        Some(((from, from + 2 + length + 1), position))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Size = Size::new(80, 24);

    fn stands(x: u16, y: u16, height: Height, screen: Size) -> (Rect, u16, Position) {
        let place = place(Position::new(x, y), height, screen);
        (place.area, place.scroll, place.cursor())
    }

    #[test]
    fn it_stands_below_the_prompt_and_the_terminal_makes_room() {
        let (lines, part) = (Height::Lines(10), Height::Percent(40));
        let at = |y| Rect::new(0, y, 80, 10);
        let cursor = Position::new;
        assert_eq!(stands(0, 3, lines, SCREEN), (at(3), 0, cursor(0, 3)));
        assert_eq!(stands(7, 3, lines, SCREEN), (at(4), 0, cursor(7, 3)));
        assert_eq!(stands(0, 3, part, SCREEN), (at(3), 0, cursor(0, 3)));
        assert_eq!(stands(0, 23, lines, SCREEN), (at(14), 9, cursor(0, 14)));
        assert_eq!(stands(2, 23, lines, SCREEN), (at(14), 10, cursor(2, 13)));
    }

    #[test]
    fn it_is_never_larger_than_the_terminal_nor_without_a_session() {
        for height in [Height::Lines(99), Height::Percent(100)] {
            assert_eq!(stands(0, 5, height, SCREEN).0, Rect::new(0, 0, 80, 24));
            assert_eq!(stands(1, 5, height, SCREEN).0, Rect::new(0, 1, 80, 23));
        }
        assert_eq!(stands(0, 0, Height::Lines(1), SCREEN).0.height, LEAST);
        for (width, height) in [(0, 0), (1, 1), (5, 3), (80, 4), (80, 5)] {
            for (x, y) in [(0, 0), (1, 1), (70, 99), (70, u16::MAX)] {
                let screen = Size::new(width, height);
                let (area, _, cursor) = stands(x, y, Height::Percent(40), screen);
                assert!(area.bottom() <= height && cursor.y <= height, "{area:?}");
                assert_eq!(area.height, height.min(LEAST), "{area:?}");
            }
        }
    }

    #[test]
    fn it_stays_below_its_prompt_when_the_terminal_grows_or_shrinks() {
        let before = place(Position::new(7, 20), Height::Percent(50), SCREEN);
        assert_eq!(before.area, Rect::new(0, 12, 80, 12));
        let smaller = Size::new(40, 10);
        let after = placed(6, before.prompt, Height::Percent(50), smaller);
        assert_eq!(after.area, Rect::new(0, 5, 40, 5));
        assert_eq!(after.cursor(), Position::new(7, 4));
    }

    #[test]
    fn the_answer_is_found_among_what_was_typed() {
        assert_eq!(answer(b"\x1b[12"), None);
        assert_eq!(answer(b"ab\x1b[A\x1b[;R"), None);
        let found = Some(((2, 9), Position::new(79, 11)));
        assert_eq!(
            answer(b"ab\x1b[12;80Rcd").map(|(_, at)| at),
            found.map(|f| f.1)
        );
        assert_eq!(answer(b"ab\x1b[1;8Rc"), Some(((2, 8), Position::new(7, 0))));
    }
}
