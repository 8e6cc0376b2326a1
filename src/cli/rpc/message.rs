//! What does a line say? A request, a notification, the answer to a request of ours, or nothing
//! that JSON-RPC knows.

use serde_json::{Map, Value, json};
use sessionary::format::json::normalise;

use crate::failure::{Failure, Kind};
use crate::output::text::terminal_safe_json;

/// A question that waits for an answer.
#[derive(Debug, Clone)]
pub struct Request {
    /// A number or a text, as the client counts.
    pub id: Value,
    pub method: String,
    /// An object, or `null` where there are none.
    pub params: Value,
}

/// A line that was understood.
#[derive(Debug)]
pub enum Incoming {
    Request(Request),
    Notification {
        method: String,
        params: Value,
    },
    /// `None`: it was refused.
    Response {
        id: Value,
        result: Option<Value>,
    },
}

/// The JSON of a result, or why there is none.
pub type Reply = Result<String, Fault>;

/// What went wrong, by the number that says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    Parse = -32700,
    InvalidRequest = -32600,
    NoSuchMethod = -32601,
    InvalidParams = -32602,
    /// Our fault.
    Internal = -32603,
    /// Everything else: `data.kind` says which.
    Failed = -32000,
    /// A version that is not spoken.
    Version = -32022,
    /// As of the Language Server Protocol.
    Cancelled = -32800,
}

impl Code {
    /// The kind of what has no other, in the words of the commands.
    fn kind(self) -> &'static str {
        match self {
            Self::Parse
            | Self::InvalidRequest
            | Self::NoSuchMethod
            | Self::InvalidParams
            | Self::Version => "usage",
            Self::Cancelled => "cancelled",
            Self::Internal | Self::Failed => "failed",
        }
    }
}

/// Why a request has no result.
#[derive(Debug, Clone)]
pub struct Fault {
    pub code: Code,
    pub message: String,
    /// `kind`, and what else a program may want to know.
    pub data: Map<String, Value>,
}

impl Fault {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: Map::from_iter([("kind".to_owned(), code.kind().into())]),
        }
    }

    /// Adds the members of an object.
    pub fn with(mut self, data: Value) -> Self {
        if let Value::Object(data) = data {
            self.data.extend(data);
        }
        self
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        let code = match failure.kind() {
            Kind::Usage => Code::InvalidParams,
            _ => Code::Failed,
        };
        let hints = failure.hints().iter().cloned();
        let hints: Vec<String> = match failure.kind() {
            // The names of what fits.
            Kind::Ambiguous => hints.collect(),
            _ => hints.filter_map(of_program).collect(),
        };
        let data = json!({ "kind": failure.kind(), "hints": hints });
        Self::new(code, failure.message()).with(data)
    }
}

/// A hint as it helps a program; `None`: it names what is typed, or `last`, which are not taken
/// here.
fn of_program(hint: String) -> Option<String> {
    let hint = hint.replace("--max-bytes", "max_bytes");
    (!(hint.contains('`') || hint.contains("--"))).then_some(hint)
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::new(Code::Internal, error.to_string())
    }
}

/// Reads a line; what is wrong with it, and the id of the request where that is known.
pub fn read(line: &[u8]) -> Result<Incoming, (Value, Fault)> {
    let wrong = |id: &Value, what: &str| {
        let said = format!("{what}; a line is one object of JSON-RPC 2.0");
        Err((id.clone(), Fault::new(Code::InvalidRequest, said)))
    };
    let mut said: Map<String, Value> = match parse(line) {
        Ok(Value::Object(said)) => said,
        Ok(Value::Array(_)) => return wrong(&Value::Null, "several requests on one line"),
        Ok(_) => return wrong(&Value::Null, "not an object"),
        Err(error) => {
            let said = format!("not JSON: {error}");
            return Err((Value::Null, Fault::new(Code::Parse, said)));
        }
    };
    let id = said.remove("id");
    let is_name = |id: &Value| id.is_string() || id.is_number();
    let known = id.clone().filter(is_name).unwrap_or_default();
    if said.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return wrong(&known, "no `\"jsonrpc\":\"2.0\"`");
    }
    let Some(method) = said.remove("method") else {
        let result = said.remove("result");
        return match id {
            Some(id) if result.is_some() || said.contains_key("error") => {
                Ok(Incoming::Response { id, result })
            }
            _ => wrong(&known, "no `method`"),
        };
    };
    let Value::String(method) = method else {
        return wrong(&known, "`method` is no text");
    };
    let params = said.remove("params").unwrap_or_default();
    if !(params.is_object() || params.is_null()) {
        return wrong(&known, "`params` is no object");
    }
    match id {
        None => Ok(Incoming::Notification { method, params }),
        Some(id) if is_name(&id) => Ok(Incoming::Request(Request { id, method, params })),
        Some(_) => wrong(&Value::Null, "`id` is neither a number nor a text"),
    }
}

/// The JSON of a line, as `JSON.parse` reads it: half an emoji, which others write though serde
/// refuses it, is U+FFFD and costs the client no more than that.
fn parse(line: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(line).or_else(|error| {
        let clean = normalise(line).and_then(|clean| serde_json::from_slice(&clean).ok());
        clean.ok_or(error)
    })
}

/// The line that answers a request.
pub fn line(id: &Value, reply: &Reply) -> String {
    let line = match reply {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(fault) => {
            let (code, message, data) = (fault.code as i32, &fault.message, &fault.data);
            let error = json!({ "code": code, "message": message, "data": data });
            json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
        }
    };
    terminal_safe_json(&line).into_owned()
}

/// The line that tells something, and waits for no answer.
pub fn notification(method: &str, params: &Value) -> String {
    let line = json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string();
    terminal_safe_json(&line).into_owned()
}

/// The line that asks the client something.
pub fn request(id: &str, method: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_told_by_its_code() {
        let code = |line: &str| read(line.as_bytes()).map(|_| ()).unwrap_err().1.code;
        assert_eq!(code("{"), Code::Parse);
        assert_eq!(code("\u{1}"), Code::Parse);
        for line in [
            "1",
            "[]",
            "{}",
            r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":2}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
        ] {
            assert_eq!(code(line), Code::InvalidRequest, "{line}");
        }
        // Deeper than any request.
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(code(&deep), Code::Parse);
        let (id, _) = read(br#"{"jsonrpc":"2.0","id":"x","method":2}"#).unwrap_err();
        assert_eq!(id, "x");
    }

    #[test]
    fn half_an_emoji_is_a_sign_that_cannot_be_told() {
        let line = br#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"query":"\ud83d cut \ud83d\udc4d"}}"#;
        let Ok(Incoming::Request(request)) = read(line) else {
            panic!("a request");
        };
        let query = "\u{fffd} cut \u{1f44d}";
        assert_eq!(
            (request.id, &request.params["query"]),
            (json!(1), &json!(query))
        );
        // What nobody reads is not read for it.
        let torn = br#"{"jsonrpc":"2.0","id":1,"method":"\ud83d"#;
        assert_eq!(read(torn).map(|_| ()).unwrap_err().1.code, Code::Parse);
    }

    #[test]
    fn an_answer_is_one_line_and_does_not_act() {
        let said = "a\u{1b}[31m\nb\u{202e}c";
        let result = serde_json::to_string(said).unwrap();
        let line = line(&json!("x\u{202e}"), &Ok(result));
        assert!(line.is_ascii() && !line.contains('\n'), "{line}");
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&read["result"], &read["id"]),
            (&json!(said), &json!("x\u{202e}"))
        );
    }
}
