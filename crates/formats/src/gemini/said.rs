//! Who says what a user's message holds: Gemini CLI writes as such all that is not the model's.

use super::line::Line;
use crate::json::Raw;
use crate::parts::{Part, parts, typed};

/// How the agent begins what it tells the model of the place where it runs. Versions before 2026
/// wrote it without a tag.
const CONTEXT: [&str; 2] = [
    "<session_context>",
    "This is the Gemini CLI. We are setting up the context for our chat.",
];

/// How what the program puts in begins: what a hook adds, what is open in the editor, what has
/// changed there, and what is in a directory that `/dir add` names.
const PUT_IN: [&str; 4] = [
    "<hook_context>",
    "Here is the user's editor context as a JSON object. This is for your information only.",
    "Here is a summary of changes in the user's editor context, in JSON format. This is for your",
    "- **Workspace Directories:**\n",
];

/// How begins what a model above tells a subagent that works within its session, and what such a
/// one is told that stops too early (0.20.2 to 0.33.0, `codebase-investigator`, `local-executor`;
/// the second was only looked up). Later versions give it a file of its own.
const ASKED: [&str; 2] = [
    "Your task is to do a deep investigation of the codebase to find all relevant files,",
    "Your task is to answer the following question about Gemini CLI:\n<question>",
];
const WARNED: [&str; 3] = [
    "You have stopped calling tools without finishing.",
    "You have exceeded the time limit.",
    "You have exceeded the maximum number of turns.",
];
const WARNED_END: &str = " You have one final chance to complete the task";

/// What `/init` becomes, where it is not shown that it was typed (0.20.2).
const INIT: (&str, &str) = (
    "/init",
    "\nYou are an AI agent that brings the power of Gemini directly into the terminal.",
);

/// How what ended in the background begins (0.61.0, `fastAckHelper`). Beside answers of tools it
/// stands as hints do, later versions also send it alone.
const ENDED: &str = "Background execution update:\n<background_output>\n";

/// What the program tells a model that stopped too early. What was typed before is shown with it.
const GO_ON: [&str; 2] = ["Please continue.", "System: Please continue."];

/// How what the program tells a model begins that repeats itself (0.61.0, `_recoverFromLoop`). What
/// was typed before is shown with it, too.
const LOOP: &str = "System: Potential loop detected. Details: ";

/// How the summary begins that a compression leaves of the conversation.
const SUMMARY: &str = "<state_snapshot>";

/// What the program answers to that in the model's place (0.61.0, `chatCompressionService`).
const SUMMARY_TAKEN: &str = "Got it. Thanks for the additional context!";

/// What stands around a command that was typed behind `!`, before what it gave back and behind it
/// (0.33.2, `shellCommandProcessor`).
const COMMAND: &str = "I ran the following shell command:\n```sh\n";
const COMMAND_RESULT: &str = "\n```\n\nThis produced the following result:\n```\n";
const COMMAND_END: &str = "\n```";

/// What stands around what was typed while tools ran (0.61.0, `fastAckHelper`).
const HINT: [&str; 2] = [
    "User steering update:\n<user_input>\n",
    "User hints:\n<user_input>\n",
];
const HINT_END: &str = "\n</user_input>";

/// What a user's message is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// What tools gave back, and nothing that anybody said.
    Answer,
    /// What the agent says in its own name.
    Context,
    /// What the program puts in.
    PutIn(String),
    /// What a subagent is told that works within the session.
    Asked(String),
    /// What a compression leaves.
    Summary,
    /// A command that was typed behind `!`, and what it gave back. A compression may add what was
    /// typed next. Or `/init`, and what it became.
    Command { command: String, output: String },
    /// What was typed while tools ran; what these gave back may stand beside it. What a subagent is
    /// told stands behind such a text, and is this then.
    Hint(String),
    /// What ended in the background, beside what tools gave back.
    Ended,
    /// What was typed, or what the model above tells a subagent.
    Typed(String),
    /// The same, behind texts of their own that the program put in: a compression makes one message
    /// of those that follow each other (0.61.0, `coalesceConsecutiveRoles`).
    Merged(String),
}

