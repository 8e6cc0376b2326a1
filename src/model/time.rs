//! Times in and out: milliseconds since the epoch, UTC.

/// A time as `Date.prototype.toISOString` writes it; `None` outside the years 0 to 9999.
pub fn iso(ms: i64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(ms).ok()?;
    let text = time.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    (!text.starts_with('-')).then(|| format!("{text}.{:03}Z", ms.rem_euclid(1000)))
}
