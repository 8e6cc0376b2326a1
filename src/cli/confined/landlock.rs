//! How does the kernel hold this process to what it may do? By Landlock, which takes rights away
//! and gives none back.

use std::env;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, Scope, path_beneath_rules,
};

/// The newest rules that are asked for.
const NEWEST: ABI = ABI::V9;

/// Gives it up, but for these folders. A kernel without these rules is no error, and holds
/// nobody to them.
pub fn give_up(
    written: &[PathBuf],
    temporary: &[PathBuf],
) -> Result<RestrictionStatus, RulesetError> {
    let writing = AccessFs::from_write(NEWEST);
    let unnamed = AccessFs::WriteFile | AccessFs::MakeReg | AccessFs::RemoveFile;
    Ruleset::default()
        .handle_access(writing | AccessFs::Execute)?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(written, writing))?
        .add_rules(path_beneath_rules(temporary, unnamed | AccessFs::Truncate))?
        .restrict_self()
}

/// Where SQLite may make temporary files, which lose their names as soon as they are open.
pub fn temporary() -> Vec<PathBuf> {
    let named = ["SQLITE_TMPDIR", "TMPDIR"].into_iter();
    let named = named.filter_map(env::var_os).map(PathBuf::from);
    named
        .chain(["/var/tmp", "/tmp"].map(PathBuf::from))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::ErrorKind;
    use std::process::Command;
    use std::thread;

    use landlock::RulesetStatus;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_types, reason = "what must not be reached is there")]
    fn what_is_given_up_is_refused_and_the_rest_goes_on() {
        let home = tempfile::tempdir().unwrap();
        let (index, other) = (home.path().join("index"), home.path().join("other"));
        fs::create_dir(&index).unwrap();
        fs::write(&other, "a session").unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // Other threads go on as before.
        let confined = thread::spawn(move || {
            let status = give_up(std::slice::from_ref(&index), &[]).unwrap();
            if status.ruleset == RulesetStatus::NotEnforced {
                eprintln!("SKIPPED: this kernel has no Landlock");
                return;
            }
            fs::write(index.join("words"), "known").unwrap();
            fs::rename(index.join("words"), index.join("new")).unwrap();
            assert_eq!(fs::read_to_string(&other).unwrap(), "a session");
            let refused = |kind: ErrorKind| assert_eq!(kind, ErrorKind::PermissionDenied);
            refused(fs::write(&other, "forged").unwrap_err().kind());
            refused(
                File::create(other.with_extension("new"))
                    .unwrap_err()
                    .kind(),
            );
            refused(fs::remove_file(&other).unwrap_err().kind());
            refused(Command::new("/bin/true").spawn().unwrap_err().kind());
            if status.ruleset == RulesetStatus::FullyEnforced {
                refused(std::net::TcpStream::connect(address).unwrap_err().kind());
            }
        });
        confined.join().unwrap();
        fs::write(home.path().join("other"), "another").unwrap();
    }
}