impl Said {
    /// What the message of this content is. `None` where the second tier is needed.
    pub fn of(line: &Line<'_>, content: &[Part<'_>]) -> Option<Said> {
        let texts = || content.iter().filter_map(|part| part.text.text());
        let is_answer = |part: &Part<'_>| part.function_response.object().is_some();
        let has_answer = content.iter().any(is_answer);
        if let Some(words) = texts().find_map(|text| hint(&text).map(str::to_owned)) {
            let is_told = |text: &str| !has_answer && hint(text).is_none() && !has_ended(text);
            let told: String = texts().filter(|text| is_told(text)).collect();
            return Some(Said::Hint(if told.is_empty() { words } else { told }));
        }
        if has_answer {
            let has_ended = texts().any(|text| has_ended(&text));
            return Some(if has_ended { Said::Ended } else { Said::Answer });
        }
        if !line.display_content.is_value() && texts().next().is_some_and(|text| is_put_in(&text)) {
            let told = typed(&Raw(None), &without_put_in(content))?;
            if told.starts_with(SUMMARY) {
                return Some(Said::Summary);
            }
            if !told.is_empty() {
                return Some(Said::Merged(told));
            }
        }
        let typed = typed(&line.display_content, content)?;
        let whole: String = texts().collect();
        // Where a person typed it, it begins with what is shown with it.
        let is_others = typed.is_empty() || !whole.starts_with(&typed);
        Some(if is_context(&typed) {
            Said::Context
        } else if typed.starts_with(SUMMARY) {
            Said::Summary
        } else if is_asked(&typed) {
            Said::Asked(typed)
        } else if is_put_in(&typed) || has_ended(&typed) {
            Said::PutIn(typed)
        } else if GO_ON.contains(&&*whole) && typed != whole || whole.starts_with(LOOP) && is_others
        {
            Said::PutIn(whole)
        } else if !line.display_content.is_value() && whole.starts_with(INIT.1) {
            Said::Command {
                command: INIT.0.to_owned(),
                output: whole,
            }
        } else if let Some(first) = texts().next()
            && let Some((command, output)) = command(&first)
        {
            Said::Command {
                command: command.to_owned(),
                output: output.to_owned(),
            }
        } else {
            Said::Typed(typed)
        })
    }
}

/// Whether a message was not typed, if what is shown with it is all that was typed before: what a
/// hook tells a model that would stop has the prompt beside it (0.61.0, `sendMessageStream`). A
/// command of a person's, and what names files, holds other text than was typed. `None` where the
/// second tier is needed.
pub(super) fn is_beside(line: &Line<'_>) -> Option<bool> {
    let content = parts(&line.content)?;
    let shown = typed(&line.display_content, &content)?;
    let whole: String = content.iter().filter_map(|part| part.text.text()).collect();
    let may_differ = shown.starts_with('/') || shown.contains('@');
    Some(line.display_content.is_value() && !may_differ && !whole.starts_with(&shown))
}

/// Whether the program says an answer in the model's place. `None` where the second tier is needed.
pub(super) fn is_own(line: &Line<'_>) -> Option<bool> {
    let text: String = match line.model.as_str() {
        Some(_) => return Some(false),
        None => parts(&line.content)?
            .iter()
            .filter_map(|part| part.text.text())
            .collect(),
    };
    Some(text == SUMMARY_TAKEN)
}

/// Whether the agent says it in its own name.
pub(super) fn is_context(said: &str) -> bool {
    CONTEXT.iter().any(|begin| said.starts_with(begin))
}

/// Whether this is what the program puts in, in its own name or not.
pub(super) fn is_put_in(said: &str) -> bool {
    is_context(said) || PUT_IN.iter().any(|begin| said.starts_with(begin))
}

/// The texts of a message without those that the program put in.
pub(super) fn without_put_in<'a>(content: &[Part<'a>]) -> Vec<Part<'a>> {
    let is_typed = |part: &&Part<'_>| part.text.text().is_some_and(|text| !is_put_in(&text));
    let text = |part: &Part<'a>| Part {
        text: part.text,
        ..Part::default()
    };
    content.iter().filter(is_typed).map(text).collect()
}

/// Whether this is what a subagent is told that works within the session.
fn is_asked(said: &str) -> bool {
    let mut warned = WARNED.iter().filter_map(|begin| said.strip_prefix(begin));
    ASKED.iter().any(|begin| said.starts_with(begin))
        || warned.any(|rest| rest.starts_with(WARNED_END))
}

/// Whether the program said this to a model that stopped too early: older versions wrote nothing
/// beside it that tells that.
pub(super) fn goes_on(line: &Line<'_>) -> bool {
    let is_text = line.content.0.is_some_and(|raw| raw.starts_with('"'));
    let text = line.content.text().filter(|_| is_text);
    !line.display_content.is_value() && text.is_some_and(|text| GO_ON.contains(&&*text))
}

/// Whether this is what ended in the background.
pub(super) fn has_ended(text: &str) -> bool {
    text.starts_with(ENDED)
}

/// What was typed while tools ran, if this is it.
pub(super) fn hint(text: &str) -> Option<&str> {
    let behind = HINT.iter().find_map(|begin| text.strip_prefix(begin))?;
    behind.rsplit_once(HINT_END).map(|(words, _)| words)
}

/// A command that was typed behind `!` and what it gave back, if this is it.
fn command(text: &str) -> Option<(&str, &str)> {
    let behind = text.strip_prefix(COMMAND)?;
    let (command, output) = behind.split_once(COMMAND_RESULT)?;
    let output = output.trim_end();
    Some((command, output.strip_suffix(COMMAND_END).unwrap_or(output)))
}
