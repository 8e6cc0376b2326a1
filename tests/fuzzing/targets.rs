//! What must hold of any bytes? One function a target; each panics when it does not hold.

use std::path::Path;

use sessionary::format::FORMATS;
use sessionary::format::json::{PieceKind, normalise, split};
use sessionary::model::{Fold, Passage};
use sessionary::syntax::{Now, parse, parse_as_typed};

use super::reference::{self, Json};

/// The bytes of a session file of every format: each is cut into pieces that tile it, every record
/// is read, and what is read of a whole line is what is read of its record.
pub fn formats(bytes: &[u8]) {
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let pieces = split(line);
        let mut end = 0;
        for piece in &pieces {
            assert_eq!(piece.range.start, end, "pieces tile a line");
            assert!(!piece.range.is_empty(), "no piece is empty");
            end = piece.range.end;
        }
        assert_eq!(end, line.len(), "to its end");
        let values = pieces
            .iter()
            .filter(|piece| matches!(piece.kind, PieceKind::Value { .. }));
        for record in values.map(|piece| &line[piece.range.clone()]) {
            for format in FORMATS {
                let facts = format.facts(record);
                if let Some(of_line) = format.facts_of_line(record) {
                    assert_eq!(
                        format!("{of_line:?}"),
                        format!("{facts:?}"),
                        "{}",
                        format.about().name
                    );
                }
                let mut fold = Fold::default();
                format.fold(&mut fold, &facts);
                readable(&format.passages(record));
                let _ = format.listed_text(record);
                for name in ["session.json", "01KE/message.json", "01KE/part/1.json"] {
                    let path = Path::new("/p/session/01KE-x").join(name);
                    let _ = format.facts_at(&path, record);
                    readable(&format.passages_at(&path, record));
                    let _ = format.prompts_at(&path, record);
                }
            }
        }
    }
}

fn readable(passages: &[Passage]) {
    for passage in passages {
        assert!(passage.pieces.iter().any(|piece| !piece.is_empty()) || passage.pieces.is_empty());
    }
}

/// The lenient tier of JSON: what it takes, and what it makes of it, is what `JSON.parse` takes and
/// gives.
pub fn json(bytes: &[u8]) {
    let expected = match reference::parse(bytes) {
        reference::Outcome::Deep => return,
        reference::Outcome::Refused => None,
        reference::Outcome::Value(value) => Some(value),
    };
    let clean = normalise(bytes);
    assert_eq!(
        clean.is_some(),
        expected.is_some(),
        "accepted, as JSON.parse would"
    );
    if let (Some(clean), Some(expected)) = (clean, expected) {
        let strict: serde_json::Value = serde_json::from_slice(&clean).expect("strict JSON");
        assert_eq!(Json::from(strict), expected);
    }
}

/// What a user types: an answer, or an error that points into it; an answer while it is typed.
pub fn query(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let now = Now::utc(1_767_603_600_000);
    let typed = parse_as_typed(&text, now);
    assert!(!typed.alternatives.is_empty());
    match parse(&text, now) {
        Ok(query) => drop(format!("{query:?}")),
        Err(error) => {
            assert!(
                (1..=text.chars().count() + 1).contains(&error.column),
                "{error}"
            );
            assert!(!error.to_string().is_empty());
        }
    }
}

/// A stored checkpoint, and a file that is something else by now.
#[cfg(feature = "fuzzing")]
pub fn checkpoint(bytes: &[u8]) {
    sessionary::fuzzing::checkpoint(bytes);
}
