//! How does an agent look into earlier sessions? Over the Model Context Protocol, on standard input
//! and output.
//!
//! Two eras of the protocol are spoken: that of the handshake (`initialize`, up to 2025-11-25), and
//! that in which each request says its version (2026-07-28).

mod fitting;
mod plain;
mod question;
mod reading;
mod searching;
mod tools;
mod visible;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use sessionary::Config;

use self::tools::{Caller, Toolbox};
use self::visible::Roots;
use crate::confined::Confinement;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::rpc::{self, Client, Code, Fault, OutputQueue, Reply, Request, Service};

/// The versions of the handshake, the newest first.
const HANDSHAKE: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The version that each request names.
const MODERN: &str = "2026-07-28";
/// Where it does so.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// By what the answer to our question for roots is known.
const ROOTS: &str = "roots";
/// An agent waits no longer.
const MOST: Duration = Duration::from_millis(1_900);
/// What it is told then.
const TOO_LATE: &str = "Nothing was answered: it took more than two seconds. Where sessions are \
    new and are read for the first time, what was read is kept: ask again in a moment. Where it \
    takes as long again, ask for less: fewer and rarer words.";

/// Let an agent look into earlier sessions (Model Context Protocol)
#[derive(Debug, Args)]
#[command(
    after_help = "An agent starts it, and asks over its standard input and output. It finds and reads sessions of the\n\
    client's repository, keys and tokens redacted whatever is configured, and changes none.\n\n\
    Examples:\n  \
    sessionary mcp          sessions of the client's repository\n  \
    sessionary mcp --all    sessions of every directory, for an agent that may read all of them\n\n\
    An agent gets it by its own command, for example: claude mcp add sessionary -- sessionary mcp"
)]
pub struct McpArgs {
    /// Sessions of every directory, not only of the client's repository
    #[arg(short, long)]
    all: bool,
}

pub fn run(args: &McpArgs, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    rpc::run(Mcp {
        confined: Confinement::begin(config),
        toolbox: Mutex::new(Toolbox::new(config, screen, args.all)),
        roots: Roots::default(),
        is_greeted: AtomicBool::new(false),
        offers_roots: AtomicBool::new(false),
    })
}

struct Mcp {
    confined: Confinement,
    /// A model of what each desk has: it cannot be shared by threads.
    toolbox: Mutex<Toolbox>,
    roots: Roots,
    is_greeted: AtomicBool,
    /// Whether the client said in the handshake that it has roots.
    offers_roots: AtomicBool,
}

impl Service for Mcp {
    type PerThread = Option<Toolbox>;

    const CANCEL: (&'static str, &'static str) = ("notifications/cancelled", "requestId");
    const ANSWERS_CANCELLED: bool = false;
    const MOST: Option<Duration> = Some(MOST);

    fn at_once(&self, request: &Request, _: &OutputQueue) -> Option<Reply> {
        let version = version(request);
        if let Some(asked) = version.filter(|asked| *asked != MODERN) {
            let asked = plain::short(asked, tools::NAME);
            let said = format!("version {asked} of the protocol is not spoken here");
            let data = json!({ "supported": supported(), "requested": asked });
            return Some(Err(Fault::new(Code::Version, said).with(data)));
        }
        let is_modern = version.is_some();
        let result = match request.method.as_str() {
            "initialize" => self.initialize(&request.params),
            "ping" => json!({}),
            "server/discover" => json!({
                "supportedVersions": supported(),
                "capabilities": { "tools": {} },
                "instructions": tools::INSTRUCTIONS,
                "ttlMs": 0,
                "cacheScope": "private",
            }),
            _ if !(is_modern || self.is_greeted.load(Ordering::SeqCst)) => {
                let said = format!(
                    "the first request is `initialize`, or each one names its version in `_meta`: \
                     {}",
                    supported().join(", ")
                );
                return Some(Err(Fault::new(Code::InvalidRequest, said)));
            }
            "tools/list" => json!({
                "tools": tools::described(),
                "ttlMs": 3_600_000,
                "cacheScope": "public",
            }),
            "tools/call" => return self.question(request),
            method => {
                let said = format!("there is no method `{}`", plain::short(method, tools::NAME));
                return Some(Err(Fault::new(Code::NoSuchMethod, said)));
            }
        };
        Some(Ok(finished(result, is_modern)))
    }

