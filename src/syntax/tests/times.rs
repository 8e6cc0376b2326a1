//! Which moments do filters mean?

use super::*;

#[test]
fn times() {
    let bounds = |text: &str| {
        let filters = read(text).filters;
        (filters.since_ms, filters.until_ms)
    };
    let october = 1_790_812_800_000; // 2026-10-01T00:00:00Z
    assert_eq!(bounds("since:2w"), (Some(NOW - 14 * DAY), None));
    assert_eq!(bounds("until:3d"), (None, Some(NOW - 3 * DAY)));
    assert_eq!(bounds("since:today"), (Some(MIDNIGHT), None));
    assert_eq!(bounds("until:today"), (None, Some(MIDNIGHT + DAY)));
    assert_eq!(
        bounds("since:yesterday until:yesterday"),
        (Some(MIDNIGHT - DAY), Some(MIDNIGHT))
    );
    assert_eq!(
        bounds("since:2026-10 until:2026-10"),
        (Some(october), Some(october + 31 * DAY))
    );
    assert_eq!(
        bounds("after:2026-10 before:2026-11-20"),
        (Some(october + 31 * DAY), Some(MIDNIGHT - DAY))
    );
    // Bounds leave out what has no time, so what is not within them is not within other bounds.
    let outside = |text: &str| read(text).filters.outside_ms;
    assert_eq!(bounds("-since:2026-10-02"), (None, None));
    assert_eq!(outside("-since:2026-10-02"), [(october + DAY, i64::MAX)]);
    assert_eq!(
        outside("-until:2026-10-02"),
        [(i64::MIN, october + 2 * DAY)]
    );
    assert_eq!(bounds("since:3d since:1d"), (Some(NOW - DAY), None));
    assert_eq!(
        bounds("since:2026-10-01T01:30 until:2026-10-01T01:30Z"),
        (Some(october + 5_400_000), Some(october + 5_460_000))
    );
    assert_eq!(
        bounds("since:2026-10-01T01:30:00+01:00"),
        (Some(october + 1_800_000), None)
    );
    assert_eq!(
        bounds("on:2026-10-01T19"),
        (
            Some(october + 19 * 3_600_000),
            Some(october + 20 * 3_600_000)
        )
    );
    let last = 253_402_300_800_000; // 10000-01-01T00:00:00Z
    assert_eq!(bounds("on:9999-12-31"), (Some(last - DAY), Some(last)));
    assert_eq!(bounds("on:9999-12"), (Some(last - 31 * DAY), Some(last)));
    assert_eq!(bounds("until:9999"), (None, Some(last)));
    assert_eq!(bounds("since:1mo"), (Some(NOW - 31 * DAY), None));
    assert_eq!(bounds("since:1y"), (Some(NOW - 365 * DAY), None));
    assert_eq!(bounds("since:2026"), (Some(october - 273 * DAY), None));
    assert_eq!(
        bounds("on:yesterday"),
        (Some(MIDNIGHT - DAY), Some(MIDNIGHT))
    );
    assert_eq!(
        bounds("on:3d"),
        (Some(MIDNIGHT - 3 * DAY), Some(MIDNIGHT - 2 * DAY))
    );
    assert_eq!(
        bounds("on:2026-10"),
        (Some(october), Some(october + 31 * DAY))
    );
    // It is a Saturday.
    assert_eq!(
        bounds("on:saturday"),
        (Some(MIDNIGHT), Some(MIDNIGHT + DAY))
    );
    assert_eq!(bounds("since:sun"), (Some(MIDNIGHT - 6 * DAY), None));
    assert_eq!(
        read("-on:2026-10").filters.outside_ms,
        [(october, october + 31 * DAY)]
    );
    for (text, same) in [
        ("2weeks", "2w"),
        ("2 weeks", "2w"),
        ("2 Weeks ago", "2w"),
        ("90 min", "90min"),
        ("1 year ago", "1y"),
        ("1day", "1d"),
        ("90minutes", "90min"),
        ("6months", "6mo"),
        ("2026-10-5", "2026-10-05"),
        ("2026-9", "2026-09"),
        ("oct", "2026-10"),
        ("November", "2026-11"),
        ("dec", "2025-12"),
    ] {
        for filter in ["since", "until", "on"] {
            let same = bounds(&format!("{filter}:{same}"));
            assert_eq!(bounds(&format!("{filter}:{text}")), same, "{filter}:{text}");
        }
    }
    for zone in [
        "[Asia/Tokyo]",
        "Z[UTC]",
        "+09:00[Asia/Tokyo]",
        ":00[u-ca=iso8601]",
    ] {
        let query = format!("since:2026-10-25T02:30{zone}");
        let error = parse(&query, Now::utc(NOW)).unwrap_err();
        assert_eq!(error.expected, "a date or a length of time", "{query}");
    }
    let zone = Zone::named("<+01>-1").unwrap();
    let east = Now {
        ms: NOW,
        zone: &zone,
    };
    let query = parse("since:today", east).unwrap();
    let since = query.only().and_then(|only| only.filters.since_ms);
    assert_eq!(since, Some(MIDNIGHT - 3_600_000));
}

