//! How do other programs talk to this one while it runs? In lines of JSON, requests on standard
//! input and answers on standard output (JSON-RPC 2.0). What is asked and answered is a
//! [`Service`]; `serve` and `mcp` are two of them.
//!
//! One thread reads lines, one prints them, a few answer requests, each with an index of its own,
//! and this one takes in what was read, calls requests off and refuses them, all at once. It waits
//! only where nobody reads such refusals and the room that the [`OutputQueue`] has for them is
//! full: until somebody reads, no more is taken in.

mod lines;
mod message;
mod requests;
mod served;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use serde_json::Value;
use sessionary::model::Cancel;

use crate::failure::{Failure, Outcome};
pub use crate::output::queue::OutputQueue;
use lines::{Line, Lines};
use message::Incoming;
pub use message::{Code, Fault, Reply, Request, notification, request};
use requests::Requests;
pub use served::ServedIndex;

/// Lines that were read and not taken in yet, at most.
const MOST_LINES: usize = 16;
/// So long is worked on what was asked after the input has ended, and waited for a client that
/// reads nothing: it may begin to only then.
const LAST: Duration = Duration::from_secs(5);

/// What a program can ask.
pub trait Service: Send + Sync + 'static {
    /// What each thread that answers keeps for itself from one request to the next.
    type PerThread: Default;

    /// The notification that calls a request off, and the parameter of it that names the request.
    const CANCEL: (&'static str, &'static str);
    /// Whether the answer to a request that was called off is that it was; else there is none.
    const ANSWERS_CANCELLED: bool;
    /// How long a request may take.
    const MOST: Option<Duration>;

    /// The answer to a request that takes no time and may change what others mean; `None`: it is
    /// for one of the threads.
    fn at_once(&self, request: &Request, client: &OutputQueue) -> Option<Reply>;

    /// The answer to any other request.
    fn answer(&self, kept: &mut Self::PerThread, request: &Request, client: &Client<'_>) -> Reply;

    /// Takes in a notification.
    fn told(&self, _method: &str, _params: &Value, _client: &OutputQueue) {}

    /// Takes in the answer to a request of ours.
    fn replied(&self, _id: &Value, _result: Option<&Value>) {}

    /// The answer to a request that took longer than [`Service::MOST`], or went on for long after
    /// the input had ended.
    fn too_late(&self) -> Reply {
        Err(Fault::new(Code::Cancelled, "it took too long"))
    }
}

/// Who has asked.
pub struct Client<'a> {
    /// Where answers go.
    pub output: &'a OutputQueue,
    /// Whether the answer is wanted still.
    pub cancel: &'a Cancel,
}

/// What happens to the loop.
enum Event {
    Read(Line),
    /// Nothing more will be asked.
    Ended,
    /// Nobody reads our answers any more.
    Closed,
}

/// Serves whoever is at the other end, until they have gone.
pub fn run<S: Service>(service: S) -> Result<Outcome, Failure> {
    // The channel has an end, so that no more is read than is taken in.
    let (tell, events) = sync_channel(MOST_LINES);
    let (closed, is_closed) = channel();
    let output = OutputQueue::start(print, move || {
        let _ = closed.send(());
    })?;
    let service = Arc::new(service);
    let requests = Requests::start(&service, &output)?;
    Builder::new().name("rpc-reads".to_owned()).spawn({
        let tell = tell.clone();
        move || {
            let mut lines = Lines::new(io::stdin().lock());
            while let Some(line) = lines.next() {
                if tell.send(Event::Read(line)).is_err() {
                    return;
                }
            }
            let _ = tell.send(Event::Ended);
        }
    })?;
    Builder::new()
        .name("rpc-closes".to_owned())
        .spawn(move || {
            if is_closed.recv().is_ok() {
                let _ = tell.send(Event::Closed);
            }
        })?;
    let mut talk = Talk {
        service,
        output,
        requests,
    };
    talk.listen(&events)?;
    Ok(Outcome::Yes)
}

fn print(text: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    io::Write::write_all(&mut out, text)?;
    io::Write::flush(&mut out)
}

/// The talk with one client.
struct Talk<S: Service> {
    service: Arc<S>,
    output: OutputQueue,
    requests: Requests,
}

