//! Which passages does a search consider at all, and which entries have none of them?

use crate::model::Class;

/// Which values of a field are wanted, whatever their case.
#[derive(Debug, Clone, Copy, Default)]
pub struct ValueFilter<'a> {
    /// One of these, unless empty.
    pub any: &'a [String],
    /// None of these.
    pub none: &'a [String],
    /// One of `any` that is half typed: values that begin so are wanted too.
    pub half_typed: Option<&'a str>,
}

/// Which passages are asked at all.
#[derive(Clone, Copy, Default)]
pub struct Scope<'a> {
    /// Asked with the key of each match; its session is `key >> ARRIVAL_BITS`.
    pub allow: Option<&'a dyn Fn(u64) -> bool>,
    /// Called with a session before its entries are read; `false` rules out all of them.
    pub sessions: Option<&'a dyn Fn(i64) -> bool>,
    /// Key ranges, both ends included, ascending and disjoint, that are outdated on disk.
    /// Passages of the overlay, and whatever on disk has the key of one, are not concerned.
    pub dead: &'a [(u64, u64)],
    /// Prose or output alone.
    pub class: Option<Class>,
    /// One passage of each entry, its prose where it has some. All sides of a search agree on it.
    pub once_per_entry: bool,
    /// Raw kinds.
    pub kinds: ValueFilter<'a>,
    /// Raw roles. A passage without role is not of any.
    pub roles: ValueFilter<'a>,
    /// Tools.
    pub tools: ValueFilter<'a>,
    /// Entries that report an error, or those that do not.
    pub error: Option<bool>,
    /// From when to when.
    pub times: TimeRange<'a>,
    /// The moment from which ages count, in ms.
    pub now_ms: i64,
    /// Whether the answer is still wanted: asked before each segment of the index, by any thread.
    pub wanted: Option<&'a (dyn Fn() -> bool + Sync)>,
}

/// What an entry says of itself, as far as searches filter by it.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The entry's time in ms.
    pub time_ms: Option<i64>,
    /// The raw kind.
    pub kind: &'a str,
    /// The raw role.
    pub role: Option<&'a str>,
    /// Tools called by the entry or answering in it.
    pub tools: &'a [String],
    /// Whether the entry reports an error.
    pub is_error: bool,
}

impl ValueFilter<'_> {
    /// Whether values of a field are wanted: `restrict` says the same to tantivy.
    fn admits<T: AsRef<str>>(&self, values: &[T]) -> bool {
        let mut all = values.iter().map(AsRef::as_ref);
        (self.any.is_empty() || all.clone().any(|value| self.wants(value)))
            && !all.any(|value| self.refuses(value))
    }

    /// Whether a value is one of those of which one is wanted.
    pub(super) fn wants(&self, value: &str) -> bool {
        let goes_on = |half: &str| {
            let begun = value.get(..half.len());
            begun.is_some_and(|begun| begun.eq_ignore_ascii_case(half))
        };
        is_among(self.any, value) || self.half_typed.is_some_and(goes_on)
    }

    /// Whether a value is one of those of which none is wanted.
    pub(super) fn refuses(&self, value: &str) -> bool {
        is_among(self.none, value)
    }
}

fn is_among(names: &[String], value: &str) -> bool {
    names.iter().any(|name| value.eq_ignore_ascii_case(name))
}

impl Scope<'_> {
    /// Whether it leaves anything out that is not outdated.
    pub(super) fn filters(&self) -> bool {
        let terms = self.has_terms() || self.class.is_some();
        terms || self.allow.is_some() || self.times.are_asked()
    }

    /// Whether anything is asked that is a term of the index, besides words.
    pub(super) fn has_terms(&self) -> bool {
        let picks = [self.kinds, self.roles, self.tools];
        let asks = |pick: &ValueFilter<'_>| !pick.any.is_empty() || !pick.none.is_empty();
        picks.iter().any(asks) || self.error.is_some()
    }

    /// Whether the answer is still wanted.
    pub fn is_wanted(&self) -> bool {
        self.wanted.is_none_or(|wanted| wanted())
    }

    /// Whether an entry is considered at all. [`Scope::allow`] and [`Scope::dead`] are ignored
    /// here.
    pub fn admits(&self, entry: &Facts<'_>) -> bool {
        self.kinds.admits(&[entry.kind])
            && self.roles.admits(entry.role.as_slice())
            && self.tools.admits(entry.tools)
            && self.error.is_none_or(|error| entry.is_error == error)
            && self.times.admit(entry.time_ms)
    }
}

/// Which times are asked for. Passages without a time are neither since nor until one, and outside
/// of all.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeRange<'a> {
    /// From this time on, in ms.
    pub since_ms: Option<i64>,
    /// Before this time, in ms.
    pub until_ms: Option<i64>,
    /// Not within these times, in ms: from the first until before the second.
    pub outside_ms: &'a [(i64, i64)],
}

impl TimeRange<'_> {
    /// Whether [`TimeRange::admit`] could say no.
    pub(super) fn are_asked(&self) -> bool {
        self.since_ms.is_some() || self.until_ms.is_some() || !self.outside_ms.is_empty()
    }

    pub(super) fn admit(&self, time_ms: Option<i64>) -> bool {
        let is_out =
            |(from, to): &(i64, i64)| time_ms.is_none_or(|time| !(*from..*to).contains(&time));
        if !self.outside_ms.iter().all(is_out) {
            return false;
        }
        (self.since_ms.is_none() && self.until_ms.is_none())
            || time_ms.is_some_and(|time| {
                self.since_ms.is_none_or(|since| time >= since)
                    && self.until_ms.is_none_or(|until| time < until)
            })
    }
}
