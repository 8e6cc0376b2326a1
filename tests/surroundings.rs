//! Does a program that hands in what it finds around it open what its user's command opens?

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Value, json};
use sessionary::settings::{Flags, Redact, Settings, Surroundings};
use sessionary::{Config, Error, Freshness, Index, RootSpec};

use crate::sandbox::Sandbox;

/// A home, and variables that its user has set; `~` in them is the home.
struct Place {
    home: Sandbox,
    variables: BTreeMap<OsString, OsString>,
}

impl Place {
    fn new(variables: &[(&str, &str)]) -> Self {
        let home = Sandbox::new();
        let there = home.home.display().to_string();
        let mut all = BTreeMap::new();
        for (name, value) in variables {
            all.insert((*name).into(), value.replace('~', &there).into());
        }
        all.insert("HOME".into(), there.into());
        Self {
            home,
            variables: all,
        }
    }

    fn with(self, file: &str, text: &str) -> Self {
        self.home.write(file, text);
        self
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            variables: self.variables.clone(),
            home: Some(self.home.home.clone()),
            cwd: self.home.cwd.clone(),
        }
    }

    fn output(&self, arguments: &[&str]) -> std::process::Output {
        let mut command = self.home.command(arguments);
        command.env_clear().envs(&self.variables);
        command.output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {said}"))
    }

    /// What the library finds is what the command says.
    fn is_the_same(&self) -> Config {
        let surroundings = self.surroundings();
        let settings = Settings::read(&surroundings, &Flags::default()).unwrap();
        let shown = self.json(&["config", "show", "--json"]);
        assert_eq!(shown["settings"], serde_json::to_value(&settings).unwrap());
        let file = sessionary::settings::path(&surroundings);
        assert_eq!(shown["file"], json!(file));
        let status = self.json(&["status", "--roots", "--json"]);
        let config = Config::of(&surroundings).unwrap();
        let ours =
            |root: &RootSpec| json!([root.agent, root.path, root.label, root.why.to_string()]);
        let ours: Vec<Value> = config.roots.iter().map(ours).collect();
        let theirs =
            |root: &Value| json!([root["agent"], root["path"], root["label"], root["why"]]);
        let theirs: Vec<Value> = status["roots"]
            .as_array()
            .unwrap()
            .iter()
            .map(theirs)
            .collect();
        assert_eq!(ours, theirs);
        assert!(
            config.index_dir.join("v5/catalogue.sqlite").exists(),
            "{config:?}"
        );
        // Opened here, nothing is found that the command has not, and nothing is left out that it
        // has.
        let index = Index::open(&config, Freshness::Check).unwrap();
        let report = index.report().unwrap();
        // (A file that was written a moment ago is compared once more, and nothing of it read.)
        assert_eq!(
            (report.bytes_read, report.entries, report.vanished),
            (0, 0, 0),
            "{report:?}"
        );
        let roots = status["roots"].as_array().unwrap().iter();
        let sessions: u64 = roots.filter_map(|root| root["sessions"].as_u64()).sum();
        assert_eq!(index.status().unwrap().sessions, sessions);
        config
    }
}

const SESSION: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"a\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"~/code/parser\"}\n{\"type\":\"message\",\"id\":\"e1\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n";

#[test]
fn a_program_opens_what_its_users_command_opens() {
    let plain = Place::new(&[]).with(".pi/agent/sessions/--a--/a.jsonl", SESSION);
    assert!(plain.is_the_same().background);

    let named = Place::new(&[
        ("SESSIONARY_INDEX_DIR", "../elsewhere"),
        ("PI_CODING_AGENT_DIR", "~/agent"),
        ("PI_CODING_AGENT_SESSION_DIR", "flat"),
        ("CLIDO_DATA_DIR", "~/clido"),
        ("CI", "1"),
    ])
    .with("agent/sessions/--a--/a.jsonl", SESSION);
    let config = named.is_the_same();
    assert_eq!(config.index_dir, named.home.cwd.join("../elsewhere"));
    assert!(!config.background);

    // One folder by three names.
    let twice = Place::new(&[
        ("PI_CODING_AGENT_DIR", "~/agent/../agent"),
        ("PI_CODING_AGENT_SESSION_DIR", "~/link/"),
    ])
    .with("agent/sessions/--a--/a.jsonl", SESSION)
    .with(
        "code/parser/.pi/settings.json",
        "{\"sessionDir\":\"../../link\"}",
    );
    let (folder, link) = ("agent/sessions", twice.home.home.join("link"));
    std::os::unix::fs::symlink(folder, link).unwrap();
    let config = twice.is_the_same();
    let of_pi = config.roots.iter().filter(|root| root.agent == "pi");
    let of_pi: Vec<&PathBuf> = of_pi.map(|root| &root.path).collect();
    assert_eq!(of_pi, [&twice.home.home.join(folder)]);

    let freedesktop = Place::new(&[
        ("XDG_CONFIG_HOME", "~/conf"),
        ("XDG_DATA_HOME", "~/data"),
        ("XDG_CACHE_HOME", "not/absolute"),
    ]);
    freedesktop.is_the_same();

    let settled = "index = \"kept\"\nroots = [\"pi:more=old\", \"clido:~/c\"]\nexclude = [\"~/code/secret\", \"*.draft.jsonl\"]\nfollow_links = true\nbackground = false\nredact = \"always\"\n";
    let by_file = Place::new(&[("SESSIONARY_INDEX_DIR", "")])
        .with(".config/sessionary/more/--a--/a.jsonl", SESSION)
        .with(".config/sessionary/more/--a--/b.draft.jsonl", SESSION)
        .with(".pi/agent/settings.json", "{\"sessionDir\":\"~/all\"}")
        .with("code/parser/.pi/settings.json", "{\"sessionDir\":\"mine\"}");
    let file = by_file.home.home.join(".config/sessionary/config.toml");
    std::fs::write(&file, settled).unwrap();
    let config = by_file.is_the_same();
    let kept = by_file.home.home.join(".config/sessionary/kept");
    assert_eq!(config.index_dir, kept);
    assert!(config.rules.follow_links() && !config.rules.are_set());
    assert!(
        config
            .rules
            .exclude()
            .matches(&by_file.home.home.join("code/secret/x"))
    );
}

