//! What one event of Copilot's says about itself.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::line::{
    Arguments, Attachment, Data, Event, LegacyMessage, LegacyPart, ModelMetrics, ToolRequest,
    ToolResult, UsageRecord,
};
use super::types::knows;
use crate::edits::{patch, shell};
use crate::json::{self, Loose, Raw, Text};
use crate::model::{Call, Compaction, Facts, FileTouch, Header, Usage};
use crate::remote_of;
use crate::tools::used;

/// The facts of one record.
pub(super) fn facts(record: &[u8]) -> Facts {
    json::tiers(record, |text| {
        Some(match json::parse::<Loose<Event<'_>>>(text)? {
            Loose::Object(event) => of_event(&event)?,
            _ => Facts::default(),
        })
    })
    .unwrap_or_default()
}

/// `None` where a part of the event needs the second tier.
fn of_event(event: &Event<'_>) -> Option<Facts> {
    let mut facts = Facts {
        kind: event.kind.owned().unwrap_or_default(),
        id: event.id.owned(),
        parent: event.parent_id.owned(),
        time_raw: event.timestamp.owned(),
        time_ms: event.timestamp.as_str().and_then(json::date_ms),
        agent_sees: true,
        ..Facts::default()
    };
    let none = Box::default();
    let data = event.data.object().unwrap_or(&none);
    // A subagent has a model of its own, and its messages are none of the talk.
    let is_main = event.is_main();
    match event.kind.as_str().unwrap_or_default() {
        "user.message" => {
            facts.has_image = has_image(data)?;
            facts.silent = says_nothing(data)?;
            if is_main && is_typed(data) && !facts.silent {
                facts.role = Some("user".to_owned());
                facts.is_message = true;
                facts.user_text = data.content.text().map(Cow::into_owned);
            } else {
                facts.role = Some("injected".to_owned());
            }
        }
        "system.message" => {
            facts.role = Some("system".to_owned());
            facts.has_prompt = true;
        }
        "system.notification" => facts.role = Some("injected".to_owned()),
        "assistant.message" => {
            facts.role = Some("assistant".to_owned());
            facts.is_message = is_main;
            facts.model = data.model.owned().filter(|_| is_main);
            for request in data.tool_requests.objects()? {
                call(&request, &mut facts)?;
            }
        }
        // What a person ran without a model.
        "tool.user_requested" => {
            let request = ToolRequest {
                tool_call_id: data.tool_call_id,
                name: data.tool_name,
                arguments: data.arguments,
            };
            call(&request, &mut facts)?;
        }
        "tool.execution_complete" => {
            facts.model = data.model.owned().filter(|_| is_main);
            completed(data, &mut facts)?;
        }
        "session.import_legacy" => facts.user_text = first_typed(data)?,
        "subagent.failed" | "custom_agent.failed" => facts.is_error = true,
        "abort" => facts.stop_reason = data.reason.owned(),
        kind => of_session(kind, data, is_main, &mut facts),
    }
    facts.silent |= is_silent(&facts, is_main);
    Some(facts)
}

/// Whether an event has nothing to read: it says that something begins or ends, or repeats another
/// event, as what a subagent was told repeats the call that started it. What no known version
/// writes may say something.
fn is_silent(facts: &Facts, is_main: bool) -> bool {
    match facts.kind.as_str() {
        "user.message" => !is_main && !facts.has_image,
        "abort"
        | "tool.user_requested"
        | "session.info"
        | "session.warning"
        | "session.compaction_complete"
        | "session.import_legacy" => false,
        kind => knows(kind) && facts.role.is_none() && !facts.is_error,
    }
}

/// Events about the session.
fn of_session(kind: &str, data: &Data<'_>, is_main: bool, facts: &mut Facts) {
    match kind {
        "session.start" | "session.resume" => {
            started(data, facts);
            set_model(&data.selected_model, data, facts);
        }
        "session.context_changed" if is_main => {
            facts.git_branch = data.branch.owned();
            let host = [&data.repository_host, &data.host_type];
            facts.repository = repository(data.repository, host);
            facts.header = Some(Header {
                cwd: data.cwd.owned(),
                ..Header::default()
            });
        }
        "session.model_change" if is_main => set_model(&data.new_model, data, facts),
        "session.usage_record" => {
            if let Some(record) = data.usage.object() {
                facts.stop_reason = record.finish_reason.owned();
                facts.usage = Some(usage(record));
            }
        }
        "session.shutdown" => {
            facts.model = data.current_model.owned().filter(|_| is_main);
            facts.header = Some(shut_down(data));
        }
        "session.compaction_complete" => {
            facts.is_error = data.success.0 == Some(false);
            facts.compaction = Some(Compaction {
                tokens_before: data.pre_compaction_tokens.0,
                ..Compaction::default()
            });
        }
        "session.error" => facts.is_error = true,
        _ => {}
    }
}

