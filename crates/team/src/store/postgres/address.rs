//! Where is the server, who are we to it, and by which password? The address says all but the
//! password, which comes from the environment, from a service file or from `.pgpass`, as
//! PostgreSQL's own programs take it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use postgres::Config;
use postgres::config::{Host, SslMode};
use sessionary::settings::Surroundings;

use crate::error::Error;
use crate::files;

/// No file of passwords or services is longer.
const LONGEST: u64 = 1 << 20;

/// What follows `postgres:` in an address: `//USER@HOST/DATABASE`, `service=NAME`, or the words
/// that PostgreSQL calls a connection string. A file of passwords that is passed over is told to
/// `say`.
pub fn config(
    address: &str,
    surroundings: &Surroundings,
    say: &dyn Fn(&str),
) -> Result<Config, Error> {
    let text = match address.starts_with("//") {
        true => format!("postgres:{address}"),
        false => address.to_owned(),
    };
    let mut config = match text.strip_prefix("service=") {
        Some(name) => service(name.trim(), surroundings)?,
        None => parsed(&text)?,
    };
    if config.get_password().is_some() && !text.starts_with("service=") {
        return Err(Error::refused(
            "the address holds a password, which every process of this machine could read",
            "leave it out, and put it into ~/.pgpass or a service file",
        ));
    }
    // Over a network nothing goes in clear, unless somebody asks for that.
    let mut addresses = config.get_hostaddrs().iter();
    let is_local = config.get_hosts().iter().all(is_here) && addresses.all(|of| of.is_loopback());
    // Where no mode is named it is `Prefer`, which a server that is not ours could talk us out of.
    config.ssl_mode(match config.get_ssl_mode() {
        SslMode::Disable => SslMode::Disable,
        SslMode::Prefer if is_local => SslMode::Disable,
        _ => SslMode::Require,
    });
    if config.get_password().is_none()
        && let Some(password) = password(&config, surroundings, say)
    {
        config.password(password);
    }
    config.application_name("sessionary-team");
    notice_the_dead(&mut config);
    Ok(config)
}

/// A server that has gone without a word is given up within minutes, unless the address says when:
/// a system by itself waits for two hours, and meanwhile nothing could be taken back.
fn notice_the_dead(config: &mut Config) {
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(30));
    }
    if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
        config.keepalives_idle(Duration::from_secs(30));
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(Duration::from_secs(10));
    }
    // What was sent may also wait for a server that is busy.
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(120));
    }
}

fn parsed(text: &str) -> Result<Config, Error> {
    // The text is not repeated: it may hold a password.
    text.parse().map_err(|_| {
        Error::refused(
            "the address of the database cannot be read",
            "for example postgres://ada@db.example.org/team, or postgres:service=team",
        )
    })
}

/// Whether it is this machine.
fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => ["localhost", "127.0.0.1", "::1"].contains(&name.as_str()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

/// What a service file says of a service.
fn service(name: &str, surroundings: &Surroundings) -> Result<Config, Error> {
    let path = named(surroundings, "PGSERVICEFILE", ".pg_service.conf");
    let text = match &path {
        Some(path) => text_of(path).map_err(Error::at(path))?,
        None => None,
    };
    let text = text.unwrap_or_default();
    let mut words = String::new();
    let mut is_it = false;
    let mut was_found = false;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|of| of.strip_suffix(']')) {
            is_it = section == name;
            was_found |= is_it;
        } else if let Some((key, value)) = line.split_once('=').filter(|_| is_it) {
            let value = value.replace('\\', "\\\\").replace('\'', "\\'");
            words += &format!("{key}='{value}' ");
        }
    }
    match was_found {
        true => parsed(&words),
        false => Err(Error::refused(
            format!("there is no service {name:?}"),
            "name it in ~/.pg_service.conf, or set PGSERVICEFILE",
        )),
    }
}

/// The password for this server, database and user. A file that cannot be used, or that others may
/// use too, is as if it were not there, as it is for `psql`: none may be needed.
fn password(config: &Config, surroundings: &Surroundings, say: &dyn Fn(&str)) -> Option<String> {
    if let Some(password) = surroundings.variable("PGPASSWORD") {
        return password.to_str().map(str::to_owned);
    }
    let path = named(surroundings, "PGPASSFILE", ".pgpass")?;
    let text = own_text_of(&path).unwrap_or_else(|why| {
        say(&format!("{} is passed over: {why}", path.display()));
        None
    })?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.as_str(),
        _ => "localhost",
    };
    let port = config
        .get_ports()
        .first()
        .copied()
        .unwrap_or(5432)
        .to_string();
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    let asked = [host, &port, database, user];
    let fits = |fields: &[String]| {
        fields.len() == 5
            && fields
                .iter()
                .zip(asked)
                .all(|(is, of)| is == "*" || is == of)
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut found = lines.map(fields).filter(|fields| fits(fields));
    found.next().and_then(|mut fields| fields.pop())
}

