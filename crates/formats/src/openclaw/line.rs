//! What OpenClaw writes in lines of pi's beside what pi reads.

use serde::Deserialize;

use super::failed::Details;
use super::own::Provenance;
use crate::json::{self, Count, Loose, Raw, Text};

/// A line of a transcript.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub append_mode: Text<'a>,
    #[serde(borrow)]
    pub parent_id: Raw<'a>,
    #[serde(borrow)]
    pub target_id: Raw<'a>,
    #[serde(borrow)]
    pub message: Loose<Message<'a>>,
}

/// What is said in it.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub role: Text<'a>,
    pub usage: Loose<Tokens>,
    #[serde(borrow)]
    pub provenance: Loose<Provenance<'a>>,
    #[serde(borrow)]
    pub details: Loose<Box<Details<'a>>>,
}

/// The tokens of an answer that pi's own lines name otherwise.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Tokens {
    pub reasoning_tokens: Count,
}

/// Reads a line, if it is one.
pub(super) fn read<R>(record: &[u8], read: impl Fn(&Line<'_>) -> Option<R>) -> Option<R> {
    json::tiers(record, |text| {
        let line = json::parse::<Loose<Line<'_>>>(text)?;
        Some(line.object().and_then(&read))
    })?
}
