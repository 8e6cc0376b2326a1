//! May this name be a host's, an agent's, a path's? What comes out of a store was written by
//! another machine: it never chooses a file outside of the folder of its host.
//!
//! The rules are the same on every system, the strictest of them, so that what one machine shares
//! can be written on all others.

/// The longest name of a host: that of a label in the domain name system.
const LONGEST_HOST: usize = 63;
/// The longest name of an agent.
const LONGEST_AGENT: usize = 32;
/// The longest path within a root, in bytes.
const LONGEST_PATH: usize = 1024;
/// The longest part of a path, in bytes.
const LONGEST_PART: usize = 255;
/// The longest id of a session, in bytes.
const LONGEST_SESSION: usize = 1024;
/// Folders within folders, at most.
const DEEPEST: usize = 32;

/// Whether this is the name of a host: lower-case letters, digits, `-`, `_` and `.`.
///
/// # Errors
/// What is wrong with it.
pub fn check_host(name: &str) -> Result<(), &'static str> {
    let is_plain = |of: char| of.is_ascii_lowercase() || of.is_ascii_digit();
    if name.is_empty() || name.len() > LONGEST_HOST {
        Err("the name of a host has 1 to 63 letters")
    } else if !name.starts_with(is_plain) || !name.ends_with(is_plain) {
        Err("the name of a host begins and ends with a lower-case letter or a digit")
    } else if !name.chars().all(|of| is_plain(of) || "-_.".contains(of)) {
        Err("the name of a host has lower-case letters, digits, '-', '_' and '.' only")
    } else if is_device(name) {
        Err("Windows keeps this name for a device")
    } else {
        Ok(())
    }
}

/// The name of a host made of what the system calls it.
pub fn host_of(system: &str) -> String {
    let first = system.split('.').next().unwrap_or_default().to_lowercase();
    let plain = |of: char| if of.is_ascii_alphanumeric() { of } else { '-' };
    let name: String = first.chars().map(plain).take(LONGEST_HOST).collect();
    let name = name.trim_matches('-');
    match check_host(name) {
        Ok(()) => name.to_owned(),
        Err(_) => "host".to_owned(),
    }
}

/// Whether this may be the name of an agent: lower-case letters, digits and `-`.
///
/// # Errors
/// What is wrong with it.
pub fn check_agent(name: &str) -> Result<(), &'static str> {
    let is_plain = |of: char| of.is_ascii_lowercase() || of.is_ascii_digit() || of == '-';
    let is_named = name.starts_with(|of: char| of.is_ascii_lowercase());
    if !is_named || name.len() > LONGEST_AGENT || !name.chars().all(is_plain) || is_device(name) {
        return Err("the name of an agent has lower-case letters, digits and '-' only");
    }
    Ok(())
}

/// Whether this may be the id of a session in a store: no database takes any text for a key.
///
/// # Errors
/// What is wrong with it.
pub fn check_session(id: &str) -> Result<(), &'static str> {
    if id.len() > LONGEST_SESSION {
        Err("the id of its session has more than 1,024 bytes")
    } else if id.contains(char::is_control) {
        Err("the id of its session has a control character")
    } else {
        Ok(())
    }
}

/// Whether this is a path within a root, with `/` between its parts, that leads nowhere else on any
/// system.
///
/// # Errors
/// What is wrong with it.
pub fn check_path(path: &str) -> Result<(), &'static str> {
    if path.len() > LONGEST_PATH {
        return Err("the path has more than 1,024 bytes");
    }
    if path.split('/').count() > DEEPEST {
        return Err("the path has more than 32 parts");
    }
    path.split('/').try_for_each(check_part)
}

fn check_part(part: &str) -> Result<(), &'static str> {
    let is_bad = |of: char| of.is_control() || "\\:*?\"<>|".contains(of);
    match part {
        "" => Err("the path is absolute, or a part of it is empty"),
        "." | ".." => Err("the path has a part '.' or '..'"),
        _ if part.len() > LONGEST_PART => Err("a part of the path has more than 255 bytes"),
        _ if part.contains(is_bad) => {
            Err("the path has a backslash, a colon or another letter that not every system takes")
        }
        _ if part.ends_with(['.', ' ']) => Err("a part of the path ends with a dot or a blank"),
        _ if is_device(part) => Err("Windows keeps a part of the path for a device"),
        _ => Ok(()),
    }
}

/// Whether Windows opens a device by this name, whatever follows its first dot.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.trim_end().to_ascii_lowercase();
    let numbered = |of: &str| {
        let number = stem.strip_prefix(of);
        number.is_some_and(|number| number.len() == 1 && number.as_bytes()[0].is_ascii_digit())
    };
    ["con", "prn", "aux", "nul"].contains(&stem.as_str()) || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_agents_write_are_paths() {
        for path in [
            "--home-ada-code--/2026-01-05T09-00-00-000Z_0a.jsonl",
            "2026/01/05/rollout-2026-01-05T09-00-00-0a.jsonl",
            "a b/(c)/[d]/e.json.zst",
            "ünï/код.jsonl",
            "..a/b..c/.d",
        ] {
            assert_eq!(check_path(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_are_none() {
        let long = "a/".repeat(600);
        for path in [
            "",
            "/etc/passwd",
            "..",
            "a/../b",
            "./a",
            "a//b",
            "a/",
            "C:/a",
            "a\\b",
            "\\\\server\\a",
            "a\0b",
            "a\nb",
            "a:stream",
            "nul",
            "a/COM1.jsonl",
            "a./b",
            "a ",
            &long,
        ] {
            assert!(check_path(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn ids_of_sessions() {
        for id in ["0a", "", "ünï/код", &"a".repeat(1024)] {
            assert_eq!(check_session(id), Ok(()), "{id}");
        }
        for id in ["a\0b", "a\nb", "\u{1b}[2J", "a\u{85}", &"a".repeat(1025)] {
            assert!(check_session(id).is_err(), "{id:?}");
        }
    }

    #[test]
    fn hosts() {
        for name in ["a", "ada-laptop", "box2.example", "0_1"] {
            assert_eq!(check_host(name), Ok(()), "{name}");
        }
        for name in [
            "", ".", "..", "-a", "A", "a/b", "a\\b", "con", "lpt1.x", "é", "a.",
        ] {
            assert!(check_host(name).is_err(), "{name:?}");
        }
        assert_eq!(host_of("Ada's MacBook.local"), "ada-s-macbook");
        assert_eq!(host_of("..."), "host");
        assert_eq!(check_agent("claude"), Ok(()));
        assert!(
            ["", "../pi", "Pi", "pi.json", "-pi", "nul"]
                .iter()
                .all(|of| check_agent(of).is_err())
        );
    }
}
