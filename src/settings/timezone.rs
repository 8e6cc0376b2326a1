//! Which time zone is the reader's?

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::file::Written;
use super::{BadSetting, Flags, Setting, Surroundings, of};
use crate::model::Zone;

/// Variable that names the time zone of every program.
const VARIABLE: &str = "TZ";

/// Where systems keep the files of time zones.
const FILES: &str = "/usr/share/zoneinfo";

/// The longest that such a file may be; those that there are have some kilobytes.
const LONGEST_FILE: u64 = 1 << 20;

/// The zone, and what was named that is none: `--utc` before `timezone` of the configuration file
/// before `TZ` before what the system is set to. The file goes before the variable, because `TZ` is
/// every program's.
pub(super) fn timezone(
    surroundings: &Surroundings,
    flags: &Flags,
    configured: Option<Written>,
) -> Result<(Setting<Zone>, Option<String>), BadSetting> {
    if flags.utc {
        return Ok((of(Zone::UTC, "--utc"), None));
    }
    if let Some(written) = configured {
        // An empty `TZ` is UTC, but who writes an empty line into the file means something else.
        let zone = Some(&written.text).filter(|name| !name.is_empty());
        let zone = zone.and_then(|name| named(name)).ok_or_else(|| {
            let name = shortened(&written.text);
            let wrong = written.wrong("timezone", &format!("{name:?} is no time zone"));
            wrong.hint(hint(&name))
        })?;
        return Ok((of(zone, "config"), None));
    }
    let Some(name) = surroundings.variable(VARIABLE) else {
        let zone = system();
        return Ok((
            zone.map_or(of(Zone::UTC, "default"), |zone| of(zone, "system")),
            None,
        ));
    };
    match name.to_str().and_then(named) {
        Some(zone) => Ok((of(zone, "$TZ"), None)),
        None => {
            let name = shortened(&name.to_string_lossy());
            let warning = format!(
                "TZ is no time zone: {name:?}; times are in UTC ({})",
                hint(&name)
            );
            Ok((of(Zone::UTC, "default"), Some(warning)))
        }
    }
}

/// What `TZ` may say: a name, a POSIX rule, the path of a file, each also after a colon; nothing is
/// UTC.
fn named(text: &str) -> Option<Zone> {
    let name = text.strip_prefix(':').unwrap_or(text);
    match name {
        "" => Some(Zone::UTC),
        path if Path::new(path).is_absolute() => {
            let name = path.split_once("/zoneinfo/").map_or(path, |(_, name)| name);
            of_file(name, Path::new(path))
        }
        name => {
            // The system's own files know of changes of the clock that were decided on after this
            // program was built.
            let is_inside = name.split('/').all(|part| !part.is_empty() && part != "..");
            let path = Path::new(FILES).join(name);
            let of_system = is_inside.then(|| of_file(name, &path)).flatten();
            of_system.or_else(|| Zone::named(name))
        }
    }
}

/// What the system is set to.
fn system() -> Option<Zone> {
    let name = iana_time_zone::get_timezone().ok();
    let zone = name.and_then(|name| named(&name));
    zone.or_else(|| of_file("local", Path::new("/etc/localtime")))
}

