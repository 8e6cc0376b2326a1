//! A PostgreSQL server in a folder of its own, on a free port of this machine alone.

use std::env;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::machine::{BOAT, Machine};

/// A server, stopped when it is dropped.
pub struct Server {
    folder: tempfile::TempDir,
    bin: PathBuf,
    port: u16,
    /// By whom it is run: the server refuses root.
    user: Option<(u32, u32)>,
}

impl Server {
    /// One that runs, with the tables made and these roles, who read and write; `None`: PostgreSQL
    /// is not installed, which is said, and no success where tools are required.
    pub fn with(roles: &[&str]) -> Option<Server> {
        let Some(bin) = bin() else {
            let is_required = env::var_os("SESSIONARY_TOOLS").is_some_and(|of| of == "required");
            assert!(!is_required, "PostgreSQL is not installed");
            eprintln!("SKIPPED: PostgreSQL is not installed (Debian: postgresql)");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let folder = tempfile::tempdir().unwrap();
        let user = another_user();
        if let Some((uid, gid)) = user {
            std::os::unix::fs::chown(folder.path(), Some(uid), Some(gid)).unwrap();
        }
        let server = Server {
            folder,
            bin,
            port,
            user,
        };
        let data = server.data();
        let passwords = server.folder.path().join("password");
        fs::write(&passwords, "admin-word\n").unwrap();
        if let Some((uid, gid)) = user {
            std::os::unix::fs::chown(&passwords, Some(uid), Some(gid)).unwrap();
        }
        server.run(
            "initdb",
            &[
                "--pgdata",
                &data,
                "--username=admin",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--no-sync",
                "--pwfile",
                &passwords.display().to_string(),
            ],
        );
        server.start();
        server.sql("CREATE DATABASE team");
        let admin = Machine::new("admin");
        server.admit(&admin, "admin");
        admin.team(&["init", &server.address("admin"), "--host", "admin"]);
        for role in roles {
            server.sql(&format!(
                "CREATE ROLE {role} LOGIN PASSWORD '{role}-word';
                 GRANT sessionary_reader_team, sessionary_writer_team TO {role}"
            ));
        }
        Some(server)
    }

    /// Let it encrypt, with a certificate of its own; where that is. `None`: there is no openssl.
    pub fn encrypt(&self) -> Option<PathBuf> {
        let at = |name: &str| self.folder.path().join(name);
        let (key, certificate) = (at("key.pem"), at("certificate.pem"));
        let made = Command::new("openssl")
            .args([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=db",
            ])
            .args(["-addext", "subjectAltName=IP:127.0.0.1", "-addext"])
            .args(["basicConstraints=critical,CA:FALSE", "-keyout"])
            .args([&key, Path::new("-out"), &certificate])
            .output();
        if made.map_or(true, |made| !made.status.success()) {
            eprintln!("SKIPPED: there is no openssl that makes a certificate");
            return None;
        }
        for file in [&key, &certificate] {
            if let Some((uid, gid)) = self.user {
                std::os::unix::fs::chown(file, Some(uid), Some(gid)).unwrap();
            }
        }
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(&key, mode).unwrap();
        self.sql(&format!(
            "ALTER SYSTEM SET ssl_key_file = '{}'",
            key.display()
        ));
        self.sql(&format!(
            "ALTER SYSTEM SET ssl_cert_file = '{}'",
            certificate.display()
        ));
        self.sql("ALTER SYSTEM SET ssl = on");
        self.sql("SELECT pg_reload_conf()");
        let copy = std::env::temp_dir().join(format!("certificate-{}.pem", self.port));
        fs::copy(&certificate, &copy).unwrap();
        Some(copy)
    }

    /// Where a role finds it.
    pub fn address(&self, role: &str) -> String {
        format!("postgres://{role}@127.0.0.1:{}/team", self.port)
    }

    /// Put the password of a role where PostgreSQL's own programs look for it.
    pub fn admit(&self, machine: &Machine, role: &str) {
        let line = format!("127.0.0.1:{}:*:{role}:{role}-word\n", self.port);
        let file = machine.home().join(".pgpass");
        fs::write(&file, line).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(file, mode).unwrap();
    }

    /// A machine that shares the boat by the role of its name.
    pub fn sharing(&self, name: &str) -> Machine {
        let machine = Machine::new(name);
        self.admit(&machine, name);
        machine.team(&["init", &self.address(name), "--host", name]);
        machine.team(&["share", BOAT]);
        machine
    }

    /// Start it, and wait until it answers.
    pub fn start(&self) {
        let socket = self.folder.path().display();
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories={socket} -c fsync=off",
            self.port
        );
        let log = self.folder.path().join("log").display().to_string();
        self.run(
            "pg_ctl",
            &[
                "-D",
                &self.data(),
                "-w",
                "-l",
                &log,
                "-o",
                &options,
                "start",
            ],
        );
    }

