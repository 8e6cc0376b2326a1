//! Are links followed within the roots, and never out of them unless that was asked for?

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use sessionary::{Config, Exclude, FollowLinks, Freshness, Index, Indexer, Rules};

use crate::histories::dump::{clean, dump, fresh, root, same};
use crate::sandbox::Sandbox;
use crate::watching::watcher::{Watcher, until};
use crate::watching::{append, message, session};

const DOCUMENT: &str = r#"{"id":"x","model":"a:b","agent":{"id":"n","name":"n"},"project":{"root":"/w","cwd":"/w"},"time":{"created":1,"updated":2}}"#;

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Two roots of pi, one of them named by a link, one of agentuse; links of every kind, and what
/// they lead to.
fn places(place: &Path) -> Config {
    let at = |name: &str| place.join(name);
    write(at("real/--a--/one.jsonl"), &session(1, "one"));
    write(at("more/--b--/two.jsonl"), &session(2, "two"));
    write(at("out/folder/three.jsonl"), &session(3, "three"));
    write(at("out/four.jsonl"), &session(4, "four"));
    write(
        at("other/five/session/01KE6P4YM00000000000000000-t/session.json"),
        DOCUMENT,
    );
    fs::create_dir_all(at("agentuse/p")).unwrap();
    for (target, link) in [
        ("real", "pi"),
        ("../../more/--b--/two.jsonl", "real/--a--/beside.jsonl"),
        ("../more/--b--", "real/--linked--"),
        ("../out/folder", "real/--out--"),
        ("../../out/four.jsonl", "real/--a--/out.jsonl"),
        ("../nowhere", "real/lost.jsonl"),
        ("../other/five", "agentuse/five"),
    ] {
        symlink(target, at(link)).unwrap();
    }
    let roots = [("pi", "pi"), ("pi", "more"), ("agentuse", "agentuse")];
    let roots = roots.map(|(format, path)| root(format, format, &at(path)));
    // What was written just now would be looked at once more.
    std::thread::sleep(std::time::Duration::from_millis(100));
    Config::new(at("index"), roots.to_vec())
}

fn links(follows: bool) -> FollowLinks {
    match follows {
        true => FollowLinks::Everywhere,
        false => FollowLinks::WithinRoots,
    }
}

fn follow(config: &Config, follows: bool) -> Config {
    Config {
        rules: Rules::set(Exclude::default(), links(follows)),
        ..config.clone()
    }
}

/// Paths of all sources below their roots.
fn sources(config: &Config) -> Vec<String> {
    let index = Index::open(config, Freshness::AsCommitted).unwrap();
    let rows = index.sql("SELECT relative FROM sources ORDER BY relative", &[]);
    let rows = rows.unwrap().rows;
    rows.iter()
        .map(|row| row[0].as_str().unwrap().to_owned())
        .collect()
}

const WITHIN: [&str; 4] = [
    "--a--/beside.jsonl",
    "--a--/one.jsonl",
    "--b--/two.jsonl",
    "--linked--/two.jsonl",
];
const ALL: [&str; 7] = [
    "--a--/beside.jsonl",
    "--a--/one.jsonl",
    "--a--/out.jsonl",
    "--b--/two.jsonl",
    "--linked--/two.jsonl",
    "--out--/three.jsonl",
    "five/session/01KE6P4YM00000000000000000-t/session.json",
];

