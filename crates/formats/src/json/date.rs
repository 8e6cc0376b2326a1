//! When is it, by `Date.parse` of the agents' engine (V8) with UTC as the local time?
//!
//! V8 tries ISO 8601 first and goes on with what it took where the rest is something else: words,
//! `5 January 2026 10:00 UTC`, `01/05/2026`. Here both are followed token for token, because a
//! session's place in the agents' list hangs on which of them are dates.

mod token;

use token::{Scanner, Token};

/// `Date.parse`, in ms since the epoch; `None` is NaN. A time without an offset is local in
/// JavaScript; here it is UTC, so that the result does not depend on the machine.
pub fn date_ms(text: &str) -> Option<i64> {
    if let Some(ms) = usual(text) {
        return Some(ms);
    }
    let mut date = Date::default();
    let mut scan = Scanner::new(text);
    if let Some(first) = date.iso(&mut scan)? {
        date.legacy(&mut scan, first)?;
    }
    date.ms()
}

/// `2026-01-05T09:00:00.000Z`, as JavaScript writes times and nearly all of them are; `None` is for
/// the whole of the rules.
fn usual(text: &str) -> Option<i64> {
    let text: &[u8; 24] = text.as_bytes().try_into().ok()?;
    let mut fields = [0; 7];
    let mut field = 0;
    for (byte, form) in text.iter().zip(b"0000-00-00T00:00:00.000Z") {
        match form {
            b'0' if byte.is_ascii_digit() => {
                fields[field] = fields[field] * 10 + i64::from(byte - b'0');
            }
            b'0' => return None,
            _ if byte == form => field += 1,
            _ => return None,
        }
    }
    let [year, month, day, hour, minute, second, milli] = fields;
    let fits = (1..=12).contains(&month) && (1..=31).contains(&day);
    (fits && hour < 24 && minute < 60 && second < 60).then(|| {
        days(year, month, day) * 86_400_000 + ((hour * 60 + minute) * 60 + second) * 1000 + milli
    })
}

/// ±100,000,000 days is all a JavaScript Date can hold.
pub fn is_valid(ms: i64) -> bool {
    ms.unsigned_abs() <= 8_640_000_000_000_000
}

/// A fraction of a second. The first digits that count are taken for the first digits written.
fn milliseconds(value: i64, length: usize) -> i64 {
    match length {
        1 => value * 100,
        2 => value * 10,
        _ => value / 10_i64.pow((length.min(9) - 3) as u32),
    }
}

/// What has been read so far.
#[derive(Default)]
struct Date {
    is_iso: bool,
    days: Vec<i64>,
    month: Option<i64>,
    times: Vec<i64>,
    half_day: Option<i64>,
    sign: Option<i64>,
    zone_hour: Option<i64>,
    zone_minute: Option<i64>,
}

impl Date {
    fn add_time(&mut self, value: i64) -> Option<()> {
        (self.times.len() < 4).then(|| self.times.push(value))
    }

    /// The last part of the time: what is finer is zero.
    fn end_time(&mut self, value: i64) {
        self.times.push(value);
        self.times.resize(4, 0);
    }

    fn expects_time(&self, value: i64) -> bool {
        match self.times.len() {
            1 | 2 => value < 60,
            3 => value < 1000,
            _ => false,
        }
    }

    fn set_zone(&mut self, hours: i64) {
        self.sign = Some(if hours < 0 { -1 } else { 1 });
        self.zone_hour = Some(hours.abs());
        self.zone_minute = Some(0);
    }

    /// ISO 8601: the first token that is none of it, `Some(None)` at the end, `None` where the
    /// whole cannot be a date any more.
    fn iso(&mut self, scan: &mut Scanner<'_>) -> Option<Option<Token>> {
        if scan.peeked.is_sign() {
            let sign = scan.next();
            let Some(year) = scan.peeked.digits(6) else {
                return Some(Some(sign));
            };
            scan.next();
            let negative = sign == Token::Symbol('-');
            if negative && year == 0 {
                return Some(Some(sign));
            }
            self.days.push(if negative { -year } else { year });
        } else if let Some(year) = scan.peeked.digits(4) {
            scan.next();
            self.days.push(year);
        } else {
            return Some(Some(scan.next()));
        }
        for most in [12, 31] {
            if !scan.skip('-') {
                break;
            }
            match scan
                .peeked
                .digits(2)
                .filter(|value| (1..=most).contains(value))
            {
                Some(value) => self.days.push(value),
                None => return Some(Some(scan.next())),
            }
            scan.next();
        }
        match scan.peeked {
            Token::T => {
                scan.next();
                self.iso_time(scan)?;
            }
            Token::End => {}
            _ => return Some(Some(scan.next())),
        }
        if self.sign.is_none() && self.times.is_empty() {
            self.set_zone(0);
        }
        self.is_iso = true;
        Some(None)
    }