#[test]
fn what_the_command_refuses_a_program_is_told() {
    let wrong = |file: &str| {
        let place = Place::new(&[]).with(".config/sessionary/config.toml", file);
        let Err(Error::Setting(bad)) = Config::of(&place.surroundings()) else {
            panic!("{file} is taken");
        };
        let said = String::from_utf8(place.output(&["list"]).stderr).unwrap();
        let hint = bad.hint.as_ref();
        let hint = hint.map_or(String::new(), |hint| format!("hint: {hint}\n"));
        assert_eq!(said, format!("error: {bad}\n{hint}"));
        bad.what
    };
    assert!(
        wrong("background = 1\n")
            .ends_with("config.toml:1: `background` takes true or false, not 1")
    );
    assert!(wrong("rots = []\n").ends_with("unknown key `rots`"));
    assert!(wrong("roots = [\"vim:/x\"]\n").contains("no format or agent is called `vim`"));
    assert!(wrong("exclude = [\"a/b\"]\n").contains("it would exclude nothing"));
    let nowhere = Surroundings::default();
    assert!(matches!(Config::of(&nowhere), Err(Error::Setting(_))));
}

/// Shells expand no `~` in `--index=~/x`, and systemd none in a variable.
#[test]
fn the_index_may_be_named_by_a_tilde() {
    let place = Place::new(&[]);
    let at = |name: &str| place.home.home.join(name);
    let mut surroundings = place.surroundings();
    let index = |surroundings: &Surroundings, flags: &Flags| {
        Settings::read(surroundings, flags).unwrap().index.value
    };
    let flags = Flags {
        index: Some("~/by-flag".into()),
        ..Flags::default()
    };
    let variable = ("SESSIONARY_INDEX_DIR".into(), "~/by-variable".into());
    surroundings.variables.extend([variable]);
    assert_eq!(index(&surroundings, &flags), at("by-flag"));
    assert_eq!(index(&surroundings, &Flags::default()), at("by-variable"));
    // Of another user's home nobody here knows.
    let other = Flags {
        index: Some("~bob/x".into()),
        ..Flags::default()
    };
    assert_eq!(index(&surroundings, &other), PathBuf::from("~bob/x"));
}

/// Nothing of this process counts: neither its variables nor its home.
#[test]
fn the_library_looks_at_nothing_but_what_it_is_given() {
    let ada = Surroundings {
        variables: BTreeMap::from([("CI".into(), "".into())]),
        home: Some(PathBuf::from("/home/ada")),
        cwd: PathBuf::from("/here"),
    };
    let config = Config::of(&ada).unwrap();
    assert!(config.background);
    let below = |path: &std::path::Path| path.starts_with("/home/ada");
    assert!(below(&config.index_dir), "{config:?}");
    assert!(
        config.roots.iter().all(|root| below(&root.path)),
        "{config:?}"
    );
    let settings = Settings::read(&ada, &Flags::default()).unwrap();
    assert_eq!(settings.redact.value, Redact::NotATerminal);
}

/// However it is reached: by `..` from two projects, or by a link in the place of an agent's
/// folder.
#[cfg(unix)]
#[test]
fn what_settings_name_is_one_root_whatever_its_names() {
    let settings = r#"{"sessionDir":"../shared"}"#;
    let session = |id: &str, project: &str| {
        let cwd = format!("~/code/{project}");
        let text = SESSION.replace("\"id\":\"a\"", &format!("\"id\":\"{id}\""));
        text.replace("~/code/parser", &cwd)
    };
    let place = Place::new(&[])
        .with("code/a/.pi/settings.json", settings)
        .with("code/b/.pi/settings.json", settings)
        .with("code/shared/one.jsonl", &session("one", "a"))
        .with("code/shared/two.jsonl", &session("two", "b"))
        .with(".pi/agent/sessions/--a--/a.jsonl", &session("x", "a"))
        .with(".pi/agent/sessions/--b--/b.jsonl", &session("y", "b"))
        .with(".indusagi/agent/sessions/--a--/c.jsonl", &session("z", "a"));
    let home = &place.home.home;
    std::os::unix::fs::symlink(".indusagi", home.join(".pindusagi")).unwrap();
    let rows = place.json(&["--json", "sql", "SELECT id FROM sessions ORDER BY id"]);
    assert_eq!(rows["rows"], json!([["one"], ["two"], ["x"], ["y"], ["z"]]));
}
