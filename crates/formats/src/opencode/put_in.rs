//! What stands in prompts as plain text as what was typed does. Plugins put it there:
//! oh-my-opencode and what came of it (4.12, and transcripts of 2026 that it wrote into). And
//! OpenCode itself, in place of its command `/init`.

/// How a text ends that a plugin sends by itself.
const SENT: [&str; 3] = [
    "<!-- OMO_INTERNAL_INITIATOR -->",
    "<!-- OMO_INTERNAL_NOREPLY -->",
    "<!-- SLIM_INTERNAL_INITIATOR -->",
];
/// How one begins, behind a word that starts a mode of the plugin's or without one.
const DIRECTIVE: &str = "[SYSTEM DIRECTIVE: OH-MY-OPENCODE";
const STARTS: [&str; 2] = ["ultrawork ", "ulw "];
/// What such a word puts before what was typed, or, since a later version, behind it.
const MODES: [&str; 3] = ["<ultrawork-mode>", "[search-mode]\n", "[analyze-mode]\n"];
const ULTRAWORK_END: &str = "</ultrawork-mode>";
/// What stands between the two.
const RULE: &str = "\n\n---\n\n";
/// What stands in place of a command that was typed, and around what it means.
const COMMAND: (&str, &str) = ("<auto-slash-command>", "</auto-slash-command>");
const ARGUMENTS: &str = "\n\n**User Arguments**: ";
/// What follows the arguments, one or more of these; else a rule does.
const FIELDS: [&str; 3] = ["\n\n**Model**: ", "\n\n**Agent**: ", "\n\n**Scope**: "];
/// How the text begins that stands for `/init` (0.5 to 1.3; 1.15 and later), and what stands in it
/// before and behind what was typed behind the command.
const INIT: [[&str; 3]; 2] = [
    [
        "Please analyze this codebase and create an AGENTS.md file containing:",
        "\nIf there's already an AGENTS.md, improve it if it's located in ",
        "",
    ],
    [
        "Create or update `AGENTS.md` for this repository.",
        "\n\nUser-provided focus or constraints (honor these):\n",
        "\n\n## How to investigate\n",
    ],
];

/// A text in a person's place.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said<'t> {
    /// What a person typed; `None`: a program says all of it.
    pub typed: Option<Typed<'t>>,
    /// What was put in beside it.
    pub put_in: Vec<&'t str>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed<'t> {
    /// As it stands there.
    Text(&'t str),
    /// A command, as it must have been.
    Command(String),
}

impl Typed<'_> {
    pub fn as_str(&self) -> &str {
        match self {
            Typed::Text(text) => text,
            Typed::Command(text) => text,
        }
    }
}

impl<'t> Said<'t> {
    pub fn of(text: &'t str) -> Said<'t> {
        if is_sent(text) {
            return Said::default();
        }
        let (mut rest, mut put_in) = (text, Vec::new());
        while let Some((mode, behind)) = mode_before(rest) {
            put_in.push(mode);
            rest = behind;
        }
        if let Some((before, mode)) = mode_behind(rest) {
            put_in.push(mode);
            rest = before;
        }
        if let Some((all, command)) = command(rest).or_else(|| init(rest)) {
            put_in.push(all);
            return Said {
                typed: command.map(Typed::Command),
                put_in,
            };
        }
        let is_typed = put_in.is_empty() || !rest.trim().is_empty() && !is_sent(rest);
        Said {
            typed: is_typed.then_some(Typed::Text(rest)),
            put_in,
        }
    }
}

/// Whether a plugin sends all of a text.
fn is_sent(text: &str) -> bool {
    let text = text.trim();
    let mut behind = STARTS.iter().filter_map(|word| {
        let (begin, behind) = text.split_at_checked(word.len())?;
        begin.eq_ignore_ascii_case(word).then_some(behind)
    });
    behind.next().unwrap_or(text).starts_with(DIRECTIVE)
        || SENT.iter().any(|end| text.ends_with(end))
}

/// A text without the marks of who sends it.
pub(super) fn without_marks(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(before) = SENT.iter().find_map(|end| text.strip_suffix(end)) {
        text = before.trim_end();
    }
    text
}

/// The mode with which a text begins, and what stands behind it.
fn mode_before(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let mode = MODES.iter().find(|mode| text.starts_with(**mode))?;
    let (mode, mut behind) = match *mode == MODES[0] {
        true => text.split_at(text.find(ULTRAWORK_END)? + ULTRAWORK_END.len()),
        false => text.split_once(RULE)?,
    };
    behind = behind.trim_start();
    while let Some(rest) = behind.strip_prefix(RULE.trim_start()) {
        behind = rest.trim_start();
    }
    Some((mode, behind))
}

/// What stands before a mode, and that.
fn mode_behind(text: &str) -> Option<(&str, &str)> {
    let rules = text.match_indices(RULE);
    let mut parts = rules.map(|(at, rule)| (&text[..at], &text[at + rule.len()..]));
    parts.find(|(_, behind)| MODES.iter().any(|mode| behind.starts_with(mode)))
}

/// A text that stands in place of a command, and that command, where it says it.
fn command(text: &str) -> Option<(&str, Option<String>)> {
    let all = text.trim();
    let said = all.strip_prefix(COMMAND.0)?.strip_suffix(COMMAND.1)?.trim();
    let name = said.lines().next().and_then(|line| {
        let name = line.strip_prefix("# /")?;
        name.strip_suffix(" Command")
    });
    let given = said.split_once(ARGUMENTS).map(|(_, given)| {
        let fields = FIELDS.iter().filter_map(|field| given.rfind(field));
        let end = fields.min().or_else(|| given.find("\n\n---\n"));
        &given[..end.unwrap_or(given.len())]
    });
    let typed = name.map(|name| format!("/{name} {}", given.unwrap_or_default()));
    Some((all, typed.map(|typed| typed.trim_end().to_owned())))
}

/// A text that stands in place of `/init`, and that, with what was typed behind it.
fn init(text: &str) -> Option<(&str, Option<String>)> {
    let all = text.trim();
    let given = INIT.iter().find_map(|[begin, before, behind]| {
        let (_, given) = all.strip_prefix(begin)?.split_once(before)?;
        match behind.is_empty() {
            // A line says the folder, and the rest was typed.
            true => Some(given.split_once('\n').map_or("", |(_, given)| given)),
            false => given.split_once(behind).map(|(given, _)| given),
        }
    })?;
    let typed = format!("/init {}", given.trim());
    Some((all, Some(typed.trim_end().to_owned())))
}
