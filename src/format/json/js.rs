//! What JavaScript's own rules make of text: `String.trim` and `Date.parse`.

/// The characters `String.prototype.trim` removes: unlike Rust's it takes U+FEFF and leaves U+0085.
fn is_space(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}')
}

/// `String.prototype.trim`.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `Date.parse` for the ISO 8601 forms that agents write, in ms since the epoch; `None` is NaN.
/// A time without an offset is local in JavaScript; here it is UTC, so that the result does not
/// depend on the machine.
pub fn date_ms(text: &str) -> Option<i64> {
    let mut rest = Digits(trim(text).as_bytes());
    let year = match rest.0.first()? {
        sign @ (b'+' | b'-') => {
            let negative = *sign == b'-';
            rest.0 = &rest.0[1..];
            let year = rest.exactly(6)?;
            if negative && year == 0 {
                return None;
            }
            if negative { -year } else { year }
        }
        _ => rest.exactly(4)?,
    };
    let (mut month, mut day) = (1, 1);
    if rest.eat(b"-") {
        month = rest.exactly(2)?;
        if rest.eat(b"-") {
            day = rest.exactly(2)?;
        }
    }
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut ms = days(year, month, day) * 86_400_000;
    if rest.eat(b"Tt ") {
        let hour = rest.exactly(2)?;
        rest.eat(b":").then_some(())?;
        let minute = rest.exactly(2)?;
        let (mut second, mut milli) = (0, 0);
        if rest.eat(b":") {
            second = rest.exactly(2)?;
            if rest.eat(b".") {
                milli = rest.fraction()?;
            }
        }
        let midnight = hour == 24 && minute == 0 && second == 0 && milli == 0;
        if (hour > 23 && !midnight) || minute > 59 || second > 59 {
            return None;
        }
        ms += ((hour * 60 + minute) * 60 + second) * 1000 + milli;
        match rest.0.first().copied() {
            None => {}
            Some(b'Z' | b'z') => rest.0 = &rest.0[1..],
            Some(sign @ (b'+' | b'-')) => {
                rest.0 = &rest.0[1..];
                let hours = rest.exactly(2)?;
                rest.eat(b":");
                let minutes = rest.exactly(2)?;
                if hours > 23 || minutes > 59 {
                    return None;
                }
                let offset = (hours * 60 + minutes) * 60_000;
                ms += if sign == b'-' { offset } else { -offset };
            }
            Some(_) => return None,
        }
    } else if rest.0 == b"Z" {
        rest.0 = &[];
    }
    // ±100,000,000 days is all a JavaScript Date can hold.
    (rest.0.is_empty() && ms.abs() <= 8_640_000_000_000_000).then_some(ms)
}

/// The rest of a date being read.
struct Digits<'a>(&'a [u8]);

impl Digits<'_> {
    fn exactly(&mut self, count: usize) -> Option<i64> {
        let head = self.0.get(..count)?;
        let mut value = 0;
        for byte in head {
            value = value * 10 + i64::from(byte.is_ascii_digit().then(|| byte - b'0')?);
        }
        self.0 = &self.0[count..];
        Some(value)
    }

    fn eat(&mut self, any: &[u8]) -> bool {
        let hit = self.0.first().is_some_and(|byte| any.contains(byte));
        if hit {
            self.0 = &self.0[1..];
        }
        hit
    }

    /// Milliseconds from a fraction of any length; more digits than three are cut, not rounded.
    fn fraction(&mut self) -> Option<i64> {
        let length = self
            .0
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if length == 0 {
            return None;
        }
        let mut value = 0;
        for place in 0..3 {
            let digit = if place < length {
                i64::from(self.0[place] - b'0')
            } else {
                0
            };
            value = value * 10 + digit;
        }
        self.0 = &self.0[length..];
        Some(value)
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
            ("2026-13-01", None),
            ("not a date", None),
            ("", None),
        ] {
            assert_eq!(date_ms(text), ms, "{text:?}");
        }
    }

    #[test]
    fn trim_is_javascripts() {
        assert_eq!(trim("\u{feff}\u{a0}\t x\u{85} \r\n"), "x\u{85}");
    }
}
