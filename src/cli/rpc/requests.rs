//! Which requests are being worked on, and by whom? A few threads, each with what it keeps for
//! itself.
//!
//! A request is answered by whoever takes its id out of the list: the thread that has worked on it,
//! or the one by which it was called off or is too late.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use serde_json::Value;
use sessionary::model::Cancel;

use super::message::{self, Code, Fault, Request};
use super::{Client, OutputQueue, Service};

/// So many requests are answered at once.
const THREADS: usize = 4;
/// So many requests may wait or be worked on.
const MOST: usize = 64;

/// The requests of a client.
pub struct Requests(Arc<Shared>);

struct Shared {
    all: Mutex<All>,
    filled: Condvar,
}

#[derive(Default)]
struct All {
    waiting: VecDeque<(Request, Cancel)>,
    /// What is not answered yet, by its id as JSON.
    open: HashMap<String, Open>,
    /// Answers that are on their way to the output.
    leaving: usize,
}

struct Open {
    id: Value,
    since: Instant,
    cancel: Cancel,
}

impl Requests {
    /// Threads that wait for requests.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start<S: Service>(service: &Arc<S>, output: &OutputQueue) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            all: Mutex::default(),
            filled: Condvar::new(),
        });
        for number in 0..THREADS {
            let (shared, service) = (Arc::clone(&shared), Arc::clone(service));
            let output = output.clone();
            let thread = Builder::new().name(format!("rpc-answers-{number}"));
            let started = thread.spawn(move || shared.work(&*service, &output));
            // A few are as good as one less.
            if number == 0 {
                started?;
            }
        }
        Ok(Self(shared))
    }

    /// Has a request worked on.
    pub fn put(&self, request: Request) -> Result<(), Fault> {
        let mut all = self.0.lock();
        let key = request.id.to_string();
        if all.open.contains_key(&key) {
            let said = format!("a request with the id {key} is not answered yet");
            return Err(Fault::new(Code::InvalidRequest, said));
        }
        if all.open.len() >= MOST {
            let said = format!("{MOST} requests are not answered yet");
            return Err(Fault::new(Code::Failed, said).with(serde_json::json!({"kind": "busy"})));
        }
        let cancel = Cancel::default();
        let open = Open {
            id: request.id.clone(),
            since: Instant::now(),
            cancel: cancel.clone(),
        };
        all.open.insert(key, open);
        all.waiting.push_back((request, cancel));
        self.0.filled.notify_one();
        Ok(())
    }

    /// Calls a request off; `false`: there is none of this id.
    pub fn cancel(&self, id: &Value) -> bool {
        let mut all = self.0.lock();
        all.close(&id.to_string())
    }

    /// Calls off what has taken this long, and says what it was.
    pub fn older_than(&self, most: Duration) -> Vec<Value> {
        let mut all = self.0.lock();
        let old = all
            .open
            .values()
            .filter(|open| open.since.elapsed() >= most);
        let old: Vec<Value> = old.map(|open| open.id.clone()).collect();
        for id in &old {
            all.close(&id.to_string());
        }
        old
    }

    /// How long it takes until something has taken this long.
    pub fn left_of(&self, most: Duration) -> Option<Duration> {
        let all = self.0.lock();
        let oldest = all.open.values().map(|open| open.since).min()?;
        Some(most.saturating_sub(oldest.elapsed()))
    }

    /// Whether all are answered.
    pub fn are_done(&self) -> bool {
        let all = self.0.lock();
        all.open.is_empty() && all.leaving == 0
    }
}

impl All {
    /// Has nobody answer it any more, and nobody work on it.
    fn close(&mut self, key: &str) -> bool {
        let Some(open) = self.open.remove(key) else {
            return false;
        };
        open.cancel.cancel();
        self.waiting.retain(|(request, _)| request.id != open.id);
        true
    }
}

impl Shared {
    fn work<S: Service>(&self, service: &S, output: &OutputQueue) {
        let mut kept = S::PerThread::default();
        loop {
            let (request, cancel) = self.next();
            let client = Client {
                output,
                cancel: &cancel,
            };
            let answer = || service.answer(&mut kept, &request, &client);
            let reply = catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| {
                // Whatever it was, the next request does not meet it.
                kept = S::PerThread::default();
                let said = "the program met an error of its own; standard error has it";
                Err(Fault::new(Code::Internal, said))
            });
            let is_wanted = {
                let mut all = self.lock();
                // Another one of the same id may have been asked since it was called off.
                let is_wanted = !cancel.is_cancelled();
                if is_wanted {
                    all.open.remove(&request.id.to_string());
                    all.leaving += 1;
                }
                is_wanted
            };
            if is_wanted {
                output.line(&message::line(&request.id, &reply));
                self.lock().leaving -= 1;
            }
        }
    }

    /// The next request, as soon as there is one.
    fn next(&self) -> (Request, Cancel) {
        let mut all = self.lock();
        loop {
            if let Some(next) = all.waiting.pop_front() {
                return next;
            }
            let waited = self.filled.wait(all);
            all = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
