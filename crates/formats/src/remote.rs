//! By what is a repository known, wherever its checkouts are? By the host and the path of its
//! remote.

/// Bytes of an address that are looked at, at most.
const LONGEST: usize = 1_024;

/// The host and the path of a remote, however it is reached: `github.com/ada/boat` of
/// `git@github.com:ada/boat.git`, of `https://github.com/ada/boat` and of
/// `ssh://git@github.com:22/ada/boat`. Of a remote that is a folder, its path.
///
/// The user, password or token, port and parameters are no part of it. `None`: this is no address,
/// it is relative to a folder, or what is left of it might hold a secret all the same.
///
/// ```
/// use sessionary_formats::remote_of;
///
/// let remote = remote_of("https://ada:secret@GitHub.com/ada/boat.git/");
/// assert_eq!(remote.as_deref(), Some("github.com/ada/boat"));
/// assert_eq!(remote_of("/srv/git/boat.git").as_deref(), Some("/srv/git/boat"));
/// assert_eq!(remote_of("https://ada:se/cret@github.com/ada/boat"), None);
/// ```
pub fn remote_of(address: &str) -> Option<String> {
    let address = address.trim();
    if address.len() > LONGEST || address.contains(char::is_control) {
        return None;
    }
    let (authority, path) = match address.split_once("://") {
        Some(("file", rest)) => return folder(&rest[rest.find('/')?..]),
        Some((scheme, rest)) if is_scheme(scheme) => rest.split_once('/')?,
        Some(_) => return None,
        None if is_absolute(address) => return folder(address),
        // `[host:22]:path`, `user@host:path`
        None => address
            .split_once("]:")
            .or_else(|| address.split_once(':'))?,
    };
    Some(format!("{}/{}", host(authority)?, path_of(path)?))
}

fn is_scheme(scheme: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_plain)
}

/// A path from the root, or from a drive.
fn is_absolute(address: &str) -> bool {
    let drive = matches!(address.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    drive || address.starts_with(['/', '\\'])
}

/// Without user and port, in lowercase.
fn host(authority: &str) -> Option<String> {
    let host = authority.rsplit('@').next()?;
    let (host, is_bracketed) = match host.strip_prefix('[') {
        Some(host) => (host.split(']').next()?, true),
        None => (host, false),
    };
    let host = match host.split_once(':') {
        // An address of IPv6.
        Some((_, rest)) if is_bracketed && rest.contains(':') => host,
        Some((host, port)) => {
            let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
            is_port.then_some(host)?
        }
        None => host,
    };
    let is_plain = |c: char| c.is_alphanumeric() || "-._:".contains(c);
    (!host.is_empty() && host.chars().all(is_plain)).then(|| host.to_lowercase())
}

/// Without parameters and `.git`. One with an `@` may hold a password with a `/` in it.
fn path_of(path: &str) -> Option<String> {
    let path = path.split(['?', '#']).next()?;
    let parts = path.split('/').filter(|part| !["", "."].contains(part));
    let path = parts.collect::<Vec<_>>().join("/");
    let path = path.strip_suffix(".git").unwrap_or(&path);
    let path = path.trim_end_matches('/');
    let is_plain = |c: char| c != '@' && c != '\\' && !c.is_whitespace();
    (!path.is_empty() && path.chars().all(is_plain)).then(|| path.to_owned())
}

/// The path of a folder.
fn folder(path: &str) -> Option<String> {
    let separators = ['/', '\\'];
    let path = path.trim_end_matches(separators);
    let path = path.strip_suffix(".git").unwrap_or(path);
    let path = path.trim_end_matches(separators);
    (!path.is_empty()).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::remote_of;

    #[test]
    fn all_ways_to_one_repository_are_one() {
        for address in [
            "git@github.com:ada/boat.git",
            "github.com:ada/boat",
            "https://github.com/ada/boat",
            "https://github.com/ada/boat.git/",
            "HTTPS://GitHub.COM/ada/boat",
            "http://github.com:8080//ada/./boat",
            "https://ada@github.com/ada/boat",
            "https://ada:secret@github.com/ada/boat.git",
            "https://ada:se@cret@github.com/ada/boat.git",
            "https://github.com/ada/boat.git?token=secret#secret",
            "ssh://git@github.com:22/ada/boat",
            "ssh://git@github.com/ada/boat.git",
            "git+ssh://git@github.com/ada/boat.git",
            "[git@github.com:22]:ada/boat.git",
            "git@[github.com:22]:/ada/boat.git",
            "git://github.com/ada/boat",
            " https://github.com/ada/boat\n",
        ] {
            let remote = remote_of(address);
            assert_eq!(remote.as_deref(), Some("github.com/ada/boat"), "{address}");
        }
    }

    #[test]
    fn other_remotes_stay_others() {
        for (address, remote) in [
            ("https://github.com/Ada/boat", "github.com/Ada/boat"),
            ("https://gitlab.com/a/b/c/boat.git", "gitlab.com/a/b/c/boat"),
            ("ssh://[::1]:22/boat", "::1/boat"),
            ("ada@host:~/boat.git", "host/~/boat"),
            ("ssh://host/~ada/boat", "host/~ada/boat"),
            ("/srv/git/my boat.git", "/srv/git/my boat"),
            ("/home/ada/boat/.git", "/home/ada/boat"),
            ("file:///srv/git/boat.git", "/srv/git/boat"),
            ("file://ada:secret@host/srv/git/boat.git", "/srv/git/boat"),
            (r"C:\git\boat.git", r"C:\git\boat"),
            ("C:/git/boat", "C:/git/boat"),
        ] {
            assert_eq!(remote_of(address).as_deref(), Some(remote), "{address}");
        }
    }

    #[test]
    fn what_may_hold_a_secret_or_names_nothing_is_none() {
        for address in [
            "",
            "boat",
            "../boat",
            "./boat.git",
            "ada/boat",
            "https://github.com",
            "https://github.com/",
            "https://github.com/.git",
            "https:///ada/boat",
            "https://ada:se/cret@github.com/ada/boat",
            "https://ada:7/cret@github.com/ada/boat",
            "ada:secret@github.com:ada/boat",
            "https://github.com:secret/ada/boat",
            "https://ho st/ada/boat",
            "https://host%40x/ada/boat",
            "ext::ssh -i key ada@host %S boat",
            "codecommit::eu://ada@boat",
            "git@github.com:ada/bo at",
            "https://github.com/ada/bo\u{1b}at",
            "/",
            "file://host",
        ] {
            assert_eq!(remote_of(address), None, "{address}");
        }
        assert_eq!(remote_of(&format!("/{}", "x".repeat(2_000))), None);
    }
}
