//! What does a shell offer? Completions as bash, fish and zsh ask for them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use insta::assert_snapshot;

use crate::cli::home;
#[cfg(target_os = "linux")]
use crate::picker::pty::{Program, Pty};
use crate::sandbox::Sandbox;

/// What `shell` is told of the words typed so far, the last of which is being typed.
fn told(home: &Sandbox, shell: &str, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sessionary"));
    command
        .args(["--", "sessionary"])
        .args(words)
        .env_clear()
        .env("HOME", &home.home)
        .env("CLIDO_DATA_DIR", home.home.join("clido"))
        .env("SESSIONARY_COMPLETE", shell)
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .current_dir(&home.cwd);
    command.output().expect("it runs")
}

/// The same as text; nothing was said beside it.
pub fn offered(home: &Sandbox, shell: &str, words: &[&str]) -> String {
    let output = told(home, shell, words);
    assert!(
        output.stderr.is_empty() && output.status.success(),
        "{output:?}"
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A home whose sessions are indexed.
fn indexed() -> Sandbox {
    let home = home();
    let _ = home.run(&["sync"]);
    home
}

#[test]
fn sessions_are_offered_with_their_titles() {
    let home = indexed();
    let zsh = offered(&home, "zsh", &["show", ""]);
    let lines: Vec<&str> = zsh.lines().collect();
    assert_eq!(lines[0], "last:the first session of a list here");
    // Those of this directory come first.
    assert!(lines[1].starts_with("019b8d10:"), "{zsh}");
    assert!(lines[1].ends_with(" · Tokenizer work · parser"), "{zsh}");
    assert!(lines[2].starts_with("f47ac10b:"), "{zsh}");
    assert!(
        zsh.contains("· 日本語のドキュメントでtokenizerを説明して · docs"),
        "{zsh}"
    );
    let fish = offered(&home, "fish", &["resume", "019b8"]);
    assert_eq!(fish.lines().count(), 2, "{fish}");
    assert!(fish.starts_with("019b8d10\t"), "{fish}");
    // More of an id than is needed is completed all the same.
    let long = offered(&home, "bash", &["tree", "019b8d10-0000"]);
    assert_eq!(long, "019b8d10-0000-7000-8000-00000000000a");
    assert_eq!(offered(&home, "bash", &["tree", "nope"]), "");
    // What it is called is completed where no id begins so.
    for shell in ["bash", "fish", "zsh"] {
        let title = offered(&home, shell, &["show", "Token"]);
        assert_eq!(title.trim_end(), "Tokenizer work", "{shell}");
    }
    // What is removed is named in full: by no place in a list, and by no title that is no name.
    let names = |words: &[&str]| offered(&home, "bash", words);
    for remove in [&["delete"][..], &["archive", "forget"]] {
        let offered = |typed: &str| names(&[remove, &[typed]].concat());
        assert!(offered("").starts_with("019b8d10\n"), "{remove:?}");
        assert_eq!(offered("las"), "");
        assert_eq!(offered("Token"), "Tokenizer work");
        assert_eq!(offered("日本"), "");
    }
    assert!(names(&["show", "日本"]).starts_with("日本語の"));
}

#[test]
fn agents_tools_roles_labels_and_labelled_entries_are_known() {
    let home = indexed();
    for (words, all) in [
        (
            &["list", "-A", ""][..],
            "agentuse claude clido codex copilot cursor gemini indusagi induscode openclaw opencode pi qwen",
        ),
        (&["list", "--agent=cli"], "--agent=clido"),
        (&["list", "-p", ""], "docs parser"),
        (&["search", "role:u"], "role:user"),
        (&["search", "x", "tool:"], "tool:bash"),
        (&["search", "label:"], "label:start"),
        (&["search", "model:"], "model:claude-x"),
        (&["search", "agent:pi OR"], ""),
        (&["label", "last", ""], "start"),
        (&["show", "last:"], "last:a1"),
        (&["show", "019b8d10:a"], "019b8d10:a1"),
        (&["show", "019b8d10:b"], ""),
        (&["list", "--since", "l"], "last-week"),
        (&["ls", "--sort", "co"], "cost"),
        (&["man", "sea"], "search"),
        (&["serach"], ""),
        (&["sea"], "search"),
        (&["r"], "rm report resume rebuild roots"),
        (&["list", "--widt"], ""),
        (&["list", "--no"], "--no-default-roots --no-pager"),
        (&["--demo", "show", "0"], ""),
    ] {
        let mut got: Vec<String> = offered(&home, "bash", words)
            .lines()
            .map(Into::into)
            .collect();
        let mut wanted: Vec<&str> = all.split_whitespace().collect();
        got.sort();
        wanted.sort_unstable();
        assert_eq!(got, wanted, "{words:?}");
    }
}

/// What filters find is offered, not only with what each session ended.
#[test]
fn values_are_those_that_filters_find() {
    let home = Sandbox::new();
    let answer = |id: &str, parent: &str, model: &str, provider: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-01-02T09:00:00.000Z","message":{{"role":"assistant","content":[],"provider":"{provider}","model":"{model}","stopReason":"refused","usage":{{"input":1,"output":1,"totalTokens":2}}}}}}"#
        )
    };
    let lines = [
        r#"{"type":"session","version":3,"id":"one","timestamp":"2026-01-02T09:00:00.000Z","cwd":"/x"}"#.to_owned(),
        r#"{"type":"message","id":"a0","parentId":null,"timestamp":"2026-01-02T09:00:00.000Z","message":{"role":"oracle","content":"Ask."}}"#.to_owned(),
        r#"{"type":"odd_kind","id":"b0","parentId":"a0","timestamp":"2026-01-02T09:00:00.000Z"}"#.to_owned(),
        answer("a1", "a0", "early-1", "former"),
        answer("a2", "a1", "late-1", "latter"),
    ];
    home.write(
        ".pi/agent/sessions/--x--/one.jsonl",
        &(lines.join("\n") + "\n"),
    );
    let _ = home.run(&["sync"]);
    for (typed, wanted) in [
        ("model:", "model:early-1\nmodel:late-1"),
        ("provider:", "provider:former\nprovider:latter"),
        ("role:o", "role:oracle"),
        ("role:in", "role:injected"),
        ("kind:o", "kind:odd_kind"),
        ("status:r", "status:refused"),
    ] {
        assert_eq!(offered(&home, "bash", &["search", typed]), wanted);
        assert!(
            !home
                .run(&["search", wanted.lines().next().unwrap()])
                .contains("unknown")
        );
    }
}

