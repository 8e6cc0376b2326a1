//! What waits to be printed? Never more than who stops reading may hold up.
//!
//! Threads with an answer wait for room. What is told at once waits for none, and has room of its
//! own: while that is full, nothing more is taken in that might have to be told. News waits for a
//! moment; what has no room then is left out, and one line says so in its place.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Bytes of answers that wait to be printed, unless a single one has more.
const MOST: usize = 1 << 20;
/// Bytes of what is told at once. Refusals are short, so these are thousands.
const ROOM: usize = 1 << 20;
/// Bytes that are printed at once.
const PIECE: usize = 64 << 10;
/// So long news waits for room, and the end until all is printed: who reads, reads faster.
const MOMENT: Duration = Duration::from_millis(250);

/// The way to who reads. Clones are one.
#[derive(Clone)]
pub struct OutputQueue(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    /// Something was added, or taken.
    turned: Condvar,
    /// See [`MOMENT`].
    moment: Duration,
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
    /// Why nothing can be printed any more.
    failure: Option<io::Error>,
}

impl Queue {
    /// Bytes that threads have waited for.
    fn answers(&self) -> usize {
        self.text.len() - self.at_once
    }

    /// Whether nothing is to be printed any more, or nothing can be.
    fn is_read(&self) -> bool {
        let is_empty = self.text.is_empty() && self.missed.is_none();
        self.is_closed || self.printing.is_none() && is_empty
    }
}

impl OutputQueue {
    /// Begins to print; `closed` is called when nothing can be printed any more.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(
        print: impl FnMut(&[u8]) -> io::Result<()> + Send + 'static,
        closed: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        Self::start_patient(MOMENT, print, closed)
    }

    fn start_patient(
        moment: Duration,
        mut print: impl FnMut(&[u8]) -> io::Result<()> + Send + 'static,
        closed: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let queue = Self(Arc::new(Shared {
            queue: Mutex::default(),
            turned: Condvar::new(),
            moment,
        }));
        let taken = queue.clone();
        Builder::new().name("prints".to_owned()).spawn(move || {
            loop {
                let text = taken.next();
                for piece in text.as_bytes().chunks(PIECE) {
                    taken.lock().printing = Some(Instant::now());
                    if let Err(error) = print(piece) {
                        taken.close(error);
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

    /// Tells something new, where there is room for it soon; else `missed` is told when there is.
    pub fn news(&self, line: &str, missed: &str) {
        // Answers go before news.
        let has_room = |queue: &Queue| {
            let waiting = queue.text.len();
            waiting == 0 || waiting + line.len() < MOST / 2
        };
        let waits =
            |queue: &mut Queue| !queue.is_closed && queue.missed.is_none() && !has_room(queue);
        let mut queue = self.wait_a_moment(waits);
        match queue.missed.is_none() && has_room(&queue) {
            true => self.add(&mut queue, line),
            false => queue.missed = Some(missed.to_owned()),
        }
    }

    /// Waits for a moment until all is printed.
    ///
    /// # Errors
    /// Why nothing could be printed any more.
    pub fn end(self) -> io::Result<()> {
        let mut queue = self.wait_a_moment(|queue| !queue.is_read());
        queue.failure.take().map_or(Ok(()), Err)
    }

    /// Whether nothing waits to be read, as far as that can be known.
    pub fn is_read(&self) -> bool {
        self.lock().is_read()
    }

    /// Whether somebody is there who has read nothing for so long.
    pub fn is_stuck(&self, patience: Duration) -> bool {
        let printing = self.lock().printing;
        printing.is_some_and(|since| since.elapsed() > patience)
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

    fn close(&self, error: io::Error) {
        let mut queue = self.lock();
        queue.is_closed = true;
        queue.failure = Some(error);
        self.0.turned.notify_all();
    }

    fn wait_a_moment(&self, waits: impl FnMut(&mut Queue) -> bool) -> MutexGuard<'_, Queue> {
        let turned = &self.0.turned;
        let waited = turned.wait_timeout_while(self.lock(), self.0.moment, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Longer than anything takes.
    const LONG: Duration = Duration::from_secs(600);

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
            let queue = OutputQueue::start_patient(Duration::ZERO, print, || ()).unwrap();
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
        queue.news("change", "missed");
        queue.news("change", "missed");
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
        assert_eq!(lines.iter().filter(|line| **line == "missed").count(), 1);
        assert!(!lines.contains(&"change"));
        assert_eq!((lines[0], lines.last()), ("0", Some(&"long")));
    }

    #[test]
    fn one_line_stands_in_the_place_of_news_that_nobody_read() {
        let paper = Paper::new();
        let long = "x".repeat(MOST / 8);
        paper.queue.news("0", "missed");
        // What is added now waits behind what nobody reads.
        paper.is_taken.recv().unwrap();
        for number in 1..20 {
            paper.queue.news(&format!("{number}{long}"), "missed");
        }
        paper.go_on.send(()).unwrap();
        paper.read();
        paper.queue.news("behind", "missed");
        let printed = paper.read().replace(&long, "");
        let lines: Vec<&str> = printed.lines().collect();
        // What had room is there from the beginning on.
        assert_eq!(lines, ["0", "1", "2", "3", "missed", "behind"]);
    }

    #[test]
    fn who_reads_gets_all_news_and_who_has_gone_is_noted() {
        let printed = Arc::<Mutex<Vec<u8>>>::default();
        let paper = Arc::clone(&printed);
        let print = move |text: &[u8]| {
            paper.lock().unwrap().extend_from_slice(text);
            Ok(())
        };
        let queue = OutputQueue::start_patient(LONG, print, || ()).unwrap();
        let line = "y".repeat(99);
        let lines = 4 * MOST / 100;
        for _ in 0..lines {
            queue.news(&line, "missed");
        }
        queue.end().unwrap();
        let all = format!("{line}\n").repeat(lines);
        assert!(*printed.lock().unwrap() == all.into_bytes());

        let (failed, received) = channel();
        let print = |_: &[u8]| Err(io::ErrorKind::BrokenPipe.into());
        let queue = OutputQueue::start_patient(LONG, print, move || failed.send(()).unwrap());
        let queue = queue.unwrap();
        queue.news("lost", "missed");
        received.recv().unwrap();
        let error = queue.end().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
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
