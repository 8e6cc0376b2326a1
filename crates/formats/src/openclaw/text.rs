//! All text of one line that can be searched: what the program put into a person's message is apart
//! from what that typed.

use serde::Deserialize;

use super::typed::Message;
use super::{PI, rows};
use crate::Format;
use crate::json::{self, Loose, Text};
use crate::model::{Class, Passage};

#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    message: Loose<Role<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Role<'a> {
    #[serde(borrow)]
    role: Text<'a>,
}

pub(super) fn passages(record: &[u8]) -> Vec<Passage> {
    if let Some(of_row) = rows::passages(record) {
        return of_row;
    }
    let passages = PI.passages(record);
    match is_users(record) {
        true => apart(passages),
        false => passages,
    }
}

fn is_users(record: &[u8]) -> bool {
    let read = json::tiers(record, |text| {
        let line = json::parse::<Loose<Line<'_>>>(text)?;
        let message = line.object().and_then(|line| line.message.object());
        Some(message.is_some_and(|message| message.role.as_str() == Some("user")))
    });
    read.unwrap_or_default()
}

/// What was put in is output.
fn apart(passages: Vec<Passage>) -> Vec<Passage> {
    let (mut prose, mut output) = (Vec::new(), Vec::new());
    for Passage { class, pieces } in passages {
        match class {
            Class::Output => output.extend(pieces),
            Class::Prose => {
                for piece in pieces {
                    let message = Message::of(&piece);
                    if message.put_in.is_empty() {
                        prose.push(piece);
                        continue;
                    }
                    output.extend(message.put_in);
                    prose.push(message.typed);
                }
            }
        }
    }
    let classes = [(Class::Prose, prose), (Class::Output, output)].into_iter();
    let said = classes.map(|(class, mut pieces)| {
        pieces.retain(|piece| !piece.is_empty());
        Passage { class, pieces }
    });
    said.filter(|passage| !passage.pieces.is_empty()).collect()
}