/// As tools call the working trees that they make.
#[test]
fn a_number_is_no_name_of_a_project() {
    let home = Sandbox::new();
    for (id, cwd) in [("one", "/trees/app/1"), ("two", "/code/app")] {
        let header = format!(r#"{{"type":"session","version":3,"id":"{id}","cwd":"{cwd}"}}"#);
        home.write(
            &format!(".pi/agent/sessions/--x--/{id}.jsonl"),
            &(header + "\n"),
        );
    }
    let _ = home.run(&["sync"]);
    assert_eq!(
        offered(&home, "fish", &["list", "--project", "app"]),
        "app\napp/1\n"
    );
}

/// Every file below a folder, with its length and the time of its last change.
fn files(folder: &Path) -> BTreeMap<PathBuf, (u64, std::time::SystemTime)> {
    let all = walkdir::WalkDir::new(folder).into_iter().flatten();
    let files = all.filter(|entry| entry.file_type().is_file());
    files
        // SQLite's readers share memory in a file.
        .filter(|entry| !entry.path().display().to_string().ends_with("-shm"))
        .filter_map(|entry| {
            let of = entry.metadata().ok()?;
            Some((entry.into_path(), (of.len(), of.modified().ok()?)))
        })
        .collect()
}

#[test]
fn nothing_is_written_or_scanned() {
    let home = home();
    let before = files(&home.home);
    for words in [&["show", ""][..], &["search", "tool:"], &["list", "-A", ""]] {
        let _ = offered(&home, "zsh", words);
    }
    // Without an index there is none afterwards, nor any folder for one.
    assert_eq!(files(&home.home), before);
    assert!(!home.home.join(".cache").exists());
    let _ = home.run(&["sync"]);
    let known = offered(&home, "fish", &["show", "0"]);
    home.write(
        ".pi/agent/sessions/--w--/new.jsonl",
        "{\"type\":\"session\",\"version\":3,\"id\":\"0cafe000-new\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}\n",
    );
    let before = files(&home.home);
    assert_eq!(offered(&home, "fish", &["show", "0"]), known);
    assert_eq!(files(&home.home), before);
}

#[test]
fn what_is_wrong_is_not_said() {
    let home = indexed();
    let empty = |words: &[&str]| assert_eq!(offered(&home, "bash", words), "", "{words:?}");
    assert!(offered(&home, "csh", &["show", ""]).is_empty());
    empty(&["show", "'\"\\"]);
    empty(&["show", "0'; DROP TABLE _sessions; --"]);
    empty(&["--index", "/dev/null/x", "show", "0"]);
    empty(&["--root", "nonsense", "show", "0"]);
    empty(&["show", &"x".repeat(100_000)]);
    let catalogue: Vec<PathBuf> = files(&home.home.join(".cache"))
        .into_keys()
        .filter(|path| path.ends_with("catalogue.sqlite"))
        .collect();
    assert_eq!(catalogue.len(), 1);
    home.write(".config/sessionary/config.toml", "exclude = 7");
    empty(&["show", "0"]);
    fs::remove_file(home.home.join(".config/sessionary/config.toml")).expect("removed");
    assert!(!offered(&home, "bash", &["show", "0"]).is_empty());
    for path in catalogue {
        fs::write(path, "no database").expect("written");
    }
    empty(&["show", "0"]);
}

/// A session with a title, a key and a label that would act.
fn hostile() -> Sandbox {
    let home = Sandbox::new();
    home.write(
        ".pi/agent/sessions/--w--/one.jsonl",
        concat!(
            r#"{"type":"session","version":3,"id":"019b8d10-0000-7000-8000-00000000000a","timestamp":"2026-01-05T09:00:00.000Z","cwd":"~/code/parser"}"#, "\n",
            r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"hello \u001b]0;owned\u0007\nworld sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKl-AbCdEfAA : \\ 'x'","timestamp":1767603601000}}"#, "\n",
            r#"{"type":"label","id":"f1","parentId":"a1","timestamp":"2026-01-05T11:55:01.000Z","targetId":"a1","label":"$(touch ~/owned)"}"#, "\n",
            r#"{"type":"label","id":"f2","parentId":"f1","timestamp":"2026-01-05T11:55:01.000Z","targetId":"f1","label":"bell\u0007 \u001b[31m"}"#, "\n",
        ),
    );
    let _ = home.run(&["sync"]);
    home.write("\u{1b}[31mred.jsonl", "");
    home.write("plain.jsonl", "");
    home
}