/// Whether a message is nothing but a sign that the autopilot goes on, which early versions of it
/// (1.0.12) mark in no other way.
fn says_nothing(data: &Data<'_>) -> Option<bool> {
    let is_empty = |text: Cow<'_, str>| text.trim().is_empty();
    let attached: Vec<Attachment<'_>> = data.attachments.objects()?;
    Some(data.content.text().is_some_and(is_empty) && attached.is_empty())
}

/// Whether a person typed the message: what other agents, skills and the autopilot put in names its
/// source or says so.
fn is_typed(data: &Data<'_>) -> bool {
    data.source.as_str().is_none_or(|source| source == "user")
        && data.is_autopilot_continuation.0 != Some(true)
}

/// A run begins: the first of a session, or a later one.
fn started(data: &Data<'_>, facts: &mut Facts) {
    let context = data.context.object();
    facts.git_branch = context.and_then(|context| context.branch.owned());
    facts.repository = context.and_then(|context| {
        let host = [&context.repository_host, &context.host_type];
        repository(context.repository, host)
    });
    let named = context.map(|context| context.repository);
    // A name has no `@`, an address with a password has.
    let named = named.filter(|named| named.0.is_none_or(|raw| !raw.contains('@')));
    let own = own([
        ("copilotVersion", data.copilot_version),
        ("repository", named.unwrap_or_default()),
    ]);
    facts.header = Some(Header {
        id: data.session_id.shown(),
        id_is_string: data.session_id.text().is_some(),
        version: data.version.0,
        cwd: context.and_then(|context| context.cwd.owned()),
        created_raw: data.start_time.owned(),
        created_ms: data.start_time.as_str().and_then(json::date_ms),
        parent_session: data.detached_from_spawning_parent_session_id.owned(),
        own: Some(own),
    });
}

/// The repository that an event names, `owner/name`; of Azure DevOps, whose addresses have another
/// path, none. Versions that did not write its host knew GitHub alone.
fn repository(named: Raw<'_>, [host, kind]: [&Text<'_>; 2]) -> Option<String> {
    let named = named.text()?;
    let is_name = named.split('/').count() == 2 && !named.contains([':', '@', '\\']);
    match (is_name, kind.as_str()) {
        (_, Some("ado")) => None,
        (true, _) => {
            let host = host.as_str().unwrap_or("github.com");
            remote_of(&format!("https://{host}/{named}"))
        }
        (false, _) => remote_of(&named),
    }
}

fn set_model(model: &Text<'_>, data: &Data<'_>, facts: &mut Facts) {
    facts.model = model.owned();
    facts.thinking_level = data.reasoning_effort.owned();
}

/// Members that have a value, as a JSON object. None of them is a structure, deep or not.
fn own<const N: usize>(members: [(&str, Raw<'_>); N]) -> String {
    let member = |(name, raw): (&str, Raw<'_>)| {
        let written = raw.0.filter(|_| raw.is_value())?;
        let value: Value = serde_json::from_str(written).ok()?;
        (!value.is_object() && !value.is_array()).then(|| (name.to_owned(), value))
    };
    let own: Map<String, Value> = members.into_iter().filter_map(member).collect();
    Value::from(own).to_string()
}

/// What all models took in the run or the session so far, and what Copilot charges for it: premium
/// requests and credits, which are no dollars.
fn shut_down(data: &Data<'_>) -> Header {
    let (mut input, mut output) = (None, None);
    for model in json::members(data.model_metrics.0.unwrap_or_default()) {
        let metrics = json::parse::<Loose<ModelMetrics>>(model.value).unwrap_or_default();
        if let Some(tokens) = metrics.object().and_then(|metrics| metrics.usage.object()) {
            for (sum, part) in [
                (&mut input, tokens.input_tokens.0),
                (&mut output, tokens.output_tokens.0),
            ] {
                *sum = part.map_or(*sum, |part| Some(sum.unwrap_or(0i64).saturating_add(part)));
            }
        }
    }
    let number = |sum: Option<i64>| sum.map(|sum| sum.to_string());
    let (input, output) = (number(input), number(output));
    Header {
        own: Some(own([
            ("inputTokens", Raw(input.as_deref())),
            ("outputTokens", Raw(output.as_deref())),
            ("totalPremiumRequests", data.total_premium_requests),
            ("totalNanoAiu", data.total_nano_aiu),
        ])),
        ..Header::default()
    }
}

fn has_image(data: &Data<'_>) -> Option<bool> {
    let attachments: Vec<Attachment<'_>> = data.attachments.objects()?;
    let types = attachments.iter().map(|of| of.mime_type.as_str());
    Some(types.flatten().any(|of| of.starts_with("image/")))
}

/// The messages of a session that was taken over. `None` where the second tier is needed.
pub(super) fn legacy_messages<'a>(data: &Data<'a>) -> Option<Vec<LegacyMessage<'a>>> {
    let session = data.legacy_session.object();
    let listed = session.map(|session| session.chat_messages);
    listed.unwrap_or_default().objects()
}

