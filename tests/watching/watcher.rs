//! A watcher on a thread of its own, and what it tells.

use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use sessionary::index::{WatchEnd, WatchEvent, WatchOptions};
use sessionary::model::SessionChange;
use sessionary::{Cancel, Config, Event, Indexer};

/// Longer than anything takes, on any machine.
const LONG: Duration = Duration::from_secs(120);

/// Wait until it is so.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !so() {
        assert!(started.elapsed() < LONG, "waited in vain: {what}");
        sleep(Duration::from_millis(2));
    }
}

/// What it told.
#[derive(Debug, Default, Clone)]
pub struct Log {
    pub ready: bool,
    pub polling: bool,
    /// Bytes of all reports, proofs among them.
    pub read: u64,
    /// Bytes of the reports of proofs.
    pub proven: u64,
    pub changes: Vec<SessionChange>,
    /// How far full scans came.
    pub progress: Vec<Event>,
    /// Why everything was looked at.
    pub checked: Vec<String>,
    /// What the reports say beside that.
    pub notes: Vec<String>,
    /// Why nothing could be written.
    pub delayed: Vec<String>,
}

pub struct Watcher {
    cancel: Cancel,
    log: Arc<Mutex<Log>>,
    thread: Option<JoinHandle<WatchEnd>>,
}

impl Watcher {
    /// Words are indexed at once.
    pub fn start(config: &Config) -> Watcher {
        Watcher::start_with(config, WatchOptions::default())
    }

    pub fn start_with(config: &Config, options: WatchOptions) -> Watcher {
        let cancel = Cancel::default();
        let config = Config {
            cancel: cancel.clone(),
            ..config.clone()
        };
        let options = WatchOptions {
            quiet: Duration::from_millis(50),
            ..options
        };
        let log = Arc::<Mutex<Log>>::default();
        let told = Arc::clone(&log);
        let thread = spawn(move || {
            let indexer = Indexer::open(&config).unwrap();
            let mut note = |watched: WatchEvent<'_>| {
                let mut log = told.lock().unwrap();
                match watched {
                    WatchEvent::Watching(_) => log.ready = true,
                    WatchEvent::Polling(_) => (log.ready, log.polling) = (true, true),
                    WatchEvent::Checked {
                        reason: why,
                        report,
                    } => {
                        log.checked.push(why.to_owned());
                        log.notes.extend_from_slice(&report.notes);
                        log.read += report.bytes_read + report.proof_bytes;
                    }
                    WatchEvent::Synced(report) | WatchEvent::Indexed(report) => {
                        log.read += report.bytes_read + report.proof_bytes;
                    }
                    WatchEvent::Proven(report) => {
                        log.proven += report.bytes_read + report.proof_bytes;
                    }
                    WatchEvent::Changed { changes, .. } => log.changes.extend_from_slice(changes),
                    WatchEvent::Progress(event) => log.progress.push(event),
                    WatchEvent::Delayed(error) => log.delayed.push(error.to_string()),
                    other => eprintln!("{other:?}"),
                }
            };
            indexer.watch(&options, &mut note).unwrap()
        });
        let watcher = Watcher {
            cancel,
            log,
            thread: Some(thread),
        };
        until("the watcher watches", || watcher.log().ready);
        watcher
    }

    pub fn log(&self) -> Log {
        self.log.lock().unwrap().clone()
    }

    /// Bytes it has read.
    pub fn read(&self) -> u64 {
        self.log.lock().unwrap().read
    }

    /// Have it end.
    pub fn stop(self) -> WatchEnd {
        self.cancel.cancel();
        self.ended()
    }

    /// Why it ended by itself.
    pub fn ended(mut self) -> WatchEnd {
        let thread = self.thread.take().unwrap();
        until("the watcher ends", || thread.is_finished());
        thread.join().unwrap()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}