#[test]
fn nothing_acts_on_a_terminal() {
    let home = hostile();
    let folder = format!("{}/", home.home.display());
    for words in [
        &["show", ""][..],
        &["show", "0"],
        &["show", "019b8d10:"],
        &["label", "last", ""],
        &["search", "label:"],
        &["show", &folder],
        &["export", "last", "--out", &folder],
        &["sql", "--snapshot", &folder],
    ] {
        for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
            let text = offered(&home, shell, words);
            let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            assert!(!text.contains(acts), "{shell} {words:?}: {text:?}");
            assert!(
                !text.contains("sk-ant-api03-AbCd"),
                "{shell} {words:?}: {text:?}"
            );
        }
    }
    let text = offered(&home, "fish", &["show", "0"]);
    assert_eq!(text.lines().count(), 1, "{text:?}");
    assert!(offered(&home, "fish", &["show", &folder]).contains("plain.jsonl"));
}

/// What a shell prints that has this program on its path; `None` where the shell is missing.
fn run(home: &Sandbox, shell: &str, lines: &str) -> Option<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_sessionary"));
    let path = std::env::var("PATH").unwrap_or_default();
    let folder = program.parent().expect("a folder").display();
    let output = Command::new(shell)
        .args(match shell {
            "zsh" => &["-f", "-c"][..],
            "fish" => &["--no-config", "-c"],
            _ => &["--norc", "-c"],
        })
        .arg(lines)
        .env_clear()
        .env("HOME", &home.home)
        .env("PATH", format!("{folder}:{path}"))
        .env("LC_ALL", "C.UTF-8")
        .current_dir(&home.cwd)
        .output()
        .map_err(|_| eprintln!("SKIPPED: there is no {shell}"))
        .ok()?;
    assert!(output.stderr.is_empty(), "{shell}: {output:?}");
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

