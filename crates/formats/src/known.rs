//! Which formats does this build know?

use crate::format::Format;
use crate::pi::Dialect;
use crate::{
    agentuse, claude, clido, codex, copilot, cursor, gemini, induscode, openclaw, opencode, qwen,
};

/// The formats this build knows.
pub static FORMATS: &[&dyn Format] = &[
    &Dialect::PI,
    &Dialect::INDUSAGI,
    &Dialect::PINDUSAGI,
    &clido::Clido,
    &agentuse::Agentuse,
    &claude::Claude,
    &codex::Codex,
    &copilot::Copilot,
    &cursor::Cursor,
    &gemini::Gemini,
    &induscode::Induscode,
    &openclaw::OpenClaw,
    &opencode::OpenCode,
    &qwen::Qwen,
];

/// The format of that name, among these.
pub fn format_named(formats: &[&'static dyn Format], name: &str) -> Option<&'static dyn Format> {
    formats
        .iter()
        .copied()
        .find(|format| format.about().name == name)
}