impl<S: Service> Talk<S> {
    /// Takes in what is read, until there is no more and all is answered.
    ///
    /// # Errors
    /// Nobody reads what is answered.
    fn listen(&mut self, events: &Receiver<Event>) -> Result<(), Failure> {
        let mut until: Option<Instant> = None;
        while !self.is_over(until)? {
            if until.is_some_and(|until| Instant::now() >= until) {
                self.refuse_older_than(Duration::ZERO);
            }
            // Who does not read what is told at once asks for no more of it.
            if self.output.has_room(self.pause(until)) {
                match events.recv_timeout(self.pause(until)) {
                    Ok(Event::Read(line)) => self.take(line),
                    // What was asked is answered still.
                    Ok(Event::Ended) => until = Some(Instant::now() + LAST),
                    Ok(Event::Closed) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
            if let Some(most) = S::MOST {
                self.refuse_older_than(most);
            }
        }
        Ok(())
    }

    /// Whether nothing more will be asked, and all is answered and read, or nobody is there.
    fn is_over(&self, until: Option<Instant>) -> Result<bool, Failure> {
        let is_late = until.is_some_and(|until| Instant::now() >= until);
        if is_late && self.output.is_stuck(LAST) {
            let said = "the input has ended, and what was answered is not read: the rest of it is \
                        given up";
            return Err(Failure::refused(said));
        }
        let is_answered = || self.requests.are_done() && self.output.is_read();
        Ok(self.output.is_closed() || until.is_some() && is_answered())
    }

    /// How long nothing has to be looked at.
    fn pause(&self, until: Option<Instant>) -> Duration {
        /// At the end answers are waited for.
        const SHORT: Duration = Duration::from_millis(5);
        const LONG: Duration = Duration::from_secs(3600);
        match (until, S::MOST) {
            (Some(_), _) => SHORT,
            (None, Some(most)) => self.requests.left_of(most).unwrap_or(LONG),
            (None, None) => LONG,
        }
    }

    fn refuse_older_than(&self, most: Duration) {
        for id in self.requests.older_than(most) {
            self.reply(&id, &self.service.too_late());
        }
    }

    fn take(&mut self, line: Line) {
        let incoming = match line {
            Line::Whole(bytes) => message::read(&bytes),
            Line::TooLong => Err((Value::Null, lines::too_long())),
        };
        match incoming {
            Ok(Incoming::Request(request)) => self.asked(request),
            Ok(Incoming::Notification { method, params }) => self.told(&method, &params),
            Ok(Incoming::Response { id, result }) => self.service.replied(&id, result.as_ref()),
            Err((id, fault)) => self.reply(&id, &Err(fault)),
        }
    }

    fn asked(&mut self, request: Request) {
        let id = request.id.clone();
        if let Some(reply) = self.service.at_once(&request, &self.output) {
            return self.reply(&id, &reply);
        }
        if let Err(fault) = self.requests.put(request) {
            self.reply(&id, &Err(fault));
        }
    }

    fn told(&mut self, method: &str, params: &Value) {
        let (cancel, name) = S::CANCEL;
        if method != cancel {
            return self.service.told(method, params, &self.output);
        }
        let id = params.get(name).cloned().unwrap_or_default();
        if self.requests.cancel(&id) && S::ANSWERS_CANCELLED {
            self.reply(&id, &Err(Fault::new(Code::Cancelled, "it was cancelled")));
        }
    }

    fn reply(&self, id: &Value, reply: &Reply) {
        self.output.line_at_once(&message::line(id, reply));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::Sender;
    use std::thread::yield_now;

    use super::*;

    /// Answers nothing before it is called off, and has no time for any answer.
    struct Slow {
        begun: Mutex<Sender<()>>,
    }

    impl Service for Slow {
        type PerThread = ();

        const CANCEL: (&'static str, &'static str) = ("cancel", "id");
        const ANSWERS_CANCELLED: bool = false;
        const MOST: Option<Duration> = Some(Duration::ZERO);

        fn at_once(&self, _: &Request, _: &OutputQueue) -> Option<Reply> {
            None
        }

        fn answer(&self, _: &mut (), _: &Request, client: &Client<'_>) -> Reply {
            let _ = self.begun.lock().expect("a sender").send(());
            while !client.cancel.is_cancelled() {
                yield_now();
            }
            Ok("\"what was done of it\"".to_owned())
        }

        fn too_late(&self) -> Reply {
            Ok("\"too late\"".to_owned())
        }
    }

    #[test]
    fn what_takes_too_long_is_called_off_and_answered_once() {
        let printed: Arc<Mutex<Vec<u8>>> = Arc::default();
        let paper = Arc::clone(&printed);
        let print = move |text: &[u8]| {
            paper.lock().expect("paper").extend_from_slice(text);
            Ok(())
        };
        let output = OutputQueue::start(print, || {}).expect("a thread");
        let (begun, is_begun) = channel();
        let service = Arc::new(Slow {
            begun: Mutex::new(begun),
        });
        let requests = Requests::start(&service, &output).expect("threads");
        let mut talk = Talk {
            service,
            output,
            requests,
        };
        let asked = |id: u64| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        // One that is being worked on.
        let Ok(Incoming::Request(request)) = message::read(asked(1).as_bytes()) else {
            panic!("a request");
        };
        talk.requests.put(request).expect("room");
        is_begun.recv().expect("it has begun");
        talk.refuse_older_than(Duration::ZERO);
        // Others, whether a thread has taken them up by then or not.
        let (tell, events) = sync_channel(MOST_LINES);
        for id in 2..6 {
            tell.send(Event::Read(Line::Whole(asked(id).into_bytes())))
                .expect("room");
        }
        tell.send(Event::Ended).expect("room");
        talk.listen(&events).expect("an end");
        let printed = String::from_utf8(printed.lock().expect("paper").clone()).expect("text");
        let told: Vec<String> = (1..6)
            .map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"too late"}}"#))
            .collect();
        assert_eq!(printed.lines().collect::<Vec<_>>(), told);
    }
}