#[test]
fn a_link_out_of_the_roots_is_told_and_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let config = places(place.path());
    let mut rounds = [(false, &WITHIN[..]), (true, &ALL[..])]
        .map(|(follows, expected)| (follow(&config, follows), expected))
        .to_vec();
    rounds.extend(rounds.clone());
    for (round, (config, expected)) in rounds.into_iter().enumerate() {
        let synced = Indexer::open(&config).unwrap().sync().unwrap();
        assert_eq!(sources(&config), expected, "round {round}");
        let told = synced
            .notes
            .iter()
            .filter(|note| note.contains("--follow-links"));
        assert_eq!(
            told.count(),
            if config.rules.follow_links() { 0 } else { 2 },
            "{:?}",
            synced.notes
        );
        // Told once.
        let again = Indexer::open(&config).unwrap().sync().unwrap();
        assert_eq!(
            (again.files_changed, again.notes.len()),
            (0, 0),
            "{again:?}"
        );
        let index = Index::open(&config, Freshness::Check).unwrap();
        let links = index.status().unwrap().roots;
        let links: Vec<u64> = links.iter().map(|root| root.links_not_followed).collect();
        let [pi, agentuse] = if config.rules.follow_links() {
            [0, 0]
        } else {
            [2, 1]
        };
        assert_eq!(links, [pi, 0, agentuse]);
        clean(&index, "after the sync");
        let expected = fresh(&config, &place.path().join(format!("fresh{round}")));
        same(&dump(&index), &dump(&expected), "after the sync");
    }
}

#[test]
fn who_names_a_file_behind_a_link_gets_no_further() {
    let place = tempfile::tempdir().unwrap();
    let config = places(place.path());
    let mut indexer = Indexer::open(&config).unwrap();
    indexer.sync().unwrap();
    let behind =
        ["pi/--out--/three.jsonl", "pi/--a--/out.jsonl"].map(|path| place.path().join(path));
    let report = indexer.sync_files(&behind).unwrap();
    assert_eq!(
        (report.files_seen, report.files_changed),
        (0, 0),
        "{report:?}"
    );
    // Where a folder was, a link is now.
    fs::rename(
        place.path().join("real/--a--"),
        place.path().join("out/moved"),
    )
    .unwrap();
    symlink("../out/moved", place.path().join("real/--a--")).unwrap();
    let moved = place.path().join("pi/--a--/one.jsonl");
    let report = indexer.sync_files(&[moved]).unwrap();
    assert_eq!((report.files_seen, report.vanished), (0, 1), "{report:?}");
    drop(indexer);
    Indexer::open(&config).unwrap().sync().unwrap();
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    clean(&index, "after the sync");
    same(
        &dump(&index),
        &dump(&fresh(&config, &place.path().join("fresh"))),
        "after the sync",
    );
}

#[test]
fn the_watcher_follows_no_link_out_either() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    for follows in [false, true] {
        let config = Config {
            rules: Rules::set(Exclude::default(), links(follows)),
            ..places(&at(&format!("{follows}")))
        };
        let at = |name: &str| at(&format!("{follows}/{name}"));
        let watcher = Watcher::start(&config);
        // One that was there, one that comes, and what lies behind each changes.
        symlink("../out/folder", at("real/--new--")).unwrap();
        append(&at("out/folder/three.jsonl"), &message(1, "more"));
        append(&at("out/four.jsonl"), &message(1, "more"));
        write(at("real/--z--/last.jsonl"), &session(9, "last"));
        let has = |name: &str| sources(&config).iter().any(|source| source == name);
        until("what comes last is there", || has("--z--/last.jsonl"));
        if follows {
            until("the new link is followed", || has("--new--/three.jsonl"));
        }
        assert_eq!(has("--out--/three.jsonl"), follows);
        assert_eq!(has("--new--/three.jsonl"), follows);
        watcher.stop();
        Indexer::open(&config).unwrap().sync().unwrap();
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        clean(&index, "after watching");
        same(
            &dump(&index),
            &dump(&fresh(&config, &at("fresh"))),
            "after watching",
        );
    }
}