/// What a session that was taken over begins with: a text, or the first of a list.
fn first_typed(data: &Data<'_>) -> Option<Option<String>> {
    for message in legacy_messages(data)? {
        if message.role.as_str() != Some("user") {
            continue;
        }
        let mut texts = Vec::from_iter(message.content.text().map(Cow::into_owned));
        for part in message.content.objects::<LegacyPart<'_>>()? {
            texts.extend(part.text.owned());
        }
        let first = texts.into_iter().find(|text| !text.trim().is_empty());
        if first.is_some() {
            return Some(first);
        }
    }
    Some(None)
}

fn call(request: &ToolRequest<'_>, facts: &mut Facts) -> Option<()> {
    let arguments: Arguments<'_> = request.arguments.object()?.unwrap_or_default();
    let patched = patched(request, &arguments);
    let tool = request.name.shown();
    let path = arguments.path.owned();
    let others = [&arguments.pattern, &arguments.query, &arguments.url];
    let subject = used(facts, tool.as_deref(), path, &arguments.command, &others);
    let first = patched.first().map(|file| file.path.clone());
    facts.files.extend(patched);
    facts.calls.push(Call {
        call_id: request.tool_call_id.shown(),
        tool,
        subject: first.or(subject),
        ..Call::default()
    });
    Some(())
}

/// The files that a patch names, which is all that `apply_patch` is given, or which a command
/// gives to it.
fn patched(request: &ToolRequest<'_>, arguments: &Arguments<'_>) -> Vec<FileTouch> {
    if let Some(patch) = request.arguments.text() {
        return patch::touched(&patch, None);
    }
    let command = arguments.command.as_str().unwrap_or_default();
    shell::touched(command, None)
}

/// A command that ends with another code than 0 has failed, though its tool has not. `None` where
/// the second tier is needed.
fn completed(data: &Data<'_>, facts: &mut Facts) -> Option<()> {
    let result = data.result.object::<ToolResult<'_>>()?;
    let says_failed = match (data.shell_execution.object(), result) {
        (None, Some(result)) => says_failed(&result.content),
        _ => false,
    };
    facts.role = Some("toolResult".to_owned());
    facts.is_error = is_failure(data) || says_failed;
    facts.calls.push(Call {
        call_id: data.tool_call_id.shown(),
        is_result: true,
        is_error: Some(facts.is_error),
        ..Call::default()
    });
    Some(())
}

/// Whether an answer says that it is an error, whatever its text says.
pub(super) fn has_failed(record: &[u8]) -> bool {
    json::tiers(record, |text| {
        let event = json::parse::<Loose<Event<'_>>>(text)?;
        let data = event.object().and_then(|event| event.data.object());
        Some(data.is_some_and(|data| is_failure(data)))
    })
    .unwrap_or_default()
}

fn is_failure(data: &Data<'_>) -> bool {
    let shell = data.shell_execution.object();
    let code = shell.and_then(|shell| shell.exit_code.0);
    data.success.0 == Some(false) || code.is_some_and(|code| code != 0.0)
}

/// Whether the last line of a result says that a command failed: versions before 1.0.86 tell its
/// exit code nowhere else, as `<exited with exit code 3>`, `<command with id: 1 exited with exit
/// code 3>` or `<shellId: 1 completed with exit code 3>`.
fn says_failed(content: &Raw<'_>) -> bool {
    if !content.0.is_some_and(|raw| raw.ends_with(">\"")) {
        return false;
    }
    let text = content.text().unwrap_or_default();
    let line = text.lines().next_back().unwrap_or_default();
    let said = line
        .strip_prefix('<')
        .and_then(|line| line.strip_suffix('>'));
    let said = said.and_then(|line| line.rsplit_once(" with exit code "));
    said.is_some_and(|(how, code)| {
        let is_known = how == "exited"
            || (how.starts_with("command with id: ") && how.ends_with(" exited"))
            || (how.starts_with("shellId: ") && how.ends_with(" completed"));
        is_known && code.parse::<i64>().is_ok_and(|code| code != 0)
    })
}

fn usage(record: &UsageRecord<'_>) -> Usage {
    let (read, written) = (record.cache_read_tokens.0, record.cache_write_tokens.0);
    let cached = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
    let input = record.input_tokens.0;
    Usage {
        provider: record.model_provider.owned(),
        model: record.model.owned(),
        response_id: record.api_call_id.owned(),
        input: input.map(|input| input.saturating_sub(cached).max(0)),
        output: record.output_tokens.0,
        cache_read: read,
        cache_write: written,
        reasoning: record.reasoning_tokens.0,
        ..Usage::default()
    }
}
