//! How does a program ask the same questions again and again, without a process for each? One
//! process that stays open, over lines of JSON.

mod answerer;
mod changes;
mod first_look;
mod params;
mod schema;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sessionary::Config;
use sessionary::model::{Cancel, FeedPosition, SCHEMA_VERSION};

use self::answerer::{Answerer, Asker};
use self::changes::{Changes, Stopped};
use self::first_look::FirstLook;
use crate::confined::Confinement;
use crate::demo;
use crate::failure::{Failure, Outcome};
use crate::news::{News, keep_current};
use crate::output::Screen;
use crate::rpc::{self, Client, Code, Fault, OutputQueue, Reply, Request, Service};

/// The version of what is spoken here. A change that an older client would not understand raises
/// it.
const PROTOCOL: u32 = 1;

/// Answer other programs, in lines of JSON on standard input and output
#[derive(Debug, Args)]
#[command(
    after_help = "For editors, pickers and bindings: one process, in which a search takes a fraction of what it takes\n\
    as a process of its own. Each line is one object of JSON-RPC 2.0; answers are what the commands of\n\
    the same name print with --json. It ends with its standard input.\n\n\
    Examples:\n  \
    sessionary serve\n  \
    sessionary serve --schema > serve.schema.json\n  \
    echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"protocol\":1}}' | sessionary serve"
)]
pub struct ServeArgs {
    /// Print the JSON Schema of all that can be asked and answered
    #[arg(long)]
    schema: bool,
}

pub fn run(args: &ServeArgs, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    if args.schema {
        screen.print(&schema::printed()?)?;
        return Ok(Outcome::Yes);
    }
    let confined = Confinement::begin(config);
    let cancel = Cancel::default();
    let config = Config {
        cancel: cancel.clone(),
        ..config.clone()
    };
    let (first_look, stopped) = (FirstLook::default(), Stopped::default());
    match demo::runs() {
        // Nothing is written to made-up sessions.
        true => first_look.end(),
        false => keep(&config, &first_look, &stopped)?,
    }
    let asker = Asker::new(&config, screen, first_look);
    let outcome = rpc::run(Serve {
        confined,
        asker: Mutex::new(asker),
        changes: Changes::new(&config, &stopped),
        is_greeted: AtomicBool::new(false),
    });
    cancel.cancel();
    outcome
}

/// Keeps the index current, on a thread of its own.
fn keep(config: &Config, first_look: &FirstLook, stopped: &Stopped) -> Result<(), Failure> {
    let (config, first_look) = (config.clone(), first_look.clone());
    let stopped = Stopped::clone(stopped);
    let keep = move || {
        keep_current(&config, &|news| {
            match news {
                News::Reading { .. } | News::Changed | News::Behind(_) => {}
                News::Current | News::Removed => first_look.end(),
                News::Stopped(why) => {
                    let _ = stopped.set(why);
                }
            }
            true
        });
        first_look.end();
    };
    Builder::new().name("serve-news".to_owned()).spawn(keep)?;
    Ok(())
}

/// What `hello` answers.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Welcome")]
struct Welcome {
    /// The version of the protocol that is spoken from now on.
    protocol: u32,
    /// The version of the program.
    version: &'static str,
    /// The version of the answers, as each of them has it.
    schema_version: u32,
    methods: Vec<&'static str>,
}

/// The methods, each with what it is.
const METHODS: [&str; 9] = [
    "hello",
    "list",
    "search",
    "show",
    "tree",
    "resume",
    "freshness",
    "subscribe",
    "unsubscribe",
];

/// What the client asked for was done, and there is nothing to say about it.
#[derive(Serialize, JsonSchema)]
struct Done {
    schema_version: u32,
}

const DONE: Done = Done {
    schema_version: SCHEMA_VERSION,
};

/// From where changes are told.
#[derive(Serialize, JsonSchema)]
struct Subscribed {
    schema_version: u32,
    #[serde(flatten)]
    from: FeedPosition,
}

struct Serve {
    confined: Confinement,
    /// A model of what each answerer asks by: it cannot be shared by threads.
    asker: Mutex<Asker>,
    changes: Changes,
    is_greeted: AtomicBool,
}

impl Service for Serve {
    type PerThread = Option<Answerer>;

    const CANCEL: (&'static str, &'static str) = ("cancel", "id");
    const ANSWERS_CANCELLED: bool = true;
    const MOST: Option<Duration> = None;

    fn at_once(&self, request: &Request, _: &OutputQueue) -> Option<Reply> {
        if request.method == "hello" {
            return Some(self.hello(&request.params));
        }
        if !self.is_greeted.load(Ordering::SeqCst) {
            let said = format!("the first request is `hello`, with \"protocol\":{PROTOCOL}");
            return Some(Err(Fault::new(Code::InvalidRequest, said)));
        }
        if !METHODS.contains(&request.method.as_str()) {
            let (method, known) = (&request.method, METHODS.join(", "));
            let said = format!("there is no method `{method}`; there are {known}");
            return Some(Err(Fault::new(Code::NoSuchMethod, said)));
        }
        None
    }

    fn answer(&self, kept: &mut Self::PerThread, request: &Request, client: &Client<'_>) -> Reply {
        self.confined.check()?;
        let answerer = kept.get_or_insert_with(|| {
            let asker = self.asker.lock().unwrap_or_else(|dead| dead.into_inner());
            Answerer::new(asker.clone())
        });
        let (params, cancel) = (&request.params, client.cancel);
        let answer = match request.method.as_str() {
            "list" => answerer.list(&read(params)?, cancel)?,
            "search" => answerer.search(&read(params)?, cancel)?,
            "show" => answerer.show(&read(params)?, cancel)?,
            "tree" => answerer.tree(&read(params)?, cancel)?,
            "resume" => answerer.resume(&read(params)?)?,
            "freshness" => {
                let params::Nothing {} = read(params)?;
                answerer.freshness()?
            }
            "subscribe" => {
                let asked: params::Subscribe = read(params)?;
                // There is a feed as soon as there is an index.
                answerer.made()?;
                let from = self.changes.start(asked, client.output)?;
                serde_json::to_string(&Subscribed {
                    schema_version: SCHEMA_VERSION,
                    from,
                })?
            }
            _ => {
                let params::Nothing {} = read(params)?;
                self.changes.end();
                serde_json::to_string(&DONE)?
            }
        };
        Ok(answer)
    }
}

impl Serve {
    fn hello(&self, params: &Value) -> Reply {
        let hello: params::Hello = read(params)?;
        if hello.protocol != PROTOCOL {
            let asked = hello.protocol;
            let said = format!("protocol {asked} is not spoken here, only protocol {PROTOCOL}");
            let spoken = json!({ "supported": [PROTOCOL], "requested": asked });
            return Err(Fault::new(Code::Version, said).with(spoken));
        }
        self.is_greeted.store(true, Ordering::SeqCst);
        Ok(serde_json::to_string(&Welcome {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION"),
            schema_version: SCHEMA_VERSION,
            methods: METHODS.to_vec(),
        })?)
    }
}

/// The parameters of a request.
fn read<T: DeserializeOwned>(params: &Value) -> Result<T, Fault> {
    let params = match params {
        Value::Null => json!({}),
        params => params.clone(),
    };
    serde_json::from_value(params)
        .map_err(|error| Fault::new(Code::InvalidParams, error.to_string()))
}
