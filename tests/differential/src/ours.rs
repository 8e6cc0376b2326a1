//! What does sessionary read? Asked as any program asks it: the built command, and its JSON.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::session::{Session, Sessions, Tokens};

/// A session, and how it may be asked for.
pub struct FoundSession {
    pub id: String,
    pub path: String,
}

/// The built command over one home.
pub struct Sessionary {
    pub command: PathBuf,
    pub home: PathBuf,
    pub index: PathBuf,
}

impl Sessionary {
    /// All sessions by their paths below the home, and the id of each.
    pub fn sessions(&self) -> Result<(Sessions, Vec<FoundSession>), Box<dyn Error>> {
        let mut calls = self.calls()?;
        let mut tokens = self.tokens()?;
        let (mut sessions, mut found) = (Sessions::new(), Vec::new());
        for row in self.lines(&["list", "--all", "--subagents", "--jsonl", "--limit", "0"])? {
            let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            let path = text("path");
            let session = Session {
                title: Some(text("title")),
                prompts: Some(self.prompts(&path)?),
                calls: Some(calls.remove(&path).unwrap_or_default()),
                tokens: tokens.remove(&path),
            };
            found.push(FoundSession {
                id: text("id"),
                path: self.below_home(&path),
            });
            sessions.insert((text("agent"), self.below_home(&path)), session);
        }
        Ok((sessions, found))
    }

    fn below_home(&self, path: &str) -> String {
        crate::below(&self.home, Path::new(path))
    }

    /// What stands as typed in a session's own entries.
    fn prompts(&self, path: &str) -> Result<Vec<String>, Box<dyn Error>> {
        let shown = self.lines(&["show", path, "--all", "--json", "--reveal"])?;
        let (mut prompts, mut seen) = (Vec::new(), Vec::new());
        for entry in shown
            .iter()
            .flat_map(|shown| shown["entries"].as_array().into_iter().flatten())
        {
            let id = &entry["id"];
            if entry["role"] != "user" || seen.contains(id) {
                continue;
            }
            let passages = entry["text"].as_array().into_iter().flatten();
            let prose = passages.filter(|passage| passage[0] == "prose");
            let pieces = prose.flat_map(|passage| passage[1].as_array().into_iter().flatten());
            let pieces: Vec<&str> = pieces.filter_map(Value::as_str).collect();
            let prompt = pieces.join("\n");
            if !prompt.trim().is_empty() {
                prompts.push(prompt.trim().to_owned());
                seen.push(id.clone());
            }
        }
        Ok(prompts)
    }

    fn calls(&self) -> Result<BTreeMap<String, Vec<String>>, Box<dyn Error>> {
        let mut calls = BTreeMap::<String, Vec<String>>::new();
        let query = "SELECT path, tool FROM call_records JOIN sessions USING (session)
                     WHERE NOT is_result ORDER BY entry, ordinal";
        for row in self.lines(&["sql", "--jsonl", query])? {
            let path = row["path"].as_str().unwrap_or_default().to_owned();
            let tool = row["tool"].as_str().unwrap_or_default().to_owned();
            calls.entry(path).or_default().push(tool);
        }
        Ok(calls)
    }

    /// The sums of each session, an answer of several lines once.
    fn tokens(&self) -> Result<BTreeMap<String, Tokens>, Box<dyn Error>> {
        let query = "SELECT path, sum(i) AS i, sum(o) AS o, sum(r) AS r, sum(w) AS w FROM (
                       SELECT session, max(input) AS i, max(output) AS o, max(cache_read) AS r,
                              max(cache_write) AS w
                       FROM usage_records WHERE NOT step
                       GROUP BY session, coalesce(response_id, entry)
                     ) JOIN sessions USING (session) GROUP BY path";
        let rows = self.lines(&["sql", "--jsonl", query])?;
        let tokens = rows.iter().map(|row| {
            let sum = |key: &str| row[key].as_u64().unwrap_or_default();
            let tokens = Tokens {
                input: sum("i"),
                output: sum("o"),
                cache_read: sum("r"),
                cache_write: sum("w"),
            };
            (row["path"].as_str().unwrap_or_default().to_owned(), tokens)
        });
        Ok(tokens.collect())
    }

    /// Each line that the command prints, as JSON.
    fn lines(&self, arguments: &[&str]) -> Result<Vec<Value>, Box<dyn Error>> {
        let mut command = Command::new(&self.command);
        let command = command
            .env_clear()
            .env("HOME", &self.home)
            .arg("--index")
            .arg(&self.index);
        crate::json_lines(command.args(arguments))
    }
}
