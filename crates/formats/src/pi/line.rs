//! The shape of pi's lines as far as facts need it: borrowed, every field of any type, the rest
//! skipped.
//!
//! Nothing that facts look into is kept as raw JSON: what serde refuses in it has to fail the whole
//! parse, so that the second tier reads the record. Objects are boxed: most lines lack most of
//! them, and a parsed struct is moved several times.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::json::{Count, Flag, Int, Loose, Num, Raw, Text, Texts};

/// One line: a header or any entry.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub id: Raw<'a>,
    #[serde(borrow)]
    pub parent_id: Raw<'a>,
    #[serde(borrow)]
    pub timestamp: Raw<'a>,
    #[serde(borrow)]
    pub message: Loose<Box<Message<'a>>>,
    // Headers.
    #[serde(borrow)]
    pub version: Raw<'a>,
    #[serde(borrow)]
    pub cwd: Text<'a>,
    #[serde(borrow)]
    pub parent_session: Text<'a>,
    #[serde(borrow)]
    pub branched_from: Text<'a>,
    // Format 4 headers: `{"v":4,"kind":"header",…}`.
    pub v: Int,
    #[serde(rename = "kind", borrow)]
    pub family: Text<'a>,
    pub created_at: Num,
    // model_change, v1 headers, usage entries.
    #[serde(borrow)]
    pub provider: Text<'a>,
    #[serde(borrow)]
    pub model_id: Text<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
    pub usage: Loose<Box<Tokens>>,
    // thinking_level_change.
    #[serde(borrow)]
    pub thinking_level: Text<'a>,
    // session_info, label.
    #[serde(borrow)]
    pub name: Raw<'a>,
    #[serde(borrow)]
    pub target_id: Text<'a>,
    #[serde(borrow)]
    pub label: Text<'a>,
    // compaction, branch_summary, custom_message.
    #[serde(borrow)]
    pub first_kept_entry_id: Text<'a>,
    pub first_kept_entry_index: Int,
    pub tokens_before: Int,
    #[serde(borrow)]
    pub details: Loose<Box<TouchedFiles<'a>>>,
    #[serde(borrow)]
    pub content: Content<'a>,
    #[serde(borrow)]
    pub system_message: Raw<'a>,
    // custom.
    #[serde(borrow)]
    pub data: Raw<'a>,
}

/// `message.message`.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub role: Text<'a>,
    #[serde(borrow)]
    pub content: Content<'a>,
    pub timestamp: Num,
    #[serde(borrow)]
    pub provider: Text<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
    pub usage: Loose<Box<Tokens>>,
    #[serde(borrow)]
    pub response_id: Text<'a>,
    #[serde(borrow)]
    pub stop_reason: Text<'a>,
    // toolResult.
    #[serde(borrow)]
    pub tool_call_id: Raw<'a>,
    #[serde(borrow)]
    pub tool_name: Text<'a>,
    pub is_error: Flag,
    #[serde(borrow)]
    pub details: Raw<'a>,
    #[serde(borrow)]
    pub nested_calls: Loose<Box<NestedCalls<'a>>>,
    // bashExecution.
    #[serde(borrow)]
    pub command: Raw<'a>,
    pub exit_code: Num,
    pub cancelled: Flag,
}

/// The calls that a tool made itself, as its result keeps them (codemode and `ctx.executeTool()`,
/// since 0.99.0: `docs/message-types.md`).
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct NestedCalls<'a> {
    #[serde(borrow)]
    pub calls: Raw<'a>,
}

/// One of them, with how it ended: `ok`, `error` or `unfinished`.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct NestedCall<'a> {
    #[serde(borrow)]
    pub id: Raw<'a>,
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub arguments: Loose<Box<Arguments<'a>>>,
    #[serde(borrow)]
    pub status: Text<'a>,
    pub duration_ms: Num,
}

/// `message.content`.
#[derive(Default)]
pub(super) enum Content<'a> {
    /// The key is missing.
    #[default]
    Missing,
    /// Plain text; decoded only where it is needed.
    Text(Cow<'a, str>),
    Blocks(Vec<Loose<Block<'a>>>),
    /// Anything else, on which pi's list throws.
    Odd,
}

/// One content block.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub text: Raw<'a>,
    #[serde(borrow)]
    pub id: Raw<'a>,
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub arguments: Loose<Box<Arguments<'a>>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Any<'a> {
            type Value = Content<'a>;
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Content<'a>, E> {
                Ok(Content::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Content<'a>, E> {
                Ok(Content::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content<'a>, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content<'a>, A::Error> {
                while map
                    .next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?
                    .is_some()
                {}
                Ok(Content::Odd)
            }
            fn visit_unit<E: Error>(self) -> Result<Content<'a>, E> {
                Ok(Content::Odd)
            }
            fn visit_bool<E: Error>(self, _: bool) -> Result<Content<'a>, E> {
                Ok(Content::Odd)
            }
            fn visit_i64<E: Error>(self, _: i64) -> Result<Content<'a>, E> {
                Ok(Content::Odd)
            }
            fn visit_u64<E: Error>(self, _: u64) -> Result<Content<'a>, E> {
                Ok(Content::Odd)
            }
            fn visit_f64<E: Error>(self, _: f64) -> Result<Content<'a>, E> {
                Ok(Content::Odd)
            }
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON value")
            }
        }
        deserializer.deserialize_any(Any(std::marker::PhantomData))
    }
}

/// Tokens and cost as pi records them.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Tokens {
    pub input: Count,
    pub output: Count,
    pub cache_read: Count,
    pub cache_write: Count,
    pub reasoning: Count,
    pub total_tokens: Count,
    pub cost: Loose<Cost>,
}

/// US dollars.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Cost {
    pub input: Num,
    pub output: Num,
    pub cache_read: Num,
    pub cache_write: Num,
    pub total: Num,
}

/// The arguments of a tool call that say what it is about.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Arguments<'a> {
    #[serde(borrow)]
    pub path: Text<'a>,
    #[serde(borrow)]
    pub file_path: Text<'a>,
    #[serde(borrow, rename = "filePath")]
    pub file_path_camel: Text<'a>,
    #[serde(borrow)]
    pub command: Text<'a>,
    #[serde(borrow)]
    pub pattern: Text<'a>,
    #[serde(borrow)]
    pub query: Text<'a>,
    #[serde(borrow)]
    pub url: Text<'a>,
}

/// `details` of compactions and branch summaries.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TouchedFiles<'a> {
    #[serde(borrow)]
    pub read_files: Texts<'a>,
    #[serde(borrow)]
    pub modified_files: Texts<'a>,
}
