//! What do the verbs that change a session do to one of clido's? They write a line at its end, or
//! copy all of it; what clido has no notion of they refuse.

use std::fs;
use std::path::Path;

use anyhow::Context;
use sessionary::Config;
use sessionary::model::SessionRow;
use sessionary::session::clido::{self, SessionLine, SessionReader, SessionWriter};
use sessionary::session::{Ids, Json, RandomIds};

use super::place;
use super::writing::{Copy, DryRun, StartTime, WriteResult, catalogued, refuse_archived};
use crate::failure::Failure;
use crate::output::Screen;

/// What stands in a line in place of what was left out.
const REDACTED: &str = "[REDACTED]";

/// Writes a line at the session's end.
pub fn append(
    row: &SessionRow,
    entry: Option<&str>,
    line: &SessionLine,
    DryRun { dry_run }: DryRun,
    config: &Config,
) -> Result<WriteResult, Failure> {
    if entry.is_some() {
        return Err(Failure::usage(
            "a session of clido has no branches: lines are added only at its end",
        )
        .hint("name the session without an entry"));
    }
    is_read_by_clido(row)?;
    let copy = match dry_run {
        true => Some(Copy::of(&row.path)?),
        false => None,
    };
    let path = copy.as_ref().map_or(&row.path, |copy| &copy.path);
    let place = SessionWriter::append_to(path)?.write_line(line)?;
    let unindexed = match dry_run {
        true => None,
        false => catalogued(std::slice::from_ref(&row.path), config),
    };
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    let (start, end) = (place.start as usize, place.end as usize);
    let new = bytes.get(start..end).unwrap_or_default();
    let number = memchr::memchr_iter(b'\n', bytes.get(..end).unwrap_or_default()).count();
    let new = String::from_utf8_lossy(new);
    let new = new.trim_start_matches('\n').to_owned();
    let open = "If clido has this session open, it overwrites what others add: close it first.";
    let open = (!dry_run).then(|| open.to_owned());
    let remarks = unindexed.into_iter().chain(of_keys(&new)).chain(open);
    Ok(WriteResult {
        dry_run,
        session: row.id.clone(),
        path: row.path.clone(),
        entry: Some(format!("L{number}")),
        rewritten: false,
        remarks: remarks.collect(),
        new,
    })
}

/// Copies all of a session into a new one for a directory, as clido forks.
pub fn fork(
    row: &SessionRow,
    directory: &Path,
    DryRun { dry_run }: DryRun,
    config: &Config,
    screen: &Screen,
) -> Result<WriteResult, Failure> {
    is_read_by_clido(row)?;
    let cwd = &*directory.to_string_lossy();
    let id = RandomIds.random();
    let root = place::of_fork(row, directory, config)?;
    let folder = match root.flat {
        true => root.path.clone(),
        false => root.path.join(clido::folder(cwd)),
    };
    let target = folder.join(format!("{id}.jsonl"));
    let tried = match dry_run {
        true => Some(tempfile::tempdir()?),
        false => None,
    };
    let path = match &tried {
        Some(tried) => tried.path().join(format!("{id}.jsonl")),
        None => target.clone(),
    };
    clido::fork(&row.path, &path, &id, cwd, &StartTime(screen.now_ms))?;
    let new = fs::read(&path).with_context(|| path.display().to_string())?;
    let unindexed = match dry_run {
        true => None,
        false => catalogued(std::slice::from_ref(&target), &place::known(&root, config)),
    };
    Ok(WriteResult {
        dry_run,
        session: id,
        path: target,
        entry: None,
        rewritten: false,
        new: String::from_utf8_lossy(&new).into_owned(),
        remarks: unindexed.into_iter().collect(),
    })
}

/// What is said where something was left out of what was written.
pub fn of_keys(new: &str) -> Option<String> {
    let said = "What looks like a key was written as [REDACTED], as clido writes it.";
    new.contains(REDACTED).then(|| said.to_owned())
}

/// clido opens a session only when it can read every line: to add to another one would help nobody.
fn is_read_by_clido(row: &SessionRow) -> Result<(), Failure> {
    refuse_archived(row)?;
    let path = &row.path;
    let mut lines = SessionReader::open(path)?;
    match lines.find_map(Result::err) {
        None => Ok(()),
        Some(bad) => Err(
            Failure::usage(format!("clido cannot read {}: {bad}", path.display()))
                .hint("nothing was written, as clido would not open it anyway"),
        ),
    }
}

/// The line that a JSON text is: of a type that clido knows, with the members that it knows.
pub fn line_of(text: &str) -> Result<SessionLine, Failure> {
    let wrong = |why: String| {
        Failure::usage(format!(
            "standard input is not a line that clido writes: {why}"
        ))
    };
    let json = Json::parse(text).ok_or_else(|| wrong("it is not a JSON value".to_owned()))?;
    let line: SessionLine =
        serde_json::from_str(json.as_str()).map_err(|error| wrong(error.to_string()))?;
    if let SessionLine::Meta { .. } = line {
        return Err(wrong("a session already has its `meta` line".to_owned()));
    }
    if let SessionLine::UserMessage { role, .. } = &line
        && role != "user"
    {
        return Err(wrong("the role of a user_message is \"user\"".to_owned()));
    }
    // What clido does not know it drops; here nothing is dropped in silence.
    let members = |value| match value {
        serde_json::Value::Object(members) => members,
        _ => serde_json::Map::new(),
    };
    let known = members(serde_json::to_value(&line)?);
    let given = members(serde_json::from_str(json.as_str())?);
    let unknown = given
        .iter()
        .find(|(key, value)| !value.is_null() && !known.contains_key(*key));
    if let Some((key, _)) = unknown {
        return Err(wrong(format!("clido has no member `{key}` in it")));
    }
    clido::resume(std::slice::from_ref(&line)).map_err(|refused| wrong(refused.to_string()))?;
    Ok(line)
}

/// What clido's sessions do not have.
pub fn has_no(what: &str) -> Failure {
    Failure::usage(format!("a session of clido has no {what}"))
}
