//! What one pi line says about itself.

use super::dialect::{Dialect, OddValues, Scalars};
use super::line::{Arguments, Block, Content, Line, Message, NestedCall, Tokens};
use crate::json::{self, Loose, Raw, Text};
use crate::model::{Call, Compaction, Facts, FileTouch, Header, Label, Usage, sum_costs};
use crate::tools::used;

/// The facts of one record; of a record that cannot be read, only that the agent drops it.
pub(super) fn facts(dialect: &Dialect, record: &[u8]) -> Facts {
    json::tiers(record, |text| of_text(dialect, text)).unwrap_or_default()
}

/// The facts of a text that is one strict JSON value.
pub(super) fn of_text(dialect: &Dialect, text: &str) -> Option<Facts> {
    Some(match json::parse::<Loose<Line<'_>>>(text)? {
        Loose::Object(line) => of_line(dialect, &line),
        _ => {
            let breaks = dialect.scalars == Scalars::All && text.trim() == "null";
            Facts {
                agent_sees: breaks || dialect.is_entry(text.trim()),
                breaks_list: breaks.then(|| "a line is null".to_owned()),
                ..Facts::default()
            }
        }
    })
}

fn of_line(dialect: &Dialect, line: &Line<'_>) -> Facts {
    let odd_breaks = dialect.odd_values == OddValues::HideSession;
    let (time_raw, time_ms) = time(&line.timestamp);
    let mut facts = Facts {
        kind: line.kind.owned().unwrap_or_default(),
        id: name(&line.id),
        parent: name(&line.parent_id),
        time_raw,
        time_ms,
        agent_sees: true,
        ..Facts::default()
    };
    match facts.kind.as_str() {
        "session" => header(dialect, line, &mut facts),
        "message" => match &line.message {
            Loose::Object(message) => of_message(message, odd_breaks, &mut facts),
            Loose::Other => facts.is_message = true,
            Loose::Missing | Loose::Null => {
                facts.is_message = true;
                facts.breaks_list = odd_breaks.then(|| "a message entry has no message".to_owned());
            }
        },
        "model_change" => {
            (facts.provider, facts.model) = model(line);
        }
        "thinking_level_change" => facts.thinking_level = line.thinking_level.owned(),
        "session_info" => match dialect.name(line.name.0) {
            Ok(name) => facts.name = name,
            Err(why) => facts.breaks_list = Some(why.to_owned()),
        },
        "label" => {
            facts.label = line.target_id.owned().map(|target| Label {
                target,
                text: line.label.owned(),
            });
        }
        "compaction" => {
            facts.compaction = Some(Compaction {
                first_kept: line.first_kept_entry_id.owned(),
                tokens_before: line.tokens_before.0,
                first_kept_index: line.first_kept_entry_index.0,
            });
            facts.has_prompt = line.system_message.is_value();
            summary(line, &mut facts);
        }
        "branch_summary" => summary(line, &mut facts),
        "usage" => facts.usage = usage(&line.usage, &line.provider, &line.model, &Text::default()),
        "custom" => facts.text_cut = super::text::is_cut(&line.data),
        "custom_message" => {
            if let Content::Blocks(blocks) = &line.content {
                facts.has_image = has_image(blocks);
            }
        }
        "" if line.v.0.is_some() && line.family.as_str() == Some("header") => {
            foreign_header(line, &mut facts)
        }
        _ => {}
    }
    facts.copied_with = both_times(&facts);
    facts
}

/// The id that is written there. An empty one is none: no entry of pi's goes on from it (all
/// versions ask `parentId ? byId.get(parentId) : undefined`), and no leaf is found by it.
fn name(raw: &Raw<'_>) -> Option<String> {
    raw.shown().filter(|id| !id.is_empty())
}

/// The time as written when it is a string, and in ms as JavaScript's Date takes any value.
fn time(raw: &Raw<'_>) -> (Option<String>, Option<i64>) {
    match raw.text() {
        Some(text) => {
            let ms = json::date_ms(&text);
            (Some(text.into_owned()), ms)
        }
        None => (None, raw.0.and_then(json::time_ms)),
    }
}