    /// After the T all has to be ISO 8601.
    fn iso_time(&mut self, scan: &mut Scanner<'_>) -> Option<()> {
        let two =
            |scan: &mut Scanner<'_>, most| scan.next().digits(2).filter(|value| *value <= most);
        let hour = two(scan, 24)?;
        self.times.push(hour);
        scan.skip(':').then_some(())?;
        let most = if hour == 24 { 0 } else { 59 };
        self.times.push(two(scan, most)?);
        if scan.skip(':') {
            self.times.push(two(scan, most)?);
            if scan.skip('.') {
                let Token::Number { value, length } = scan.next() else {
                    return None;
                };
                if hour == 24 && value > 0 {
                    return None;
                }
                self.times.push(milliseconds(value, length));
            }
        }
        if scan.peeked.is_z() {
            scan.next();
            self.set_zone(0);
        } else if scan.peeked.is_sign() {
            self.sign = Some(if scan.next() == Token::Symbol('+') {
                1
            } else {
                -1
            });
            let (hours, minutes) = match scan.peeked.digits(4) {
                Some(both) => {
                    scan.next();
                    (both / 100, both % 100)
                }
                None => {
                    let hours = two(scan, 23)?;
                    scan.skip(':').then_some(())?;
                    (hours, two(scan, 59)?)
                }
            };
            if hours > 23 || minutes > 59 {
                return None;
            }
            self.zone_hour = Some(hours);
            self.zone_minute = Some(minutes);
        }
        (scan.peeked == Token::End).then_some(())
    }

    /// Everything else V8 takes for a date; `None` where it is none.
    fn legacy(&mut self, scan: &mut Scanner<'_>, first: Token) -> Option<()> {
        let mut has_number = !self.days.is_empty();
        let mut token = first;
        while token != Token::End {
            let is_utc = self.zone_hour == Some(0) && self.zone_minute == Some(0);
            match token {
                Token::Number { value, .. } => {
                    has_number = true;
                    self.number(scan, value)?;
                }
                Token::HalfDay(hours) if !self.times.is_empty() => self.half_day = Some(hours),
                Token::Month(month) => {
                    self.month = Some(month);
                    scan.skip('-');
                }
                Token::Zone(hours, _) if has_number => self.set_zone(hours),
                // Words may stand before the first number only, and apart from it.
                Token::HalfDay(_) | Token::Zone(..) | Token::T | Token::Word
                    if has_number || matches!(scan.peeked, Token::Number { .. }) =>
                {
                    return None;
                }
                Token::HalfDay(_) | Token::Zone(..) | Token::T | Token::Word => {}
                Token::Symbol(sign @ ('+' | '-')) if is_utc || !self.times.is_empty() => {
                    has_number = true;
                    self.offset(scan, if sign == '+' { 1 } else { -1 })?;
                }
                Token::Symbol('+' | '-' | ')') if has_number => return None,
                _ => {}
            }
            token = scan.next();
        }
        Some(())
    }

    fn number(&mut self, scan: &mut Scanner<'_>, value: i64) -> Option<()> {
        if scan.skip(':') {
            if scan.skip(':') {
                if !self.times.is_empty() {
                    return None;
                }
                self.times.extend([value, 0]);
            } else {
                self.add_time(value)?;
                scan.skip('.');
            }
        } else if scan.skip('.') && self.expects_time(value) {
            self.times.push(value);
            let Token::Number { value, length } = scan.next() else {
                return None;
            };
            self.end_time(milliseconds(value, length));
        } else if self.zone_hour.is_some() && self.zone_minute.is_none() && value < 60 {
            self.zone_minute = Some(value);
        } else if self.expects_time(value) {
            self.end_time(value);
            let next = scan.peeked;
            if !(matches!(next, Token::End | Token::Space) || next.is_z() || next.is_sign()) {
                return None;
            }
        } else {
            if self.days.len() == 3 {
                return None;
            }
            self.days.push(value);
            scan.skip('-');
        }
        Some(())
    }

    /// After a sign: `8`, `08`, `0800`, `08:00`, or nothing before a colon.
    fn offset(&mut self, scan: &mut Scanner<'_>, sign: i64) -> Option<()> {
        self.sign = Some(sign);
        let (value, length) = match scan.peeked {
            Token::Number { value, length } => {
                scan.next();
                (value, length)
            }
            _ => (0, 0),
        };
        (self.zone_hour, self.zone_minute) = match length {
            // The minutes follow as a number of their own.
            _ if scan.peeked == Token::Symbol(':') => (Some(value), None),
            1 | 2 => (Some(value), Some(0)),
            3 | 4 => (Some(value / 100), Some(value % 100)),
            _ => return None,
        };
        Some(())
    }

