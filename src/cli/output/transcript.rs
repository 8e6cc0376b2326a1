//! What is said of a session and its entries, whatever they are written as?

use std::path::Path;

use sessionary::model::{SETTINGS, SessionRow, ShownEntry};

use super::Screen;
use super::text::{inert_lines, plain_line};
use super::time::{minute_anywhere, money, number};

/// What is known of a session: names and values.
pub fn about(row: &SessionRow, screen: &Screen) -> Vec<(&'static str, String)> {
    let or_empty = |text: &Option<String>| plain_line(text.as_deref().unwrap_or_default());
    let model = [or_empty(&row.provider), or_empty(&row.model)];
    let began = minute_anywhere(row.created.as_deref(), screen.zone());
    let mut all = vec![
        ("Agent", plain_line(&row.agent)),
        ("Session", plain_line(&row.id)),
        ("Directory", screen.path(Path::new(&row.cwd))),
        ("Began", began),
        ("Model", model.join("/").trim_matches('/').to_owned()),
        ("Entries", number(row.entries)),
        ("Tokens", row.tokens.map(number).unwrap_or_default()),
        ("Cost", row.cost.map(money).unwrap_or_default()),
    ];
    all.retain(|(_, value)| !value.is_empty());
    all
}

/// Whether it only sets the session's model, or how much it thinks.
pub fn is_setting(entry: &ShownEntry) -> bool {
    SETTINGS.contains(&entry.kind.as_str()) && entry.problem.is_none()
}

/// Who says it, or what it is.
pub fn who(entry: &ShownEntry) -> String {
    plain_line(entry.role.as_deref().unwrap_or(&entry.kind))
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

fn is_name(text: &str) -> bool {
    text.len() <= 64 && !text.is_empty() && !text.contains(char::is_whitespace)
}
