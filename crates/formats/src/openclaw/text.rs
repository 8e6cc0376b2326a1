//! All text of one line that can be searched: what the program put into a person's message is apart
//! from what that typed.

use serde::Deserialize;

use super::typed::Message;
use super::{PI, leaves, rows};
use crate::Format;
use crate::json::{self, Loose, Text};
use crate::model::{Class, Passage};

#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
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
    match whose(record) {
        Whose::Persons => apart(PI.passages(record)),
        Whose::Nobodys => Vec::new(),
        Whose::Others => PI.passages(record),
    }
}

/// Whose words a line holds.
enum Whose {
    Persons,
    /// It only says where the session stands.
    Nobodys,
    Others,
}

fn whose(record: &[u8]) -> Whose {
    let read = json::tiers(record, |text| {
        let line = json::parse::<Loose<Line<'_>>>(text)?;
        let line = line.object();
        let message = line.and_then(|line| line.message.object());
        Some(match () {
            () if line.is_some_and(|line| line.kind.as_str() == Some(leaves::KIND)) => {
                Whose::Nobodys
            }
            () if message.is_some_and(|message| message.role.as_str() == Some("user")) => {
                Whose::Persons
            }
            () => Whose::Others,
        })
    });
    read.unwrap_or(Whose::Others)
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
