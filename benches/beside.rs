//! What do ripgrep and pi need for the same corpus, in the same run?

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::Result;
use crate::corpus;
use crate::process::{self, Cost};
use crate::rows::{Row, median};
use crate::run::Run;

impl Run {
    /// Queries that read all text, beside ripgrep in the same run.
    pub fn scans(&self, rows: &mut Vec<Row>) -> Result<()> {
        let beside = self.ripgrep(&["-i", "-F", corpus::RARE_PART])?;
        let part = format!("*{}*", corpus::RARE_PART);
        let (costs, answers) = self.repeat(self.runs, &["search", &part, "--json"], &[0])?;
        let cpu = |costs: &[Cost]| {
            let all = costs.iter().map(|cost| cost.cpu.as_secs_f64());
            median(all.filter(|seconds| *seconds > 0.0).collect())
        };
        let (ours, theirs) = (cpu(&costs), cpu(&beside));
        let name = "search, a part of a rare word";
        let row = match Row::beside("", beside.clone()).measured {
            Some(wall) => Row::wall(name, wall, 2.0 * wall, costs),
            None => Row::beside(name, costs),
        };
        let mut note = match (ours, theirs) {
            (Some(ours), Some(theirs)) => format!("CPU time {:.1} x ripgrep's", ours / theirs),
            _ => String::new(),
        };
        note.push_str(&self.rare_or_wrong(&answers)?);
        rows.push(row.note(note));
        rows.push(self.beside_ripgrep("a part of a rare word", beside));

        let pattern = format!("/{}/", corpus::RARE_PATTERN);
        let (costs, answers) = self.repeat(self.runs, &["search", &pattern, "--json"], &[0])?;
        let gb = self.written.bytes as f64 / 1e9;
        let name = "search, a regular expression without literals";
        let row = Row::wall(name, 900.0 * gb, 1_500.0 * gb, costs);
        rows.push(row.note(self.rare_or_wrong(&answers)?));
        let beside = self.ripgrep(&[corpus::RARE_PATTERN])?;
        rows.push(self.beside_ripgrep("the regular expression", beside));
        Ok(())
    }

    /// A remark unless exactly the entries with the rare word were found.
    fn rare_or_wrong(&self, answers: &[Vec<u8>]) -> Result<String> {
        let Some(answer) = answers.first() else {
            return Ok(String::new());
        };
        let total = serde_json::from_slice::<Value>(answer)?["total"].as_u64();
        let expected = self.written.rare_entries;
        Ok(match total == Some(expected) {
            true => String::new(),
            false => format!(" WRONG: {total:?} hits, {expected} were written"),
        })
    }

    /// What ripgrep needs; nothing where there is none.
    fn ripgrep(&self, arguments: &[&str]) -> Result<Vec<Cost>> {
        let mut costs = Vec::new();
        for _ in 0..self.runs {
            let mut rg = Command::new("rg");
            rg.args(["--no-config", "-c"])
                .args(arguments)
                .arg(&self.root)
                .stdin(Stdio::null())
                .stdout(Stdio::null());
            match process::run(&mut rg) {
                Ok(cost) if cost.code == Some(0) => costs.push(cost),
                Ok(cost) => return Err(format!("rg ended with {:?}", cost.code).into()),
                Err(_) => break,
            }
        }
        Ok(costs)
    }

    fn beside_ripgrep(&self, name: &str, costs: Vec<Cost>) -> Row {
        let is_missing = costs.is_empty();
        let row = Row::beside(format!("beside: ripgrep, {name}"), costs);
        match is_missing {
            true => row.note("SKIPPED: there is no rg on the PATH"),
            false => row,
        }
    }

    /// What others need for the same corpus.
    pub fn beside(&self, rows: &mut Vec<Row>) -> Result<()> {
        for (name, pattern) in [("rare word", corpus::RARE), ("phrase", corpus::PHRASE)] {
            let costs = self.ripgrep(&[pattern])?;
            rows.push(self.beside_ripgrep(name, costs));
        }
        let module = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/oracle/node_modules/pi-0.74/dist/core/session-manager.js");
        let row = Row::beside("beside: pi 0.74.2 listAll", vec![]);
        let reason = if !module.exists() {
            "tests/oracle/node_modules is missing (npm ci --prefix tests/oracle)"
        } else if Command::new("node")
            .arg("--version")
            .stdout(Stdio::null())
            .status()
            .is_err()
        {
            "there is no node on the PATH"
        } else {
            let costs = self.pi_list_all(&module)?;
            rows.push(Row::beside(row.operation, costs));
            return Ok(());
        };
        if self.pi {
            return Err(format!("--pi: {reason}").into());
        }
        rows.push(row.note(format!("SKIPPED: {reason}")));
        Ok(())
    }

    fn pi_list_all(&self, module: &Path) -> Result<Vec<Cost>> {
        let script = self.work.join("list-all.mjs");
        let module = json!(module.display().to_string());
        let expected = self.written.files;
        fs::write(
            &script,
            format!(
                "import {{ pathToFileURL }} from 'node:url';\n\
                 const {{ SessionManager }} = await import(pathToFileURL({module}).href);\n\
                 const all = await SessionManager.listAll();\n\
                 process.exit(all.length === {expected} ? 0 : 3);\n"
            ),
        )?;
        let agent = self
            .root
            .parent()
            .ok_or("the sessions folder has no parent")?;
        let mut costs = Vec::new();
        for _ in 0..self.cold_runs {
            let mut node = Command::new("node");
            node.arg(&script)
                .env("PI_CODING_AGENT_DIR", agent)
                .env_remove("PI_CODING_AGENT_SESSION_DIR")
                .stdin(Stdio::null());
            let cost = process::run(&mut node)?;
            match cost.code {
                Some(0) => costs.push(cost),
                Some(3) => {
                    return Err(format!("pi's listAll did not list {expected} sessions").into());
                }
                code => return Err(format!("pi's listAll ended with {code:?}").into()),
            }
        }
        Ok(costs)
    }
}
