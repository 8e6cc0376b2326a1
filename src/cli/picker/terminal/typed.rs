//! What is typed? A thread of its own reads it, until the terminal is somebody else's.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event};

use crate::picker::message::{Message, System};
use crate::picker::start_thread;

/// The thread ends so soon, or is in the middle of a key that nobody finishes.
const PATIENCE: Duration = Duration::from_millis(100);

/// The thread that reads what is typed; it ends with this.
pub struct Typed {
    is_wanted: Arc<AtomicBool>,
    /// Disconnected once the thread has ended.
    ended: Receiver<()>,
}

impl Typed {
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

impl Drop for Typed {
    /// Nothing is read any more: the next key is for somebody else.
    fn drop(&mut self) {
        self.is_wanted.store(false, Ordering::SeqCst);
        // What it waits for besides keys.
        #[cfg(unix)]
        let _ = signal_hook::low_level::raise(rustix::process::Signal::WINCH.as_raw());
        let _ = self.ended.recv_timeout(PATIENCE);
    }
}
