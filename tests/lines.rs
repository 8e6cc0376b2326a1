//! A program that talks to ours in lines of JSON, for the tests of `serve` and `mcp`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::thread::{sleep, spawn};
use std::time::Duration;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// One end of the talk.
pub struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Talk {
    /// Starts the command, with these variables beside those of the sandbox.
    pub fn start(home: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = home
            .command(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("sessionary runs");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        Self {
            input: child.stdin.take(),
            child,
            output,
            last: 0,
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends lines at once, as they are.
    pub fn send(&mut self, lines: &str) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(lines.as_bytes()).expect("it reads");
        input.write_all(b"\n").expect("it reads");
    }

    /// The next line that comes.
    pub fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The line that answers this request, as far as nothing else comes.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// What a request results in.
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params.clone());
        assert_eq!(answer.get("error"), None, "{method} {params}");
        answer["result"].take()
    }

    /// The code and message of an error.
    pub fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        error(&self.ask(method, params))
    }

    /// So many lines, by the ids that they have.
    pub fn answers(&mut self, number: usize) -> BTreeMap<String, Value> {
        let lines = (0..number).map(|_| self.next());
        lines.map(|line| (line["id"].to_string(), line)).collect()
    }

    /// Nothing more is asked: what comes still, and how the process ends.
    pub fn end(mut self) -> (Vec<String>, ExitStatus) {
        drop(self.input.take());
        let left = self.output.by_ref_lines();
        (left, self.child.wait().expect("it ends"))
    }

    /// Nothing more is asked, and what comes is read only after a pause: as [`Talk::end`].
    pub fn end_late(mut self, pause: Duration) -> (Vec<String>, ExitStatus) {
        drop(self.input.take());
        sleep(pause);
        self.end()
    }

    /// Sends lines while nothing is read, and reads what comes only then: as [`Talk::end`].
    pub fn flood(mut self, lines: String) -> (Vec<String>, ExitStatus) {
        let mut input = self.input.take().expect("it is open");
        let sends = spawn(move || input.write_all(lines.as_bytes()));
        sleep(Duration::from_millis(500));
        let ended = self.end();
        sends.join().unwrap().expect("all of it is taken");
        ended
    }

    /// Nothing more is asked, and what comes still is read in pieces of 64 KiB, with this pause
    /// before each.
    pub fn end_slowly(mut self, pause: Duration) -> (Vec<u8>, ExitStatus) {
        drop(self.input.take());
        let (mut all, mut piece) = (Vec::new(), vec![0; 64 << 10]);
        loop {
            sleep(pause);
            match self.output.read(&mut piece).expect("a piece") {
                0 => return (all, self.child.wait().expect("it ends")),
                read => all.extend_from_slice(&piece[..read]),
            }
        }
    }

    /// It ends in the middle of whatever it does.
    pub fn kill(mut self) {
        self.child.kill().expect("it is killed");
        self.child.wait().expect("it ends");
    }

    /// Nothing more is asked, nor read.
    pub fn leave(mut self) -> ExitStatus {
        drop(self.input.take());
        self.child.wait().expect("it ends")
    }
}

trait Rest {
    fn by_ref_lines(&mut self) -> Vec<String>;
}

impl<R: BufRead> Rest for R {
    fn by_ref_lines(&mut self) -> Vec<String> {
        self.lines().map(|line| line.expect("a line")).collect()
    }
}

/// The code and message of an answer that is an error.
pub fn error(answer: &Value) -> (i64, String) {
    let error = &answer["error"];
    let code = error["code"].as_i64();
    let code = code.unwrap_or_else(|| panic!("no error: {answer}"));
    (code, error["message"].as_str().unwrap().to_owned())
}

/// Writes a session of pi of this directory below the home: texts by role, an entry each.
pub fn pi_session(home: &Sandbox, id: &str, cwd: &str, at: &str, said: &[(&str, &str)]) {
    let mut lines = vec![
        json!({"type": "session", "version": 3, "id": id, "timestamp": at,
        "cwd": format!("~/{cwd}")}),
    ];
    for (number, (role, text)) in said.iter().enumerate() {
        let parent = number.checked_sub(1).map(|number| format!("e{number}"));
        let text = json!([{"type": "text", "text": text}]);
        lines.push(
            json!({"type": "message", "id": format!("e{number}"), "parentId": parent,
            "timestamp": at, "message": {"role": role, "content": text}}),
        );
    }
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    home.write(&format!(".pi/agent/sessions/--x--/{id}.jsonl"), &lines);
}
