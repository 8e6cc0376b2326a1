//! What one line of Claude Code's says about itself.

use std::borrow::Cow;

use memchr::memmem;
use serde_json::{Map, Value};

use super::commands::{command, within};
use super::line::{Attachment, Block, Content, Input, Line, Message, Twin, blocks};
use super::origin;
use super::own_words::{SYNTHETIC, is_answer, is_refusal};
use super::usage::{advisors, usage};
use crate::injected::without_paste_tags;
use crate::json::{self, Loose, Text};
use crate::model::{Call, Class, Compaction, Facts, FileTouch, Header};
use crate::tools::used;

/// What a hook said when the session began, written again and again under one `uuid`.
pub(super) const HOOK: &str = "saved_hook_context";

/// The attachment that holds what other agents of a team wrote meanwhile.
pub(super) const MAIL: &str = "teammate_mailbox";

/// How the summary of a compaction begins.
pub(super) const SUMMARY: &str = "This session is being continued from a previous conversation";

/// With what a text begins that a program puts where prompts are.
const INJECTED: [&str; 9] = [
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<task-notification>",
    "<teammate-message",
    "<channel source=",
    "<bash-stdout>",
    "<bash-stderr>",
    "[Request interrupted",
];

/// With what messages of Claude Code and of other programs begin, unless their line says that a
/// person typed it.
const NOTICES: [&str; 15] = [
    "<agent-notification>",
    "<bash-notification>",
    "<agent-message",
    "<cross-session-message",
    "<session-start-hook>",
    "<user-prompt-submit-hook>",
    "<tick>",
    "Another Claude session sent a message:\n",
    "Caveat:",
    "Operation stopped by hook: ",
    "The coordinator sent a message while you were working:",
    "Stop hook feedback:\n",
    SUMMARY,
    "This skill can only be invoked by Claude, not directly by users.",
    "[SYSTEM NOTIFICATION - NOT USER INPUT]",
];

/// What programs put before what a person typed, in a block or a text of its own or in one with it.
const BESIDE: [(&str, &str); 3] = [
    ("<system-reminder>", "</system-reminder>"),
    ("<ide_opened_file>", "</ide_opened_file>"),
    ("<ide_selection>", "</ide_selection>"),
];

/// Between which tags stands what a person typed behind `!` (a command of the shell) and `#`
/// (something to remember).
const TYPED: [(&str, &str); 2] = [
    ("<bash-input>", "</bash-input>"),
    ("<user-memory-input>", "</user-memory-input>"),
];

/// A line with the blocks of its message.
type WholeLine<'a> = Line<'a, Content<'a>>;

/// The facts of one line; of one that cannot be read, only that the agent drops it.
pub(super) fn facts(record: &[u8]) -> Facts {
    json::tiers(record, of_text).unwrap_or_default()
}

/// `None` where a part of the line needs the second tier.
pub(super) fn of_text(text: &str) -> Option<Facts> {
    match json::parse::<Loose<WholeLine<'_>>>(text)? {
        Loose::Object(line) => of_line(&line),
        _ => Some(Facts {
            is_beside: true,
            ..Facts::default()
        }),
    }
}

fn of_line(line: &WholeLine<'_>) -> Option<Facts> {
    let mut facts = Facts {
        kind: line.kind.owned().unwrap_or_default(),
        id: line.uuid.owned().filter(|id| !id.is_empty()),
        parent: line.parent_uuid.owned(),
        time_raw: line.timestamp.owned(),
        time_ms: line.timestamp.as_str().and_then(json::date_ms),
        git_branch: line.git_branch.owned().filter(|branch| is_branch(branch)),
        agent_sees: true,
        is_sidechain: line.is_sidechain.0 == Some(true),
        header: header(line),
        ..Facts::default()
    };
    match facts.kind.as_str() {
        "user" => user(line, &mut facts)?,
        "assistant" => assistant(line, &mut facts),
        "system" => system(line, &mut facts),
        "attachment" => {
            if let Loose::Object(attachment) = &line.attachment {
                of_attachment(line, attachment, &mut facts)?;
            }
            // Of what is attached only that is read which somebody typed, or named, or wrote to the
            // agent.
            let attachment = line.attachment.object();
            let has_text = |attached: &Attachment<'_>| {
                attached.listing().is_some() || attached.told_of_tool().is_some()
            };
            let has_text = attachment.is_some_and(|attached| has_text(attached));
            facts.silent = facts.role.is_none() && facts.files.is_empty() && !has_text;
        }
        "progress" | HOOK => facts.silent = true,
        _ => {
            // State of the session; a type that nobody knows may be a link of the chain.
            facts.is_beside = facts.id.is_none();
            state(line, &mut facts);
        }
    }
    Some(facts)
}

