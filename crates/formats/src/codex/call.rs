//! What was a tool asked, and how did that end?

use std::borrow::Cow;

use super::line::{Arguments, Output, Payload};
use super::message::texts;
use super::script;
use crate::edits::{patch, shell, touches};
use crate::json::{self, Loose, Raw, Text};
use crate::model::{Call, FileTouch};

/// A call and the files that it touches; `None` where the second tier is needed.
pub(super) fn call(kind: &str, payload: &Payload<'_>) -> Option<(Call, Vec<FileTouch>)> {
    let tool = payload.name.owned();
    // The arguments of a function are JSON in a string.
    let asked = arguments(payload);
    let none = Arguments::default();
    let asked = asked
        .as_deref()
        .and_then(json::parse::<Loose<Arguments<'_>>>);
    let asked = asked.as_ref().and_then(Loose::object).unwrap_or(&none);
    let tool = tool.or_else(|| Some(kind.strip_suffix("_call")?.to_owned()));
    let of_function = || {
        asked
            .input
            .text()
            .filter(|_| tool.as_deref() == Some(PATCH))
    };
    let input = payload.input.text().or_else(of_function);
    let command = command(&asked.cmd).or_else(|| command(&asked.command));
    let code = input
        .as_deref()
        .filter(|_| tool.as_deref() == Some(script::TOOL));
    let mut files = match code {
        Some(code) => script::touched(code),
        None => patch::touched(input.as_deref().unwrap_or_default(), None),
    };
    let patched = command.as_deref().map_or_else(Vec::new, |command| {
        shell::touched(command, asked.workdir.as_str())
    });
    let is_patch = !patched.is_empty();
    files.extend(patched);
    let path = asked.path.owned().or_else(|| asked.file_path.owned());
    let touched = tool.as_deref();
    let touched = touched.and_then(|tool| touches(tool, command.as_deref()));
    if let (Some(path), Some(modified)) = (&path, touched) {
        files.push(FileTouch {
            path: path.clone(),
            modified,
        });
    }
    let others = [&asked.query, &asked.pattern, &asked.url, &asked.message];
    let subject = command.filter(|_| !is_patch);
    let subject = subject
        .or(path)
        .or_else(|| Some(files.first()?.path.clone()));
    let subject = subject.or_else(|| script::subject(code?));
    let call = Call {
        call_id: payload.call_id.owned().or_else(|| payload.id.owned()),
        tool,
        subject: subject.or_else(|| others.into_iter().find_map(Text::owned)),
        ..Call::default()
    };
    Some((call, files))
}

/// The tool that takes a patch.
const PATCH: &str = "apply_patch";

/// The arguments as JSON: a function's, or the action of a local shell or a web search.
pub(super) fn arguments<'a>(payload: &Payload<'a>) -> Option<Cow<'a, str>> {
    let arguments = payload.arguments.text();
    let arguments = arguments.or_else(|| payload.arguments.0.map(Cow::Borrowed));
    arguments.or_else(|| payload.action.0.map(Cow::Borrowed))
}

/// A command line, or the words of one.
fn command(value: &Raw<'_>) -> Option<String> {
    if let Some(line) = value.text() {
        return Some(line.into_owned());
    }
    shell::command_line(value.items()?.iter().filter_map(Raw::shown).collect())
}