fn header(dialect: &Dialect, line: &Line<'_>, facts: &mut Facts) {
    (facts.provider, facts.model) = model(line);
    facts.header = Some(Header {
        id: line
            .id
            .text()
            .map(std::borrow::Cow::into_owned)
            .or(line.id.0.map(str::to_owned)),
        id_is_string: line.id.text().is_some(),
        version: Some(dialect.version(line.version.0)),
        cwd: line.cwd.owned(),
        created_raw: facts.time_raw.clone(),
        created_ms: facts.time_ms,
        parent_session: line.parent_session.as_str().map(plain),
        own: branched_from(line),
    });
}

/// The provider and the model of a header or a change of models. 0.7.6 has both in one
/// (`startSession`, `saveModelChange`): `anthropic/claude-sonnet-4-5`.
fn model(line: &Line<'_>) -> (Option<String>, Option<String>) {
    let both = line.model.as_str().filter(|_| line.model_id.0.is_none());
    match both.and_then(|both| both.split_once('/')) {
        Some((provider, model)) => (Some(provider.to_owned()), Some(model.to_owned())),
        None => (line.provider.owned(), line.model_id.owned()),
    }
}

/// How a header named its parent from 0.12.7 to 0.30.2 (`createBranchedSessionFromEntries`; later
/// versions keep it in files that they migrate, and do not read it).
fn branched_from(line: &Line<'_>) -> Option<String> {
    let path = line.branched_from.as_str().filter(|path| !path.is_empty());
    let is_alone = line.parent_session.as_str().is_none();
    path.filter(|_| is_alone)
        .map(|path| serde_json::json!({ "branchedFrom": plain(path) }).to_string())
}

