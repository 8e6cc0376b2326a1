//! How does the terminal become the picker's, and how is it given back as it was?

mod below;
mod held;
mod keyboard;
#[cfg(unix)]
mod signals;

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::style::{Attribute, SetAttribute};
#[cfg(not(unix))]
use ratatui::crossterm::terminal::disable_raw_mode;
use ratatui::crossterm::terminal::{
    self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, enable_raw_mode,
};
use ratatui::crossterm::{cursor, queue};
use ratatui::layout::{Position, Rect, Size};
use ratatui::{Frame, Terminal as Drawing, TerminalOptions, Viewport};

use super::message::Message;
use below::Place;
pub use held::is_open;
use keyboard::Keyboard;

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

/// Of a terminal that does not know its size.
const UNKNOWN_SIZE: Size = Size::new(80, 24);

/// More lines, or columns, are not drawn.
const MOST_CELLS: u16 = 2000;

/// The terminal while it is the picker's.
pub struct Terminal {
    tty: Arc<File>,
    height: Option<Height>,
    tell: Sender<Message>,
    /// Who reads what is typed; nobody while the terminal is not the picker's.
    keyboard: Option<Keyboard>,
    drawing: Drawing<CrosstermBackend<Pen>>,
    pen: Pen,
    /// How large all of the terminal is.
    screen: Size,
    /// Where the picker is drawn.
    area: Rect,
    /// Where that is, below the prompt.
    below: Option<Place>,
    /// A signal ends the process.
    is_ending: bool,
}

impl Terminal {
    /// Takes the terminal, and tells what is typed there, and what the system has to say.
    pub fn enter(height: Option<Height>, tell: &Sender<Message>) -> io::Result<Self> {
        let tty = open()?;
        #[cfg(unix)]
        {
            signals::listen(tell)?;
            signals::watch_terminal(&tty, tell)?;
        }
        held::set_open(true);
        held::give_back_at_panics(tell);
        let pen = Pen::default();
        let mut terminal = Self {
            drawing: drawing(Rect::ZERO, &pen)?,
            tty: Arc::new(tty),
            height,
            tell: tell.clone(),
            keyboard: None,
            pen,
            screen: Size::ZERO,
            area: Rect::ZERO,
            below: None,
            is_ending: false,
        };
        terminal.take()?;
        Ok(terminal)
    }

    /// How large the picker is.
    pub fn size(&self) -> Size {
        self.area.as_size()
    }

    /// Takes the terminal from whoever had it.
    fn take(&mut self) -> io::Result<()> {
        self.keyboard = None;
        self.below = None;
        held::hold(&self.tty, Vec::new())?;
        enable_raw_mode()?;
        let mut begin = Vec::new();
        match self.height {
            None => {
                let mut end = Vec::new();
                queue!(begin, EnterAlternateScreen)?;
                mouse(&mut begin, true)?;
                mouse(&mut end, false)?;
                queue!(end, DisableBracketedPaste, LeaveAlternateScreen)?;
                queue!(end, SetAttribute(Attribute::Reset), cursor::Show)?;
                held::hold(&self.tty, end)?;
            }
            Some(_) => held::hold(&self.tty, below_end(None)?)?,
        }
        queue!(begin, EnableBracketedPaste)?;
        held::write(&begin)?;
        self.fit()
    }

    /// Fills the terminal as large as it is now, to be drawn anew.
    fn fit(&mut self) -> io::Result<()> {
        self.screen = size()?;
        self.area = match self.height {
            None => {
                self.pen.say(|out| queue!(out, Clear(ClearType::All)))?;
                Rect::from((Position::ORIGIN, self.screen))
            }
            Some(height) => self.stand_below(height)?,
        };
        self.drawing = drawing(self.area, &self.pen)?;
        if self.keyboard.is_none() {
            self.keyboard = Some(Keyboard::read(&self.tell)?);
        }
        Ok(())
    }

    /// Makes room below the prompt, or anew where the picker stands already.
    fn stand_below(&mut self, height: Height) -> io::Result<Rect> {
        let screen = self.screen;
        // The answer is read here.
        self.keyboard = None;
        held::write(below::QUESTION)?;
        let (cursor, typed) = below::cursor(&self.tty)?;
        for event in keyboard::events(&typed) {
            let _ = self.tell.send(Message::Terminal(event));
        }
        // A terminal that does not say where its cursor is gives its last lines.
        let last = Position::new(0, screen.height.saturating_sub(1));
        let cursor = cursor.unwrap_or(last);
        let place = match self.below {
            Some(before) => below::placed(cursor.y, before.prompt, height, screen),
            None => below::place(cursor, height, screen),
        };
        self.below = Some(place);
        self.pen.say(|out| {
            queue!(out, cursor::MoveTo(0, last.y))?;
            out.extend(std::iter::repeat_n(b'\n', usize::from(place.scroll)));
            queue!(out, cursor::MoveTo(0, place.area.y))?;
            queue!(out, Clear(ClearType::FromCursorDown))
        })?;
        held::hold(&self.tty, below_end(Some(place))?)?;
        Ok(place.area)
    }

    /// Whether the terminal has another size than the picker knows.
    pub fn is_resized(&self) -> io::Result<bool> {
        Ok(held::is_held() && size()? != self.screen)
    }

    /// The terminal has another size. After a stop this may be heard before the system says that
    /// the process goes on: whoever sees the picker again must find the terminal raw.
    pub fn resized(&mut self) -> io::Result<()> {
        if self.is_resized()? {
            make_raw(&self.tty)?;
            self.fit()?;
        }
        Ok(())
    }

