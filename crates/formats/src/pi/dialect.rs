//! In what do pi and its forks read the same lines otherwise? Each rule once, as data: for the
//! catalogue and for the session manager alike. Tests hold each to the agents' own packages.

use crate::json;

/// Which of a session's names counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Names {
    /// The last one; an empty one takes the name away. (pi 0.73.1, 0.87.1)
    Last,
    /// The last one that is not empty. One of nothing but spaces counts: the session has no name.
    /// (indusagi 0.12.15; for Python 0.1.5)
    LastNotEmpty,
}

/// What a byte order mark does at the beginning of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ByteOrderMark {
    /// Nothing. (pi 0.73.1, indusagi 0.12.15)
    PassedOver,
    /// The line behind it is no JSON: the session has lost its header. (pi 0.87.1; indusagi for
    /// Python 0.1.5)
    BreaksLine,
}

/// What a line is that is JSON, but no object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scalars {
    /// An entry without an id; `null`, `false`, `0` and `""` are nothing. (pi 0.87.1)
    Truthy,
    /// An entry without an id; `null` hides the session from the agent's list. (pi 0.73.1, indusagi
    /// 0.12.15)
    All,
    /// Nothing. (indusagi for Python 0.1.5)
    Nothing,
}

/// What the `version` of a header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Versions {
    /// What JavaScript takes for the number when it compares: `"1"` is 1, `[2]` is 2; what is no
    /// number is current. (pi 0.73.1, 0.87.1, indusagi 0.12.15)
    Coerced,
    /// The whole number that it is, `true` being 1; anything else is 1, `"3"` and `3.0` too.
    /// (indusagi for Python 0.1.5)
    Whole,
}

/// What the agent's list does with a message or name that is not of the type it should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OddValues {
    /// It leaves the session out. (pi 0.73.1, 0.87.1, indusagi 0.12.15)
    HideSession,
    /// It goes on without them; a name is its JSON. Where content is a number or `true` the agent's
    /// whole list fails; ours goes on there too. (indusagi for Python 0.1.5)
    PassedOver,
}

/// What bytes are that are no UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadBytes {
    /// Replacement characters. (pi 0.73.1, 0.87.1, indusagi 0.12.15)
    Replaced,
    /// The end of the session: the agent neither lists nor opens it. Ours opens it. (indusagi for
    /// Python 0.1.5)
    HideSession,
}

/// How one agent reads pi's lines. Which files are sessions is the same to all of them: those whose
/// names end in `.jsonl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// Name of the format, as stored and as typed in `--root NAME:DIR`.
    pub name: &'static str,
    /// Which name counts.
    pub names: Names,
    /// A byte order mark at the beginning of the file.
    pub mark: ByteOrderMark,
    /// Lines that are no objects.
    pub scalars: Scalars,
    /// Versions in headers.
    pub versions: Versions,
    /// Values of another type.
    pub odd_values: OddValues,
    /// Bytes that are no text.
    pub bad_bytes: BadBytes,
}

impl Dialect {
    /// pi 0.87.1.
    pub const PI: Self = Self {
        name: "pi",
        names: Names::Last,
        mark: ByteOrderMark::BreaksLine,
        scalars: Scalars::Truthy,
        versions: Versions::Coerced,
        odd_values: OddValues::HideSession,
        bad_bytes: BadBytes::Replaced,
    };

    /// indusagi 0.12.15 for Node, a fork of an early pi. Its package is gone: but for the names,
    /// which are those of its source, it is compared with pi 0.73.1.
    pub const INDUSAGI: Self = Self {
        name: "indusagi",
        names: Names::LastNotEmpty,
        mark: ByteOrderMark::PassedOver,
        scalars: Scalars::All,
        versions: Versions::Coerced,
        odd_values: OddValues::HideSession,
        bad_bytes: BadBytes::Replaced,
    };

    /// indusagi 0.1.5 for Python, `pindusagi`: a port of the one for Node.
    pub const PINDUSAGI: Self = Self {
        name: "pindusagi",
        names: Names::LastNotEmpty,
        mark: ByteOrderMark::BreaksLine,
        scalars: Scalars::Nothing,
        versions: Versions::Whole,
        odd_values: OddValues::PassedOver,
        bad_bytes: BadBytes::HideSession,
    };

    /// The dialects that this build knows.
    pub const ALL: &'static [Self] = &[Self::PI, Self::INDUSAGI, Self::PINDUSAGI];

    /// How many bytes at the beginning of a file with this beginning are no part of its first line.
    pub fn passed_over(&self, beginning: &[u8]) -> usize {
        const MARK: &[u8] = "\u{feff}".as_bytes();
        match self.mark {
            ByteOrderMark::PassedOver if beginning.starts_with(MARK) => MARK.len(),
            _ => 0,
        }
    }

    /// Whether a line that is this JSON value is an entry.
    pub fn is_entry(&self, json: &str) -> bool {
        match self.scalars {
            Scalars::Truthy => json::is_truthy(json),
            // What the agent does with null is no way to read a session.
            Scalars::All => json != "null",
            Scalars::Nothing => json.starts_with('{'),
        }
    }

    /// The version of a file with this `version` in its header; 1 where it has none.
    pub fn version(&self, raw: Option<&str>) -> i64 {
        let Some(raw) = raw.filter(|raw| *raw != "null") else {
            return 1;
        };
        match self.versions {
            // pi compares `header.version ?? 1` with numbers; what is none is no older version.
            Versions::Coerced => {
                json::to_number(raw).map_or(super::CURRENT_VERSION, |version| version as i64)
            }
            Versions::Whole if raw == "false" => 0,
            Versions::Whole => {
                let digits = raw.strip_prefix('-').unwrap_or(raw);
                match raw.parse() {
                    Ok(version) => version,
                    // Too many digits for a number of ours.
                    Err(_) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                        match raw.starts_with('-') {
                            true => i64::MIN,
                            false => i64::MAX,
                        }
                    }
                    Err(_) => 1,
                }
            }
        }
    }

    /// What a name entry with this `name` makes of the session's name: `None` leaves it, an empty
    /// one takes it away.
    ///
    /// # Errors
    /// Why the agent's list leaves the session out.
    pub fn name(&self, raw: Option<&str>) -> Result<Option<String>, &'static str> {
        let raw = raw.unwrap_or("null");
        match self.names {
            Names::LastNotEmpty if !json::is_truthy(raw) => return Ok(None),
            // To Python a list without an item is nothing, too.
            Names::LastNotEmpty if self.odd_values == OddValues::PassedOver && is_empty(raw) => {
                return Ok(None);
            }
            Names::Last if raw == "null" => return Ok(Some(String::new())),
            _ => {}
        }
        let text = json::unquote(raw);
        match self.odd_values {
            _ if raw.starts_with('"') => Ok(Some(json::trim(&text).to_owned())),
            OddValues::HideSession => Err("a session name is no text"),
            OddValues::PassedOver => Ok(Some(raw.to_owned())),
        }
    }
}

/// Whether nothing is in this array or object.
fn is_empty(json: &str) -> bool {
    let inside = json.get(1..json.len().saturating_sub(1));
    json.starts_with(['[', '{']) && inside.is_some_and(|inside| inside.trim_ascii().is_empty())
}
