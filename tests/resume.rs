//! Does a session go on in its directory, with the words that were meant?

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::blame::git;
use crate::cli::home;
use crate::sandbox::Sandbox;

/// An agent that tells where it is and what it was told.
fn agent(home: &Sandbox, name: &str) {
    let tells = "#!/bin/sh\nprintf '%s\\n' \"$(pwd -P)\" \"$PWD\" \"$@\"\nexit 7\n";
    let path = home.write(&format!("bin/{name}"), tells);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
}

fn resume(home: &Sandbox, arguments: &[&str]) -> String {
    let output = home
        .command(&[&["resume"][..], arguments].concat())
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin", home.home.join("bin").display()),
        )
        .output()
        .expect("it runs");
    let text = format!(
        "{}--- stderr\n{}--- exit {:?}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        output.status.code()
    );
    text.replace(&home.home.display().to_string(), "~")
}

#[test]
fn the_agent_runs_in_the_sessions_directory() {
    let mut home = home();
    agent(&home, "pi");
    agent(&home, "clido");
    home.cwd.pop();
    assert_snapshot!(resume(&home, &["019b8d10"]), @r#"
    ~/code/parser
    ~/code/parser
    --session
    ~/.pi/agent/sessions/--code-parser--/2026-01-05T09-00-00-000Z_0a.jsonl
    --- stderr
    --- exit Some(7)
    "#);
    assert_snapshot!(resume(&home, &["f47ac10b", "--in", ".."]), @r#"
    ~
    ~
    --resume
    f47ac10b-58cc-4372-a567-0e02b2c3d479
    --- stderr
    --- exit Some(7)
    "#);
    // Its directory is gone.
    assert_snapshot!(resume(&home, &["019b87e9"]), @r"
    --- stderr
    error: ~/code/docs: the session's directory is gone
    hint: --in DIR continues it in another directory, for example --in .
    --- exit Some(2)
    ");
    assert_snapshot!(resume(&home, &["019b87e9", "--in", "nowhere"]), @r#"
    --- stderr
    error: --in nowhere: No such file or directory (os error 2)
    --- exit Some(2)
    "#);
    home.write("code/file", "");
    let refused = "--- stderr\nerror: --in file: not a directory\n--- exit Some(2)";
    for arguments in [
        &["019b87e9", "--in", "file"][..],
        &["019b87e9", "--in", "file", "--print"],
    ] {
        assert_eq!(resume(&home, arguments), refused);
    }
    // What its agent would not list it would not take up.
    assert_snapshot!(resume(&home, &["torn"]), @r"
    --- stderr
    error: pi does not list this session, so it would not resume it: no session header (torn)
    hint: `sessionary show torn` reads it back
    --- exit Some(2)
    ");
    fs::remove_file(home.home.join("bin/pi")).expect("it was there");
    assert_snapshot!(resume(&home, &["019b8d10"]), @r#"
    --- stderr
    error: pi: is not on the PATH
    hint: --print prints the command instead
    --- exit Some(2)
    "#);
}

#[test]
fn the_command_is_printed_for_the_shell() {
    let home = home();
    let odd = "it's $HOME";
    let line = r#"{"type":"session","version":3,"id":"0dd","timestamp":"2026-01-03T09:00:00.000Z","cwd":"~/it's $HOME"}"#;
    home.write(
        &format!(".pi/agent/sessions/--{odd}--/0dd.jsonl"),
        &format!("{line}\n"),
    );
    fs::create_dir_all(home.home.join(odd)).expect("a folder");
    agent(&home, "pi");
    assert_snapshot!(resume(&home, &["last", "--print"]), @r#"
    cd -- ~/code/parser && pi --session ~/.pi/agent/sessions/--code-parser--/2026-01-05T09-00-00-000Z_0a.jsonl
    --- stderr
    --- exit Some(0)
    "#);
    assert_snapshot!(resume(&home, &["0dd", "--print"]), @r#"
    cd -- '~/it'\''s $HOME' && pi --session '~/.pi/agent/sessions/--it'\''s $HOME--/0dd.jsonl'
    --- stderr
    --- exit Some(0)
    "#);
    // What is printed does what running it does.
    let printed = home.output(&["resume", "0dd", "--print"]).stdout;
    let run = std::process::Command::new("sh")
        .arg("-c")
        .arg(String::from_utf8(printed).expect("UTF-8"))
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin", home.home.join("bin").display()),
        )
        .output()
        .expect("a shell");
    let ran = resume(&home, &["0dd"]);
    let said = String::from_utf8_lossy(&run.stdout).replace(&home.home.display().to_string(), "~");
    assert!(
        said.lines().count() == 4 && ran.starts_with(&said),
        "{said}\n{ran}"
    );
    let json = home.json(&["resume", "0dd", "--json"]);
    assert_eq!(json["resume"], json["session"]["resume"]);
    assert_eq!(json["resume"]["argv"][1], "--session");
}

/// The Python package indusagi has no option for a session, and what is called `indusagi` else is
/// not the program that wrote it.
#[test]
fn no_other_program_of_that_name_takes_a_session_up() {
    let home = Sandbox::new();
    let session = "{\"type\":\"session\",\"version\":3,\"id\":\"0a\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}\n";
    for (folder, word) in [(".indusagi", Some("indusagi")), (".pindusagi", None)] {
        let path = format!("{folder}/agent/sessions/--w--/{folder}.jsonl");
        home.write(&path, session);
        let shown = home.json(&[
            "show",
            &home.home.join(&path).display().to_string(),
            "--json",
        ]);
        assert_eq!(shown["session"]["listed_by_agent"], true);
        assert_eq!(shown["session"]["resume"]["argv"][0].as_str(), word);
        let listed = home.json(&["list", "--all", "--json"]);
        let rows = listed["sessions"].as_array().expect("rows");
        let path = &shown["session"]["path"];
        let row = rows.iter().find(|row| row["path"] == *path);
        assert_eq!(row.expect("a row")["resume"], shown["session"]["resume"]);
    }
}

/// `pi --session PATH` opens what pi's list leaves out for where it lies (0.87.1, `main.js`:
/// `resolveSessionPath`), and nothing that does not begin with a header.
#[test]
fn pi_takes_up_by_its_path_what_it_does_not_list() {
    let home = Sandbox::new();
    let sessions = ".pi/agent/sessions";
    let header = r#"{"type":"session","version":3,"id":"ID","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#;
    let odd = r#"{"type":"message","id":"m","parentId":null}"#;
    for (id, name, opens) in [
        ("0a", "directly.jsonl", true),
        ("0b", "--w--/deep/er/session.jsonl", true),
        ("0c", "--w--/put.jsonl.bak-1", true),
        ("0d", "--w--/listed.jsonl", true),
        ("0e", "--w--/deep/no-header.jsonl", false),
        ("0f", "--w--/deep/odd.jsonl", false),
    ] {
        let line = header.replace("ID", id);
        let text = match id {
            "0e" => format!("{odd}\n{line}\n"),
            "0f" => format!("{line}\n{odd}\n"),
            _ => format!("{line}\n"),
        };
        let path = home.write(&format!("{sessions}/{name}"), &text);
        let shown = home.json(&["show", &path.display().to_string(), "--json"]);
        let argv = &shown["session"]["resume"]["argv"];
        let expected = opens.then(|| path.to_str().expect("a path"));
        assert_eq!(argv[2].as_str(), expected, "{name}: {shown}");
        assert_eq!(shown["session"]["listed_by_agent"], id == "0d", "{name}");
        let said = resume(&home, &[&path.display().to_string(), "--print"]);
        assert_eq!(said.contains("&& pi --session "), opens, "{said}");
        assert_eq!(
            said.contains("pi does not list this session"),
            !opens,
            "{said}"
        );
    }
}

#[test]
fn a_printed_command_whose_directory_is_gone_says_so() {
    let home = home();
    let said = resume(&home, &["019b87e9", "--print"]);
    assert!(said.starts_with("cd -- "), "{said}");
    assert!(
        said.contains(" is gone; --in DIR names another directory."),
        "{said}"
    );
    assert!(!resume(&home, &["019b87e9", "--print", "--in", "."]).contains("gone"));
}

/// A work tree that is gone comes back from its repository, whether git has removed it or somebody
/// else.
#[test]
fn a_work_tree_that_is_gone_is_made_again() {
    let home = home();
    let Some(_) = git(&home, &["init", "-q"]) else {
        return;
    };
    git(&home, &["commit", "-q", "--allow-empty", "-m", "x"]);
    git(&home, &["worktree", "add", "-q", "../fix"]);
    let line = r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"c1a0de02-0000-4000-8000-000000000000","cwd":"~/code/fix","timestamp":"2026-01-05T09:00:00.000Z","message":{"role":"user","content":"Fix it"}}"#;
    let session = ".claude/projects/-fix/c1a0de02-0000-4000-8000-000000000000.jsonl";
    home.write(session, &format!("{line}\n"));
    let _ = home.run(&["list"]);
    let fix = home.home.join("code/fix");
    for by_git in [false, true] {
        match by_git {
            true => drop(git(&home, &["worktree", "remove", "../fix"])),
            false => fs::remove_dir_all(&fix).expect("it was there"),
        }
        let output = home.output(&["resume", "c1a0de02", "--print"]);
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        let (_, command) = said.split_once("`git ").expect("a command");
        let (command, _) = command.split_once('`').expect("its end");
        git(&home, &command.split_whitespace().collect::<Vec<_>>());
        assert!(fix.join(".git").exists(), "{said}");
    }
}

/// Some agents find a session only in its own directory: nobody is sent elsewhere where that is
/// gone.
#[test]
fn where_an_agent_finds_a_session_only_in_its_directory_that_is_made_again() {
    let home = home();
    agent(&home, "claude");
    for (id, cwd) in [
        ("c1a0de00", "~/code/my work"),
        ("c1a0de01", "~/code/parser"),
    ] {
        let id = format!("{id}-0000-4000-8000-000000000000");
        let said = r#""timestamp":"2026-01-05T09:00:00.000Z","message":{"role":"user","content":"Fix it"}"#;
        let line = format!(
            "{{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"{id}\",\"cwd\":\"{cwd}\",{said}}}\n"
        );
        home.write(&format!(".claude/projects/-w/{id}.jsonl"), &line);
    }
    assert_snapshot!(resume(&home, &["c1a0de00"]), @r"
    --- stderr
    error: ~/code/my work: the session's directory is gone, and claude finds the session in no other
    hint: `mkdir -p '~/code/my work'` makes it again, empty
    --- exit Some(2)
    ");
    assert_snapshot!(resume(&home, &["c1a0de00", "--print"]), @r"
    cd -- '~/code/my work' && claude --resume c1a0de00-0000-4000-8000-000000000000
    --- stderr
    ~/code/my work is gone; `mkdir -p '~/code/my work'` makes it again, empty.
    --- exit Some(0)
    ");
    // Who names another directory is told, and has it.
    assert_snapshot!(resume(&home, &["c1a0de00", "--in", "."]), @r"
    ~/code/parser
    ~/code/parser
    --resume
    c1a0de00-0000-4000-8000-000000000000
    --- stderr
    claude finds a session only in its own directory, which is ~/code/my work: in ~/code/parser it may not find this one.
    --- exit Some(7)
    ");
    assert!(resume(&home, &["c1a0de01", "--in", "."]).contains("--- stderr\n--- exit Some(7)"));
    let json = home.output(&["resume", "c1a0de00", "--in", ".", "--json"]);
    let said = String::from_utf8_lossy(&json.stderr).into_owned();
    assert!(
        json.status.success() && said.contains("in its own directory"),
        "{said}"
    );
    // The hint does what it says.
    std::fs::create_dir_all(home.home.join("code/my work")).expect("a folder");
    assert!(resume(&home, &["c1a0de00"]).starts_with("~/code/my work\n"));
}
