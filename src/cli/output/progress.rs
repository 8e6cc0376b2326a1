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
            Event::Compared { files, bytes } => {
                let message = format!("comparing {files} of {} files", self.files);
                self.draw(bytes, self.bytes, &message);
            }
            Event::Indexed { bytes, of } => self.draw(bytes, of, "indexing words"),
            Event::Scanned { bytes, of } => self.draw(bytes, of, "reading all text"),
            Event::Done => self.clear(),
            _ => {}
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
        if self.bar.as_ref().is_none_or(|bar| bar.length() != Some(of)) {
            // Another stage, or it was waited before: rate and remaining time begin again.
            self.clear();
        }
        let bar = self.bar.get_or_insert_with(|| begun(done, of));
        bar.set_message(message.to_owned());
        bar.set_position(done);
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// A bar that appears when so much is done already. That is no part of its rate.
fn begun(done: u64, of: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(of), ProgressDrawTarget::hidden());
    let template = "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    let bar = match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    };
    bar.set_position(done);
    bar.tick();
    bar.reset_eta();
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_counts_from_when_its_bar_appeared() {
        let mut progress = Progress::new();
        progress.wanted = true;
        progress.started = Instant::now().checked_sub(2 * PATIENCE).unwrap();
        let half = 1 << 50;
        progress.event(Event::Discovered {
            files: 2,
            bytes: 2 * half,
        });
        for event in [
            Event::Catalogued {
                files: 1,
                bytes: half,
            },
            Event::Indexed {
                bytes: half,
                of: 3 * half,
            },
        ] {
            progress.event(event);
            let bar = progress.bar.as_ref().unwrap();
            assert_eq!(bar.position(), half);
            // Nothing was done since.
            assert!(bar.per_sec() < 1.0, "{} bytes a second", bar.per_sec());
        }
    }
}
