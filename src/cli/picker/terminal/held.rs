//! Who gives the terminal back? Whoever is first: the picker when it leaves or stops, or a panic in
//! any thread.

use std::fs::File;
use std::io::{self, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ratatui::crossterm::terminal::disable_raw_mode;

use crate::picker::message::{Message, System};

/// The terminal, while it is the picker's.
static HELD: Mutex<Option<HeldTerminal>> = Mutex::new(None);

/// Whether the picker is open, even while it is stopped and the terminal the shell's.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

struct HeldTerminal {
    tty: File,
    /// What makes the screen what it was.
    leave: Vec<u8>,
}

fn held() -> MutexGuard<'static, Option<HeldTerminal>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the picker is open.
pub fn is_open() -> bool {
    IS_OPEN.load(Ordering::SeqCst)
}

/// It is open from now on, or no longer.
pub fn set_open(is_open: bool) {
    IS_OPEN.store(is_open, Ordering::SeqCst);
}

/// Whether the terminal is the picker's.
pub fn is_held() -> bool {
    held().is_some()
}

/// The terminal is the picker's from now on; this is written when it is given back.
pub fn hold(tty: &File, leave: Vec<u8>) -> io::Result<()> {
    let tty = tty.try_clone()?;
    *held() = Some(HeldTerminal { tty, leave });
    Ok(())
}

/// Writes on the terminal, all at once; nothing where it is not the picker's.
pub fn write(text: &[u8]) -> io::Result<()> {
    match &mut *held() {
        Some(held) => held.tty.write_all(text),
        None => Ok(()),
    }
}

/// Makes the terminal what it was. Where it is gone nothing can be done, and need not.
pub fn give_back() {
    let mut held = held();
    if let Some(mut held) = held.take() {
        let _ = held.tty.write_all(&held.leave);
        let _ = disable_raw_mode();
    }
}

/// A panic is told on a terminal that is as it was, and ends the picker; those that the library
/// catches do neither.
pub fn give_back_at_panics(tell: &Sender<Message>) {
    let tell = tell.clone();
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let is_ours = is_open() && !sessionary::index::panic_is_caught();
        if is_ours {
            give_back();
        }
        usual(panic);
        if is_ours {
            // Nobody listens where it was the picker's own thread.
            let _ = tell.send(Message::System(System::Panicked));
        }
    }));
}
