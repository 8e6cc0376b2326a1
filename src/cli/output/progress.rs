//! How far is it? A bar on stderr, only on a terminal and only for what takes longer than a second.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sessionary::Event;

/// How long work goes on before a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar that is fed with the library's events.
pub struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    wanted: bool,
    files: u64,
    bytes: u64,
}

impl Progress {
    /// A bar that may appear later.
    pub fn new() -> Self {
        Self {
            bar: None,
            started: Instant::now(),
            wanted: io::stderr().is_terminal(),
            files: 0,
            bytes: 0,
        }
    }

    /// Takes one event.
    pub fn event(&mut self, event: Event) {
        match event {
            Event::Waiting => self.wait(),
            Event::Discovered { files, bytes } => {
                self.files = files;
                self.bytes = bytes;
            }
            Event::Catalogued { files, bytes } => {
                let message = format!("reading {files} of {} files", self.files);
                let of = self.bytes;
                self.draw(bytes, of, &message);
            }
            Event::Indexed { bytes, of } => self.draw(bytes, of, "indexing words"),
            Event::Scanned { bytes, of } => self.draw(bytes, of, "reading all text"),
            Event::Readable => {}
            Event::Done => self.clear(),
        }
    }

    /// Nobody knows for how long.
    fn wait(&mut self) {
        if !self.wanted || self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.with_message("waiting for another process, which is writing the index")
        });
        bar.tick();
    }

    fn draw(&mut self, done: u64, of: u64, message: &str) {
        if !self.wanted || (self.bar.is_none() && self.started.elapsed() < PATIENCE) {
            return;
        }
        if self.bar.as_ref().is_some_and(|bar| bar.length().is_none()) {
            // It was waited before.
            self.clear();
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(of), ProgressDrawTarget::stderr());
            let template = "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
            match ProgressStyle::with_template(template) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        if bar.length() != Some(of) {
            // Another stage: rate and remaining time begin anew.
            bar.set_length(of);
            bar.reset();
        }
        bar.set_message(message.to_owned());
        bar.set_position(done);
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
