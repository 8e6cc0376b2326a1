//! What did a person ask for with a command?

/// Commands of Claude Code's own whose words ask the model for nothing: they set, name or show
/// something.
const SETTINGS: [&str; 54] = [
    "add-dir",
    "advisor",
    "agents",
    "allowed-tools",
    "branch",
    "bug",
    "cd",
    "clear",
    "color",
    "compact",
    "config",
    "context",
    "continue",
    "copy",
    "cost",
    "effort",
    "export",
    "fast",
    "feedback",
    "fork",
    "help",
    "hooks",
    "ide",
    "login",
    "logout",
    "mcp",
    "memory",
    "model",
    "new",
    "output-style",
    "permissions",
    "plugin",
    "plugins",
    "privacy-settings",
    "release-notes",
    "remote-control",
    "remote-env",
    "rename",
    "reset",
    "resume",
    "rewind",
    "sandbox",
    "settings",
    "skills",
    "stats",
    "status",
    "tasks",
    "terminal-setup",
    "theme",
    "todos",
    "tui",
    "usage",
    "vim",
    "voice",
];

/// What stands between the first such tags of a text.
pub(super) fn within<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    Some(rest.split_once(&format!("</{tag}>"))?.0.trim())
}

/// A command and the words behind it, as its tags say: `/review the parser`.
pub(super) fn command(text: &str) -> Option<String> {
    if !text.trim_start().starts_with("<command-") {
        return None;
    }
    let name = within(text, "command-name")?;
    // Nothing behind the last end is one of the words, which may hold others.
    let (_, words) = text.split_once("<command-args>")?;
    let words = words.rsplit_once("</command-args>")?.0.trim();
    let is_setting = SETTINGS.contains(&name.trim_start_matches('/'));
    (!words.is_empty() && !is_setting).then(|| format!("{name} {words}"))
}
