//! All text of one line that can be searched: what the program put into a person's message is apart
//! from what that typed.

use super::typed::Message;
use super::{PI, leaves, line, rows};
use crate::Format;
use crate::model::{Class, Passage};

pub(super) fn passages(record: &[u8]) -> Vec<Passage> {
    if let Some(of_row) = rows::passages(record) {
        return of_row;
    }
    let whose = line::read(record, |line| {
        let message = line.message.object();
        let is_user = message.is_some_and(|message| message.role.as_str() == Some("user"));
        Some((line.kind.as_str() == Some(leaves::KIND), is_user))
    });
    match whose {
        // It only says where the session stands.
        Some((true, _)) => Vec::new(),
        Some((_, true)) => apart(PI.passages(record)),
        _ => PI.passages(record),
    }
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