    /// Something else was written on the terminal. It has moved the cursor, which so does not tell
    /// where the picker stands.
    pub fn redraw(&mut self) -> io::Result<()> {
        if held::is_held() {
            make_raw(&self.tty)?;
            let Position { x, y } = self.area.as_position();
            self.pen.say(|out| {
                queue!(out, SetAttribute(Attribute::Reset), cursor::MoveTo(x, y))?;
                queue!(out, Clear(ClearType::FromCursorDown))
            })?;
            self.drawing = drawing(self.area, &self.pen)?;
        }
        Ok(())
    }

    /// The process goes on; meanwhile others have used the terminal.
    pub fn continued(&mut self) -> io::Result<()> {
        if !held::is_held() {
            return self.take();
        }
        // It was stopped without being asked.
        make_raw(&self.tty)?;
        self.below = None;
        self.fit()
    }

    /// Draws, unless the terminal is somebody else's at the moment.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if !held::is_held() {
            return Ok(());
        }
        let is_below = self.below.is_some();
        self.drawing.draw(|frame| {
            if is_below {
                // Where the cursor is tells where the picker is, once the size has changed.
                frame.set_cursor_position(frame.area().as_position());
            }
            draw(frame);
        })?;
        self.pen.write()
    }

    /// A signal is about to end the process.
    pub fn end_by_signal(&mut self) {
        self.is_ending = true;
    }

    /// The terminal itself, which can be told something that draws nothing, also once it was given
    /// back.
    pub fn tty(&self) -> Arc<File> {
        Arc::clone(&self.tty)
    }

    /// Stops the process, all of its job or it alone, until a shell lets it go on.
    #[cfg_attr(not(unix), expect(unused_variables))]
    pub fn suspend(&mut self, whole_job: bool) {
        #[cfg(unix)]
        if held::is_held() && signals::is_of_a_job() {
            self.keyboard = None;
            held::give_back();
            signals::stop(whole_job);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.keyboard = None;
        held::give_back();
        // To the end it is the picker that sees to a signal which came while it was open.
        if !self.is_ending {
            held::set_open(false);
        }
    }
}

fn drawing(area: Rect, pen: &Pen) -> io::Result<Drawing<CrosstermBackend<Pen>>> {
    let viewport = Viewport::Fixed(area);
    Drawing::with_options(
        CrosstermBackend::new(pen.clone()),
        TerminalOptions { viewport },
    )
}

/// Makes a terminal raw again that another program has used: at no moment anything else, because a
/// key that comes then is lost. What it was at first is still known to whoever gives it back.
#[cfg(unix)]
fn make_raw(tty: &File) -> io::Result<()> {
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

    let mut modes = tcgetattr(tty)?;
    modes.make_raw();
    Ok(tcsetattr(tty, OptionalActions::Now, &modes)?)
}

#[cfg(not(unix))]
fn make_raw(_: &File) -> io::Result<()> {
    disable_raw_mode()?;
    enable_raw_mode()
}

/// Whether the process has a terminal: one of its streams may be one that is not its own.
pub fn is_there() -> bool {
    open().is_ok()
}

/// The terminal itself: stdout may be a pipe.
fn open() -> io::Result<File> {
    let path = if cfg!(windows) { "CONOUT$" } else { "/dev/tty" };
    File::options().read(true).write(true).open(path)
}

fn size() -> io::Result<Size> {
    let (width, height) = terminal::size()?;
    Ok(match width == 0 || height == 0 {
        true => UNKNOWN_SIZE,
        // A terminal may say anything, and each of its cells is kept.
        false => Size::new(width.min(MOST_CELLS), height.min(MOST_CELLS)),
    })
}

/// Whether clicks and the wheel are told. Not where the mouse is moved to: each pixel would be
/// drawn.
#[cfg(unix)]
fn mouse(out: &mut Vec<u8>, is_wanted: bool) -> io::Result<()> {
    let (clicks, wide) = match is_wanted {
        true => ("\x1b[?1000h", "\x1b[?1006h"),
        false => ("\x1b[?1000l", "\x1b[?1006l"),
    };
    write!(out, "{clicks}{wide}")
}

#[cfg(not(unix))]
fn mouse(out: &mut Vec<u8>, is_wanted: bool) -> io::Result<()> {
    use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
    match is_wanted {
        true => queue!(out, EnableMouseCapture),
        false => queue!(out, DisableMouseCapture),
    }
}

/// What erases the picker where it stands below the prompt.
fn below_end(place: Option<Place>) -> io::Result<Vec<u8>> {
    let mut end = Vec::new();
    queue!(end, DisableBracketedPaste, SetAttribute(Attribute::Reset))?;
    if let Some(place) = place {
        queue!(end, cursor::MoveTo(0, place.area.y))?;
        queue!(end, Clear(ClearType::FromCursorDown))?;
        let cursor = place.cursor();
        queue!(end, cursor::MoveTo(cursor.x, cursor.y))?;
    }
    queue!(end, cursor::Show)?;
    Ok(end)
}

/// What is drawn: kept until it is whole, so that a panic never finds half of it on the terminal,
/// and nobody sees half of it.
#[derive(Clone, Default)]
struct Pen(Rc<RefCell<Vec<u8>>>);

impl Pen {
    /// Puts all of it on the terminal.
    fn write(&self) -> io::Result<()> {
        held::write(&self.0.take())
    }

    /// Draws this before everything else.
    fn say(&self, say: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
        self.0.borrow_mut().clear();
        say(&mut self.0.borrow_mut())
    }
}

impl Write for Pen {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(text)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