fn of_file(name: &str, path: &Path) -> Option<Zone> {
    // What is no file might never end.
    if !fs::metadata(path).is_ok_and(|file| file.is_file()) {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(LONGEST_FILE).read_to_end(&mut bytes).ok()?;
    Zone::of_file(name, &bytes)
}

/// As much of it as is worth repeating.
fn shortened(name: &str) -> String {
    name.chars().take(60).collect()
}

/// What may be written instead.
fn hint(name: &str) -> String {
    let name = name.to_lowercase();
    let like = |known: &str| {
        let known = known.to_lowercase();
        let city = known.rsplit('/').next().unwrap_or(&known);
        strsim::jaro_winkler(&name, &known).max(strsim::jaro_winkler(&name, city))
    };
    let names = Zone::names().into_iter().map(|known| (like(&known), known));
    let near = names.max_by(|a, b| a.0.total_cmp(&b.0));
    match near.filter(|(similar, _)| *similar > 0.85) {
        Some((_, near)) => format!("did you mean {near}?"),
        None => "time zones are named like Europe/Berlin".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What holds, by what, and what is warned of.
    fn said(
        tz: Option<&str>,
        configured: Option<&str>,
        utc: bool,
    ) -> (String, &'static str, String) {
        let mut surroundings = Surroundings::default();
        let variable = tz.map(|zone| (VARIABLE.into(), zone.into()));
        surroundings.variables.extend(variable);
        let flags = Flags {
            utc,
            ..Flags::default()
        };
        let configured = configured.map(|name| Written {
            text: name.to_owned(),
            place: "config.toml:3".to_owned(),
        });
        match timezone(&surroundings, &flags, configured) {
            Ok((zone, warning)) => (
                zone.value.name().to_owned(),
                zone.source,
                warning.unwrap_or_default(),
            ),
            Err(wrong) => (wrong.what, "", wrong.hint.unwrap_or_default()),
        }
    }

    #[test]
    fn the_flag_then_the_file_then_the_variable() {
        let [tokyo, berlin] = [Some("Asia/Tokyo"), Some("Europe/Berlin")];
        let is = |name: &str, source| (name.to_owned(), source, String::new());
        assert_eq!(said(tokyo, berlin, true), is("UTC", "--utc"));
        assert_eq!(said(tokyo, berlin, false), is("Europe/Berlin", "config"));
        assert_eq!(said(tokyo, None, false), is("Asia/Tokyo", "$TZ"));
        assert_eq!(said(None, None, false).2, "");
        // Nobody looks at what is overridden.
        assert_eq!(
            said(Some("x"), berlin, false),
            is("Europe/Berlin", "config")
        );
        assert_eq!(said(Some("x"), Some("x"), true), is("UTC", "--utc"));
        assert_eq!(
            said(tokyo, Some("Berlin"), false),
            (
                "config.toml:3: `timezone`: \"Berlin\" is no time zone".to_owned(),
                "",
                "did you mean Europe/Berlin?".to_owned()
            )
        );
        assert_eq!(
            said(tokyo, Some(""), false),
            (
                "config.toml:3: `timezone`: \"\" is no time zone".to_owned(),
                "",
                "time zones are named like Europe/Berlin".to_owned()
            )
        );
    }

    #[test]
    fn what_tz_may_say() {
        // 12:00 UTC on 1 July 2026.
        let summer = 1_782_907_200_000;
        for (text, noon) in [
            ("", "12"),
            (":", "12"),
            ("UTC", "12"),
            ("UTC0", "12"),
            ("Europe/Berlin", "14"),
            ("europe/berlin", "14"),
            (":Europe/Berlin", "14"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "14"),
            ("CET-1CEST", "14"),
            ("<+0530>-5:30", "17"),
            ("EST5EDT", "08"),
        ] {
            let zone = named(text).unwrap_or_else(|| panic!("{text}"));
            let time = zone.time(summer).unwrap();
            assert_eq!(time.get(11..13), Some(noon), "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zoneinfo");
        fs::write(&path, "TZif2 and no more").unwrap();
        let long = "x".repeat(100_000);
        for text in [
            "Europe/Nowhere",
            "Europe",
            "../../../etc/passwd",
            "/etc/passwd",
            "/dev/zero",
            "/",
            "/nowhere",
            "x\0y",
            "\u{1b}[31m",
            path.to_str().unwrap(),
            &long,
        ] {
            assert!(named(text).is_none(), "{text}");
            let (name, source, warning) = said(Some(text), None, false);
            assert_eq!((name.as_str(), source), ("UTC", "default"), "{text}");
            assert!(warning.starts_with("TZ is no time zone: \""), "{warning}");
            assert!(warning.len() < 200, "{warning}");
        }
    }

    #[test]
    fn a_zone_is_read_from_its_file() {
        // Asia/Kolkata as RFC 9636 writes it: nothing but the rule behind an empty table.
        let header = |version: u8| {
            let mut header = b"TZif".to_vec();
            header.push(version);
            header.extend([0; 15]);
            // No changes, one kind of time, four letters of a name with their end.
            for count in [0_u32, 0, 0, 0, 1, 4] {
                header.extend(count.to_be_bytes());
            }
            header.extend(19_800_i32.to_be_bytes());
            header.extend([0, 0]);
            header.extend(b"IST\0");
            header
        };
        let mut bytes = header(b'2');
        bytes.extend(header(b'2'));
        bytes.extend(b"\nIST-5:30\n");
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("zoneinfo/Asia")).unwrap();
        let path = folder.path().join("zoneinfo/Asia/Home");
        fs::write(&path, bytes).unwrap();
        let zone = named(path.to_str().unwrap()).unwrap();
        assert_eq!(zone.name(), "Asia/Home");
        assert_eq!(zone.offset(0).as_deref(), Some("+05:30"));
        assert_eq!(named(&format!(":{}", path.display())), Some(zone));
    }
}
