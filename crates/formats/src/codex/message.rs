//! Which parts of a message did its person type, and what did Codex put beside them?

use std::borrow::Cow;

use super::line::{Part, Payload};
use crate::injected::injected_blocks;
use crate::json::{self, Loose};

/// Where a part of a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A person; in a subagent, the model that started it.
    Typed,
    /// Codex: the environment, a note of an abort, what the editor shows.
    Injected,
    /// Codex: instructions, most of them word for word as in every other session.
    Prompt,
    /// The model.
    Model,
}

/// A message as it is read.
#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    pub parts: Vec<(Origin, Cow<'a, str>)>,
    pub has_image: bool,
}

/// Behind this the editors' extensions write what their user typed, below what they show.
const REQUEST: &str = "## My request for Codex:";
/// The same since 2026, of Codex Desktop too: a line by itself.
const SHORT_REQUEST: &str = "## My request:";

/// With what begins what Codex Desktop and the editors' extensions show above that line.
const SHOWN: [&str; 4] = [
    "# Files mentioned by the user:",
    "# Context from my IDE setup:",
    "# Response annotations:",
    "<in-app-browser-context",
];

/// Blocks with which Codex Desktop starts a turn, and what in them says to do what: an automation,
/// another thread, what was said to it by voice.
const WAKE_UPS: [(&str, &str); 3] = [
    ("heartbeat", "instructions"),
    ("codex_delegation", "input"),
    ("realtime_delegation", "input"),
];

/// What instructions begin with that stand in a message of the user's.
const PROMPTS: &[&str] = &[
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<skill>",
    "<skills_instructions>",
    "<permissions instructions>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<recommended_plugins>",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<model_switch>",
    "<personality_spec>",
];

/// What else begins a message of the user's that nobody typed, in rollouts that do not say of each
/// part what it is: Codex's own list (`context/contextual_user_message.rs`), and what reviews,
/// images and summaries add.
const INJECTED: &[&str] = &[
    "<environment_context>",
    "<ENVIRONMENT_CONTEXT>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<user_action>",
    "<hook_prompt",
    "<goal_context>",
    "<codex_internal_context",
    "<image>",
    "<image ",
    "</image>",
    "Another language model started to solve this problem",
    "Warning: apply_patch was requested via",
    "Warning: The maximum number of unified exec processes",
];

impl<'a> Message<'a> {
    /// The message in a payload; `None` where the second tier is needed.
    pub fn read(payload: &Payload<'a>) -> Option<Message<'a>> {
        let mut message = Message::default();
        let role = payload.role.as_str().unwrap_or_default();
        if let Some(text) = payload.content.text() {
            message.add(role, None, text);
        }
        let none = Vec::new();
        let kinds = payload.metadata.object();
        let kinds = kinds.map_or(&none, |metadata| &metadata.content_item_kinds.0);
        for (at, part) in payload.content.items()?.into_iter().enumerate() {
            let Loose::Object(part) = part.parse::<Loose<Part<'_>>>()? else {
                continue;
            };
            match part.kind.as_str() {
                Some("input_image") => message.has_image = true,
                Some("input_text" | "output_text" | "text" | "Text") => {
                    let kind = kinds.get(at).and_then(|kind| kind.as_str());
                    let text = part.text.text();
                    message.add(role, kind, text.unwrap_or_default());
                }
                _ => {}
            }
        }
        Some(message)
    }

    fn add(&mut self, role: &str, kind: Option<&str>, text: Cow<'a, str>) {
        let origin = origin(role, kind, &text);
        match shown_and_typed(&text) {
            Some((shown, typed)) if origin == Origin::Typed => {
                for (origin, text) in [(Origin::Injected, shown), (Origin::Typed, typed)] {
                    self.parts.push((origin, text.to_owned().into()));
                }
            }
            _ => self.parts.push((origin, text)),
        }
    }

    /// Its role in our words: `user` only where a person may have typed some of it.
    pub fn role(&self, role: &str) -> String {
        let origins = |wanted| self.parts.iter().any(|(origin, _)| *origin == wanted);
        let role = match role {
            "user" if origins(Origin::Typed) => "user",
            // An image alone.
            "user" if self.has_image && self.parts.iter().all(is_around_image) => "user",
            "user" => "injected",
            "developer" => "system",
            role => role,
        };
        role.to_owned()
    }

    /// What was typed; `None` where nothing was.
    pub fn typed(&self) -> Option<String> {
        let typed = self.parts.iter();
        let typed = typed.filter(|(origin, _)| *origin == Origin::Typed);
        let typed: Vec<&str> = typed.map(|(_, text)| &**text).collect();
        (!typed.is_empty()).then(|| typed.join("\n"))
    }

    /// What a program asked for with it, see [`asked_by_program`].
    pub fn asked(&self) -> Option<String> {
        let mut texts = self.parts.iter().map(|(_, text)| text);
        texts.find_map(|text| asked_by_program(text))
    }