#[test]
fn bash_completes() {
    let home = indexed();
    // Bash has split the line, and gives the part behind a colon alone.
    let line = |line: &str, split: &str, current: &str| {
        format!(
            "COMP_LINE='{line}' COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({split}); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _sessionary sessionary '{current}' x; \
             echo \"${{COMPREPLY[@]}}\""
        )
    };
    let lines = [
        line("sessionary res", "sessionary res", "res"),
        line("sessionary show 019b8d", "sessionary show 019b8d", "019b8d"),
        line(
            "sessionary show 019b8d10:",
            "sessionary show 019b8d10 :",
            "",
        ),
        line(
            "sessionary search role:u",
            "sessionary search role : u",
            "u",
        ),
        // Behind a blank it is another word.
        line("ss label last: ", "ss label last : ''", ""),
        line(
            "sessionary list --agent=cli",
            "sessionary list --agent = cli",
            "cli",
        ),
        "complete -p ss".to_owned(),
    ];
    let script = format!(
        "eval \"$(sessionary init bash --alias ss)\"\n{}",
        lines.join("\n")
    );
    let Some(said) = run(&home, "bash", &script) else {
        return;
    };
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(
        said,
        [
            "resume",
            "019b8d10",
            "a1",
            "user",
            "start",
            "clido",
            "complete -F _sessionary ss"
        ]
    );
    // What the shell itself would run is not completed.
    let script = format!(
        "eval \"$(sessionary init bash)\"\n{}",
        line("sessionary show $(", "sessionary show '$('", "")
    );
    assert_eq!(run(&home, "bash", &script).as_deref(), Some("\n"));
    // What is inserted is a word and no command.
    let home = hostile();
    let script = format!(
        "eval \"$(sessionary init bash)\"\n{}",
        line("sessionary label last ", "sessionary label last ''", "")
    );
    let said = run(&home, "bash", &script).expect("it is there");
    assert_eq!(
        said.trim(),
        r"\$\(touch\ \~/owned\)"
            .replace('~', &home.home.display().to_string())
            .replace(r"\/", "/")
    );
}

#[test]
fn fish_and_zsh_read_what_init_prints() {
    let home = indexed();
    let script = "sessionary init fish --alias ss | source
        complete -C 'sessionary show 019b8d'
        complete -C 'ss search role:u'";
    if let Some(said) = run(&home, "fish", script) {
        assert!(said.starts_with("019b8d10\t"), "{said}");
        assert!(
            said.contains(" · Tokenizer work · parser\nrole:user\n"),
            "{said}"
        );
    }
    let script = "eval \"$(sessionary init zsh --alias ss)\"
        print $_comps[sessionary] $aliases[ss]";
    if let Some(said) = run(&home, "zsh", script) {
        assert_eq!(said, "_clap_dynamic_completer_sessionary sessionary\n");
    }
}