/// The fields of a line of `.pgpass`: a backslash before a colon or a backslash makes it plain.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields
                .last_mut()
                .into_iter()
                .for_each(|last| last.extend(letters.next())),
            _ => fields
                .last_mut()
                .into_iter()
                .for_each(|last| last.push(letter)),
        }
    }
    fields
}

/// The file that a variable names, or else the one in the home folder.
fn named(surroundings: &Surroundings, variable: &str, in_home: &str) -> Option<PathBuf> {
    let set = surroundings.variable(variable).map(PathBuf::from);
    set.or_else(|| Some(surroundings.home.as_ref()?.join(in_home)))
}

/// The text of a file to which links may lead, as whoever keeps the files of a home elsewhere makes
/// them; `None`: there is none.
fn text_of(path: &Path) -> io::Result<Option<String>> {
    let path = match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        path => path?,
    };
    let bytes = files::read(&path, LONGEST)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The same of a file to which its owner alone has access; of any other it is an error.
fn own_text_of(path: &Path) -> io::Result<Option<String>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let found = std::fs::metadata(path);
        if found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o077 != 0) {
            return Err(io::Error::other(
                "others than its owner have access to it; `chmod 600` takes that from them",
            ));
        }
    }
    text_of(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn surroundings(
        files: &[(&str, &str)],
        variables: &[(&str, &str)],
    ) -> (tempfile::TempDir, Surroundings) {
        let home = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = home.path().join(name);
            fs::write(&path, text).unwrap();
            allow(&path, 0o600);
        }
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()));
        let surroundings = Surroundings {
            variables: variables.collect(),
            home: Some(home.path().to_path_buf()),
            cwd: home.path().to_path_buf(),
        };
        (home, surroundings)
    }

    fn allow(path: &Path, mode: u32) {
        #[cfg(unix)]
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        #[cfg(not(unix))]
        let _ = (path, mode);
    }

    /// Where nothing is passed over.
    fn config(address: &str, surroundings: &Surroundings) -> Result<Config, Error> {
        super::config(address, surroundings, &|said| panic!("{said}"))
    }

    fn password(of: &Config) -> &str {
        std::str::from_utf8(of.get_password().unwrap_or_default()).unwrap()
    }

    #[test]
    fn passwords_are_where_postgresql_looks_for_them() {
        let pgpass =
            "# mine\nother:5432:*:ada:wrong\ndb.example.org:*:team:ada:it's \\: \\\\ this\n";
        let services = "[else]\nhost=x\n[team]\nhost=db.example.org\nuser=ada\ndbname=team\n";
        let (_home, plain) =
            surroundings(&[(".pgpass", pgpass), (".pg_service.conf", services)], &[]);
        for address in [
            "//ada@db.example.org/team",
            "host=db.example.org user=ada dbname=team",
            "service=team",
        ] {
            let config = config(address, &plain).unwrap();
            assert_eq!(password(&config), "it's : \\ this", "{address}");
            assert_eq!(config.get_ssl_mode(), SslMode::Require, "{address}");
        }
        let (_home, set) = surroundings(&[(".pgpass", pgpass)], &[("PGPASSWORD", "set")]);
        assert_eq!(
            password(&config("//ada@db.example.org/team", &set).unwrap()),
            "set"
        );
        let services = "[team]\nhost=127.0.0.1\nuser=ada\npassword=it's\n";
        let (_home, file) = surroundings(&[(".pg_service.conf", services)], &[]);
        let config = config("service=team", &file).unwrap();
        assert_eq!(
            (password(&config), config.get_ssl_mode()),
            ("it's", SslMode::Disable)
        );
    }

    #[cfg(unix)]
    #[test]
    fn files_may_be_links_and_those_of_others_are_passed_over() {
        let pgpass = "db.example.org:*:team:ada:word\n";
        let services = "[team]\nhost=db.example.org\nuser=ada\ndbname=team\n";
        let (home, plain) = surroundings(&[("a", pgpass), ("b", services)], &[]);
        let at = |name: &str| home.path().join(name);
        for (name, link) in [("a", ".pgpass"), ("b", ".pg_service.conf")] {
            std::os::unix::fs::symlink(at(name), at(link)).unwrap();
        }
        let of_service = config("service=team", &plain).unwrap();
        assert_eq!(password(&of_service), "word");
        let told = |said: &str| {
            let heard = std::cell::RefCell::new(Vec::new());
            let say = |of: &str| heard.borrow_mut().push(of.to_owned());
            let config = super::config("service=team", &plain, &say).unwrap();
            assert_eq!(config.get_password(), None);
            let heard = heard.into_inner();
            let is_told = heard[..]
                .iter()
                .all(|of| of.contains(said) && of.contains(".pgpass"));
            assert!(heard.len() == 1 && is_told, "{heard:?}");
        };
        allow(&at("a"), 0o640);
        told("chmod 600");
        fs::remove_file(at(".pgpass")).unwrap();
        fs::create_dir(at(".pgpass")).unwrap();
        told("no plain file");
        // Services are no secret, and who names one needs it.
        allow(&at("b"), 0o644);
        fs::remove_dir(at(".pgpass")).unwrap();
        assert_eq!(config("service=team", &plain).unwrap().get_password(), None);
        fs::remove_file(at("b")).unwrap();
        fs::create_dir(at("b")).unwrap();
        let error = config("service=team", &plain).unwrap_err().to_string();
        assert!(error.contains(".pg_service.conf"), "{error}");
    }

    #[test]
    fn nothing_goes_over_a_network_in_clear() {
        let (_home, plain) = surroundings(&[], &[]);
        for (address, mode) in [
            ("//ada@db.example.org/team", SslMode::Require),
            (
                "host=localhost hostaddr=192.0.2.1 user=ada",
                SslMode::Require,
            ),
            ("host=localhost,db.example.org user=ada", SslMode::Require),
            ("//ada@db.example.org/sslmode_test", SslMode::Require),
            ("//ada@db.example.org/team?sslmode=prefer", SslMode::Require),
            (
                "host=db.example.org user=ada sslmode=prefer",
                SslMode::Require,
            ),
            ("//ada@localhost/team?sslmode=require", SslMode::Require),
            ("//ada@localhost/team", SslMode::Disable),
            (
                "host=localhost hostaddr=127.0.0.1 user=ada",
                SslMode::Disable,
            ),
            (
                "//ada@db.example.org/team?sslmode=disable",
                SslMode::Disable,
            ),
        ] {
            let config = config(address, &plain).unwrap();
            assert_eq!(config.get_ssl_mode(), mode, "{address}");
        }
    }

    #[test]
    fn a_server_that_is_gone_is_not_waited_for() {
        let services = "[team]\nhost=db.example.org\nuser=ada\n";
        let (_home, plain) = surroundings(&[(".pg_service.conf", services)], &[]);
        let seconds = |address: &str| {
            let config = config(address, &plain).unwrap();
            let of = |of: Option<&Duration>| of.map(Duration::as_secs);
            assert!(config.get_keepalives());
            [
                of(config.get_connect_timeout()),
                of(Some(&config.get_keepalives_idle())),
                of(config.get_keepalives_interval().as_ref()),
                of(config.get_tcp_user_timeout()),
            ]
            .map(Option::unwrap)
        };
        for address in ["//ada@db.example.org/team", "service=team"] {
            assert_eq!(seconds(address), [30, 30, 10, 120], "{address}");
        }
        let chosen = "connect_timeout=1 keepalives_idle=2 keepalives_interval=3 tcp_user_timeout=4";
        assert_eq!(seconds(&format!("host=x user=ada {chosen}")), [1, 2, 3, 4]);
        let none = "connect_timeout=0 keepalives_idle=0 keepalives_interval=0 tcp_user_timeout=0";
        let none = seconds(&format!("host=x user=ada {none}"));
        assert_eq!(none, [30, 30, 10, 120]);
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_repeated() {
        let (_home, plain) = surroundings(&[], &[]);
        for address in [
            "//ada:hunter2@db.example.org/team",
            "host=x user=ada password=hunter2",
            "password=hunter2 no words",
            "service=hunter",
        ] {
            let error = config(address, &plain).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
