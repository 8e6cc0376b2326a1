//! What did a command print that its person ran (`!`)? Two lines say it: an event, and the message
//! that tells the model. Either may stand first, alone, or be cut.

use serde::{Deserialize, Serialize};

use super::line::Record;
use super::message::Message;
use crate::model::{Class, Facts};
use crate::{json, stable_hash};

const BEGIN: &str = "<user_shell_command>";
const END: &str = "</user_shell_command>";

/// What a message tells of such a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ToldCommand<'a> {
    pub command: &'a str,
    /// How it ended, how long it took, and what it printed.
    pub result: &'a str,
}

impl<'a> ToldCommand<'a> {
    pub fn read(text: &'a str) -> Option<ToldCommand<'a>> {
        let within = text.trim().strip_prefix(BEGIN)?.strip_suffix(END)?;
        let within = within.trim_start().strip_prefix("<command>\n")?;
        let (command, rest) = within.split_once("\n</command>\n<result>\n")?;
        let result = rest.trim_end().strip_suffix("</result>")?.trim_end();
        Some(ToldCommand { command, result })
    }

    fn printed(&self) -> Option<&'a str> {
        let behind = self.result.split_once("Output:");
        behind.map(|(_, printed)| printed)
    }
}

/// A command of which one line was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Ran {
    command: u64,
    /// What that line says that it printed.
    printed: u64,
    /// Its last word: Codex cuts in the middle.
    end: u64,
    bytes: usize,
    is_event: bool,
    /// Something else was said behind that line.
    is_apart: bool,
}

/// Of what two lines say the second one is not searched, unless it is cut less. The same command
/// may have run before: so they are two of one only where the words are the same, or where one is
/// cut and nothing was said between them.
pub(super) fn relate(last: &mut Option<Ran>, record: &[u8], facts: &mut Facts) {
    let Some(ran) = Ran::of(record, facts) else {
        if let Some(last) = last {
            last.is_apart = true;
        }
        return;
    };
    match last.take_if(|last| last.is_twin(&ran)) {
        Some(first) if ran.bytes <= first.bytes => facts.repeats.push(Class::Output),
        Some(_) => {}
        None => *last = Some(ran),
    }
}

impl Ran {
    /// Whether the next such line says the same, as far as it is not cut.
    fn is_twin(&self, next: &Ran) -> bool {
        let is_cut = self.bytes != next.bytes && self.end == next.end;
        let is_same = self.printed == next.printed || is_cut && !self.is_apart;
        self.command == next.command && self.is_event != next.is_event && is_same
    }

    fn of(record: &[u8], facts: &Facts) -> Option<Ran> {
        let is_event = matches!(facts.kind.as_str(), "exec_command_end" | "item_completed");
        let is_told = || {
            let is_injected = facts.kind == "message" && facts.role.as_deref() == Some("injected");
            is_injected && memchr::memmem::find(record, BEGIN.as_bytes()).is_some()
        };
        if facts.silent || !is_event && !is_told() {
            return None;
        }
        let of = |command: &str, printed: Option<&str>| {
            let printed = printed.unwrap_or_default().trim();
            let end = printed.split_whitespace().next_back();
            Ran {
                command: stable_hash::of([command.trim().as_bytes()]),
                printed: stable_hash::of([printed.as_bytes()]),
                end: stable_hash::of([end.unwrap_or_default().as_bytes()]),
                bytes: printed.len(),
                is_event,
                is_apart: false,
            }
        };
        json::tiers(record, |text| {
            let Some(record) = Record::read(text)? else {
                return Some(None);
            };
            let payload = &record.payload;
            if !is_event {
                let parts = Message::read(payload)?.parts;
                // Of a message with several of them not all would be known.
                let [(_, text)] = &*parts else {
                    return Some(None);
                };
                let told = ToldCommand::read(text);
                return Some(told.map(|told| of(told.command, told.printed())));
            }
            let item = payload.item()?;
            let item = item.as_ref().unwrap_or(payload);
            // A shell, how it is to read what it is given, and that.
            let words = item.command.items()?;
            let command = words.last().and_then(|word| word.text());
            let printed = item.aggregated_output.text();
            Some(command.map(|command| of(&command, printed.as_deref())))
        })
        .flatten()
    }
}
