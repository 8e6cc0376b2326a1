//! Which day is it where the reader is, and when does a day begin there?

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use jiff::civil::{DateTime, date};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use serde::{Serialize, Serializer};

use super::iso;

/// A time zone with its changes of the clock. Days begin at its midnight, or where the clock leaves
/// that out, at the first moment after it.
#[derive(Clone, PartialEq, Eq)]
pub struct Zone {
    name: Cow<'static, str>,
    rules: TimeZone,
}

/// What a POSIX zone's daylight saving goes by where it does not say: what the C libraries of Linux
/// take it to be.
const UNSAID_CHANGES: &str = ",M3.2.0,M11.1.0";

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Zone = Zone {
        name: Cow::Borrowed("UTC"),
        rules: TimeZone::UTC,
    };

    /// A zone by its name in the time-zone database that this library brings along
    /// (`Europe/Berlin`, in any case), or by its rule as POSIX writes it
    /// (`CET-1CEST,M3.5.0,M10.5.0/3`). `None` where it is neither.
    pub fn named(name: &str) -> Option<Zone> {
        let known = TimeZoneDatabase::bundled().get(name);
        let posix = || TimeZone::posix(name);
        let rules = known
            .or_else(|_| posix())
            .or_else(|_| TimeZone::posix(&format!("{name}{UNSAID_CHANGES}")))
            .ok()?;
        let name = rules.iana_name().unwrap_or(name).to_owned();
        Some(Zone {
            name: Cow::Owned(name),
            rules,
        })
    }

    /// A zone by the bytes of its file, in the format of RFC 9636 (`TZif`), as systems keep them in
    /// `/usr/share/zoneinfo`. `None` where they are not in that format.
    pub fn of_file(name: &str, bytes: &[u8]) -> Option<Zone> {
        Some(Zone {
            name: Cow::Owned(name.to_owned()),
            rules: TimeZone::tzif(name, bytes).ok()?,
        })
    }

    /// Its name, or its rule where it has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of all zones that this library knows.
    pub fn names() -> Vec<String> {
        let database = TimeZoneDatabase::bundled();
        database.available().map(|name| name.to_string()).collect()
    }

    /// The day on which this moment, in ms since the epoch, is: `2026-10-25`. Beyond the years 9999
    /// and -9999 it is that of UTC; `None` where JavaScript has no date for it either.
    pub fn day(&self, ms: i64) -> Option<String> {
        match self.local(ms) {
            Some(local) => Some(local.date().to_string()),
            None => Some(iso(ms)?.split('T').next()?.to_owned()),
        }
    }

    /// What the clock shows at this moment: `2026-10-25 02:30:00`. `None` beyond the years 9999 and
    /// -9999.
    pub fn time(&self, ms: i64) -> Option<String> {
        let local = self.local(ms)?;
        Some(local.strftime("%Y-%m-%d %H:%M:%S").to_string())
    }

    /// How far the clock is from UTC at this moment, as people write it: `+05:30`, or `UTC` where
    /// the zone calls its time so. `None` beyond the years 9999 and -9999.
    pub fn offset(&self, ms: i64) -> Option<String> {
        let moment = Timestamp::from_millisecond(ms).ok()?;
        if self.rules.to_offset_info(moment).abbreviation() == "UTC" {
            return Some("UTC".to_owned());
        }
        let zoned = moment.to_zoned(self.rules.clone());
        Some(zoned.strftime("%:z").to_string())
    }

    /// What tells this zone from others: its changes of the clock within the years in which there
    /// are sessions, and the offsets between them.
    pub(crate) fn fingerprint(&self) -> String {
        let from = date(2015, 1, 1).at(0, 0, 0, 0);
        let until = ms_at(date(2045, 1, 1).at(0, 0, 0, 0), Offset::UTC);
        let Ok(from) = Timestamp::from_millisecond(ms_at(from, Offset::UTC)) else {
            return String::new();
        };
        let mut text = self.rules.to_offset(from).seconds().to_string();
        for change in self.rules.following(from) {
            if change.timestamp().as_millisecond() > until {
                break;
            }
            let (at, offset) = (change.timestamp().as_second(), change.offset().seconds());
            text.push_str(&format!(" {at} {offset}"));
        }
        text
    }

    /// What the clock shows at this moment.
    pub(crate) fn local(&self, ms: i64) -> Option<DateTime> {
        let moment = Timestamp::from_millisecond(ms).ok()?;
        Some(self.rules.to_datetime(moment))
    }

    /// The first moment, in ms, at which the clock shows this time or, where it leaves it out, a
    /// later one.
    pub(crate) fn first(&self, local: DateTime) -> i64 {
        match self.rules.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => ms_at(local, offset),
            AmbiguousOffset::Fold { before, .. } => ms_at(local, before),
            AmbiguousOffset::Gap { before, after } => {
                let change = Timestamp::from_millisecond(ms_at(local, after)).ok();
                let change = change.and_then(|early| self.rules.following(early).next());
                change.map_or(ms_at(local, before), |change| {
                    change.timestamp().as_millisecond()
                })
            }
        }
    }

    /// The last moment, in ms, at which the clock shows this time or, where it leaves it out, an
    /// earlier one.
    pub(crate) fn last(&self, local: DateTime) -> i64 {
        match self.rules.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => ms_at(local, offset),
            AmbiguousOffset::Fold { after, .. } => ms_at(local, after),
            AmbiguousOffset::Gap { .. } => self.first(local) - 1,
        }
    }
}

/// The moment at which a clock that is so far from UTC shows this time. By subtraction: not every
/// time of the calendar's first and last days is a [`Timestamp`].
fn ms_at(local: DateTime, offset: Offset) -> i64 {
    let epoch = date(1970, 1, 1).at(0, 0, 0, 0);
    let ms = local.duration_since(epoch).as_millis();
    i64::try_from(ms).unwrap_or(i64::MAX) - i64::from(offset.seconds()) * 1000
}

impl Default for Zone {
    fn default() -> Zone {
        Zone::UTC
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zone({})", self.name)
    }
}

/// As its name.
impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}