/// A path without `.`, `..` and needless slashes, by its text alone, as the paths of sessions are
/// that it is compared with. What does not begin at the root leads nobody knows where from: it
/// stays.
fn plain(path: &str) -> String {
    if !path.starts_with('/') {
        return path.to_owned();
    }
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// A header of pi-agent-core's own format, which pi's session list takes for no session.
fn foreign_header(line: &Line<'_>, facts: &mut Facts) {
    let version = line.v.0.unwrap_or_default();
    facts.kind = format!("header{version}");
    facts.breaks_list = Some(format!(
        "pi format {version}, which pi's list does not show"
    ));
    facts.time_ms = line.created_at.0.map(|ms| ms as i64);
    facts.header = Some(Header {
        id: line.id.shown(),
        id_is_string: line.id.text().is_some(),
        version: line.v.0,
        cwd: line.cwd.owned(),
        created_raw: None,
        created_ms: facts.time_ms,
        parent_session: None,
        own: None,
    });
}

fn summary(line: &Line<'_>, facts: &mut Facts) {
    facts.usage = usage(&line.usage, &line.provider, &line.model, &Text::default());
    let Some(touched) = line.details.object() else {
        return;
    };
    for (paths, modified) in [
        (&touched.read_files.0, false),
        (&touched.modified_files.0, true),
    ] {
        facts.files.extend(
            paths
                .iter()
                .filter_map(Text::owned)
                .map(|path| FileTouch { path, modified }),
        );
    }
}

/// What copies of an answer keep, and of a message that calls: its own time and its entry's. In
/// version 1 entries have no ids, so whoever migrates a file or forks it gives each a new one. pi
/// takes one before it asks and the other when it writes: of times that are the same the clock may
/// be too coarse to tell two answers.
fn both_times(facts: &Facts) -> Option<String> {
    let is_counted = facts.usage.is_some() || facts.calls.iter().any(|call| !call.is_result);
    let times = facts.time_ms.zip(facts.message_ms);
    let (entry, message) = times.filter(|(entry, message)| is_counted && entry != message)?;
    Some(format!("{entry}-{message}"))
}

fn of_message(message: &Message<'_>, odd_breaks: bool, facts: &mut Facts) {
    facts.is_message = true;
    facts.role = message.role.owned();
    facts.has_prompt = message.role.as_str() == Some("system");
    facts.message_ms = message.timestamp.0.map(|ms| ms as i64);
    if let Content::Blocks(blocks) = &message.content {
        facts.has_image = has_image(blocks);
    }
    match message.role.as_str() {
        Some("user") => spoken(message, odd_breaks, facts),
        Some("assistant") => {
            spoken(message, odd_breaks, facts);
            facts.provider = message.provider.owned();
            facts.model = message.model.owned();
            facts.stop_reason = message.stop_reason.owned();
            facts.is_error = matches!(message.stop_reason.as_str(), Some("error" | "aborted"));
            facts.usage = usage(
                &message.usage,
                &message.provider,
                &message.model,
                &message.response_id,
            );
            if let Content::Blocks(blocks) = &message.content {
                tool_calls(blocks, facts);
            }
        }
        Some("toolResult") => {
            facts.is_error = message.is_error.0 == Some(true);
            facts.calls.push(Call {
                call_id: message.tool_call_id.shown(),
                tool: message.tool_name.owned(),
                is_result: true,
                is_error: Some(facts.is_error),
                ..Call::default()
            });
            nested_calls(message, facts);
            facts.usage = usage_of_tool(message);
        }
        Some("bashExecution") => {
            facts.is_error = message.cancelled.0 == Some(true)
                || message.exit_code.0.is_some_and(|code| code != 0.0);
            // One line holds the command and its outcome.
            facts.calls.push(Call {
                tool: Some("bash".to_owned()),
                is_error: Some(facts.is_error),
                subject: message.command.shown(),
                ..Call::default()
            });
        }
        _ => {}
    }
}

/// Adds the facts of a message alone, as induscode keeps it in records of its own. `None` where a
/// part of it needs the second tier.
pub(crate) fn add_message(message: &Raw<'_>, facts: &mut Facts) -> Option<()> {
    if message.is_value()
        && let Loose::Object(message) = message.parse::<Loose<Message<'_>>>()?
    {
        of_message(&message, false, facts);
    }
    Some(())
}

/// User and assistant messages: their time is the session's "modified", and their content must be
/// text or blocks or pi's list throws and drops the file.
fn spoken(message: &Message<'_>, odd_breaks: bool, facts: &mut Facts) {
    let user = message.role.as_str() == Some("user");
    let content = &message.content;
    // Only times after 1970 count; a fraction of a millisecond after it does, and is cut to 1970.
    let is_late = match message.timestamp.0 {
        Some(ms) => ms > 0.0,
        None => facts.time_ms.is_some_and(|ms| ms > 0),
    };
    facts.moves_modified = is_late && !matches!(content, Content::Missing);
    match content {
        Content::Missing => {}
        Content::Text(text) => facts.user_text = user.then(|| text.to_string()),
        Content::Odd => {
            facts.breaks_list = odd_breaks
                .then(|| "a message has content that is neither text nor blocks".to_owned());
        }
        Content::Blocks(blocks) => {
            if odd_breaks && blocks.iter().any(|block| matches!(block, Loose::Null)) {
                facts.breaks_list = Some("a message has a null content block".to_owned());
            }
            facts.user_text = user.then(|| joined_text(blocks));
        }
    }
}

/// `blocks.filter(text).map(text).join(" ")` as JavaScript does it.
fn joined_text(blocks: &[Loose<Block<'_>>]) -> String {
    let mut joined = String::new();
    let texts = blocks
        .iter()
        .filter_map(Loose::object)
        .filter(|block| block.kind.as_str() == Some("text"));
    for (index, block) in texts.enumerate() {
        if index > 0 {
            joined.push(' ');
        }
        match block.text.text() {
            Some(text) => joined.push_str(&text),
            None => joined.push_str(&block.text.0.map(json::string).unwrap_or_default()),
        }
    }
    joined
}

fn has_image(blocks: &[Loose<Block<'_>>]) -> bool {
    blocks
        .iter()
        .filter_map(Loose::object)
        .any(|block| block.kind.as_str() == Some("image"))
}

fn tool_calls(blocks: &[Loose<Block<'_>>], facts: &mut Facts) {
    for block in blocks
        .iter()
        .filter_map(Loose::object)
        .filter(|block| block.kind.as_str() == Some("toolCall"))
    {
        let call = call(&block.id, &block.name, &block.arguments, facts);
        facts.calls.push(call);
    }
}

/// What a tool is asked, and the file that it touches.
fn call(
    id: &Raw<'_>,
    tool: &Text<'_>,
    asked: &Loose<Box<Arguments<'_>>>,
    facts: &mut Facts,
) -> Call {
    let none = Arguments::default();
    let arguments = asked.object().map_or(&none, |arguments| arguments);
    let path = [
        &arguments.path,
        &arguments.file_path,
        &arguments.file_path_camel,
    ]
    .into_iter()
    .find_map(Text::owned);
    let others = [&arguments.pattern, &arguments.query, &arguments.url];
    let subject = used(facts, tool.as_str(), path, &arguments.command, &others);
    Call {
        call_id: id.shown(),
        tool: tool.owned(),
        subject,
        ..Call::default()
    }
}

/// The calls that a tool made itself, each with how it ended.
fn nested_calls(message: &Message<'_>, facts: &mut Facts) {
    let nested = message.nested_calls.object();
    let calls = nested.and_then(|nested| nested.calls.items());
    // One that needs the second tier needs it alone: the line around it was read.
    let of_calls = calls.into_iter().flatten().filter_map(|nested| {
        json::tiers(nested.0?.as_bytes(), |text| {
            let mut of_call = Facts::default();
            if let Loose::Object(nested) = json::parse::<Loose<NestedCall<'_>>>(text)? {
                nested_call(&nested, &mut of_call);
            }
            Some(of_call)
        })
    });
    for of_call in of_calls {
        facts.calls.extend(of_call.calls);
        facts.files.extend(of_call.files);
    }
}

fn nested_call(nested: &NestedCall<'_>, facts: &mut Facts) {
    let call = call(&nested.id, &nested.name, &nested.arguments, facts);
    let is_error = nested.status.as_str().map(|status| status != "ok");
    let result = Call {
        call_id: call.call_id.clone(),
        tool: call.tool.clone(),
        is_result: true,
        is_error,
        duration_ms: nested.duration_ms.0.map(|ms| ms as i64),
        ..Call::default()
    };
    facts.calls.extend([call, result]);
}

/// What models took for a tool, as its result says since 0.81.0 (`usage-totals.js` counts it).
/// Where subagents' sessions are files of their own (`sessionFile`, pi-subagents), they say it.
fn usage_of_tool(message: &Message<'_>) -> Option<Usage> {
    let results = message.details.0.and_then(|of| json::member(of, "results"));
    let results = Raw(results).items().unwrap_or_default();
    let has_sessions = results.iter().any(|result| {
        let file = result.0.and_then(|of| json::member(of, "sessionFile"));
        Raw(file).text().is_some_and(|file| !file.is_empty())
    });
    let none = Text::default();
    usage(&message.usage, &none, &none, &none).filter(|_| !has_sessions)
}

fn usage(
    tokens: &Loose<Box<Tokens>>,
    provider: &Text<'_>,
    model: &Text<'_>,
    response: &Text<'_>,
) -> Option<Usage> {
    let tokens = tokens.object()?;
    let cost = tokens.cost.object();
    let part = |pick: fn(&super::line::Cost) -> json::Num| cost.and_then(|cost| pick(cost).0);
    let cost_input = part(|cost| cost.input);
    let cost_output = part(|cost| cost.output);
    let cost_cache_read = part(|cost| cost.cache_read);
    let cost_cache_write = part(|cost| cost.cache_write);
    let parts = [cost_input, cost_output, cost_cache_read, cost_cache_write];
    Some(Usage {
        provider: provider.owned(),
        model: model.owned(),
        response_id: response.owned(),
        input: tokens.input.0,
        output: tokens.output.0,
        cache_read: tokens.cache_read.0,
        cache_write: tokens.cache_write.0,
        reasoning: tokens.reasoning.0,
        total: tokens.total_tokens.0,
        cost_input,
        cost_output,
        cost_cache_read,
        cost_cache_write,
        cost_total: part(|cost| cost.total).or_else(|| sum_costs(parts)),
        is_repeated: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_named_as_paths_of_sessions_are() {
        for (written, named) in [
            ("/s/--w--/a.jsonl", "/s/--w--/a.jsonl"),
            ("/s//--w--/./a.jsonl", "/s/--w--/a.jsonl"),
            ("/s/--v--/../--w--/a.jsonl", "/s/--w--/a.jsonl"),
            ("/../s/..a/.b../c", "/s/..a/.b../c"),
            ("~/s/../a.jsonl", "~/s/../a.jsonl"),
            ("../a.jsonl", "../a.jsonl"),
            (r"C:\s\..\a.jsonl", r"C:\s\..\a.jsonl"),
            ("", ""),
        ] {
            let line = serde_json::json!({"type": "session", "parentSession": written});
            let facts = facts(&Dialect::PI, line.to_string().as_bytes());
            let header = facts.header.unwrap();
            assert_eq!(header.parent_session.as_deref(), Some(named), "{written}");
        }
    }
}
