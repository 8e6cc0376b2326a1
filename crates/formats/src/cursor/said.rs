//! What stands in a text of a user's line, and when was it said?

use crate::injected_blocks;
use crate::json;

const QUERY: [&str; 2] = ["<user_query>", "</user_query>"];
const TIME: [&str; 2] = ["<timestamp>", "</timestamp>"];
/// No time is written with more bytes than this.
const LONGEST_TIME: usize = 80;

/// When the text was sent, as Cursor writes it before what was typed:
/// `<timestamp>Friday, May 8, 2026, 6:05 AM (UTC+5:30)</timestamp>`. What an attached file has of
/// that kind is none.
pub(super) fn time(text: &str) -> Option<&str> {
    let Some(end) = text.find(QUERY[0]) else {
        return leading(text).map(|(time, _)| time);
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

/// A text in which nothing marks what was typed, without the time that it begins with.
pub(super) fn without_time(text: &str) -> &str {
    leading(text).map_or(text, |(_, rest)| rest)
}

/// The time with which a text begins, and what follows it.
fn leading(text: &str) -> Option<(&str, &str)> {
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
