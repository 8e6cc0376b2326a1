//! What stands in a text of a user's line, who said it, and when?

use std::ops::Range;

use crate::injected_blocks;
use crate::json;

const QUERY: [&str; 2] = ["<user_query>", "</user_query>"];
const TIME: [&str; 2] = ["<timestamp>", "</timestamp>"];
const NOTICE: [&str; 2] = ["<system_notification>", "</system_notification>"];
/// No time is written with more bytes than this.
const LONGEST_TIME: usize = 80;

/// How what Cursor asks by itself begins: behind a subagent, and behind a task in the background.
const ASKED_BY_CURSOR: [&str; 3] = [
    "The above subagent result is already visible to the user.",
    "The beginning of the above subagent result is already visible to the user.",
    "Briefly inform the user about the task result",
];

/// What is said in a text, each apart and none of it empty.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// What a person typed.
    pub typed: Vec<String>,
    /// What Cursor asked, and of what it gave notice.
    pub injected: Vec<String>,
}

/// What is said in a text: Cursor puts what a person typed between `<user_query>` tags, and its own
/// words between others. Where nothing is marked so, all is typed that stands in no tag.
pub(super) fn said(text: &str) -> Said {
    let mut said = Said::default();
    let add = |to: &mut Vec<String>, text: &str| {
        let text = text.trim();
        to.extend((!text.is_empty()).then(|| text.to_owned()));
    };
    let turns = turns(text);
    if turns.is_empty() {
        let text = leading_time(text).map_or(text, |(_, rest)| rest);
        notices(text).for_each(|notice| add(&mut said.injected, notice));
        add(&mut said.typed, &without_blocks(text));
        return said;
    }
    for turn in turns {
        let (head, query) = (&text[turn.head], &text[turn.query]);
        notices(head).for_each(|notice| add(&mut said.injected, notice));
        match is_injected(head, query) {
            true => add(&mut said.injected, query),
            false => add(&mut said.typed, query),
        }
    }
    said
}

/// What a person typed begins on a line of its own behind the tag; what Cursor asks stands right
/// behind it, with a notice before or by one of its fixed beginnings. Older versions wrote what was
/// typed right behind the tag, too.
fn is_injected(head: &str, query: &str) -> bool {
    !query.starts_with(['\n', '\r'])
        && (head.contains(NOTICE[0])
            || ASKED_BY_CURSOR
                .iter()
                .any(|beginning| query.trim_start().starts_with(beginning)))
}

/// What stands in notices.
fn notices(head: &str) -> impl Iterator<Item = &str> {
    let notices = head.split(NOTICE[0]).skip(1);
    notices.map(|rest| rest.split(NOTICE[1]).next().unwrap_or_default())
}

/// The text without what stands between tags of programs.
fn without_blocks(text: &str) -> String {
    let mut typed = String::new();
    let mut at = 0;
    for block in injected_blocks(text) {
        typed.push_str(&text[at..block.start]);
        at = block.end;
    }
    typed.push_str(&text[at..]);
    typed
}

/// A query, and what stands before it.
struct Turn {
    head: Range<usize>,
    query: Range<usize>,
}

/// The queries in a text: those that waited for an answer to end are sent as one. Any of them may
/// hold the tags as text: it ends with the last closing one before something that the next one
/// begins with (a time, a notice, or its tag right behind a closing one), else with the last one of
/// all, else where the text does.
fn turns(text: &str) -> Vec<Turn> {
    let places = |tag: &str| -> Vec<usize> { text.match_indices(tag).map(|(at, _)| at).collect() };
    let (opens, closes) = (places(QUERY[0]), places(QUERY[1]));
    let follows = |open: &usize| text[..*open].trim_end().ends_with(QUERY[1]);
    let mut begins = [places(TIME[0]), places(NOTICE[0])].concat();
    begins.extend(opens.iter().copied().filter(follows));
    begins.sort_unstable();
    let from = |places: &[usize], at: usize| {
        let next = places.partition_point(|place| *place < at);
        places.get(next).copied()
    };
    let last_open = opens.last().copied().unwrap_or_default();
    let mut turns = Vec::new();
    let mut at = 0;
    while let Some(open) = from(&opens, at) {
        let start = open + QUERY[0].len();
        // Nothing begins before this one has ended, or with no query behind it.
        let next = from(&closes, start).and_then(|close| from(&begins, close));
        let before = next.filter(|next| *next <= last_open).unwrap_or(text.len());
        let ended = closes.partition_point(|close| *close < before);
        let close = closes[..ended].last().copied();
        let end = close.filter(|close| *close >= start).unwrap_or(before);
        turns.push(Turn {
            head: at..open,
            query: start..end,
        });
        at = (end + QUERY[1].len()).min(text.len());
    }
    turns
}

/// When the text was sent, as Cursor writes it before what was typed:
/// `<timestamp>Friday, May 8, 2026, 6:05 AM (UTC+5:30)</timestamp>`. What an attached file has of
/// that kind is none.
pub(super) fn time(text: &str) -> Option<&str> {
    let Some(end) = text.find(QUERY[0]) else {
        return leading_time(text).map(|(time, _)| time);
    };
    let head = &text[..end];
    let within = injected_blocks(head);
    let stamps = head.match_indices(TIME[0]).filter(|(at, _)| {
        let next = within.partition_point(|block| block.end <= *at);
        within.get(next).is_none_or(|block| *at < block.start)
    });
    let mut times = stamps.filter_map(|(at, open)| {
        let rest = &head[at + open.len()..];
        let mut end = (0..=LONGEST_TIME.min(rest.len())).rev();
        let rest = &rest[..end.find(|at| rest.is_char_boundary(*at))?];
        rest.split_once(TIME[1]).map(|(time, _)| time)
    });
    times.find(|time| is_time(time))
}

/// The time with which a text begins, and what follows it.
fn leading_time(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start().strip_prefix(TIME[0])?;
    text.split_once(TIME[1]).filter(|(time, _)| is_time(time))
}

fn is_time(time: &str) -> bool {
    time_ms(time).is_some()
}

/// Such a time in ms. Its offset stands in brackets, which JavaScript passes over; without one it
/// is taken for UTC.
pub(super) fn time_ms(time: &str) -> Option<i64> {
    if time.len() > LONGEST_TIME {
        return None;
    }
    let plain: String = time
        .chars()
        .filter(|letter| !matches!(letter, '(' | ')'))
        .map(|letter| if letter.is_whitespace() { ' ' } else { letter })
        .collect();
    json::date_ms(plain.trim())
}
