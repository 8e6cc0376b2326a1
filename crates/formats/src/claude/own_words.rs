//! What does Claude Code itself say where the model or a person does?

use std::borrow::Cow;

use super::line::{Line, Message};

/// The model of what Claude Code itself says in the model's place.
pub(super) const SYNTHETIC: &str = "<synthetic>";

/// What Claude Code says there though no request failed.
const IN_ITS_PLACE: [&str; 4] = [
    "(no content)",
    "No response requested.",
    "The model returned an empty response (retry also failed).",
    "The model's tool call could not be parsed (retry also failed).",
];

/// What Claude Code answers to a command that it does not run, or that printed nothing, and all of
/// it, unless its line says that a person typed it.
const REFUSALS: [&str; 3] = [
    "(no content)",
    "Commands are in the form `/command [args]`",
    "Operation stopped by hook",
];

/// With what Claude Code says that it knows no such command, and whether its name follows as a
/// person writes it, behind `/`.
const UNKNOWN: [(&str, bool); 3] = [
    ("Unknown skill: ", false),
    ("Unknown slash command: ", false),
    ("Unknown command: ", true),
];

/// Whether Claude Code says with this that it runs no such command.
pub(super) fn is_refusal(said: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
    let command = |said: &str| said.strip_prefix('/').is_some_and(is_name);
    let is_unknown = UNKNOWN.iter().any(|(begin, is_command)| {
        let Some(name) = said.strip_prefix(begin) else {
            return false;
        };
        match name.split_once(". Did you mean ") {
            _ if !is_command => is_name(name),
            Some((name, other)) => command(name) && other.strip_suffix('?').is_some_and(command),
            None => command(name),
        }
    });
    is_unknown || REFUSALS.contains(&said)
}

/// Whether a line of the model's is an answer, and not what Claude Code says in its place, above
/// all that a request failed. Versions from 2.1.80 to 2.1.177 name no model of an answer, either,
/// that was broken off while its text came. `text`: the first one of the line.
pub(super) fn is_answer<'t, L, C>(
    line: &Line<'_, L>,
    message: &Message<'_, C>,
    text: impl FnOnce() -> Option<Cow<'t, str>>,
) -> bool {
    let is_own = |text: &str| {
        let text = text.trim();
        text.is_empty()
            || IN_ITS_PLACE.contains(&text)
            || text.starts_with("API Error")
            || text.starts_with("[Request interrupted")
    };
    match line.is_api_error_message.0 {
        Some(true) => false,
        _ if message.model.as_str() != Some(SYNTHETIC) => true,
        Some(false) => !line.error.is_value() && text().is_some_and(|text| !is_own(&text)),
        None => false,
    }
}