/// Where there is no branch, Claude Code writes `HEAD`: outside of repositories, and where a commit
/// is checked out.
fn is_branch(written: &str) -> bool {
    !written.is_empty() && written != "HEAD"
}

/// What the line says about its session: its id, where it runs, and the session that the line was
/// copied from.
fn header(line: &WholeLine<'_>) -> Option<Header> {
    let origin = line.forked_from.object();
    let origin = origin.and_then(|origin| origin.session_id.owned());
    let header = Header {
        id: line.session_id.owned(),
        id_is_string: true,
        cwd: line.cwd.owned().or_else(|| line.relocated_cwd.owned()),
        parent_session: origin.or_else(|| line.request_session_id.owned()),
        own: own(line),
        ..Header::default()
    };
    (header.id.is_some() || header.cwd.is_some()).then_some(header)
}

/// The figures of a `cost-state` line under their own names.
fn own(line: &WholeLine<'_>) -> Option<String> {
    let total = line.total_cost_usd.0?;
    let mut own = Map::new();
    own.insert("totalCostUSD".to_owned(), total.into());
    let usage = line.model_usage.0.and_then(json::kept);
    own.insert("modelUsage".to_owned(), usage.unwrap_or(Value::Null));
    let is_unknown = line.has_unknown_model_cost.0;
    own.insert("hasUnknownModelCost".to_owned(), is_unknown.into());
    Some(Value::Object(own).to_string())
}

fn state(line: &WholeLine<'_>, facts: &mut Facts) {
    match facts.kind.as_str() {
        "custom-title" => facts.name = line.custom_title.owned(),
        "ai-title" => facts.name = line.ai_title.owned(),
        "summary" => {
            facts.name = line.summary.owned();
            facts.summarizes = line.leaf_uuid.owned();
        }
        "last-prompt" => {
            facts.stands_at = line.leaf_uuid.owned();
            facts.asked = line.last_prompt.as_str().map(shortened);
        }
        "api-request-shape" => facts.has_prompt = line.shape.is_value(),
        "queue-operation" => facts.repeats = vec![Class::Prose],
        _ => {}
    }
}

/// A `last-prompt` without the tags around what was pasted, of which the last end may be cut off.
fn shortened(asked: &str) -> String {
    const END: &str = "</pasted_content>";
    let asked = format!("{asked}{END}");
    let asked = without_paste_tags(&asked);
    asked.strip_suffix(END).unwrap_or(&asked).to_owned()
}

fn system(line: &WholeLine<'_>, facts: &mut Facts) {
    // `kind:system` asks for prompts.
    facts.kind = line.subtype.owned().unwrap_or_else(|| "system".to_owned());
    match facts.kind.as_str() {
        "compact_boundary" => {
            let metadata = line.compact_metadata.object();
            let kept = metadata.and_then(|metadata| metadata.preserved_segment.object());
            // A new root, but the session goes on: from the last line that is kept, which stands
            // behind the one before the boundary where what was said first is summarized.
            let tail = kept.and_then(|kept| kept.tail_uuid.owned());
            let before = tail.or(line.logical_parent_uuid.owned());
            facts.parent = facts.parent.take().or(before);
            facts.compaction = Some(Compaction {
                first_kept: kept.and_then(|kept| kept.head_uuid.owned()),
                tokens_before: metadata.and_then(|metadata| metadata.pre_tokens.0),
                first_kept_index: None,
            });
        }
        "api_error" => facts.is_error = true,
        _ => facts.silent = said_by_system(line).is_none(),
    }
}

/// As what the text of a `system` line is searched; `None` where it says nothing to a person. What
/// a local command printed stood in the line of a prompt in older versions. It has no role: run
/// while a tool works, it hangs on the call, and is no branch there.
pub(super) fn said_by_system<C>(line: &Line<'_, C>) -> Option<Class> {
    let class = match line.subtype.as_str()? {
        "local_command" | "away_summary" => Class::Prose,
        // What a hook told the model, as 1.0.128 writes it.
        "post_tool_hook_feedback" => Class::Output,
        // Another model answers than the one that was chosen.
        "model_fallback" => Class::Output,
        // As `info` hooks report each of their runs, which Claude Code does not show by itself.
        "informational" if line.level.as_str() != Some("info") => Class::Output,
        _ => return None,
    };
    let text = line.content.text()?;
    (!text.trim().is_empty()).then_some(class)
}