    fn ms(mut self) -> Option<i64> {
        if self.days.is_empty() {
            return None;
        }
        let is_day = |value: i64| (1..=31).contains(&value);
        self.days.resize(3, 1);
        let [a, b, c] = self.days[..] else {
            return None;
        };
        let (mut year, month, day) = match self.month {
            None if self.is_iso || !is_day(a) => (a, b, c),
            None => (c, a, b),
            Some(month) if !is_day(a) => (a, month, b),
            Some(month) => (b, month, a),
        };
        if !self.is_iso {
            year += match year {
                0..=49 => 2000,
                50..=99 => 1900,
                _ => 0,
            };
        }
        // No time of JavaScript's lies in a year beyond these.
        if !(-271_821..=275_760).contains(&year) || !(1..=12).contains(&month) || !is_day(day) {
            return None;
        }
        self.times.resize(4, 0);
        let [mut hour, minute, second, milli] = self.times[..] else {
            return None;
        };
        if let Some(offset) = self.half_day {
            if hour > 12 {
                return None;
            }
            hour = hour % 12 + offset;
        }
        let midnight = hour == 24 && minute == 0 && second == 0 && milli == 0;
        if !midnight && (hour > 23 || minute > 59 || second > 59 || milli > 999) {
            return None;
        }
        let offset = self.sign.unwrap_or(0)
            * (self.zone_hour.unwrap_or(0) * 60 + self.zone_minute.unwrap_or(0));
        let ms = days(year, month, day) * 86_400_000
            + ((hour * 60 + minute - offset) * 60 + second) * 1000
            + milli;
        is_valid(ms).then_some(ms)
    }
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar. A day past the month's end runs
/// into the next month, as in `Date.parse("2026-02-30T00:00Z")`.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values printed by `new Date(text).getTime()` of Node 20 with TZ=UTC.
    #[test]
    fn dates_are_node_dates() {
        for (text, ms) in [
            ("2026", Some(1767225600000)),
            ("2026-01", Some(1767225600000)),
            ("2026-01-05", Some(1767571200000)),
            ("2026-01-05T09:00", Some(1767603600000)),
            ("2026-01-05T09:00:00", Some(1767603600000)),
            ("2026-01-05T09:00:00.5Z", Some(1767603600500)),
            ("2026-01-05T09:00:00.123456Z", Some(1767603600123)),
            ("2026-01-05T09:00:00.1234567890Z", Some(1767603600123)),
            ("2026-01-05T09:00:00+02:00", Some(1767596400000)),
            ("2026-01-05T09:00:00+0200", Some(1767596400000)),
            ("2026-01-05 09:00:00", Some(1767603600000)),
            ("2026-01-05T24:00:00Z", Some(1767657600000)),
            ("2026-01-05T09:08:07.006Z", Some(1767604087006)),
            ("0000-02-29T23:59:59.999Z", Some(-62162035200001)),
            ("2026-02-30T00:00:00.000Z", Some(1772409600000)),
            ("2026-01-05T24:00:00.000Z", Some(1767657600000)),
            ("2026-00-05T09:00:00.000Z", None),
            ("Jan 1 584556075", None),
            ("Jan 1, 999999999999", None),
            ("1/1/99999999999999", None),
            ("-99999999999-01-01", None),
            ("300000000", None),
            ("1/1/2020 GMT+99999999999999999999", None),
            ("2026-01-05T09:60:00.000Z", None),
            ("2026-01-05T09:00:0x.000Z", None),
            ("2026-02-30T00:00:00Z", Some(1772409600000)),
            ("+012026-01-05T00:00:00Z", Some(317337091200000)),
            ("-000001-01-01T00:00:00Z", Some(-62198755200000)),
            (" 2026-01-05", Some(1767571200000)),
            ("2026-01-05t09:00:00z", Some(1767603600000)),
            ("2026-01-05Z", Some(1767571200000)),
            ("2026-01-05T09:00:60Z", None),
            ("2026-01-05T09Z", None),
            ("2026-01-05T09:00:00 Z", None),
            ("2026-01-05T09:00:00.Z", None),
            ("2026-01-05T09:00:00,5Z", None),
            ("Mon, 05 Jan 2026 10:00:00 GMT", Some(1767607200000)),
            ("Jan 5, 2026 10:00:00", Some(1767607200000)),
            ("2026/01/05", Some(1767571200000)),
            ("01/05/2026", Some(1767571200000)),
            ("5 January 2026 10:00 UTC", Some(1767607200000)),
            (" 2026-01-05T10:00:00Z ", None),
            ("1767607200000", None),
            ("yesterday", None),
            ("2026-13-01", None),
            ("not a date", None),
            ("", None),
        ] {
            assert_eq!(date_ms(text), ms, "{text:?}");
        }
    }
}