    /// End it as a crash would: nothing is written down any more.
    pub fn crash(&self) {
        self.run(
            "pg_ctl",
            &["-D", &self.data(), "-w", "-m", "immediate", "stop"],
        );
    }

    /// Ask as the admin.
    pub fn sql(&self, sql: &str) -> String {
        let database = if sql.starts_with("CREATE DATABASE") {
            "postgres"
        } else {
            "team"
        };
        let output = self.psql("admin", database, sql);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {said}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Ask as a role: what came, or the error.
    pub fn sql_as(&self, role: &str, sql: &str) -> Result<String, String> {
        let output = self.psql(role, "team", sql);
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    fn psql(&self, role: &str, database: &str, sql: &str) -> Output {
        Command::new(self.bin.join("psql"))
            .args([
                "-h",
                "127.0.0.1",
                "-p",
                &self.port.to_string(),
                "-U",
                role,
                "-d",
                database,
            ])
            .args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql])
            .env_clear()
            .env("PGPASSWORD", format!("{role}-word"))
            .output()
            .unwrap()
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(self.bin.join(program));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("LC_ALL", "C");
        if let Some((uid, gid)) = self.user {
            std::os::unix::process::CommandExt::uid(&mut command, uid);
            std::os::unix::process::CommandExt::gid(&mut command, gid);
        }
        // The server keeps what it is given, so that is no pipe.
        let log = fs::File::create(self.folder.path().join(format!("{program}.log"))).unwrap();
        command.stdout(log.try_clone().unwrap()).stderr(log);
        let ended = command.status().unwrap();
        let log = || fs::read_to_string(self.folder.path().join(format!("{program}.log")));
        assert!(ended.success(), "{program}: {:?}", log());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = Command::new(self.bin.join("pg_ctl"));
        stop.args(["-D", &self.data(), "-m", "immediate", "stop"])
            .current_dir(self.folder.path());
        if let Some((uid, gid)) = self.user {
            std::os::unix::process::CommandExt::uid(&mut stop, uid);
            std::os::unix::process::CommandExt::gid(&mut stop, gid);
        }
        // One that has crashed is not there any more.
        let _ = stop.output();
    }
}

/// Where Debian, or whoever set the PATH, has the server's programs.
fn bin() -> Option<PathBuf> {
    let debian = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let mut found: Vec<PathBuf> = debian.map(|version| version.path().join("bin")).collect();
    found.sort();
    let path = env::var_os("PATH").unwrap_or_default();
    found.extend(env::split_paths(&path));
    found
        .into_iter()
        .find(|bin| bin.join("initdb").is_file() && bin.join("psql").is_file())
}

/// The user that PostgreSQL's package made, or nobody: root may not run it.
fn another_user() -> Option<(u32, u32)> {
    let own = std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap());
    if own != 0 {
        return None;
    }
    let users = fs::read_to_string(Path::new("/etc/passwd")).unwrap();
    let of = |name: &str| {
        let mut lines = users
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>());
        let line = lines.find(|line| line[0] == name)?;
        Some((line[2].parse().unwrap(), line[3].parse().unwrap()))
    };
    of("postgres").or_else(|| of("nobody"))
}
