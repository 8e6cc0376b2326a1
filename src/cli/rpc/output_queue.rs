//! What waits to be printed? Never more than a client that stops reading may hold up.
//!
//! Threads with an answer wait for room. What is told at once waits for none, and has room of its
//! own: while that is full, nothing more is taken in that might have to be told. News that has no
//! room is left out, and one line says so.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::message;

/// Bytes of answers that wait to be printed, unless a single one has more.
const MOST: usize = 1 << 20;
/// Bytes of what is told at once. Refusals are short, so these are thousands.
const ROOM: usize = 1 << 20;
/// Bytes that are printed at once.
const PIECE: usize = 64 << 10;
/// Who reads takes less than this for a piece.
const PATIENCE: Duration = Duration::from_secs(1);

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
    /// How much of the text was told at once.
    at_once: usize,
    /// News that had no room: what is told in its place.
    missed: Option<String>,
    /// Since when a piece is being printed.
    printing: Option<Instant>,
    is_closed: bool,
}

impl Queue {
    /// Bytes that threads have waited for.
    fn answers(&self) -> usize {
        self.text.len() - self.at_once
    }
}

impl OutputQueue {
    /// Begins to print; `closed` is called when nothing can be printed any more.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(
        mut print: impl FnMut(&[u8]) -> io::Result<()> + Send + 'static,
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
                loop {
                    let text = taken.next();
                    for piece in text.as_bytes().chunks(PIECE) {
                        taken.lock().printing = Some(Instant::now());
                        if print(piece).is_err() {
                            taken.lock().is_closed = true;
                            taken.0.turned.notify_all();
                            return closed();
                        }
                    }
                }
            })?;
        Ok(queue)
    }

    /// Adds a line, as soon as there is room for it.
    pub fn line(&self, line: &str) {
        let waits = |queue: &mut Queue| {
            let answers = queue.answers();
            !queue.is_closed && answers > 0 && answers + line.len() >= MOST
        };
        let waited = self.0.turned.wait_while(self.lock(), waits);
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
        self.add(&mut queue, line);
    }

    /// Adds a line without waiting: see [`OutputQueue::has_room`].
    pub fn line_at_once(&self, line: &str) {
        let mut queue = self.lock();
        let before = queue.text.len();
        self.add(&mut queue, line);
        queue.at_once += queue.text.len() - before;
    }

    /// Whether there is room for what is told at once, or nobody to tell it to. Waits so long for
    /// it.
    pub fn has_room(&self, most: Duration) -> bool {
        let is_full = |queue: &mut Queue| queue.at_once >= ROOM && !queue.is_closed;
        let waited = self.0.turned.wait_timeout_while(self.lock(), most, is_full);
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !is_full(&mut queue)
    }

    /// Tells something new, where there is room for it; else `missed` is told when there is.
    pub fn news(&self, method: &str, params: &Value, missed: &Value) {
        let line = message::notification(method, params);
        let mut queue = self.lock();
        // Answers go before news.
        match queue.missed.is_none() && queue.text.len() + line.len() < MOST / 2 {
            true => self.add(&mut queue, &line),
            false => queue.missed = Some(message::notification(method, missed)),
        }
    }

    /// Asks the client something.
    pub fn ask(&self, id: &str, method: &str) {
        self.line_at_once(&message::request(id, method));
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
    fn next(&self) -> String {
        let mut queue = self.lock();
        queue.printing = None;
        self.0.turned.notify_all();
        let is_idle = |queue: &mut Queue| queue.text.is_empty() && queue.missed.is_none();
        let waited = self.0.turned.wait_while(queue, is_idle);
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
        let mut text = std::mem::take(&mut queue.text);
        queue.at_once = 0;
        if let Some(missed) = queue.missed.take() {
            text.push_str(&missed);
            text.push('\n');
        }
        queue.printing = Some(Instant::now());
        self.0.turned.notify_all();
        text
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use serde_json::json;

    use super::*;

    /// Paper of which a piece is printed whenever somebody says so.
    struct Paper {
        queue: OutputQueue,
        go_on: Sender<()>,
        is_taken: Receiver<()>,
        printed: Arc<Mutex<Vec<u8>>>,
    }

    impl Paper {
        fn new() -> Self {
            let (go_on, is_read) = channel::<()>();
            let (taken, is_taken) = channel();
            let printed = Arc::<Mutex<Vec<u8>>>::default();
            let paper = Arc::clone(&printed);
            let print = move |text: &[u8]| {
                taken.send(()).map_err(io::Error::other)?;
                is_read.recv().map_err(io::Error::other)?;
                paper.lock().unwrap().extend_from_slice(text);
                Ok(())
            };
            let queue = OutputQueue::start(print, || ()).unwrap();
            Self {
                queue,
                go_on,
                is_taken,
                printed,
            }
        }

        /// Reads until nothing is left.
        fn read(&self) -> String {
            while !self.queue.is_read() {
                if self.is_taken.try_recv().is_ok() {
                    self.go_on.send(()).unwrap();
                }
                std::thread::yield_now();
            }
            String::from_utf8(self.printed.lock().unwrap().clone()).unwrap()
        }
    }

    #[test]
    fn who_does_not_read_holds_up_no_more_than_the_queue() {
        let paper = Paper::new();
        let queue = &paper.queue;
        queue.line("0");
        paper.is_taken.recv().unwrap();
        let long = "x".repeat(MOST / 4);
        // What fills the room of answers leaves that of what is told at once as it is.
        queue.line(&long.repeat(8));
        let told = std::iter::repeat_with(|| queue.line_at_once(&long));
        let told = told.take_while(|()| queue.has_room(Duration::ZERO));
        assert_eq!(told.count(), 3);
        assert!(queue.lock().text.len() < 3 * MOST + ROOM);
        // News is left out, and told once.
        let missed = json!({"missed": true});
        queue.news("change", &json!(1), &missed);
        queue.news("change", &json!(2), &missed);
        // Who may wait does.
        let waits = std::thread::spawn({
            let (queue, long) = (queue.clone(), long.clone());
            move || queue.line(&long)
        });
        paper.go_on.send(()).unwrap();
        assert!(queue.has_room(Duration::from_secs(60)));
        paper.read();
        waits.join().unwrap();
        let printed = paper.read().replace(&long, "long");
        let lines: Vec<&str> = printed.lines().collect();
        let missed = r#"{"jsonrpc":"2.0","method":"change","params":{"missed":true}}"#;
        assert_eq!(lines.iter().filter(|line| **line == missed).count(), 1);
        assert_eq!((lines[0], lines.last()), ("0", Some(&"long")));
    }

    #[test]
    fn the_clock_starts_again_with_each_piece() {
        let paper = Paper::new();
        let since = || paper.queue.lock().printing;
        paper.queue.line(&"x".repeat(3 * PIECE));
        let mut before = None;
        for _ in 0..4 {
            paper.is_taken.recv().unwrap();
            assert!(before < since());
            before = since();
            paper.go_on.send(()).unwrap();
        }
        assert_eq!(paper.read().len(), 3 * PIECE + 1);
    }
}