#[test]
fn pir_opens_the_picker_on_sessions_of_pi() {
    let home = indexed();
    for shell in ["bash", "zsh", "fish"] {
        let init = format!("sessionary init {shell} --pi --no-key");
        // What `pir` runs is noted in the program's place.
        let lines = match shell {
            "fish" => {
                format!("{init} | source; function sessionary; echo $argv; end; pir linker error")
            }
            _ => format!("eval \"$({init})\"; sessionary() {{ echo \"$@\"; }}; pir linker error"),
        };
        if let Some(said) = run(&home, shell, &lines) {
            assert_eq!(said, "pick agent:pi linker error\n", "{shell}");
        }
    }
    assert!(!home.run(&["init", "bash"]).contains("pir"));
}

#[test]
fn init_takes_names_that_are_names() {
    let home = Sandbox::new();
    for wrong in ["", "a b", "a;b", "$x", "-x", "1", "ü", "a\u{1b}"] {
        let output = home.output(&["init", "zsh", &format!("--alias={wrong}")]);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(output.stdout.is_empty(), "{wrong:?}");
    }
    assert!(
        home.run(&["init", "zsh"])
            .starts_with("(( $+functions[compdef] ))")
    );
    assert!(
        home.run(&["init", "fish", "--alias", "s"])
            .ends_with("alias s sessionary\n")
    );
    assert_eq!(home.output(&["init", "cmd"]).status.code(), Some(2));
}

/// After `alias if=sessionary` every script that has an `if` would be a syntax error.
#[test]
fn init_takes_no_word_that_a_shell_reserves() {
    let home = Sandbox::new();
    // Each shell is asked for its own words; fish tells them by refusing to define them.
    let of_fish = "for word in (builtin -n)
            $__fish_bin_dir/fish --no-config -c \"function $word; end\" 2>/dev/null; or echo $word
        end";
    for (shell, ask) in [
        ("bash", "compgen -k"),
        ("zsh", "zmodload zsh/parameter; print -l ${(k)reswords}"),
        ("fish", of_fish),
    ] {
        let Some(said) = run(&home, shell, ask) else {
            continue;
        };
        assert!(said.lines().any(|word| word == "while"), "{shell}: {said}");
        let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_alphabetic());
        for word in said.lines().filter(is_name) {
            let output = home.output(&["init", shell, "--alias", word]);
            assert_eq!(output.status.code(), Some(2), "{shell}: {word}");
            assert!(output.stdout.is_empty(), "{shell}: {word}");
        }
    }
    // What one of them reserves is refused for the others, too.
    assert_snapshot!(home.run(&["init", "bash", "--alias", "repeat"]), @r"
    --- stderr
    error: `repeat` cannot be a short name
    hint: bash, zsh or fish has that word for something else; choose another, say sy
    --- exit Some(2)
    ");
    assert!(
        home.output(&["init", "bash", "--alias", "iff"])
            .status
            .success()
    );
}

#[test]
fn what_could_not_be_typed_is_not_offered() {
    let home = Sandbox::new();
    let session = |id: &str, label: &str| {
        let at = r#""timestamp":"2026-01-05T09:00:00.000Z""#;
        format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",{at},\"cwd\":\"/w\"}}\n\
             {{\"type\":\"message\",\"id\":\"a1\",\"parentId\":null,{at},\"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}\n\
             {{\"type\":\"label\",\"id\":\"f1\",\"parentId\":\"a1\",{at},\"targetId\":\"a1\",\"label\":\"{label}\"}}\n"
        )
    };
    for (file, id, label) in [
        ("a", "we:ird", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
        ("b", r"esc\u001b[31m", "fine"),
        ("c", r"two\nlines", "fine"),
    ] {
        home.write(
            &format!(".pi/agent/sessions/--w--/{file}.jsonl"),
            &session(id, label),
        );
    }
    let _ = home.run(&["sync"]);
    for (words, all) in [
        // Keys are redacted where they are printed.
        (&["search", "label:"][..], "label:fine"),
        (&["label", "we:ird", ""], "fine"),
        // Made printable these would be no ids.
        (&["show", "esc"], ""),
        (&["show", "two"], ""),
        // A colon may belong to the id.
        (&["show", "we:"], "we:a1\nwe:ird"),
        (&["show", "we:ird:"], "we:ird:a1"),
        // What is left out is found by the same filters, behind `--`.
        (&["search", "-role:"], ""),
        (&["search", "-role:u"], ""),
        (&["search", "!role:u"], "!role:user"),
        (&["search", "--", "-role:u"], "-role:user"),
    ] {
        assert_eq!(offered(&home, "bash", words), all, "{words:?}");
    }
}

