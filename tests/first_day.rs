//! What does a new user meet, on the first day and on a bad one?

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::cli::home;
use crate::sandbox::Sandbox;

#[test]
fn where_sessions_were_looked_for() {
    let home = home();
    home.write(".pi/agent/settings.json", r#"{"sessionDir":"~/flat"}"#);
    let roots = |arguments: &[&str]| {
        home.run(
            &[
                &["status", "--roots", "--root", "clido:../old=laptop"][..],
                arguments,
            ]
            .concat(),
        )
    };
    assert_snapshot!(roots(&[]), @"
    AGENT         ROOT                         SESSIONS  FILES  NEWEST  WHY
    pi            ~/.pi/agent/sessions                3      3  5m      default
    pi            ~/flat                              0      0          sessionDir of ~/.pi/agent/setti…
    indusagi      ~/.indusagi/agent/sessions          0      0          default, not there
    indusagi      ~/.pindusagi/agent/sessions         0      0          default, not there
    clido         ~/clido/sessions                    1      1  3d      $CLIDO_DATA_DIR
    agentuse      …cal/share/agentuse/project         0      0          default, not there
    claude        ~/.claude/projects                  0      0          default, not there
    codex         ~/.codex/sessions                   0      0          default, not there
    codex         ~/.codex/archived_sessions          0      0          default, not there
    copilot       ~/.copilot/session-state            0      0          default, not there
    cursor        ~/.cursor/projects                  0      0          default, not there
    gemini        ~/.gemini/tmp                       0      0          default, not there
    induscode     ~/.pindusagi/sessions               0      0          default, not there
    openclaw      ~/.openclaw/agents                  0      0          default, not there
    opencode      ~/.local/share/opencode             0      0          default, not there
    qwen          ~/.qwen/projects                    0      0          default, not there
    clido=laptop  ~/code/parser/../old                0      0          --root, not there

    pi: 1 file of a shape that this version does not know; first: ~/.pi/agent/sessions/--code-parser--/torn.jsonl, line 1
    ");
    let json = home.json(&["status", "--roots", "--json"]);
    assert_eq!(json["complete"], true);
    assert_eq!(
        json["roots"][0]["newest"], "2026-01-05T11:55:00.000Z",
        "{json}"
    );
    assert_eq!(json["roots"].as_array().map(Vec::len), Some(16));
}

#[test]
fn every_setting_says_where_it_comes_from() {
    let home = home();
    let show = |arguments: &[&str]| home.run(&[arguments, &["config", "show"]].concat());
    assert_snapshot!(show(&["--index", "here"]), @r"
    KEY           VALUE           SOURCE   WHAT FOR
    index         here            --index  folder of the index
    roots         (none)          default  more session folders, each as --root takes it
    exclude       (none)          default  globs for working directories and files that are not stored
    follow_links  false           default  whether symbolic links are followed out of the session folde…
    background    true            default  whether words are indexed for a moment after an answer
    redact        not-a-terminal  default  when keys and tokens are redacted
    pager         true            default  whether long output on a terminal is shown in a pager
    timezone      UTC             $TZ      the time zone of days and printed times
    team.auto     false           default  whether `watch` pushes what is shared
    ");
    let path = home.output(&["config", "path"]).stdout;
    let path = String::from_utf8(path).expect("UTF-8");
    let path = Path::new(path.trim_end())
        .strip_prefix(&home.home)
        .expect("below the home");
    let path = path.to_str().expect("UTF-8");
    home.write(
        path,
        "index = \"~/kept\"\nroots = [\"pi:~/more=old\"]\nbackground = false\n",
    );
    assert_snapshot!(show(&[]), @r"
    KEY           VALUE           SOURCE   WHAT FOR
    index         ~/kept          config   folder of the index
    roots         pi:~/more=old   config   more session folders, each as --root takes it
    exclude       (none)          default  globs for working directories and files that are not stored
    follow_links  false           default  whether symbolic links are followed out of the session folde…
    background    false           config   whether words are indexed for a moment after an answer
    redact        not-a-terminal  default  when keys and tokens are redacted
    pager         true            default  whether long output on a terminal is shown in a pager
    timezone      UTC             $TZ      the time zone of days and printed times
    team.auto     false           default  whether `watch` pushes what is shared
    ");
    assert_snapshot!(show(&["--index", "here"]), @r"
    KEY           VALUE           SOURCE   WHAT FOR
    index         here            --index  folder of the index
    roots         pi:~/more=old   config   more session folders, each as --root takes it
    exclude       (none)          default  globs for working directories and files that are not stored
    follow_links  false           default  whether symbolic links are followed out of the session folde…
    background    false           config   whether words are indexed for a moment after an answer
    redact        not-a-terminal  default  when keys and tokens are redacted
    pager         true            default  whether long output on a terminal is shown in a pager
    timezone      UTC             $TZ      the time zone of days and printed times
    team.auto     false           default  whether `watch` pushes what is shared
    ");
    let roots = home.run(&["status", "--roots"]);
    assert!(
        roots.contains("pi=old     ~/more") && roots.contains("config, not there"),
        "{roots}"
    );
    assert!(home.home.join("kept/v5").is_dir());
    // The words wait for a sync.
    let status = home.json(&["status", "--json"]);
    assert!(status["outstanding"].as_u64() > Some(0), "{status}");
    let ci = home
        .command(&["config", "show", "--json"])
        .env("CI", "1")
        .output()
        .expect("it runs");
    let ci: Value = serde_json::from_slice(&ci.stdout).expect("JSON");
    assert_eq!(
        ci["settings"]["background"],
        json!({ "value": false, "source": "$CI" })
    );
    assert_eq!(ci["settings"]["roots"]["source"], "config");
    home.write(path, "background = true\nrots = []\n");
    assert_snapshot!(home.run(&["list"]), @r"
    --- stderr
    error: $HOME/.config/sessionary/config.toml:2: unknown key `rots`
    hint: did you mean `roots`? Known keys: index, roots, exclude, follow_links, background, redact, pager, timezone, team.auto
    --- exit Some(2)
    ");
    home.write(path, "roots = [\"vim:/x\"]\n");
    assert_snapshot!(home.run(&["list"]), @"
    --- stderr
    error: $HOME/.config/sessionary/config.toml:1: `roots`: vim:/x: no format or agent is called `vim`
    hint: known names: pi, indusagi, clido, agentuse, claude, codex, copilot, cursor, gemini, induscode, openclaw, opencode, qwen
    --- exit Some(2)
    ");
    home.write(path, "exclude = \"x\"\n");
    assert_snapshot!(home.run(&["list"]), @r#"
    --- stderr
    error: $HOME/.config/sessionary/config.toml:1: `exclude` takes a list of texts, not "x"
    hint: for example exclude = ["~/code/secret", "*.draft.jsonl"]
    --- exit Some(2)
    "#);
    // What only asks where the file is needs none that can be read.
    assert!(home.output(&["config", "path"]).status.success());
    assert_snapshot!(home.run(&["config", "path", "--json"]), @r#"
    {"schema_version":1,"file":"$HOME/.config/sessionary/config.toml"}
    "#);

    // What would leave out everything, or nothing.
    home.write(path, "exclude = [\"\"]\n");
    assert_snapshot!(home.run(&["list"]), @r#"
    --- stderr
    error: $HOME/.config/sessionary/config.toml:1: `exclude`: "": it names nothing, and as a glob it would match everything
    hint: for example exclude = ["~/code/secret", "*.draft.jsonl"]
    --- exit Some(2)
    "#);
    home.write(path, "exclude = [\"code/secret/\"]\n");
    assert_snapshot!(home.run(&["list"]), @r"
    --- stderr
    error: $HOME/.config/sessionary/config.toml:1: `exclude`: code/secret/: no path starts like this, so it would exclude nothing
    hint: ~/code/secret/ is below your home folder, **/code/secret/ anywhere
    --- exit Some(2)
    ");

    // Relative places start at the file, in whatever directory the command runs.
    home.write(path, "index = \"kept\"\nroots = [\"pi:more=old\"]\n");
    let folder = Path::new(path).parent().expect("its folder");
    let folder = home.home.join(folder);
    let status = home.json(&["status", "--roots", "--json"]);
    let roots = status["roots"].as_array().expect("roots").iter();
    let old: Vec<_> = roots
        .filter(|root| root["label"] == "old")
        .map(|root| &root["path"])
        .collect();
    assert_eq!(old, [&json!(folder.join("more"))]);
    assert!(folder.join("kept/v5/catalogue.sqlite").is_file());
}

/// A wrong value is told with its file, line and key, and by `config show` too, which is asked
/// first when something is wrong.
#[test]
fn a_value_that_cannot_be_followed_is_told_with_its_line() {
    let home = Sandbox::new();
    let path = ".config/sessionary/config.toml";
    for (text, said, hint) in [
        ("index = \"\"", "1: `index`: it is empty", "name a folder"),
        (
            "\nindex = \"$HOME/x\"",
            "2: `index`: $HOME/x begins with a variable",
            "~ is your home folder, as in ~/x",
        ),
        (
            "roots = [\n\"pi:~/y\",\n\"pi:${HOME}/z\"\n]",
            "3: `roots`: pi:${HOME}/z: the folder begins with a variable",
            "~ is your home folder, as in ~/z",
        ),
        (
            "roots = [\"/x\"]",
            "1: `roots`: /x: not FORMAT:DIR",
            "for example roots = [\"pi:~/backup/sessions=laptop\"]",
        ),
        (
            "exclude = [\"ok\",\n\"a{b\"]",
            "2: `exclude`: a{b: ",
            "for example exclude = [",
        ),
        (
            "exclude = [\"$HOME/x\"]",
            "1: `exclude`: $HOME/x: no path starts like this",
            "~ is your home folder, as in ~/x",
        ),
        (
            "\n\ntimezone = \"Berlin\"",
            "3: `timezone`: \"Berlin\" is no time zone",
            "did you mean Europe/Berlin?",
        ),
    ] {
        home.write(path, text);
        for asked in [&["config", "show"][..], &["list"]] {
            let refused = home.run(asked);
            let place = format!("error: $HOME/{path}:{said}");
            assert!(refused.contains(&place), "{asked:?}: {refused}");
            assert!(refused.contains(hint), "{asked:?}: {refused}");
            assert!(refused.ends_with("--- exit Some(2)\n"), "{refused}");
        }
    }
    // Nothing was made beside the file, nor a folder named by a variable.
    let beside = fs::read_dir(home.home.join(".config/sessionary")).expect("its folder");
    assert_eq!(beside.count(), 1);
    // What is overridden is not looked at.
    home.write(path, "index = \"\"");
    assert!(home.output(&["--index", "here", "list"]).status.code() != Some(2));
    // A folder may be called like a variable, and names may have one in them.
    home.write(path, "index = \"./$x\"\nexclude = [\"$RECYCLE.BIN\"]");
    assert!(home.output(&["config", "show"]).status.success());
}

#[test]
fn a_root_that_was_typed_and_is_not_there_is_told_once() {
    let home = home();
    let said = "--root ~/typo: there is no such folder";
    let root = format!("pi:{}", home.home.join("typo").display());
    for arguments in [&["list", "--all"][..], &["search", "tokenizer"]] {
        let told = home.run(&[&["--root", &root], arguments].concat());
        assert_eq!(told.matches(said).count(), 1, "{told}");
        assert!(told.contains("Tokenizer work"), "{told}");
    }
    let json = |arguments: &[&str]| home.json(arguments)["sessions"].clone();
    let plain = json(&["list", "--all", "--json"]);
    assert_eq!(json(&["--root", &root, "list", "--all", "--json"]), plain);
    fs::create_dir(home.home.join("typo")).expect("a folder");
    let told = home.run(&["--root", &root, "list", "--all"]);
    assert!(!told.contains("no such folder"), "{told}");
}

#[test]
fn nothing_found_says_where_and_what_to_do() {
    let home = Sandbox::new();
    assert_snapshot!(home.run(&["list"]), @r#"
    --- stderr
    AGENT      ROOT                             SESSIONS  FILES  NEWEST  WHY
    pi         ~/.pi/agent/sessions                    0      0          default, not there
    indusagi   ~/.indusagi/agent/sessions              0      0          default, not there
    indusagi   ~/.pindusagi/agent/sessions             0      0          default, not there
    clido      ~/clido/sessions                        0      0          $CLIDO_DATA_DIR, not there
    agentuse   ~/.local/share/agentuse/project         0      0          default, not there
    claude     ~/.claude/projects                      0      0          default, not there
    codex      ~/.codex/sessions                       0      0          default, not there
    codex      ~/.codex/archived_sessions              0      0          default, not there
    copilot    ~/.copilot/session-state                0      0          default, not there
    cursor     ~/.cursor/projects                      0      0          default, not there
    gemini     ~/.gemini/tmp                           0      0          default, not there
    induscode  ~/.pindusagi/sessions                   0      0          default, not there
    openclaw   ~/.openclaw/agents                      0      0          default, not there
    opencode   ~/.local/share/opencode                 0      0          default, not there
    qwen       ~/.qwen/projects                        0      0          default, not there
    No sessions were found in any of these places. If yours are elsewhere, name the folder:
    once with --root pi:DIR, or for good in the file that `sessionary config path` names: roots = ["pi:DIR"]
    To try it on made-up sessions: sessionary --demo list --all
    --- exit Some(1)
    "#);
    let all = home.run(&["list", "--all"]);
    assert_eq!(all, home.run(&["list"]));
    let searched = home.run(&["search", "x"]);
    assert_eq!(
        searched,
        all.replacen("--- stderr\n", "--- stderr\nNothing found for x.\n", 1)
    );
    assert_snapshot!(home.run(&["show", "last"]), @r#"
    --- stderr
    error: there are no sessions in ~/code/parser
    hint: `sessionary list --all` shows every session
    --- exit Some(1)
    "#);
    let json = home.output(&["list", "--all", "--json"]);
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&json.stdout).expect("JSON")["sessions"],
        json!([])
    );
}

#[test]
fn cleaning_takes_all_that_is_ours_and_nothing_else() {
    let home = home();
    home.settle();
    let _ = home.run(&["sync"]);
    let index = home.home.join(".cache/sessionary");
    // Another version's generation, one of somebody else, a session that strayed here.
    home.write(".cache/sessionary/v0/lock", "");
    home.write(
        ".cache/sessionary/v7/catalogue.sqlite",
        &"not ours ".repeat(20),
    );
    let foreign_file = home.write(".cache/sessionary/v5/a.jsonl", "{}");
    let asked = home.run(&["clean"]);
    assert!(
        asked.ends_with(
            "error: nothing was removed: there is no terminal to ask on\nhint: --yes removes without asking\n--- exit Some(2)\n"
        ),
        "{asked}"
    );
    // Its folder is enough, and what stays is said.
    let asked: Vec<&str> = asked.lines().collect();
    let is_folder = asked[1].starts_with("~/.cache/sessionary  ");
    assert!(
        is_folder && asked[2] == "No session is touched.",
        "{asked:?}"
    );
    let lock = fs::File::open(index.join("v5/lock")).expect("the lock");
    lock.lock().expect("it is free");
    assert!(
        home.run(&["clean", "--yes", "--no-wait"])
            .contains("another process is writing")
    );
    assert!(index.join("v0/lock").exists());
    drop(lock);
    let done = home.run(&["clean", "--yes"]);
    assert!(
        done.starts_with("Removed ")
            && done.contains("v7 was not written by sessionary")
            && done.contains("a.jsonl was not written by sessionary"),
        "{done}"
    );
    let mut left: Vec<String> = walkdir::WalkDir::new(&index)
        .into_iter()
        .map(|entry| {
            entry
                .expect("an entry")
                .path()
                .strip_prefix(&index)
                .expect("below")
                .display()
                .to_string()
        })
        .collect();
    left.sort();
    assert_eq!(left, ["", "v5", "v5/a.jsonl", "v7", "v7/catalogue.sqlite"]);
    fs::remove_file(foreign_file).expect("it is there");
    fs::remove_dir_all(index.join("v7")).expect("it is there");
    assert!(home.output(&["list"]).status.success());
    // What was said once of an agent that deletes is noted beside the index.
    let noted = home.write(
        ".local/share/sessionary/deletions-told.json",
        "[\"claude\"]",
    );
    let _ = home.run(&["clean", "--yes"]);
    assert!(!index.exists());
    assert!(!noted.parent().expect("a folder").exists());
    assert_snapshot!(home.run(&["clean", "--yes"]), @r#"
    --- stderr
    Nothing to remove in ~/.cache/sessionary.
    --- exit Some(1)
    "#);
    // Sessions and the agents' folders are as they were.
    assert_eq!(home.json(&["list", "--all", "--json"])["total"], 4);
}

#[test]
fn an_index_that_cannot_be_made_is_told_with_the_remedy() {
    let home = home();
    // A file where a folder is needed: not even the superuser can write there.
    home.write(".cache", "");
    let said = home.run(&["sync"]);
    assert_snapshot!(said, @r#"
    --- stderr
    error: cannot write $HOME/.cache/sessionary/v5: Not a directory (os error 20)
    hint: choose another directory with --index
    --- exit Some(2)
    "#);
    for arguments in [
        &[][..],
        &["list"],
        &["list", "--all", "--json"],
        &["list", "--jsonl"],
        &["search", "tokenizer"],
        &["sql", "SELECT 1"],
    ] {
        let output = home.output(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(
            output.stdout.is_empty() && told.contains("Not a directory"),
            "{arguments:?}: {told}"
        );
    }
    assert_snapshot!(home.run(&["show", "last"]), @r#"
    --- stderr
    error: cannot write $HOME/.cache/sessionary/v5: Not a directory (os error 20)
    hint: choose another directory with --index
    hint: a session file can be named by its path
    --- exit Some(2)
    "#);
    // A file that is named is read all the same.
    let file = home.write("elsewhere.jsonl", "{\"type\":\"session\",\"version\":3,\"id\":\"0z\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}\n{\"type\":\"session_info\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"name\":\"x\"}\n");
    assert!(
        home.output(&["tree", &file.display().to_string()])
            .status
            .success()
    );
    let with = home.run(&["list", "--index", "elsewhere"]);
    assert!(with.starts_with("AGE"), "{with}");
}

#[test]
fn an_index_of_another_program_or_a_newer_one_is_left_alone() {
    let home = home();
    let catalogue = home.write(".cache/sessionary/v5/x", "");
    let catalogue = catalogue.with_file_name("catalogue.sqlite");
    let other = rusqlite::Connection::open(&catalogue).expect("a database");
    other
        .execute_batch("CREATE TABLE mine (x); PRAGMA application_id = 7")
        .expect("its table");
    for arguments in [&["list"][..], &["sync"], &["status"], &["rebuild"]] {
        let said = home.run(arguments);
        assert!(
            said.contains("is not a sessionary catalogue") && said.contains("--index"),
            "{said}"
        );
        assert!(said.ends_with("--- exit Some(2)\n"), "{said}");
    }
    assert!(home.run(&["clean", "--yes"]).contains("Nothing to remove"));
    drop(other);
    fs::remove_file(&catalogue).expect("it is there");
    let _ = home.run(&["sync"]);
    let newer = rusqlite::Connection::open(&catalogue).expect("the catalogue");
    newer
        .execute_batch("PRAGMA user_version = 999")
        .expect("a version");
    drop(newer);
    for arguments in [&["list"][..], &["sync"], &["search", "x"]] {
        let said = home.run(arguments);
        assert!(
            said.contains("written by a newer sessionary")
                && said.contains("update")
                && said.contains("choose another directory with --index"),
            "{said}"
        );
        assert!(said.ends_with("--- exit Some(2)\n"), "{said}");
    }
    // That goes too when all is to go.
    assert!(home.run(&["clean", "--yes"]).starts_with("Removed"));
}

#[test]
fn what_was_appended_since_the_last_sync_is_no_difference() {
    let home = crate::cli::home();
    let _ = home.run(&["sync"]);
    let path = home.home.join(".pi/agent/sessions");
    let file = walkdir::WalkDir::new(path)
        .into_iter()
        .filter_map(Result::ok)
        .find(|entry| entry.path().extension().is_some_and(|e| e == "jsonl"))
        .expect("a session");
    let mut bytes = std::fs::read(file.path()).expect("its bytes");
    bytes.extend_from_slice(b"{\"type\":\"message\",\"id\":\"new1\",\"timestamp\":\"2026-01-05T09:00:09.000Z\",\"message\":{\"role\":\"user\",\"content\":\"one more\"}}\n");
    std::fs::write(file.path(), bytes).expect("written");
    let verified = home.json(&["verify", "--json"]);
    assert_eq!(verified["differences"], serde_json::json!([]));
}

#[test]
fn no_number_is_too_large() {
    let home = crate::cli::home();
    for arguments in [
        ["list", "--all", "--since", "20000y"],
        ["list", "--all", "--until", "99999mo"],
        ["search", "tokenizer", "since:20000y", "--json"],
        ["search", "tokenizer", "--context", "18446744073709551615"],
        ["show", "last", "--context", "18446744073709551615"],
    ] {
        let output = home.output(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
        assert_ne!(output.status.code(), Some(101), "{arguments:?}: {said}");
    }
}

/// As after a restore of a part: the words of yesterday beside the catalogue of today.
#[test]
fn words_that_are_older_than_the_catalogue_are_rebuilt() {
    let home = crate::cli::home();
    let _ = home.run(&["sync"]);
    let words = home.home.join(".cache/sessionary/v5/words");
    let copy = |from: &std::path::Path, to: &std::path::Path| {
        let _ = std::fs::remove_dir_all(to);
        std::fs::create_dir_all(to).expect("a folder");
        for file in std::fs::read_dir(from).expect("files") {
            let file = file.expect("a file");
            std::fs::copy(file.path(), to.join(file.file_name())).expect("a copy");
        }
    };
    copy(&words, &home.home.join("yesterday"));
    home.write(
        ".pi/agent/sessions/--x--/new.jsonl",
        "{\"type\":\"session\",\"version\":3,\"id\":\"new\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/x\"}\n\
         {\"type\":\"message\",\"id\":\"n1\",\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"rollwordone\"}}\n",
    );
    let _ = home.run(&["sync"]);
    copy(&home.home.join("yesterday"), &words);
    let answer = home.json(&["search", "rollwordone", "--json"]);
    assert_eq!(
        (&answer["total"], &answer["complete"]),
        (&1.into(), &true.into())
    );
    let _ = home.run(&["sync"]);
    assert_eq!(
        home.json(&["verify", "--json"])["differences"],
        serde_json::json!([])
    );
}