    fn answer(&self, desk: &mut Self::PerThread, request: &Request, client: &Client<'_>) -> Reply {
        let toolbox = desk.get_or_insert_with(|| {
            let toolbox = self.toolbox.lock();
            toolbox.unwrap_or_else(|dead| dead.into_inner()).clone()
        });
        let params = &request.params;
        let name = params.get("name").and_then(Value::as_str);
        let arguments = params.get("arguments").cloned();
        let caller = Caller {
            directories: self.roots.wait(),
            meta: params.get("_meta").cloned().unwrap_or_default(),
            cancel: client.cancel.clone(),
        };
        let arguments = arguments.filter(|arguments| !arguments.is_null());
        let arguments = arguments.unwrap_or_else(|| json!({}));
        let said = match self.confined.check() {
            Ok(()) => toolbox.call(name.unwrap_or_default(), arguments, &caller)?,
            Err(failure) => Err(failure),
        };
        let (text, is_error) = match said {
            Ok(text) => (text, false),
            // What is wrong with what was asked is for the model, not for the client.
            Err(failure) => (plain::failure(&failure), true),
        };
        Ok(told(&text, is_error, version(request).is_some()))
    }

    fn told(&self, method: &str, _: &Value, client: &OutputQueue) {
        let is_asked = [
            "notifications/initialized",
            "notifications/roots/list_changed",
        ];
        if is_asked.contains(&method) && self.offers_roots.load(Ordering::SeqCst) {
            self.roots.asked();
            client.line_at_once(&rpc::request(ROOTS, "roots/list"));
        }
    }

    fn replied(&self, id: &Value, result: Option<&Value>) {
        if id == ROOTS {
            self.roots.answered(result);
        }
    }

    fn too_late(&self) -> Reply {
        Ok(told(TOO_LATE, true, true))
    }
}

impl Mcp {
    fn initialize(&self, params: &Value) -> Value {
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        let spoken = HANDSHAKE.iter().find(|known| Some(**known) == asked);
        let has_roots = params.pointer("/capabilities/roots").is_some();
        self.offers_roots.store(has_roots, Ordering::SeqCst);
        self.is_greeted.store(true, Ordering::SeqCst);
        json!({
            // As the protocol has it: who cannot speak this one ends the talk.
            "protocolVersion": spoken.unwrap_or(&HANDSHAKE[0]),
            "capabilities": { "tools": {} },
            "serverInfo": server(),
            "instructions": tools::INSTRUCTIONS,
        })
    }

    /// What must be known of a client before its tool is called: of one that names its version in
    /// each request, its roots. `None`: all is known.
    fn question(&self, request: &Request) -> Option<Reply> {
        let meta = request.params.get("_meta")?;
        let has_roots = meta.get(CAPABILITIES)?.get("roots").is_some();
        let given = request.params.get("inputResponses");
        if let Some(given) = given.and_then(|given| given.get(ROOTS)) {
            self.roots.answered(Some(given));
        }
        if !has_roots || given.is_some() || self.roots.are_known() {
            return None;
        }
        let wanted = json!({
            "resultType": "input_required",
            "inputRequests": { ROOTS: { "method": "roots/list" } },
        });
        Some(Ok(wanted.to_string()))
    }
}

/// All versions that are spoken.
fn supported() -> Vec<&'static str> {
    [MODERN].into_iter().chain(HANDSHAKE).collect()
}

fn server() -> Value {
    json!({ "name": "sessionary", "version": env!("CARGO_PKG_VERSION") })
}

/// The version that a request names.
fn version(request: &Request) -> Option<&str> {
    request.params.get("_meta")?.get(VERSION)?.as_str()
}

/// The result of a tool.
fn told(text: &str, is_error: bool, is_modern: bool) -> String {
    let content = json!([{ "type": "text", "text": text }]);
    finished(
        json!({ "content": content, "isError": is_error }),
        is_modern,
    )
}

/// A result, with what clients of the modern era expect of each.
fn finished(mut result: Value, is_modern: bool) -> String {
    if is_modern {
        result["resultType"] = "complete".into();
        result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": server() });
    }
    result.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_told_that_it_took_too_long_is_told_what_is_missing_and_what_helps() {
        // What is left of two seconds is for the way of the answer.
        assert!(MOST < Duration::from_secs(2));
        let told: Value = serde_json::from_str(&told(TOO_LATE, true, true)).expect("JSON");
        assert_eq!(told["isError"], true);
        let said = told["content"][0]["text"].as_str().expect("a text");
        for part in [
            "Nothing was answered",
            "ask again in a moment",
            "fewer and rarer words",
        ] {
            assert!(said.contains(part), "{said}");
        }
    }
}