fn user(line: &WholeLine<'_>, facts: &mut Facts) -> Option<()> {
    let none = Content::default();
    let content = line
        .message
        .object()
        .map_or(&none, |message| &message.content);
    let objects = || content.list().iter().filter_map(Loose::object);
    for block in objects().filter(|block| block.is("tool_result")) {
        answer(line, block, facts)?;
    }
    facts.has_image |= objects().any(|block| block.is("image"));
    if facts.calls.len() == 1 {
        changed_by_command(line, facts);
    }
    if !facts.calls.is_empty() {
        facts.role = Some("toolResult".to_owned());
        return Some(());
    }
    said(
        line,
        typed(content.text(), objects(), is_surely_typed(line)),
        facts,
    );
    if content
        .text()
        .is_some_and(|text| begins_compaction(line, text))
    {
        facts.role = Some("injected".to_owned());
        facts.is_message = false;
        facts.user_text = None;
        facts.silent = true;
        return Some(());
    }
    if !facts.is_message {
        let texts = || {
            let texts = objects().filter_map(|block| block.text.text());
            content.text().map(Cow::from).into_iter().chain(texts)
        };
        if is_of_person(line) {
            facts.asked = texts().find_map(|text| command(&text));
        } else if line.plan_content.is_value() {
            let said = texts().next();
            facts.asked = said.map(|said| origin::plan(&said).to_owned());
        }
        facts.called = texts().find_map(|text| called(line, &text));
    }
    Some(())
}

/// Whether `/compact` is written as it was typed, before a compaction, as versions from 2.1.207 to
/// 2.1.300 do: behind it the command stands once more, as any other. Of what is typed these say so.
fn begins_compaction(line: &WholeLine<'_>, text: &str) -> bool {
    let words = text.trim().strip_prefix("/compact");
    words.is_some_and(|words| words.is_empty() || words.starts_with(char::is_whitespace))
        && line.prompt_id.as_str().is_some()
        && line.prompt_source.as_str().is_none()
        && line.origin.object().is_none()
        && line.is_meta.0 != Some(true)
}

/// By what a session may be known that no person typed anything in: the name of a person's
/// command, what another agent of a team asks for, or what a subagent was asked first.
fn called(line: &WholeLine<'_>, text: &str) -> Option<String> {
    let said = behind(text);
    let name = if said.starts_with("<command-") && is_of_person(line) {
        within(said, "command-name")?
    } else if let Some(rest) = said.strip_prefix("<teammate-message") {
        let (tag, text) = rest.split_once('>')?;
        let summary = tag.split_once("summary=\"");
        let summary = summary.and_then(|(_, rest)| Some(rest.split_once('"')?.0.trim()));
        let text = text.split_once("</teammate-message>");
        let text = || text.map_or("", |(text, _)| text.trim());
        summary
            .filter(|summary| !summary.is_empty())
            .unwrap_or_else(text)
    } else if line.is_sidechain.0 == Some(true) {
        typed_of(said, false)?.trim()
    } else {
        return None;
    };
    (!name.is_empty()).then(|| name.to_owned())
}

/// Whether nothing beside the text says that a program wrote it. What is said to a subagent is its
/// starter's, unless it says that it is a person's: one can turn to an agent of a team.
fn is_of_person(line: &WholeLine<'_>) -> bool {
    let of_program = [
        line.is_meta,
        line.is_compact_summary,
        line.is_visible_in_transcript_only,
    ];
    let is_of_agent = line.is_sidechain.0 == Some(true) || line.agent_id.0.is_some();
    let source = line.prompt_source.as_str();
    let attached = line.attachment.object().map(|attached| &attached.origin);
    let origins = [Some(&line.origin), attached].into_iter().flatten();
    let mut origins = origins.filter_map(|origin| origin.object()?.kind.as_str());
    let says_human = origins.clone().any(|kind| kind == "human");
    !of_program.iter().any(|flag| flag.0 == Some(true))
        && !line.plan_content.is_value()
        && (says_human || !is_of_agent)
        && origins.all(|kind| kind == "human")
        && source.is_none_or(|source| matches!(source, "typed" | "queued" | "sdk"))
}

