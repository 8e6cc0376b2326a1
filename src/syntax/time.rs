//! Which moments does `2w`, `yesterday` or `2026-10` mean?

use jiff::civil::{Date, DateTime, Time, Weekday, date};
use jiff::{Timestamp, ToSpan};

use crate::model::Zone;

/// When and in which time zone a query is asked. The library looks at neither clock nor time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now<'z> {
    /// Now, in ms since the epoch.
    pub ms: i64,
    /// Where days begin at midnight.
    pub zone: &'z Zone,
}

impl Now<'static> {
    /// In UTC.
    pub fn utc(ms: i64) -> Self {
        static UTC: Zone = Zone::UTC;
        Self { ms, zone: &UTC }
    }
}

/// From `start` until before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub start: i64,
    pub end: i64,
}

/// What `text` names, if it names a time.
pub(super) fn span(text: &str, now: Now) -> Option<Span> {
    let text = text.to_ascii_lowercase();
    let local = now.zone.local(now.ms)?;
    match text.as_str() {
        "now" => {
            return Some(Span {
                start: now.ms,
                end: now.ms,
            });
        }
        "today" => return days(local.date(), now),
        "yesterday" => return days(local.date().yesterday().ok()?, now),
        _ => {}
    }
    if let Some((first, last)) = beside_today(&text, local.date()) {
        return from_until(first, last, now);
    }
    if let Some(weekday) = weekday(&text) {
        // The last one that has begun.
        let back = local.date().weekday().since(weekday);
        return days(local.date().checked_sub(i64::from(back).days()).ok()?, now);
    }
    if let Some(start) = ago(&text, local, now) {
        return Some(Span { start, end: start });
    }
    if let Some(month) = month(&text) {
        // The last one that has begun.
        let year = local.year() - i16::from(month > local.month());
        let first = Date::new(year, month, 1).ok()?;
        return from_until(first, first.last_of_month(), now);
    }
    // As Europeans write it: `24.11.2026`.
    let mut parts: Vec<&str> = text.split('.').collect();
    parts.reverse();
    let numbers: Vec<&str> = match parts.as_slice() {
        [_, _, _] => parts,
        _ => text.split('-').collect(),
    };
    let is_short =
        |text: &str| matches!(text.len(), 1 | 2) && text.bytes().all(|b| b.is_ascii_digit());
    let is_digits =
        |text: &str, length| text.len() == length && text.bytes().all(|b| b.is_ascii_digit());
    match numbers.as_slice() {
        [year] if is_digits(year, 4) => {
            let first = Date::new(year.parse().ok()?, 1, 1).ok()?;
            from_until(first, first.last_of_year(), now)
        }
        [year, month] if is_digits(year, 4) && is_short(month) => {
            let first = Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()?;
            from_until(first, first.last_of_month(), now)
        }
        [year, month, day] if is_digits(year, 4) && is_short(month) && is_short(day) => days(
            Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()?,
            now,
        ),
        _ => moment(&text, now),
    }
}

/// The span, or the day that a moment lies in.
pub(super) fn whole_day(span: Span, now: Now) -> Span {
    if span.start < span.end {
        return span;
    }
    let local = now.zone.local(span.start);
    local
        .and_then(|local| days(local.date(), now))
        .unwrap_or(span)
}

/// The first and the last day of a week, month or year: `last-week`, `this month`. A week begins on
/// Monday.
fn beside_today(text: &str, today: Date) -> Option<(Date, Date)> {
    let (which, unit) = text.split_once(['-', ' ', '_'])?;
    let back: i64 = match which {
        "this" => 0,
        "last" => 1,
        _ => return None,
    };
    match unit {
        "week" => {
            let gone = today.weekday().since(Weekday::Monday);
            let first = today
                .checked_sub((i64::from(gone) + 7 * back).days())
                .ok()?;
            Some((first, first.checked_add(6.days()).ok()?))
        }
        "month" => {
            let first = today.first_of_month().checked_sub(back.months()).ok()?;
            Some((first, first.last_of_month()))
        }
        "year" => {
            let first = today.first_of_year().checked_sub(back.years()).ok()?;
            Some((first, first.last_of_year()))
        }
        _ => None,
    }
}

/// Days and months, of which the first three letters are enough.
const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

