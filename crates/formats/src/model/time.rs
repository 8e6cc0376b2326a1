//! Times in and out: milliseconds since the epoch, UTC.

/// A time as `Date.prototype.toISOString` writes it; `None` where a JavaScript Date cannot be.
pub fn iso(ms: i64) -> Option<String> {
    if ms.unsigned_abs() > 8_640_000_000_000_000 {
        return None;
    }
    let (day, rest) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    // Years begin in March here, so that the leap day is the last; 400 years are an era.
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let of_era_years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_era_years + of_era_years / 4 - of_era_years / 100);
    let from_march = (5 * of_year + 2) / 153;
    let date = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = era * 400 + of_era_years + i64::from(month <= 2);
    let year = match year {
        0..=9999 => format!("{year:04}"),
        _ => format!("{year:+07}"),
    };
    let (hour, minute, second, milli) = (
        rest / 3_600_000,
        rest / 60_000 % 60,
        rest / 1000 % 60,
        rest % 1000,
    );
    Some(format!(
        "{year}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values printed by `new Date(ms).toISOString()`.
    #[test]
    fn times_are_written_as_javascript_writes_them() {
        for (ms, text) in [
            (0, Some("1970-01-01T00:00:00.000Z")),
            (-1, Some("1969-12-31T23:59:59.999Z")),
            (1_767_603_600_250, Some("2026-01-05T09:00:00.250Z")),
            (1_709_164_800_000, Some("2024-02-29T00:00:00.000Z")),
            (253_402_300_800_000, Some("+010000-01-01T00:00:00.000Z")),
            (-62_167_219_200_000, Some("0000-01-01T00:00:00.000Z")),
            (-62_198_373_600_000, Some("-000001-01-05T10:00:00.000Z")),
            (8_640_000_000_000_000, Some("+275760-09-13T00:00:00.000Z")),
            (-8_640_000_000_000_000, Some("-271821-04-20T00:00:00.000Z")),
            (8_640_000_000_000_001, None),
            (i64::MIN, None),
        ] {
            assert_eq!(iso(ms).as_deref(), text, "{ms}");
        }
    }
}
