//! How does the terminal become the picker's, and how is it given back as it was?

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::mpsc::Sender;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use ratatui::layout::Size;
use ratatui::{Frame, Terminal as Drawing};

use super::message::Message;
use super::start_thread;

/// How much of the terminal the picker takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Height {
    Lines(u16),
    Percent(u16),
}

impl Height {
    /// `15` or `40%`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (number, is_part) = match text.strip_suffix('%') {
            Some(number) => (number, true),
            None => (text, false),
        };
        match number.trim().parse() {
            Ok(part @ 1..=100) if is_part => Ok(Self::Percent(part)),
            Ok(lines @ 1..) if !is_part => Ok(Self::Lines(lines)),
            _ => Err("a number of lines, or a part of the terminal as in 40%".to_owned()),
        }
    }
}

/// The terminal while it is the picker's.
pub struct Terminal {
    drawing: Drawing<CrosstermBackend<BufWriter<File>>>,
}

impl Terminal {
    /// Takes the terminal.
    pub fn enter(_height: Option<Height>) -> io::Result<Self> {
        let tty = File::options().read(true).write(true).open("/dev/tty")?;
        let mut tty = BufWriter::new(tty);
        enable_raw_mode()?;
        execute!(
            tty,
            EnterAlternateScreen,
            EnableMouseCapture,
            EnableBracketedPaste
        )?;
        let drawing = Drawing::new(CrosstermBackend::new(tty))?;
        Ok(Self { drawing })
    }

    pub fn size(&self) -> io::Result<Size> {
        self.drawing.size()
    }

    /// Tells what is typed, from a thread of its own.
    pub fn read_keys(&self, tell: &Sender<Message>) -> io::Result<()> {
        let tell = tell.clone();
        start_thread("picker-keys", move || {
            while let Ok(event) = event::read() {
                if tell.send(Message::Terminal(event)).is_err() {
                    return;
                }
            }
            let _ = tell.send(Message::End);
        });
        Ok(())
    }

    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.drawing.draw(draw).map(drop)
    }

    /// Stops the process until the shell lets it go on.
    pub fn suspend(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let out = self.drawing.backend_mut();
        let _ = execute!(
            out,
            DisableBracketedPaste,
            DisableMouseCapture,
            LeaveAlternateScreen,
            cursor::Show
        );
        let _ = out.flush();
        let _ = disable_raw_mode();
    }
}