/// Whether the line says that a person typed it.
pub(super) fn is_surely_typed<C>(line: &Line<'_, C>) -> bool {
    let origin = line.origin.object().and_then(|origin| origin.kind.as_str());
    origin == Some("human") || line.prompt_source.as_str() == Some("typed")
}

/// Text where prompts are: of the person, or, if that is none, of a program.
fn said(line: &WholeLine<'_>, text: Option<String>, facts: &mut Facts) {
    facts.user_text = text.filter(|_| is_of_person(line));
    facts.is_message = facts.user_text.is_some();
    let role = match facts.is_message {
        true => "user",
        false => "injected",
    };
    facts.role = Some(role.to_owned());
}

/// What a person may have typed of a text, or of text blocks, each on lines of its own. Editors and
/// reminders stand in blocks beside it. `None` where all of it is a program's: a command stands
/// before the prompt that it stands for. `is_sure`: the line says that a person typed it.
pub(super) fn typed<'b, 'a: 'b, I: 'b>(
    text: Option<&str>,
    blocks: impl Iterator<Item = &'b Block<'a, I>>,
    is_sure: bool,
) -> Option<String> {
    let blocks = blocks.filter(|block| block.is("text"));
    let texts = blocks.filter_map(|block| block.text.text());
    let texts: Vec<_> = text.map(Cow::from).into_iter().chain(texts).collect();
    let mut typed = Vec::new();
    for text in &texts {
        match typed_of(text, is_sure) {
            Some(text) => typed.push(text),
            None if typed.is_empty() && !behind(text).is_empty() => return None,
            None => {}
        }
    }
    (!typed.is_empty() || texts.is_empty()).then(|| typed.join("\n"))
}

/// What a person may have typed of one text; `is_sure` as in [`typed`].
pub(super) fn typed_of(text: &str, is_sure: bool) -> Option<&str> {
    let said = behind(text);
    let is_put = said.is_empty() && !text.trim().is_empty();
    let begins = |with: &[&str]| with.iter().any(|begin| said.starts_with(begin));
    let is_notice = || begins(&NOTICES) || is_refusal(said.trim_end());
    let is_injected = begins(&INJECTED) || !is_sure && is_notice();
    let put_between = |(begin, end): &(&str, &str)| said.strip_prefix(*begin)?.strip_suffix(*end);
    let said = TYPED.iter().find_map(put_between).unwrap_or(said);
    (!is_put && !is_injected).then_some(said)
}

/// Whether the line of an attachment holds what other agents wrote: nobody typed it.
pub(super) fn is_mail(record: &[u8]) -> bool {
    memmem::find(record, format!("\"{MAIL}\"").as_bytes()).is_some()
}

/// What stands behind reminders and what an editor shows. That shows any file: it ends with the
/// last of its ends, or a file that holds one would speak for the person.
fn behind(text: &str) -> &str {
    let mut text = text.trim_start();
    let beside = |text: &str| BESIDE.iter().find(|(begin, _)| text.starts_with(begin));
    while let Some((begin, end)) = beside(text) {
        let parts = match begin.starts_with("<ide_") {
            true => text.rsplit_once(end),
            false => text.split_once(end),
        };
        text = parts.map_or("", |(_, behind)| behind).trim_start();
    }
    text
}

fn answer<I>(line: &WholeLine<'_>, block: &Block<'_, I>, facts: &mut Facts) -> Option<()> {
    let none = Twin::default();
    let twin = line.tool_use_result.object().map_or(&none, |twin| twin);
    // Where the twin is a text, it tells of an error: `"Error: Exit code 2 …"`.
    let tells_of_error = || {
        let text = line.tool_use_result.text();
        text.is_some_and(|text| text.starts_with("Error"))
    };
    let is_error = match block.is_error.0 {
        Some(is_error) => is_error || twin.interrupted.0 == Some(true),
        None => twin.interrupted.0 == Some(true) || tells_of_error(),
    };
    facts.is_error |= is_error;
    // Most answers are long texts, which are not read once more for a picture that is not there.
    let is_shown = |raw: &str| memmem::find(raw.as_bytes(), b"\"image\"").is_some();
    if block.content.0.is_some_and(is_shown) {
        for inner in blocks(&block.content)? {
            facts.has_image |= inner.object().is_some_and(|inner| inner.is("image"));
        }
    }
    // A subagent's session is called by its agent's id.
    let agent = twin.agent_id.as_str().map(|id| format!("agent-{id}"));
    facts.calls.push(Call {
        call_id: block.tool_use_id.owned(),
        is_result: true,
        is_error: Some(is_error),
        subject: twin.file_path.owned().or(agent),
        duration_ms: twin.duration_ms.0.or(twin.total_duration_ms.0),
        ..Call::default()
    });
    Some(())
}

