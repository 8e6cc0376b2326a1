//! When was it, and how long ago? Times for people, in their zone.

use sessionary::model::Zone;
use sessionary::syntax::Now;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The clock of a process that may stay open: the system's, or one that stands still at the moment
/// that was named.
#[derive(Debug, Clone, Copy)]
pub struct Clock(pub Option<i64>);

impl Clock {
    pub fn now_ms(self) -> i64 {
        let now = || jiff::Timestamp::now().as_millisecond();
        self.0.unwrap_or_else(now)
    }
}

/// `now`, `5m`, `3h`, `2d`, or the date of what is older than 30 days or lies ahead.
pub fn age(time: Option<&str>, now: Now) -> String {
    let Some(ms) = time.and_then(ms_of) else {
        return String::new();
    };
    match now.ms.saturating_sub(ms) {
        // Clocks of two machines differ by a little.
        past if (-MINUTE..MINUTE).contains(&past) => "now".to_owned(),
        past if (MINUTE..HOUR).contains(&past) => format!("{}m", past / MINUTE),
        past if (HOUR..DAY).contains(&past) => format!("{}h", past / HOUR),
        past if (DAY..30 * DAY).contains(&past) => format!("{}d", past / DAY),
        _ => now.zone.day(ms).unwrap_or_default(),
    }
}

/// Date and minute.
pub fn minute(time: Option<&str>, zone: &Zone) -> String {
    let time = time.and_then(ms_of).and_then(|ms| zone.time(ms));
    let minute = time.as_deref().and_then(|time| time.rsplit_once(':'));
    minute.map_or_else(String::new, |(minute, _)| minute.to_owned())
}

/// Date and minute with their offset, for whoever reads them elsewhere.
pub fn minute_anywhere(time: Option<&str>, zone: &Zone) -> String {
    let offset = time.and_then(ms_of).and_then(|ms| zone.offset(ms));
    match offset {
        Some(offset) => format!("{} {offset}", minute(time, zone)),
        None => String::new(),
    }
}

fn ms_of(time: &str) -> Option<i64> {
    let time: jiff::Timestamp = time.parse().ok()?;
    Some(time.as_millisecond())
}

/// Milliseconds as people say them.
pub fn duration(ms: f64) -> String {
    if ms < 1000.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{:.1} s", ms / 1000.0)
    }
}

/// Bytes as people say them.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
    #[allow(clippy::cast_precision_loss)]
    let mut size = count as f64;
    let mut unit = 0;
    while size >= 999.5 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    if unit == 0 || size >= 99.95 {
        format!("{size:.0} {}", UNITS[unit])
    } else {
        format!("{size:.1} {}", UNITS[unit])
    }
}

/// A number with its thousands apart: `1,234,567`.
pub fn number(number: impl Into<i128>) -> String {
    let number = number.into();
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", apart(&number.unsigned_abs().to_string()))
}

/// US dollars with two digits: `$1,234.50`, `-$0.25`.
pub fn money(usd: f64) -> String {
    let text = format!("{:.2}", usd.abs());
    let sign = match usd < 0.0 && text != "0.00" {
        true => "-",
        false => "",
    };
    match text.split_once('.') {
        Some((whole, cents)) => format!("{sign}${}.{cents}", apart(whole)),
        None => format!("{sign}${text}"),
    }
}

/// Digits in groups of three.
fn apart(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 file`, `2 files`, `1,974 files`.
pub fn count(many: u64, what: &str) -> String {
    let plural = match what.strip_suffix('y') {
        _ if many == 1 => what.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None if what.ends_with("ch") => format!("{what}es"),
        None => format!("{what}s"),
    };
    format!("{} {plural}", number(many))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_short_and_a_day_where_it_is_long_ago_or_to_come() {
        let now = Now::utc(1_767_600_000_000); // 2026-01-05T08:00:00Z
        let said = |time: &str| age(Some(time), now);
        assert_eq!(said("2026-01-05T07:59:01.000Z"), "now");
        assert_eq!(said("2026-01-05T07:55:00.000Z"), "5m");
        assert_eq!(said("2026-01-05T07:00:00.001Z"), "59m");
        assert_eq!(said("2026-01-05T05:00:00.000Z"), "3h");
        assert_eq!(said("2026-01-03T08:00:00+00:00"), "2d");
        assert_eq!(said("2025-11-05T08:00:00.000Z"), "2025-11-05");
        assert_eq!(said("2026-01-07T08:00:00.000Z"), "2026-01-07");
        assert_eq!(said("yesterday"), "");
        assert_eq!(age(None, now), "");
        let east = Zone::named("Asia/Kolkata").expect("it is known");
        let zone = &east;
        let of_day = age(Some("2025-11-05T20:00:00.000Z"), Now { zone, ..now });
        assert_eq!(of_day, "2025-11-06");
    }

    #[test]
    fn minutes() {
        let said = |zone: &str, time: &str| {
            let zone = Zone::named(zone).expect("it is known");
            minute_anywhere(Some(time), &zone)
        };
        let summer = "2026-07-01T12:30:59.999Z";
        assert_eq!(said("UTC", summer), "2026-07-01 12:30 UTC");
        assert_eq!(said("UTC0", summer), "2026-07-01 12:30 UTC");
        assert_eq!(
            said("Europe/London", "2026-01-01T12:30:00Z"),
            "2026-01-01 12:30 +00:00"
        );
        assert_eq!(said("America/St_Johns", summer), "2026-07-01 10:00 -02:30");
        assert_eq!(said("Asia/Kolkata", "no time"), "");
        assert_eq!(minute(None, &Zone::UTC), "");
    }

    #[test]
    fn money_has_two_digits() {
        let all = [
            0.0, 0.004, 0.125, 9.999, 999.995, 1234.5, 1e9, -0.001, -1234.5,
        ];
        let said = [
            "$0.00",
            "$0.00",
            "$0.12",
            "$10.00",
            "$1,000.00",
            "$1,234.50",
            "$1,000,000,000.00",
            "$0.00",
            "-$1,234.50",
        ];
        assert_eq!(all.map(money), said);
        assert_eq!([money(f64::NAN), money(f64::INFINITY)], ["$NaN", "$inf"]);
        assert_eq!(
            [0_i64, 999, -1000, 1_000_000].map(number),
            ["0", "999", "-1,000", "1,000,000"]
        );
    }

    #[test]
    fn sizes_and_counts() {
        assert_eq!(
            [0, 999, 1000, 1_540_000, 999_600, 150_000_000].map(bytes),
            ["0 B", "999 B", "1.0 KB", "1.5 MB", "1.0 MB", "150 MB"]
        );
        assert_eq!(
            [
                count(1, "entry"),
                count(2, "entry"),
                count(0, "file"),
                count(2, "match")
            ],
            ["1 entry", "2 entries", "0 files", "2 matches"]
        );
        assert_eq!(count(1_234_567, "file"), "1,234,567 files");
        assert_eq!([duration(12.4), duration(1234.0)], ["12 ms", "1.2 s"]);
    }
}
