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
pub(super) struct Told<'a> {
    pub command: &'a str,
    /// How it ended, how long it took, and what it printed.
    pub result: &'a str,
}

impl<'a> Told<'a> {
    pub fn read(text: &'a str) -> Option<Told<'a>> {
        let within = text.trim().strip_prefix(BEGIN)?.strip_suffix(END)?;
        let within = within.trim_start().strip_prefix("<command>\n")?;
        let (command, rest) = within.split_once("\n</command>\n<result>\n")?;
        let result = rest.trim_end().strip_suffix("</result>")?.trim_end();
        Some(Told { command, result })
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
    /// Bytes of what that line says that it printed.
    bytes: usize,
    is_event: bool,
}

/// Of what two lines say the second one is not searched, unless it is cut less.
pub(super) fn relate(last: &mut Option<Ran>, record: &[u8], facts: &mut Facts) {
    let Some(ran) = Ran::of(record, facts) else {
        return;
    };
    let is_twin = |last: &Ran| last.command == ran.command && last.is_event != ran.is_event;
    match last.take_if(|last| is_twin(last)) {
        Some(first) if ran.bytes <= first.bytes => facts.repeats.push(Class::Output),
        Some(_) => {}
        None => *last = Some(ran),
    }
}

impl Ran {
    fn of(record: &[u8], facts: &Facts) -> Option<Ran> {
        let is_event = matches!(facts.kind.as_str(), "exec_command_end" | "item_completed");
        let is_told = || {
            let is_injected = facts.kind == "message" && facts.role.as_deref() == Some("injected");
            is_injected && memchr::memmem::find(record, BEGIN.as_bytes()).is_some()
        };
        if facts.silent || !is_event && !is_told() {
            return None;
        }
        let of = |command: &str, printed: Option<&str>| Ran {
            command: stable_hash::of([command.trim().as_bytes()]),
            bytes: printed.unwrap_or_default().trim().len(),
            is_event,
        };
        json::tiers(record, |text| {
            let Some(record) = Record::read(text)? else {
                return Some(None);
            };
            let payload = &record.payload;
            if !is_event {
                let parts = Message::read(payload)?.parts;
                let told = parts.iter().find_map(|(_, text)| Told::read(text));
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