/// What changed in the repository while a command ran, as versions since 2.1.269 write it in the
/// modes that ask for nothing; not where other commands changed it, too. It says not who did it.
fn changed_by_command(line: &WholeLine<'_>, facts: &mut Facts) {
    let twin = line.tool_use_result.object();
    let told = twin.and_then(|twin| twin.bash_edit_diff.object());
    if let Some(told) = told.filter(|told| told.shared.0 != Some(true)) {
        let paths = told.changed_files.0.iter().filter_map(Text::owned);
        facts.files.extend(paths.map(|path| FileTouch {
            path,
            modified: true,
        }));
    }
}

fn assistant(line: &WholeLine<'_>, facts: &mut Facts) {
    let none = Message::default();
    let message = line.message.object().map_or(&none, |message| message);
    let text = || {
        let mut blocks = message.content.list().iter().filter_map(Loose::object);
        blocks.find_map(|block| block.text.text())
    };
    if !is_answer(line, message, text) {
        facts.role = Some("system".to_owned());
        facts.is_error = line.is_api_error_message.0 == Some(true);
        return;
    }
    facts.role = Some("assistant".to_owned());
    facts.is_message = true;
    // Of one that was broken off the rest stands there for the form alone.
    if message.model.as_str() == Some(SYNTHETIC) {
        return;
    }
    facts.stop_reason = message.stop_reason.owned();
    facts.model = message.model.owned();
    facts.thinking_level = line.effort.owned();
    facts.usage = usage(line, message);
    facts.more_usage = advisors(message);
    // Some servers give one id to all that they say.
    let response = facts
        .usage
        .as_ref()
        .and_then(|usage| usage.response_id.as_deref());
    if response.is_some_and(|id| !id.is_empty()) {
        facts.copied_with = line.request_id.owned();
    }
    for block in message.content.list().iter().filter_map(Loose::object) {
        facts.has_image |= block.is("image");
        if block.is_call() {
            call(block, facts);
        }
    }
}

fn call(block: &Block<'_, Loose<Box<Input<'_>>>>, facts: &mut Facts) {
    let none = Input::default();
    let input = block.input.object().map_or(&none, |input| input);
    let tool = block.name.shown();
    let paths = [&input.file_path, &input.notebook_path, &input.path];
    let path = paths.into_iter().find_map(Text::owned);
    let others = [&input.pattern, &input.query, &input.url, &input.description];
    let subject = used(facts, tool.as_deref(), path, &input.command, &others);
    facts.calls.push(Call {
        call_id: block.id.owned(),
        tool,
        subject,
        ..Call::default()
    });
}

fn of_attachment(
    line: &WholeLine<'_>,
    attachment: &Attachment<'_>,
    facts: &mut Facts,
) -> Option<()> {
    match attachment.kind.as_str() {
        // What somebody typed while the agent worked, or what a task in the background reports.
        Some("queued_command") => {
            let blocks = blocks(&attachment.prompt)?;
            let objects = blocks.iter().filter_map(Loose::object);
            let text = attachment.prompt.text();
            said(
                line,
                typed(text.as_deref(), objects, is_surely_typed(line)),
                facts,
            );
            let mode = attachment.command_mode.as_str();
            if mode.is_some_and(|mode| !matches!(mode, "prompt" | "bash")) {
                facts.role = Some("injected".to_owned());
                facts.is_message = false;
                facts.user_text = None;
            }
        }
        Some("prompt_snapshot") => {
            facts.has_prompt = attachment.system_prompt.is_value();
        }
        Some("file" | "pdf_reference" | "already_read_file") => {
            let path = attachment.filename.owned();
            facts.files.extend(path.map(|path| FileTouch {
                path,
                modified: false,
            }));
        }
        Some(MAIL) => {
            let has_text = attachment
                .mail()?
                .iter()
                .any(|text| !text.trim().is_empty());
            facts.role = has_text.then(|| "injected".to_owned());
        }
        _ => {}
    }
    Some(())
}
