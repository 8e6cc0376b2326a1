//! What does a person at a terminal meet whom a command asks something?

use crate::sandbox::Sandbox;
use crate::watching::session;

const FILE: &str = ".pi/agent/sessions/--w--/one.jsonl";

#[test]
fn no_is_an_answer_and_no_error() {
    let home = Sandbox::new();
    let path = home.write(FILE, &session(1, "one").replace("/w\"", "~/gone\""));
    // Else it may be in use.
    home.touch(&path, 1_767_600_000);
    let unit = home
        .home
        .join(".config/systemd/user/sessionary-watch.service");
    let _ = home.run(&["sync"]);
    for (arguments, nothing) in [
        (&["delete", "019b8d10"][..], "No: nothing was moved."),
        (&["clean"], "No: nothing was removed."),
        (&["resume", "019b8d10"], "No: nothing was started."),
        (&["watch", "--install"], "No: nothing was installed."),
    ] {
        for typed in ["n\n", "\n"] {
            let Some(seen) = home.on_terminal(arguments, typed) else {
                return;
            };
            let end = format!("{nothing}\n--- exit Some(1)\n");
            assert!(seen.ends_with(&end), "{arguments:?}: {seen}");
            assert!(seen.contains("[y/N]"), "{arguments:?}: {seen}");
            assert!(!seen.contains("error"), "{arguments:?}: {seen}");
        }
        // Nobody is there to be asked: that is one.
        let said = home.run(arguments);
        assert!(said.contains("error: "), "{arguments:?}: {said}");
        assert!(said.ends_with("--- exit Some(2)\n"), "{said}");
    }
    assert!(path.exists() && !unit.exists());
    assert!(home.home.join(".cache/sessionary").exists());
    let seen = home.on_terminal(&["clean"], "y\n").unwrap();
    assert!(
        seen.contains("Removed ") && !seen.contains("exit"),
        "{seen}"
    );
    assert!(!home.home.join(".cache/sessionary").exists());
}