    /// The working directory that it tells the model. The first rollouts have it nowhere else.
    pub fn environment_cwd(&self) -> Option<String> {
        let (_, text) = self.parts.first()?;
        let environment = text.trim_start().strip_prefix("<environment_context>")?;
        let old = environment
            .trim_start()
            .strip_prefix("Current working directory: ");
        let cwd = match old {
            Some(rest) => rest.lines().next(),
            None => environment.split_once("<cwd>")?.1.split("</cwd>").next(),
        };
        cwd.map(|cwd| cwd.trim().to_owned())
    }

    /// Whether instructions stand in it.
    pub fn has_prompt(&self) -> bool {
        self.parts
            .iter()
            .any(|(origin, _)| *origin == Origin::Prompt)
    }
}

/// The text that a person typed into a message of an editor's extension, else all of it.
pub(super) fn request(message: &str) -> &str {
    shown_and_typed(message).map_or(message, |(_, typed)| typed)
}

/// What an editor's extension, or Codex Desktop, shows the model, and what was typed below that:
/// behind the last such heading, as what is shown may hold one too.
fn shown_and_typed(text: &str) -> Option<(&str, &str)> {
    let last = |heading: &str, is_it: fn(&str) -> bool| {
        let mut found = text.rmatch_indices(heading).map(|(at, _)| at);
        let is_line = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
        found.find(|at| is_line(at) && is_it(&text[at + heading.len()..]))
    };
    let ends = |rest: &str| {
        let rest = rest.trim_start_matches([' ', '\t']);
        rest.is_empty() || rest.starts_with(['\n', '\r'])
    };
    // A person may write such a heading, too.
    let begins = text.trim_start();
    let is_shown = SHOWN.iter().any(|shown| begins.starts_with(shown));
    let (at, heading) = match last(REQUEST, |_| true) {
        Some(at) => (at, REQUEST),
        None if is_shown => (last(SHORT_REQUEST, ends)?, SHORT_REQUEST),
        None => return None,
    };
    Some((&text[..at], text[at + heading.len()..].trim()))
}

/// What a program asked for, where the text is nothing but a block with which it starts a turn.
pub(super) fn asked_by_program(text: &str) -> Option<String> {
    let text = text.trim();
    WAKE_UPS.iter().find_map(|(block, asks)| {
        let within = text.strip_prefix(&*format!("<{block}>"))?;
        let within = within.strip_suffix(&*format!("</{block}>"))?;
        let behind = within.split_once(&*format!("<{asks}>"));
        let asked = behind.and_then(|(_, rest)| rest.rsplit_once(&*format!("</{asks}>")));
        let asked = asked.map_or(within, |(asked, _)| asked).trim();
        let asked = asked.replace("&lt;", "<").replace("&gt;", ">");
        Some(asked.replace("&amp;", "&"))
    })
}

/// What a message between agents tells a new one to do; the name of that where it is encrypted.
pub(super) fn task(message: &str) -> Option<String> {
    let about = message.strip_prefix("Message Type: NEW_TASK\n")?;
    let (about, asked) = about.split_once("Payload:\n")?;
    let mut names = about
        .lines()
        .filter_map(|line| line.strip_prefix("Task name: "));
    let name = names.next().and_then(|path| path.rsplit('/').next());
    let asked = Some(asked.trim()).filter(|asked| !asked.is_empty());
    asked.or(name).map(str::to_owned)
}

/// Whether a part says nothing but that an image stands behind or before it.
fn is_around_image((_, text): &(Origin, Cow<'_, str>)) -> bool {
    let text = text.trim();
    let is_open = text == "<image>" || text.starts_with("<image ");
    text.is_empty() || text == "</image>" || is_open && text.find('>') == Some(text.len() - 1)
}

fn origin(role: &str, kind: Option<&str>, text: &str) -> Origin {
    match (role, kind) {
        ("developer" | "system", _) => Origin::Prompt,
        ("user", _) if asked_by_program(text).is_some() => Origin::Injected,
        ("user", Some(kind)) if kind.starts_with("user.") => Origin::Typed,
        ("user", Some(kind)) if kind.ends_with("instructions") => Origin::Prompt,
        ("user", None | Some("unknown")) => legacy_origin(text.trim_start()),
        ("user", Some(_)) => Origin::Injected,
        _ => Origin::Model,
    }
}

fn legacy_origin(text: &str) -> Origin {
    let begins = |with: &[&str]| with.iter().any(|with| text.starts_with(with));
    // Whatever it is called, it is nothing but what a program put between tags.
    let is_block = || injected_blocks(text).first() == Some(&(0..text.trim_end().len()));
    match () {
        () if begins(PROMPTS) => Origin::Prompt,
        () if begins(INJECTED) || is_block() => Origin::Injected,
        () => Origin::Typed,
    }
}

/// All text of a list of parts, or of a text; `None` where the second tier is needed.
pub(super) fn texts<'a>(value: &json::Raw<'a>) -> Option<Vec<Cow<'a, str>>> {
    let mut texts: Vec<_> = value.text().into_iter().collect();
    for part in value.items()? {
        let text = match part.text() {
            Some(text) => Some(text),
            None => match part.parse::<Loose<Part<'_>>>()? {
                Loose::Object(part) => part.text.text(),
                _ => None,
            },
        };
        texts.extend(text);
    }
    Some(texts)
}
