//! What waits to be printed? Never more than a client that stops reading may hold up.
//!
//! Threads with an answer wait for room. Who may not wait has a little more room than they, and
//! beyond that the talk ends. News that has no room is left out, and one line says so.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::message;

/// Bytes that wait to be printed, beside the answers of threads that wait for room.
const MOST: usize = 1 << 20;
/// And of what is told at once: refusals are short.
const ROOM: usize = 256 << 10;
/// Who reads takes less than this for what is printed at once.
const PATIENCE: Duration = Duration::from_millis(250);

/// The way to the client. Clones are one.
#[derive(Clone)]
pub struct OutputQueue(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    /// Something was added, or taken.
    turned: Condvar,
}

#[derive(Default)]
struct Queue {
    text: String,
    /// News that had no room: what is told in its place.
    missed: Option<String>,
    /// Since when some of it is being printed.
    printing: Option<Instant>,
    is_closed: bool,
}

impl OutputQueue {
    /// Begins to print; `closed` is called when nothing can be printed any more.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(
        mut print: impl FnMut(&str) -> io::Result<()> + Send + 'static,
        closed: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let queue = Self(Arc::new(Shared {
            queue: Mutex::default(),
            turned: Condvar::new(),
        }));
        let taken = queue.clone();
        Builder::new()
            .name("rpc-prints".to_owned())
            .spawn(move || {
                while let Some(text) = taken.next() {
                    if print(&text).is_err() {
                        taken.lock().is_closed = true;
                        taken.0.turned.notify_all();
                        return closed();
                    }
                }
            })?;
        Ok(queue)
    }

    /// Adds a line, as soon as there is room for it.
    pub fn line(&self, line: &str) {
        let waits = |queue: &mut Queue| {
            !(queue.is_closed || queue.text.is_empty() || queue.text.len() + line.len() < MOST)
        };
        let waited = self.0.turned.wait_while(self.lock(), waits);
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
        self.add(&mut queue, line);
    }

    /// Adds a line without waiting; `false`: there is no room even for that.
    pub fn line_at_once(&self, line: String) -> bool {
        let mut queue = self.lock();
        let has_room = queue.text.is_empty() || queue.text.len() + line.len() < MOST + ROOM;
        if has_room {
            self.add(&mut queue, &line);
        }
        has_room
    }

    /// Tells something new, where there is room for it; else `missed` is told when there is.
    pub fn news(&self, method: &str, params: &Value) {
        let line = message::notification(method, params);
        let mut queue = self.lock();
        // Answers go before news.
        match queue.missed.is_none() && queue.text.len() + line.len() < MOST / 2 {
            true => self.add(&mut queue, &line),
            false => {
                let missed = message::notification(method, &json!({ "missed": true }));
                queue.missed = Some(missed);
            }
        }
    }

    /// Asks the client something.
    pub fn ask(&self, id: &str, method: &str) {
        self.line_at_once(message::request(id, method));
    }

    /// Whether nothing waits to be read, as far as that can be known.
    pub fn is_read(&self) -> bool {
        let queue = self.lock();
        queue.is_closed || queue.printing.is_none() && queue.text.is_empty()
    }

    /// Whether somebody is there who does not read.
    pub fn is_stuck(&self) -> bool {
        let printing = self.lock().printing;
        printing.is_some_and(|since| since.elapsed() > PATIENCE)
    }

    /// Whether nobody reads any more.
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    fn add(&self, queue: &mut Queue, line: &str) {
        if !queue.is_closed {
            queue.text.push_str(line);
            queue.text.push('\n');
        }
        self.0.turned.notify_all();
    }

    /// What is to be printed next, as soon as there is something.
    fn next(&self) -> Option<String> {
        let mut queue = self.lock();
        queue.printing = None;
        self.0.turned.notify_all();
        let is_idle = |queue: &mut Queue| queue.text.is_empty() && queue.missed.is_none();
        let waited = self.0.turned.wait_while(queue, is_idle);
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
        let mut text = std::mem::take(&mut queue.text);
        if let Some(missed) = queue.missed.take() {
            text.push_str(&missed);
            text.push('\n');
        }
        queue.printing = Some(Instant::now());
        self.0.turned.notify_all();
        Some(text)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn who_does_not_read_holds_up_no_more_than_the_queue() {
        let (go_on, is_read) = channel::<()>();
        let (taken, is_taken) = channel();
        let paper = Arc::<Mutex<String>>::default();
        let printed = Arc::clone(&paper);
        let print = move |text: &str| {
            taken.send(()).map_err(io::Error::other)?;
            is_read.recv().map_err(io::Error::other)?;
            printed.lock().unwrap().push_str(text);
            Ok(())
        };
        let queue = OutputQueue::start(print, || ()).unwrap();
        queue.line("0");
        is_taken.recv().unwrap();
        let long = "x".repeat(MOST / 4);
        let refused = (0..20).filter(|_| !queue.line_at_once(long.clone()));
        assert!(refused.count() >= 14);
        assert!(queue.lock().text.len() < MOST + ROOM);
        // News is left out, and told once.
        queue.news("change", &json!(1));
        queue.news("change", &json!(2));
        // Who may wait does.
        let waits = std::thread::spawn({
            let (queue, long) = (queue.clone(), long.clone());
            move || queue.line(&long)
        });
        for _ in 0..3 {
            go_on.send(()).unwrap();
        }
        waits.join().unwrap();
        while !queue.is_read() {
            std::thread::yield_now();
        }
        let paper = paper.lock().unwrap().replace(&long, "long");
        let lines: Vec<&str> = paper.lines().collect();
        let missed = r#"{"jsonrpc":"2.0","method":"change","params":{"missed":true}}"#;
        assert_eq!(lines.iter().filter(|line| **line == missed).count(), 1);
        assert_eq!((lines[0], lines.last()), ("0", Some(&"long")));
    }
}
