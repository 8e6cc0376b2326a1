//! How is something printed by whom no reader may hold up? By a thread of its own, from a queue
//! that has an end.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// Bytes that wait to be printed, at most.
const MOST_BYTES: usize = 1 << 20;
/// How long room is waited for, and at the end that all is printed: who reads, reads faster.
const PATIENCE: Duration = Duration::from_millis(250);

/// Prints lines in the order in which they are added.
#[derive(Clone)]
pub struct Printer(Arc<PrinterState>);

struct PrinterState {
    queue: Mutex<Queue>,
    /// Something was added, or printed.
    turned: Condvar,
    patience: Duration,
}

#[derive(Default)]
struct Queue {
    text: String,
    /// What follows `text` had no room.
    has_gap: bool,
    /// Whether some of it is being printed.
    is_printing: bool,
    is_over: bool,
    failure: Option<io::Error>,
}

impl Printer {
    /// Begins to print. `gap` is printed in the place of all that has no room; when nothing can be
    /// printed any more, `failed` is called.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(
        gap: &str,
        print: impl FnMut(&str) -> io::Result<()> + Send + 'static,
        failed: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        Self::patient(PATIENCE, gap, print, failed)
    }

    fn patient(
        patience: Duration,
        gap: &str,
        mut print: impl FnMut(&str) -> io::Result<()> + Send + 'static,
        failed: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(PrinterState {
            queue: Mutex::default(),
            turned: Condvar::new(),
            patience,
        });
        let (queue, gap) = (Arc::clone(&shared), gap.to_owned());
        Builder::new().spawn(move || {
            while let Some(text) = queue.next(&gap) {
                if let Err(error) = print(&text) {
                    let mut queue = queue.lock();
                    queue.failure = Some(error);
                    drop(queue);
                    return failed();
                }
            }
        })?;
        Ok(Self(shared))
    }

    /// Adds a whole line, without its end.
    pub fn line(&self, line: &str) {
        let has_room = |queue: &Queue| queue.text.len() + line.len() < MOST_BYTES;
        let waits = |queue: &mut Queue| {
            !(queue.has_gap || has_room(queue) || queue.text.is_empty() || queue.failure.is_some())
        };
        let waited = self
            .0
            .turned
            .wait_timeout_while(self.0.lock(), self.0.patience, waits);
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if queue.has_gap || !(has_room(&queue) || queue.text.is_empty()) {
            queue.has_gap = true;
        } else {
            queue.text.push_str(line);
            queue.text.push('\n');
        }
        self.0.turned.notify_all();
    }

    /// Waits until all is printed, unless nobody reads.
    ///
    /// # Errors
    /// Why nothing could be printed any more.
    pub fn end(self) -> io::Result<()> {
        let mut queue = self.0.lock();
        queue.is_over = true;
        self.0.turned.notify_all();
        let is_busy = |queue: &mut Queue| {
            queue.failure.is_none()
                && (queue.is_printing || queue.has_gap || !queue.text.is_empty())
        };
        let waited = self
            .0
            .turned
            .wait_timeout_while(queue, self.0.patience, is_busy);
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        queue.failure.take().map_or(Ok(()), Err)
    }
}

impl PrinterState {
    /// What is to be printed next, as soon as there is something; `None` at the end.
    fn next(&self, gap: &str) -> Option<String> {
        let mut queue = self.lock();
        queue.is_printing = false;
        self.turned.notify_all();
        let is_idle = |queue: &mut Queue| queue.text.is_empty() && !queue.has_gap && !queue.is_over;
        let waited = self.turned.wait_while(queue, is_idle);
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
        let mut text = std::mem::take(&mut queue.text);
        if std::mem::take(&mut queue.has_gap) {
            text.push_str(gap);
            text.push('\n');
        }
        queue.is_printing = !text.is_empty();
        self.turned.notify_all();
        queue.is_printing.then_some(text)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Longer than anything takes.
    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn what_nobody_reads_becomes_a_gap_in_its_place() {
        let (sender, reader) = channel::<()>();
        let (taken, is_taken) = channel();
        let printed = Arc::<Mutex<String>>::default();
        let paper = Arc::clone(&printed);
        let print = move |text: &str| {
            taken.send(()).map_err(io::Error::other)?;
            // It goes on when somebody reads.
            reader.recv().map_err(io::Error::other)?;
            paper.lock().unwrap().push_str(text);
            Ok(())
        };
        let printer = Printer::patient(Duration::ZERO, "GAP", print, || ()).unwrap();
        let long = "x".repeat(MOST_BYTES / 4);
        printer.line("0");
        // What is added now waits behind what nobody reads.
        is_taken.recv().unwrap();
        for number in 1..20 {
            printer.line(&format!("{number} {long}"));
        }
        for _ in 0..2 {
            sender.send(()).unwrap();
        }
        while !printed.lock().unwrap().contains("GAP") {
            std::thread::yield_now();
        }
        printer.line("behind");
        sender.send(()).unwrap();
        while !printed.lock().unwrap().contains("behind") {
            std::thread::yield_now();
        }
        printer.end().unwrap();
        let printed = printed.lock().unwrap().replace(&long, "");
        let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
        let gap = lines.iter().position(|line| *line == "GAP").unwrap();
        assert_eq!(lines[gap..], ["GAP", "behind"]);
        // What had room is there from the beginning on.
        let before: Vec<String> = (0..gap).map(|number| number.to_string()).collect();
        assert_eq!(lines[..gap], before);
        assert!((3..20).contains(&gap), "{lines:?}");
    }

    #[test]
    fn who_reads_gets_all_and_who_has_gone_is_noted() {
        let printed = Arc::<Mutex<String>>::default();
        let paper = Arc::clone(&printed);
        let print = move |text: &str| {
            paper.lock().unwrap().push_str(text);
            Ok(())
        };
        let printer = Printer::patient(LONG, "GAP", print, || ()).unwrap();
        let line = "y".repeat(99);
        let lines = 4 * MOST_BYTES / 100;
        for _ in 0..lines {
            printer.line(&line);
        }
        printer.end().unwrap();
        assert!(!printed.lock().unwrap().contains("GAP"));
        assert_eq!(printed.lock().unwrap().len(), lines * 100);

        let (failed, received) = channel();
        let print = |_: &str| Err(io::ErrorKind::BrokenPipe.into());
        let printer =
            Printer::patient(LONG, "GAP", print, move || failed.send(()).unwrap()).unwrap();
        printer.line("lost");
        received.recv().unwrap();
        let error = printer.end().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
