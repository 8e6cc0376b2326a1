//! What one line of induscode's says: a node around one of pi's messages, or where the session
//! stands.

use serde::Deserialize;

use crate::json::{self, Loose, Raw, Text};
use crate::model::{Compaction, Facts, Header, Passage};
use crate::pi;
use crate::pieces::Pieces;

/// The only schema that is known.
const SCHEMA: &str = "indus/transcript@1";

/// Any line; fields of unexpected types are left out.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow)]
    schema: Text<'a>,
    #[serde(borrow)]
    kind: Text<'a>,
    // A node.
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    prev: Text<'a>,
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    message: Raw<'a>,
    #[serde(borrow)]
    at: Text<'a>,
    // The first line of a session that has branched.
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    leaf: Text<'a>,
}

impl Line<'_> {
    fn is_known(&self) -> bool {
        self.schema.as_str() == Some(SCHEMA)
    }
}

/// The facts of one record.
pub(super) fn facts(record: &[u8]) -> Facts {
    json::tiers(record, |text| {
        Some(match json::parse::<Loose<Line<'_>>>(text)? {
            Loose::Object(line) => of_line(&line)?,
            _ => Facts::default(),
        })
    })
    .unwrap_or_default()
}

/// `None` where a part of the line needs the second tier.
fn of_line(line: &Line<'_>) -> Option<Facts> {
    let mut facts = Facts {
        kind: line.kind.owned().unwrap_or_default(),
        ..Facts::default()
    };
    if !line.is_known() {
        facts.breaks_list = Some(unknown_schema(line.schema.as_str().unwrap_or_default()));
        return Some(facts);
    }
    facts.agent_sees = true;
    match facts.kind.as_str() {
        "head" => {
            facts.stands_at = line.leaf.owned();
            facts.is_beside = true;
            facts.header = Some(Header {
                id: line.session_id.owned(),
                id_is_string: true,
                ..Header::default()
            });
        }
        "entry" => node(line, &mut facts)?,
        _ => {}
    }
    Some(facts)
}

fn node(line: &Line<'_>, facts: &mut Facts) -> Option<()> {
    let role = line.role.as_str().unwrap_or_default();
    pi::add_message_facts(&line.message, facts)?;
    // A node's own role is what kind of node it is.
    facts.kind = role.to_owned();
    facts.id = line.id.owned();
    facts.parent = line.prev.owned();
    facts.time_raw = line.at.owned();
    facts.time_ms = line.at.as_str().and_then(json::date_ms);
    facts.is_message = matches!(role, "user" | "assistant");
    match role {
        "user" | "assistant" | "tool" => {}
        "system" => {
            facts.role = Some("injected".to_owned());
            facts.has_prompt = false;
            facts.user_text = None;
        }
        "condense" => {
            facts.compaction = Some(Compaction::default());
            facts.user_text = None;
        }
        _ => facts.user_text = None,
    }
    Some(())
}

/// Why a line is not read. What stands there is repeated only where it looks like a schema's name.
fn unknown_schema(schema: &str) -> String {
    let version = schema.strip_prefix("indus/transcript@").unwrap_or_default();
    let is_version = (1..=8).contains(&version.len())
        && version.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match is_version {
        true => format!("indus/transcript@{version} is not known"),
        false => "a line is of no known schema".to_owned(),
    }
}

/// All searchable text of one record.
pub(super) fn passages(record: &[u8]) -> Vec<Passage> {
    json::tiers(record, |text| {
        let mut pieces = Pieces::default();
        if let Loose::Object(line) = json::parse::<Loose<Line<'_>>>(text)?
            && line.is_known()
        {
            pi::add_message_text(&line.message, &mut pieces)?;
        }
        Some(pieces.into_passages())
    })
    .unwrap_or_default()
}
