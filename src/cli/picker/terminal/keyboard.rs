//! What is typed? A thread of its own reads it, until the terminal is somebody else's.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyModifiers};

use crate::picker::message::{Message, System};
use crate::picker::start_thread;

/// The thread ends so soon, or is in the middle of a key that nobody finishes.
const PATIENCE: Duration = Duration::from_millis(100);

/// The thread that reads what is typed; it ends with this.
pub struct Keyboard {
    is_wanted: Arc<AtomicBool>,
    /// Disconnected once the thread has ended.
    ended: Receiver<()>,
}

impl Keyboard {
    /// Tells what is typed from now on.
    pub fn read(tell: &Sender<Message>) -> io::Result<Self> {
        // From here on a change of the terminal's size is noticed.
        event::poll(Duration::ZERO)?;
        let is_wanted = Arc::new(AtomicBool::new(true));
        let (ends, ended) = channel::<()>();
        let (tell, wanted) = (tell.clone(), Arc::clone(&is_wanted));
        start_thread("picker-keys", move || {
            let _ends = ends;
            while wanted.load(Ordering::SeqCst) {
                match next() {
                    // What woke the thread so that it ends.
                    Ok(Some(Event::Resize(..))) if !wanted.load(Ordering::SeqCst) => {}
                    Ok(Some(event)) => {
                        let _ = tell.send(Message::Terminal(event));
                    }
                    Ok(None) => {}
                    Err(_) => {
                        let _ = tell.send(Message::System(System::HungUp));
                        return;
                    }
                }
            }
        });
        Ok(Self { is_wanted, ended })
    }
}

/// Waits for a key.
#[cfg(unix)]
fn next() -> io::Result<Option<Event>> {
    event::read().map(Some)
}

/// Waits for a key, for a while: nothing wakes it.
#[cfg(not(unix))]
fn next() -> io::Result<Option<Event>> {
    match event::poll(PATIENCE / 2)? {
        true => event::read().map(Some),
        false => Ok(None),
    }
}

impl Drop for Keyboard {
    /// Nothing is read any more: the next key is for somebody else.
    fn drop(&mut self) {
        self.is_wanted.store(false, Ordering::SeqCst);
        // What it waits for besides keys.
        #[cfg(unix)]
        let _ = signal_hook::low_level::raise(rustix::process::Signal::WINCH.as_raw());
        let _ = self.ended.recv_timeout(PATIENCE);
    }
}

/// What a terminal tells before and after a text that is pasted.
const PASTE: (&str, &str) = ("\x1b[200~", "\x1b[201~");

/// The keys in what was read beside the thread: letters, what is typed with Ctrl and Alt, and
/// arrows. Other keys of several bytes are left out.
pub fn events(mut typed: &str) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(first) = typed.chars().next() {
        if let Some(pasted) = typed.strip_prefix(PASTE.0) {
            let (pasted, rest) = pasted.split_once(PASTE.1).unwrap_or((pasted, ""));
            events.push(Event::Paste(pasted.to_owned()));
            typed = rest;
            continue;
        }
        let (key, rest) = match sequence(typed) {
            Some((sequence, rest)) => (arrow(sequence), rest),
            None => match typed
                .strip_prefix('\x1b')
                .and_then(|rest| rest.chars().next())
            {
                Some(letter) => (
                    Some(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::ALT)),
                    &typed[1 + letter.len_utf8()..],
                ),
                None => (Some(key(first)), &typed[first.len_utf8()..]),
            },
        };
        events.extend(key.map(Event::Key));
        typed = rest;
    }
    events
}

/// A key of several bytes, `ESC [ … letter` or `ESC O letter`, and what follows it.
fn sequence(typed: &str) -> Option<(&str, &str)> {
    let text = typed
        .strip_prefix("\x1b[")
        .or_else(|| typed.strip_prefix("\x1bO"))?;
    let end = text.find(|last: char| ('@'..='~').contains(&last));
    Some(text.split_at(end.map_or(text.len(), |end| end + 1)))
}

fn arrow(sequence: &str) -> Option<KeyEvent> {
    let key = match sequence {
        "A" => KeyCode::Up,
        "B" => KeyCode::Down,
        "C" => KeyCode::Right,
        "D" => KeyCode::Left,
        _ => return None,
    };
    Some(KeyEvent::from(key))
}

/// The key that types this character.
fn key(typed: char) -> KeyEvent {
    let ctrl = |letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
    match typed {
        '\r' => KeyEvent::from(KeyCode::Enter),
        '\t' => KeyEvent::from(KeyCode::Tab),
        '\x7f' => KeyEvent::from(KeyCode::Backspace),
        '\x1b' => KeyEvent::from(KeyCode::Esc),
        '\0' => ctrl(' '),
        '\x01'..='\x1a' => ctrl(char::from(b'a' - 1 + typed as u8)),
        letter => KeyEvent::from(KeyCode::Char(letter)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_that_was_read_beside_the_thread_is_lost() {
        let key = |code, modifiers| Event::Key(KeyEvent::new(code, modifiers));
        let (none, ctrl, alt) = (KeyModifiers::NONE, KeyModifiers::CONTROL, KeyModifiers::ALT);
        for (typed, wanted) in [
            ("é", vec![key(KeyCode::Char('é'), none)]),
            ("\x03", vec![key(KeyCode::Char('c'), ctrl)]),
            ("\0", vec![key(KeyCode::Char(' '), ctrl)]),
            ("\x1bs", vec![key(KeyCode::Char('s'), alt)]),
            ("\x1b", vec![key(KeyCode::Esc, none)]),
            (
                "a\r",
                vec![key(KeyCode::Char('a'), none), key(KeyCode::Enter, none)],
            ),
            (
                "\x1b[A\x1b[1;5Hx\x7f\x1bOB",
                vec![
                    key(KeyCode::Up, none),
                    key(KeyCode::Char('x'), none),
                    key(KeyCode::Backspace, none),
                    key(KeyCode::Down, none),
                ],
            ),
            (
                "\x1b[200~two\nlines\x1b[201~\t",
                vec![
                    Event::Paste("two\nlines".to_owned()),
                    key(KeyCode::Tab, none),
                ],
            ),
            ("\x1b[", vec![]),
        ] {
            assert_eq!(events(typed), wanted, "{typed:?}");
        }
    }
}