#[test]
fn last_is_the_session_that_other_commands_take() {
    let home = indexed();
    std::fs::create_dir_all(home.cwd.join(".git")).expect("a folder");
    std::fs::write(home.cwd.join(".git/HEAD"), "ref: refs/heads/main\n").expect("a file");
    std::fs::create_dir_all(home.cwd.join("src")).expect("a folder");
    let below = |words: &[&str]| {
        let mut command = home.command(&[]);
        command.args(["--", "sessionary"]).args(words);
        command.env("SESSIONARY_COMPLETE", "fish");
        command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
        let output = command.current_dir(home.cwd.join("src")).output();
        String::from_utf8(output.expect("it runs").stdout).expect("UTF-8")
    };
    // In a folder of the repository, and by other names.
    assert!(below(&["show", "last:"]).starts_with("last:a1\t"));
    assert!(below(&["show", "last~0:"]).starts_with("last~0:a1\t"));
    assert!(!below(&["--dir", "show", "last:"]).contains("a1"));
}

#[test]
fn init_binds_a_key_as_each_shell_writes_it() {
    let home = Sandbox::new();
    for (arguments, bound) in [
        (&["init", "bash"][..], r#"bind -m emacs -x '"\ei": "#),
        (&["init", "zsh"], "bindkey -M viins '^[i' "),
        (&["init", "fish"], r"bind -M insert \ei "),
        (&["init", "bash", "--key", "Ctrl-G"], r#"-x '"\C-g": "#),
        (&["init", "zsh", "--key", "ctrl-g"], "emacs '^G' "),
        (&["init", "fish", "--key", "alt-x"], r"bind \ex "),
    ] {
        let lines = home.run(arguments);
        assert!(lines.contains(bound), "{arguments:?}: {lines}");
        let without = home.run(&[arguments[0], arguments[1], "--no-key"]);
        assert!(!without.contains("bind"), "{without}");
    }
    for wrong in [
        "", "i", "alt-", "alt-ab", "alt-;", "alt-'", "ctrl-m", "ctrl-C", "super-x", "alt-ü",
    ] {
        let output = home.output(&["init", "zsh", "--key", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(output.stdout.is_empty(), "{wrong:?}");
    }
}

/// A shell on a terminal of its own that has read what `init` prints; `None` where it is missing.
#[cfg(target_os = "linux")]
fn set_up(home: &Sandbox, shell: &str, agents: Option<&Path>) -> Option<(Pty, Program)> {
    let (options, lines) = match shell {
        "bash" => (&["--norc", "-i"][..], "eval \"$(sessionary init bash)\""),
        "zsh" => (&["-f", "-i"][..], "eval \"$(sessionary init zsh)\""),
        _ => (&["--no-config", "-i"][..], "sessionary init fish | source"),
    };
    let own = Path::new(env!("CARGO_BIN_EXE_sessionary")).parent();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = agents.into_iter().chain(own).map(Path::to_path_buf);
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).expect("a path");
    if !std::env::split_paths(&path).any(|folder| folder.join(shell).is_file()) {
        eprintln!("SKIPPED: there is no {shell}");
        return None;
    }
    let pty = Pty::new(150, 30);
    let mut command = Command::new(shell);
    command
        .args(options)
        .env("HOME", &home.home)
        .env("PATH", &path)
        .env("CLIDO_DATA_DIR", home.home.join("clido"))
        .env("LC_ALL", "C.UTF-8")
        .current_dir(&home.cwd);
    let program = pty.start(&command);
    // What is typed is shown too, so what is waited for is put together.
    pty.keys(&format!("{lines}; echo is-\"\"set\r"));
    pty.until_shown("\nis-set");
    Some((pty, program))
}

/// The key opens the picker, and what is chosen there goes into the line that is being typed.
#[cfg(target_os = "linux")]
#[test]
fn a_key_puts_a_session_into_the_line_of_each_shell() {
    let home = indexed();
    let bin = crate::picked::agent(&home);
    for shell in ["bash", "zsh", "fish"] {
        let Some((pty, _shell)) = set_up(&home, shell, Some(&bin)) else {
            continue;
        };
        // At the beginning of a line that goes on.
        pty.keys("; echo and-\"\"the-rest\x01\x1bi");
        pty.until_shown("Tokenizer work");
        pty.keys("\r");
        pty.until_gone("Tokenizer work");
        pty.until_shown("pi --session");
        pty.keys("\r");
        pty.until_shown("\nand-the-rest");
        let agent = format!("agent in {}: --session ", home.cwd.display());
        assert!(pty.text().contains(&agent), "{shell}: {}", pty.text());
        // Where nothing is chosen, the line is as it was.
        pty.keys("echo still-\"\"here\x1bi");
        pty.until_shown("Tokenizer work");
        pty.keys("\x1b");
        pty.until_gone("Tokenizer work");
        pty.keys("\r");
        pty.until_shown("\nstill-here");
    }
}

/// What is asked for is what a word says, and what comes is quoted as the word was begun.
#[cfg(target_os = "linux")]
#[test]
fn a_word_that_is_quoted_is_completed_in_each_shell() {
    let home = Sandbox::new();
    home.write(
        ".pi/agent/sessions/--w--/one.jsonl",
        concat!(
            r#"{"type":"session","version":3,"id":"a0012345-one","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w/my project"}"#, "\n",
            r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"hello"}}"#, "\n",
            r#"{"type":"label","id":"f1","parentId":"a1","timestamp":"2026-01-05T11:55:01.000Z","targetId":"a1","label":"it's $(touch owned) \"so\""}"#, "\n",
        ),
    );
    let _ = home.run(&["sync"]);
    let label = r#"it's $(touch owned) "so""#;
    for shell in ["bash", "zsh", "fish"] {
        let Some((pty, _shell)) = set_up(&home, shell, None) else {
            continue;
        };
        for (typed, comes, word) in [
            ("list -p my", "project", "my project"),
            (r"list -p my\ proj", "project", "my project"),
            (r#"list -p "my proj"#, "project", "my project"),
            ("list -p 'my proj", "project", "my project"),
            (r#"list -p my" proj"#, "project", "my project"),
            (r#"list --agent="cli"#, "clido", "--agent=clido"),
            // Words before it are read, too.
            (r#"list -p "my project" -A 'cli"#, "clido", "clido"),
            (r#"show "a00"#, "a0012345", "a0012345-one"),
            ("resume 'a00", "a0012345", "a0012345-one"),
            (r#"search "role:us"#, "role:user", "role:user"),
            ("search role:us", "role:user", "role:user"),
            // What is inserted is a word and no command.
            (r"label last it\'", "owned", label),
            (r#"label last "it"#, "owned", label),
            ("label last 'it", "owned", label),
        ] {
            eprintln!("{shell}: {typed}");
            pty.keys(&format!("sessionary {typed}\t"));
            pty.until_shown(comes);
            // Which words does the shell itself take the line for?
            pty.keys("\x01printf '%s;\\n' \r");
            pty.until_shown(&format!("\n{word};\n"));
            pty.keys("\x0c");
            pty.until_gone(&format!("\n{word};\n"));
        }
        assert!(!home.cwd.join("owned").exists(), "{shell}");
    }
}