/// From which minute of 2026 in UTC until before which a filter looks that is asked in a zone.
fn minutes(zone: &str, filter: &str) -> (Option<i64>, Option<i64>) {
    let zone = &Zone::named(zone).unwrap();
    let query = parse(filter, Now { ms: NOW, zone }).unwrap();
    let filters = &query.only().unwrap().filters;
    // 2026-01-01.
    let of_year = |ms: Option<i64>| ms.map(|ms| (ms - 1_767_225_600_000) / 60_000);
    (of_year(filters.since_ms), of_year(filters.until_ms))
}

#[test]
fn the_day_on_which_the_clock_is_put_forward_or_back_is_that_day() {
    let day = |day_of_year: i64| day_of_year * 24 * 60;
    let on = |zone, date: &str| {
        let (since, until) = minutes(zone, &format!("on:{date}"));
        (since.unwrap(), until.unwrap() - since.unwrap())
    };
    // 29 March is the 88th day of the year, 25 October the 298th.
    assert_eq!(on("UTC", "2026-03-29"), (day(87), 24 * 60));
    assert_eq!(on("Asia/Tokyo", "2026-03-29"), (day(87) - 540, 24 * 60));
    assert_eq!(on("Asia/Kolkata", "2026-03-29"), (day(87) - 330, 24 * 60));
    assert_eq!(on("Europe/Berlin", "2026-03-29"), (day(87) - 60, 23 * 60));
    assert_eq!(on("Europe/Berlin", "2026-10-25"), (day(297) - 120, 25 * 60));
    assert_eq!(
        on("America/New_York", "2026-03-08"),
        (day(66) + 300, 23 * 60)
    );
    assert_eq!(
        on("America/New_York", "2026-11-01"),
        (day(304) + 240, 25 * 60)
    );
    assert_eq!(
        on("Australia/Lord_Howe", "2026-04-05"),
        (day(94) - 660, 24 * 60 + 30)
    );
    assert_eq!(
        on("Australia/Lord_Howe", "2026-10-04"),
        (day(276) - 630, 24 * 60 - 30)
    );
    // Where midnight itself is left out, a day begins at one o'clock.
    assert_eq!(on("Africa/Cairo", "2026-04-24"), (day(113) - 120, 23 * 60));
    assert_eq!(on("Africa/Cairo", "2026-04-23"), (day(112) - 120, 24 * 60));
    let rule = "CET-1CEST,M3.5.0,M10.5.0/3";
    assert_eq!(on(rule, "2026-10-25"), on("Europe/Berlin", "2026-10-25"));
    // Months and years begin where their days do.
    assert_eq!(
        minutes("Europe/Berlin", "since:2026-07").0,
        Some(day(181) - 120)
    );
    assert_eq!(
        minutes("Europe/Berlin", "until:2026").1,
        Some(day(365) - 60)
    );
    // The calendar's last days are no moments in every zone.
    for zone in ["Asia/Tokyo", "America/New_York", "Europe/Berlin"] {
        for date in ["9999-12-31", "9999", "0001-01-01"] {
            let (_, length) = on(zone, date);
            assert!(length >= 24 * 60, "{zone} {date}: {length}");
        }
    }
}

#[test]
fn times_that_the_clock_leaves_out_or_shows_twice() {
    // In Berlin 02:00 is 03:00 on 29 March, at 01:00 UTC.
    let change = 87 * 24 * 60 + 60;
    for filter in ["since", "after", "until", "before"] {
        for time in ["02:00", "02:30", "02:59:59"] {
            let found = match minutes("Europe/Berlin", &format!("{filter}:2026-03-29T{time}")) {
                (Some(bound), None) | (None, Some(bound)) => bound,
                both => panic!("{both:?}"),
            };
            assert_eq!(found, change, "{filter}:{time}");
        }
    }
    assert_eq!(
        minutes("Europe/Berlin", "since:2026-03-29T03:00").0,
        Some(change)
    );
    assert_eq!(
        minutes("Europe/Berlin", "since:2026-03-29T01:59").0,
        Some(change - 1)
    );
    // From 02:00 to 03:00 on 25 October it is twice: from midnight and from one o'clock of UTC on.
    let twice = 297 * 24 * 60;
    assert_eq!(
        minutes("Europe/Berlin", "on:2026-10-25T02:30"),
        (Some(twice + 30), Some(twice + 91))
    );
    assert_eq!(
        minutes("Europe/Berlin", "on:2026-10-25T02"),
        (Some(twice), Some(twice + 120))
    );
    assert_eq!(
        minutes("Europe/Berlin", "since:2026-10-25T02:30").0,
        Some(twice + 30)
    );
    assert_eq!(
        minutes("Europe/Berlin", "after:2026-10-25T02:30").0,
        Some(twice + 91)
    );
    assert_eq!(
        minutes("Europe/Berlin", "until:2026-10-25T01").1,
        Some(twice)
    );
    assert_eq!(
        minutes("Europe/Berlin", "since:2026-10-25T03:00").0,
        Some(twice + 120)
    );
    // An offset says which one is meant.
    assert_eq!(
        minutes("Europe/Berlin", "on:2026-10-25T02:30+01:00"),
        (Some(twice + 90), Some(twice + 91))
    );
}
