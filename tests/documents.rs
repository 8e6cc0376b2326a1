//! Do the documents hold together? Every link leads somewhere, every Rust example is compiled,
//! every output that is shown is compared with what the program prints.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use sessionary::format::AGENTS;

/// The project's folder.
pub fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Markdown file that people read, by its path below the project's folder: README.md first.
pub fn documents() -> Vec<String> {
    let mut all = vec!["README.md".to_owned()];
    for folder in [
        "",
        "docs",
        "docs/agents",
        "benches",
        "migrations",
        ".github",
    ] {
        let entries = match fs::read_dir(project().join(folder)) {
            Ok(entries) => entries,
            // A packaged crate has no .github.
            Err(_) => continue,
        };
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .filter_map(|name| name.into_string().ok())
            .filter(|name| name.ends_with(".md") && (folder, name.as_str()) != ("", "README.md"))
            .map(|name| match folder {
                "" => name,
                _ => format!("{folder}/{name}"),
            })
            .collect();
        names.sort();
        all.extend(names);
    }
    all
}

/// The text of one of them.
pub fn text(document: &str) -> String {
    fs::read_to_string(project().join(document)).expect(document)
}

/// The lines outside fenced blocks, without `code`.
fn prose(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let outside = line.split('`').step_by(2).collect::<Vec<_>>();
            lines.push(outside.join(" "));
        }
    }
    lines
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|character| match character {
            ' ' => Some('-'),
            '-' | '_' => Some(character),
            _ if character.is_alphanumeric() => Some(character),
            _ => None,
        })
        .collect()
}

fn anchors(document: &str) -> HashSet<String> {
    let text = text(document);
    let mut fenced = false;
    let mut anchors = HashSet::new();
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        if let Some(heading) = line.strip_prefix('#').filter(|_| !fenced) {
            anchors.insert(anchor(heading.trim_start_matches('#')));
        }
    }
    anchors
}

/// Where the links of a text lead, pictures among them.
fn links(text: &str) -> Vec<String> {
    let text = prose(text).join("\n");
    let ends = text.split("](").skip(1);
    ends.filter_map(|rest| rest.split(')').next())
        .map(str::to_owned)
        .collect()
}

/// `docs/../README.md` is `README.md`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for document in documents() {
        let folder = Path::new(&document).parent().expect("a folder");
        for link in links(&text(&document)) {
            count += 1;
            if link.starts_with("https://") {
                continue;
            }
            let (path, heading) = match link.split_once('#') {
                Some((path, heading)) => (path, Some(heading)),
                None => (link.as_str(), None),
            };
            let target = match path {
                "" => PathBuf::from(&document),
                _ => plain(&folder.join(path)),
            };
            let is_there = project().join(&target).exists();
            let target = target.to_str().expect("a name").replace('\\', "/");
            if !is_there {
                wrong.push(format!("{document}: {link}: there is no {target}"));
            } else if let Some(heading) = heading
                && !anchors(&target).contains(heading)
            {
                wrong.push(format!("{document}: {link}: no such heading"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 20, "{count} links");
}

#[test]
fn every_document_is_linked_from_the_readme() {
    let linked: HashSet<String> = links(&text("README.md")).into_iter().collect();
    for document in documents() {
        let is_guide = document.starts_with("docs/") || !document.contains('/');
        assert!(
            document == "README.md" || !is_guide || linked.contains(&document),
            "README.md does not link to {document}"
        );
    }
}

#[test]
fn the_readme_is_short() {
    let words = text("README.md").split_whitespace().count();
    assert!(words <= 900, "{words} words");
}

/// The examples are compiled as tests of the library's documentation.
#[test]
fn every_rust_example_is_compiled() {
    let library = fs::read_to_string(project().join("src/lib.rs")).expect("src/lib.rs");
    for document in documents() {
        let has_rust = text(&document).contains("```rust");
        let is_compiled = library.contains(&format!("include_str!(\"../{document}\")"));
        assert_eq!(has_rust, is_compiled, "{document}");
    }
}

/// Output that nothing compares is out of date sooner or later. docs/sql.md has its own test.
#[test]
fn every_shown_output_is_compared() {
    for document in documents() {
        if document == "docs/sql.md" {
            continue;
        }
        let text = text(&document);
        let shown = text.matches("```console\n").count();
        let compared = text.matches("<!-- tour -->\n```console\n").count();
        assert_eq!(shown, compared, "{document}");
    }
}

#[test]
fn lines_are_short_enough_to_read_as_plain_text() {
    for document in documents() {
        let mut fenced = false;
        for (number, line) in text(&document).lines().enumerate() {
            fenced ^= line.trim_start().starts_with("```");
            let is_free = fenced || line.starts_with('|') || line.starts_with("![");
            let length = line.chars().count();
            assert!(
                is_free || length <= 100,
                "{document}:{}: {length} characters",
                number + 1
            );
        }
    }
}

/// What runs the commands of the documents prints what they say: never of anybody's own sessions.
#[test]
fn commands_of_the_documents_find_no_sessions_elsewhere() {
    let script = text(".ci/readme-run");
    let unset: HashSet<&str> = (script.lines().filter(|line| line.starts_with("unset ")))
        .flat_map(str::split_whitespace)
        .collect();
    let agents: Vec<&str> = (script.lines())
        .filter(|line| line.starts_with("agents="))
        .flat_map(|line| line.split(['=', '\'', '"', '|']))
        .collect();
    let begins = |name: &str| {
        let is_one = |begin: &&str| {
            name.strip_prefix(*begin)
                .is_some_and(|rest| rest.starts_with('_'))
        };
        agents.iter().any(is_one)
    };
    let mut names = BTreeSet::new();
    for agent in AGENTS {
        let above = agent.above_variable.iter().map(|(name, _)| *name);
        names.extend(agent.dir_variables.iter().chain(agent.flat_variables));
        names.extend(above);
    }
    // Of agents that are not read it is said where their sessions lie.
    let others = text("src/locations/others.rs");
    let is_variable = |name: &&str| {
        let of_letters = |c: char| c.is_ascii_uppercase() || c == '_';
        name.contains('_') && name.chars().all(of_letters)
    };
    names.extend(others.split('"').filter(is_variable));
    assert!(names.contains("GROK_HOME") && names.contains("CODEX_HOME"));
    for name in names {
        assert!(unset.contains(name) || begins(name), "{name}");
    }
}