/// What a call gave, as the model got it; `None` where the second tier is needed.
pub(super) fn result(payload: &Payload<'_>) -> Option<Call> {
    let mut result = Call {
        call_id: payload.call_id.owned(),
        is_result: true,
        ..Call::default()
    };
    let mut is_error = payload
        .status
        .as_str()
        .filter(|status| *status == "failed")
        .map(|_| true);
    let shown = texts(&payload.output)?;
    let text = shown.first().map(|text| &**text).unwrap_or_default();
    let stated = match payload.output.0 {
        Some(raw) if raw.starts_with('{') => json::parse::<Loose<Output<'_>>>(raw)?,
        _ if text.starts_with('{') => json::parse::<Loose<Output<'_>>>(text).unwrap_or_default(),
        _ => Loose::Missing,
    };
    if let Loose::Object(stated) = &stated {
        is_error = is_error.or(stated.success.0.map(|success| !success));
        if let Loose::Object(ended) = &stated.metadata {
            is_error = is_error.or(ended.exit_code.0.map(|code| code != 0));
            result.duration_ms = ended.duration_seconds.0.map(|s| (s * 1000.0) as i64);
        }
    }
    for line in text
        .lines()
        .take_while(|line| *line != "Output:")
        .take(HEAD)
    {
        let code = ["Process exited with code ", "Exit code: "];
        if let Some(code) = code.iter().find_map(|head| line.strip_prefix(head)) {
            is_error = is_error.or(code.trim().parse::<i64>().ok().map(|code| code != 0));
        } else if let Some(time) = wall_time(line, text) {
            let seconds: Option<f64> = time.split(' ').next().and_then(|s| s.parse().ok());
            result.duration_ms = result.duration_ms.or(seconds.map(|s| (s * 1000.0) as i64));
        } else if line == "aborted by user" || line.starts_with("unsupported call: ") {
            is_error = Some(true);
        }
    }
    let is_refused =
        script::has_failed(text) || REFUSED.iter().any(|refused| text.starts_with(refused));
    result.is_error = is_error.or(is_refused.then_some(true));
    Some(result)
}

/// What Codex's own answer to a call begins with that came to nothing.
const REFUSED: [&str; 10] = [
    "apply_patch verification failed",
    "unsupported custom tool call: ",
    "write_stdin failed: ",
    "exec_command failed: ",
    "exec_command failed for `",
    "failed to parse function arguments: ",
    "failed to parse exec_command arguments: ",
    "unable to locate image at ",
    "aborted by user after ",
    "Full-history forked agents inherit ",
];

/// How long the call took, where a line of what it gave says so.
fn wall_time<'a>(line: &'a str, text: &str) -> Option<&'a str> {
    let of_script = || {
        line.strip_prefix("Wall time ")
            .filter(|_| script::is_of(text))
    };
    line.strip_prefix("Wall time: ").or_else(of_script)
}

/// Lines in which an output says how the call ended.
const HEAD: usize = 6;

/// Whether a call of a server's tool failed, as what it gave says.
fn given(result: &Raw<'_>) -> Option<bool> {
    let result = result.0?;
    let is_error = |ok| json::member(ok, "isError") == Some("true");
    match json::member(result, "Ok") {
        Some(ok) => Some(is_error(ok)),
        None => json::member(result, "Err").map(|_| true),
    }
}

/// How a call ended, as an event says it beside its output.
pub(super) fn end(item: &Payload<'_>, event: &Payload<'_>) -> Option<(Call, Vec<FileTouch>)> {
    let ms = |duration: &super::line::Duration| {
        let secs = duration.secs.0?.saturating_mul(1000);
        Some(secs.saturating_add(duration.nanos.0.unwrap_or_default() / 1_000_000))
    };
    let between = || event.completed_at_ms.0?.checked_sub(event.started_at_ms.0?);
    let failed = item
        .status
        .as_str()
        .map(|status| status == "failed" || status == "declined");
    let result = Call {
        call_id: item.call_id.owned().or_else(|| item.id.owned()),
        is_result: true,
        is_error: item
            .exit_code
            .0
            .map(|code| code != 0)
            .or(item.success.0.map(|success| !success))
            .or(failed)
            .or_else(|| given(&item.result)),
        duration_ms: item.duration.object().and_then(ms).or_else(between),
        ..Call::default()
    };
    let mut files = Vec::new();
    for parsed in item.parsed_cmd.items()? {
        let raw = parsed.0.unwrap_or_default();
        let text = |key: &str| json::member(raw, key).map(json::unquote);
        if text("type").as_deref() == Some("read")
            && let Some(path) = text("path").filter(|path| path != "null")
        {
            files.push(FileTouch {
                path: path.into_owned(),
                modified: false,
            });
        }
    }
    let changes = json::members(item.changes.0.unwrap_or_default());
    files.extend(changes.into_iter().map(|change| FileTouch {
        path: change.key.into_owned(),
        modified: true,
    }));
    Some((result, files))
}