fn weekday(text: &str) -> Option<Weekday> {
    WEEKDAYS
        .into_iter()
        .find(|(name, _)| *name == text || name[..3] == *text)
        .map(|(_, day)| day)
}

fn month(text: &str) -> Option<i8> {
    let at = MONTHS
        .iter()
        .position(|name| *name == text || name[..3] == *text)?;
    i8::try_from(at + 1).ok()
}

/// Names of times that stand for themselves.
const NAMES: [&str; 9] = [
    "now",
    "today",
    "yesterday",
    "this-week",
    "this-month",
    "this-year",
    "last-week",
    "last-month",
    "last-year",
];

/// All names of times, for hints when one is misspelt.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let days = WEEKDAYS.into_iter().map(|(name, _)| name);
    NAMES.into_iter().chain(days).chain(MONTHS)
}

/// Whether a word is the name of a time.
pub(super) fn is_name(word: &str) -> bool {
    names().any(|name| name == word)
}

/// Whether a word is a unit of lengths of time.
pub(super) fn is_unit(word: &str) -> bool {
    let is_word = word.starts_with(char::is_alphabetic);
    is_word && ago(&format!("1{word}"), DateTime::ZERO, Now::utc(0)).is_some()
}

fn midnight(day: Date) -> DateTime {
    day.to_datetime(Time::midnight())
}

fn days(day: Date, now: Now) -> Option<Span> {
    from_until(day, day, now)
}

/// All of these days: the one on which the clock is put forward has 23 hours.
fn from_until(first: Date, last: Date, now: Now) -> Option<Span> {
    Some(shown(
        midnight(first),
        last.at(23, 59, 59, 999_000_000),
        now,
    ))
}

/// From the first moment at which the clock shows `first` to the last at which it shows `last`. A
/// time that the clock skips counts as the moment of the change.
fn shown(first: DateTime, last: DateTime, now: Now) -> Span {
    Span {
        start: now.zone.first(first),
        end: now.zone.last(last) + 1,
    }
}

/// A length of time before now: `90min`, `12h`, `3d`, `2w`, `6mo`, `1y`, or with the whole word:
/// `2weeks`, `2 weeks ago`.
fn ago(text: &str, local: DateTime, now: Now) -> Option<i64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 5 {
        return None;
    }
    let count: i64 = text[..digits].parse().ok()?;
    // `2 weeks`, `3 days ago`
    let unit = text[digits..].trim_start();
    let minutes = match unit.strip_suffix(" ago").unwrap_or(unit).trim_end() {
        "min" | "minute" | "minutes" => 1,
        "h" | "hour" | "hours" => 60,
        "d" | "day" | "days" => 24 * 60,
        "w" | "week" | "weeks" => 7 * 24 * 60,
        "mo" | "month" | "months" => {
            let months = jiff::Span::new().try_months(count).ok()?;
            return Some(now.zone.first(local.checked_sub(months).ok()?));
        }
        "y" | "year" | "years" => {
            let years = jiff::Span::new().try_years(count).ok()?;
            return Some(now.zone.first(local.checked_sub(years).ok()?));
        }
        _ => return None,
    };
    Some(now.ms - count * minutes * 60_000).filter(|ms| *ms >= earliest(now))
}

fn earliest(now: Now) -> i64 {
    now.zone.first(midnight(date(-9000, 1, 1)))
}

/// `2026-10-05T14:30`, with seconds and an offset or `Z` if there are any; local without.
/// It lasts as long as its last digit: an hour, a minute, or a second.
fn moment(text: &str, now: Now) -> Option<Span> {
    // The name of a zone, `…T02:30[Asia/Tokyo]`, would be read over.
    if text.contains('[') {
        return None;
    }
    let (_, clock) = text.split_once('t')?;
    let digits = clock.trim_end_matches('z');
    let length = if !digits.contains(':') {
        3_600_000
    } else if digits.contains('.') {
        1
    } else if digits.split(['+', '-']).next()?.matches(':').count() == 2 {
        1000
    } else {
        60_000
    };
    if let Ok(moment) = text.parse::<Timestamp>() {
        let start = moment.as_millisecond();
        let end = start + length;
        return Some(Span { start, end });
    }
    let local: DateTime = text.parse().ok()?;
    let last = local.checked_add((length - 1).milliseconds()).ok()?;
    Some(shown(local, last, now))
}
