//! Which lines does each agent write, and what becomes of them? The table in docs/formats.md is
//! what the fixtures say.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::Path;

use sessionary::format::{FORMATS, Format};
use sessionary::model::{Class, Fold};
use sessionary::{Config, Freshness, Index, Indexer};

use crate::documents;
use crate::histories::dump::root;
use crate::store::Store;
use crate::{openclaw, opencode};

/// The lines around the table.
const BEGIN: &str = "<!-- line types -->\n\n";
const END: &str = "\n<!-- end -->\n";

/// The agents whose fixtures are folders of files. The forks of pi write its lines.
const OF_FILES: [&str; 10] = [
    "pi",
    "clido",
    "agentuse",
    "claude",
    "codex",
    "copilot",
    "cursor",
    "gemini",
    "induscode",
    "qwen",
];

/// What becomes of the entries of one type and role.
#[derive(Default)]
struct LineType {
    fixture: String,
    shown: BTreeSet<&'static str>,
    searched: BTreeSet<&'static str>,
    counted: BTreeSet<&'static str>,
}

type Table = BTreeMap<(String, String), LineType>;

/// Add what an index says of its entries. The fixture is called as its folder is, or as is said.
fn add(table: &mut Table, fixture: Option<&str>, format: &dyn Format, index: &Index) {
    let mut classes: HashMap<(String, u64), BTreeSet<&'static str>> = HashMap::new();
    for (path, start, class, term) in index.dump_words().unwrap() {
        let (name, text) = match class {
            Class::Prose => ("prose", "prose:"),
            Class::Output => ("output", "output:"),
        };
        if term.starts_with(text) {
            let path = path.to_string_lossy().into_owned();
            classes.entry((path, start)).or_default().insert(name);
        }
    }
    let rows = |query: &str| {
        index
            .sql(query, &[])
            .unwrap_or_else(|error| panic!("{query}: {error}"))
            .rows
    };
    let mut counted: HashMap<i64, BTreeSet<&'static str>> = HashMap::new();
    for (what, query) in [
        ("call", "SELECT entry FROM call_records WHERE NOT is_result"),
        ("answer", "SELECT entry FROM call_records WHERE is_result"),
        ("tokens", "SELECT entry FROM usage_records WHERE total > 0"),
        (
            "cost",
            "SELECT entry FROM usage_records WHERE cost_total > 0",
        ),
        ("files", "SELECT entry FROM touches"),
        ("compaction", "SELECT entry FROM compactions"),
        ("label", "SELECT entry FROM labels"),
        ("error", "SELECT entry FROM entries WHERE is_error"),
        ("image", "SELECT entry FROM entries WHERE has_image"),
    ] {
        for row in rows(query) {
            counted
                .entry(row[0].as_i64().unwrap())
                .or_default()
                .insert(what);
        }
    }
    let mut folds: HashMap<String, Fold> = HashMap::new();
    let entries = "SELECT e.key, r.path, s.relative, e.start, e.kind, e.role, e.flags, raw(e.key)
        FROM _entries e JOIN _sources s USING (source) JOIN _roots r USING (root)
        ORDER BY r.path, s.relative, e.start";
    for row in rows(entries) {
        let (entry, start) = (row[0].as_i64().unwrap(), row[3].as_u64().unwrap());
        let [root, relative, kind, role, raw] =
            [1, 2, 4, 5, 7].map(|at| row[at].as_str().unwrap_or_default().to_owned());
        let path = Path::new(&root)
            .join(&relative)
            .to_string_lossy()
            .into_owned();
        let flags = row[6].as_i64().unwrap();
        // What it adds to its session is known by the fold over those before it.
        let fold = folds.entry(path.clone()).or_default();
        let before = (fold.messages, fold.name.clone(), fold.header.clone());
        let mut facts = format.facts_at(Path::new(&relative), raw.as_bytes());
        format.relate(fold, raw.as_bytes(), &mut facts);
        format.fold(fold, &facts);
        // They are on no branch, whatever their flags say.
        let is_about_session = ["session", "meta"].contains(&&*kind);
        let seen = table.entry((kind, role)).or_default();
        if seen.fixture.is_empty() {
            let folder = Path::new(&root).file_name().unwrap().to_str().unwrap();
            seen.fixture = fixture.unwrap_or(folder).to_owned();
        }
        seen.shown.insert(match () {
            () if flags & 128 != 0 || is_about_session => "beside the tree",
            () if flags & 1024 != 0 => "with `--filter all`",
            () => "yes",
        });
        seen.searched
            .extend(classes.remove(&(path, start)).unwrap_or_default());
        if flags & 64 != 0 {
            seen.searched.insert("by `kind:system`");
        }
        seen.counted
            .extend(counted.remove(&entry).unwrap_or_default());
        for (is_so, what) in [
            (fold.messages > before.0, "message"),
            (fold.name != before.1, "name"),
            (fold.header != before.2, "header"),
        ] {
            if is_so {
                seen.counted.insert(what);
            }
        }
    }
}

fn write(agent: &str, table: Table, out: &mut String) {
    for ((kind, role), seen) in table {
        let of = match (&*kind, &*role) {
            ("", _) => "what is no object".to_owned(),
            (kind, "") => format!("`{kind}`"),
            (kind, role) => format!("`{kind}`, `{role}`"),
        };
        let said = |all: &BTreeSet<&str>| {
            let all: Vec<&str> = all.iter().copied().collect();
            match all.is_empty() {
                true => "no".to_owned(),
                false => all.join(", "),
            }
        };
        let _ = writeln!(
            out,
            "| {agent} | {of} | {} | {} | {} | {} |",
            seen.fixture,
            said(&seen.shown),
            said(&seen.searched),
            said(&seen.counted)
        );
    }
}

#[test]
fn the_table_of_line_types_is_what_the_fixtures_say() {
    let format = |name: &str| {
        *FORMATS
            .iter()
            .find(|format| format.about().name == name)
            .unwrap()
    };
    let mut out = "| agent | line, role | fixture | listed | searched | counted |\n\
                   |---|---|---|---|---|---|\n"
        .to_owned();
    for agent in OF_FILES {
        let place = tempfile::tempdir().unwrap();
        let folder = documents::project().join("fixtures").join(agent);
        let cases = Store::cases(agent).into_iter();
        let roots = cases.map(|case| root(agent, agent, &folder.join(case)));
        let config = Config::new(place.path().join("index"), roots.collect());
        Indexer::open(&config).unwrap().sync().unwrap();
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        let mut table = Table::new();
        add(&mut table, None, format(agent), &index);
        write(agent, table, &mut out);
    }
    let mut table = Table::new();
    openclaw::every_line(&mut |made, index| {
        add(&mut table, Some(made), format("openclaw"), index);
    });
    write("openclaw", table, &mut out);
    let mut table = Table::new();
    opencode::every_row(&mut |made, index| {
        add(&mut table, Some(made), format("opencode"), index);
    });
    write("opencode", table, &mut out);
    let page = documents::text("docs/formats.md");
    let stands = page
        .split_once(BEGIN)
        .and_then(|(_, rest)| rest.split_once(END));
    let stands = stands.map(|(table, _)| table).unwrap_or_default();
    if stands != out {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("line-types.md");
        std::fs::write(&file, &out).unwrap();
        panic!("docs/formats.md has another table than {}", file.display());
    }
}