#[test]
fn a_link_to_everything_is_told_and_followed_by_nobody() {
    let place = tempfile::tempdir().unwrap();
    let config = follow(&places(place.path()), true);
    for (target, link) in [(Path::new("/"), "all"), (place.path(), "here")] {
        symlink(target, place.path().join("real").join(link)).unwrap();
    }
    let told = |notes: &[String]| {
        let told = notes
            .iter()
            .filter(|note| note.contains("that contain a root"));
        told.count()
    };
    let synced = Indexer::open(&config).unwrap().sync().unwrap();
    assert_eq!(sources(&config), ALL);
    assert_eq!(told(&synced.notes), 1, "{:?}", synced.notes);
    let again = Indexer::open(&config).unwrap().sync().unwrap();
    assert_eq!(again.notes.len(), 0, "{:?}", again.notes);
    let index = Index::open(&config, Freshness::Check).unwrap();
    let links = index.status().unwrap().roots;
    let links: Vec<u64> = links.iter().map(|root| root.links_not_followed).collect();
    assert_eq!(links, [2, 0, 0]);
    let problems = "SELECT count(*) FROM problems WHERE reason LIKE '%a root lies in%'";
    assert_eq!(index.sql(problems, &[]).unwrap().rows[0][0], 2);
    clean(&index, "after the sync");
    let watcher = Watcher::start(&config);
    write(
        place.path().join("real/--z--/last.jsonl"),
        &session(9, "last"),
    );
    until("it watches", || {
        sources(&config)
            .iter()
            .any(|source| source == "--z--/last.jsonl")
    });
    watcher.stop();
}

#[test]
fn status_says_what_is_not_followed() {
    let home = Sandbox::new();
    home.write(".pi/agent/sessions/--w--/one.jsonl", &session(1, "one"));
    home.write("elsewhere/two.jsonl", &session(2, "two"));
    symlink(
        home.home.join("elsewhere"),
        home.home.join(".pi/agent/sessions/--x--"),
    )
    .unwrap();
    home.settle();
    assert_snapshot!(home.run(&["list", "--all"]), @r"
    AGE  SESSION   AGENT  MSGS  PROJECT  TITLE
    2h   019b8d10  pi        1  /w       one
    --- stderr
    $HOME/.pi/agent/sessions: a link that leads out of the roots is not followed; --follow-links follows it
    ");
    // Later too, in one line.
    for arguments in [&["list", "--all"][..], &["search", "one"]] {
        let output = home.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        let line = "1 link out of the session folders is not followed; --follow-links follows it.";
        assert_eq!(said.matches(line).count(), 1, "{said}");
        let followed = home.output(&[arguments, &["--follow-links"]].concat());
        let said = String::from_utf8_lossy(&followed.stderr);
        assert!(!said.contains("not followed"), "{said}");
        drop(home.output(&["sync"]));
    }
    assert_snapshot!(home.run(&["status", "--roots"]), @"
    AGENT      ROOT                             SESSIONS  FILES  NEWEST  WHY
    pi         ~/.pi/agent/sessions                    1      1  2h      default, 1 link not followed
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
    --- stderr
    Links that lead out of these places are not followed; --follow-links, or follow_links = true in the configuration file, follows them.
    ");
    assert_snapshot!(home.run(&["status", "--roots", "--follow-links"]), @"
    AGENT      ROOT                             SESSIONS  FILES  NEWEST  WHY
    pi         ~/.pi/agent/sessions                    2      2  2h      default
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
    ");
    home.write(".config/sessionary/config.toml", "follow_links = true\n");
    assert_snapshot!(home.run(&["config", "show"]), @r#"
    KEY           VALUE                SOURCE   WHAT FOR
    index         ~/.cache/sessionary  default  folder of the index
    roots         (none)               default  more session folders, each as --root takes it
    exclude       (none)               default  globs for working directories and files that are not st…
    follow_links  true                 config   whether symbolic links are followed out of the session…
    background    true                 default  whether words are indexed for a moment after an answer
    redact        not-a-terminal       default  when keys and tokens are redacted
    pager         true                 default  whether long output on a terminal is shown in a pager
    timezone      UTC                  $TZ      the time zone of days and printed times
    team.auto     false                default  whether `watch` pushes what is shared
    "#);
    assert_snapshot!(home.run(&["list", "--all"]), @r#"
    AGE  SESSION                               AGENT  MSGS  PROJECT  TITLE
    2h   019b8d10-0000-7000-8000-000000000002  pi        1  /w       two
    2h   019b8d10-0000-7000-8000-000000000001  pi        1  /w       one
    "#);
}
