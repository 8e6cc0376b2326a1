//! What is said of a session and its entries, whatever they are written as?

use std::path::Path;

use sessionary::model::{Class, SETTINGS, SessionRow, ShownEntry, Zone};

use super::Screen;
use super::text::{inert_lines, plain_line};
use super::time::{minute, minute_anywhere, money, number};

/// What is known of a session: names and values. They go into a file that may be passed on, where a
/// path leads nowhere: it is masked too.
pub fn about(row: &SessionRow, screen: &Screen) -> Vec<(&'static str, String)> {
    let or_empty = |text: &Option<String>| plain_line(text.as_deref().unwrap_or_default());
    let model = [or_empty(&row.provider), or_empty(&row.model)];
    let began = minute_anywhere(row.created.as_deref(), screen.zone());
    let mut all = vec![
        ("Agent", plain_line(&row.agent)),
        ("Host", or_empty(&row.host)),
        ("Session", plain_line(&row.id)),
        ("Directory", screen.path(Path::new(&row.cwd))),
        ("Began", began),
        ("Model", model.join("/").trim_matches('/').to_owned()),
        ("Entries", number(row.entries)),
        ("Tokens", row.tokens.map(number).unwrap_or_default()),
        ("Cost", row.cost.map(money).unwrap_or_default()),
    ];
    all.retain(|(_, value)| !value.is_empty());
    if let Some(mask) = screen.mask_of_files() {
        for (_, value) in &mut all {
            *value = mask.of(value).unwrap_or_else(|| std::mem::take(value));
        }
    }
    all
}

/// Whether it only sets the session's model, or how much it thinks.
pub fn is_setting(entry: &ShownEntry) -> bool {
    SETTINGS.contains(&entry.kind.as_str()) && entry.problem.is_none()
}

/// Whether nobody says anything in it: an agent's notes for itself, most of them.
pub fn says_nothing(entry: &ShownEntry) -> bool {
    let is_known = entry.role.is_some() || entry.label.is_some() || entry.problem.is_some();
    entry.text.is_empty() && !is_known && !entry.is_error && !entry.has_image
}

/// Whether it has no bytes: what it records stands in the entry before, which has its address.
pub fn is_of_another(entry: &ShownEntry) -> bool {
    entry.start > 0 && entry.start == entry.end
}

/// Who says it, or what it is.
pub fn who(entry: &ShownEntry) -> String {
    plain_line(entry.role.as_deref().unwrap_or(&entry.kind))
}

/// Whether it is written as Markdown: what people type is not meant so, and what tools print is
/// not.
pub fn is_markdown(entry: &ShownEntry) -> bool {
    let role = entry.role.as_deref().unwrap_or(&entry.kind);
    let summaries = [
        "compaction",
        "branch_summary",
        "compactionSummary",
        "branchSummary",
    ];
    role == "assistant" || summaries.contains(&role)
}

/// What stands above an entry.
pub struct EntryHead {
    /// Who says it, or what it is.
    pub who: String,
    /// Whether something is wrong with it.
    pub is_bad: bool,
    /// The tool that was called or gave it.
    pub tool: Option<String>,
    /// When it was, and what else is known of it.
    pub after: Vec<String>,
}

/// What stands above an entry, in the reader's time.
pub fn head(entry: &ShownEntry, zone: &Zone) -> EntryHead {
    let what = who(entry);
    let who = match &entry.problem {
        Some(problem) if entry.kind == "problem" => {
            format!("not an entry: {}", plain_line(problem))
        }
        Some(problem) => format!("{what}: {}", plain_line(problem)),
        None => what,
    };
    let mut after = vec![minute(entry.time.as_deref(), zone)];
    let label = entry.label.as_deref();
    after.extend(label.map(|label| format!("[{}]", plain_line(label))));
    if entry.is_error {
        after.push("error".to_owned());
    }
    if entry.has_image {
        after.push("image".to_owned());
    }
    match entry.kind.as_str() {
        "problem" if entry.line > 0 => after.push(format!("line {}", entry.line)),
        "problem" => {}
        _ if !entry.agent_sees => after.push("the agent does not see it".to_owned()),
        _ => {}
    }
    if let Some(origin) = &entry.inherited_from {
        after.push(format!("inherited from {}", plain_line(origin)));
    }
    after.retain(|part| !part.is_empty());
    EntryHead {
        who,
        is_bad: entry.is_error || entry.problem.is_some(),
        tool: tool(entry),
        after,
    }
}

/// The tool of an entry that is nothing but what a tool took or gave.
fn tool(entry: &ShownEntry) -> Option<String> {
    let mut passages = entry.text.iter();
    match (passages.next(), passages.next()) {
        (Some((Class::Output, pieces)), None) => call(pieces).0,
        _ => None,
    }
}

/// What a setting was set to, with what it is, on one line.
pub fn setting(entry: &ShownEntry) -> String {
    let pieces = entry.text.iter().flat_map(|(_, pieces)| pieces);
    let set: Vec<String> = pieces.map(|piece| plain_line(piece)).collect();
    format!("{} {}", plain_line(&entry.kind), set.join("/"))
}

/// What a tool was given or gave: its name, where that is printed first, and the rest.
pub fn call(pieces: &[String]) -> (Option<String>, String) {
    let (name, rest) = match pieces {
        [name, rest @ ..] if !rest.is_empty() && is_name(name) => (Some(plain_line(name)), rest),
        all => (None, all),
    };
    let lines: Vec<String> = rest.iter().map(|piece| inert_lines(piece)).collect();
    (name, lines.join("\n"))
}

/// Whether a first piece of several is the name of a tool.
pub fn is_name(text: &str) -> bool {
    text.len() <= 64 && !text.is_empty() && !text.contains(char::is_whitespace)
}
