//! Which time zone is the reader's?

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

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
    configured: Option<String>,
) -> Result<(Setting<Zone>, Option<String>), BadSetting> {
    if flags.utc {
        return Ok((of(Zone::UTC, "--utc"), None));
    }
    if let Some(name) = configured {
        let zone = named(&name).ok_or_else(|| {
            let name = shortened(&name);
            let what = format!("timezone of the configuration file: {name:?} is no time zone");
            BadSetting::new(what).hint(hint(&name))
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
