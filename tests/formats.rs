//! Every fixture, cut, read and folded, against what was expected of it by hand.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sessionary::format::json::{PieceKind, split};
use sessionary::format::{FORMATS, Format, Shape, SourceFacts};
use sessionary::model::{Class, Facts, Fold, Passage, Placement, SourcePart};

/// The modification time every fixture is said to have.
const MTIME: i64 = 1_767_700_000_123;

fn fixtures(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(format)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Formats of one file a session; those of many files and of databases have tests of their own.
fn line_formats() -> impl Iterator<Item = &'static &'static dyn Format> {
    const OF_MANY: [&str; 2] = ["gemini", "qwen"];
    let of_one = |format: &&&dyn Format| {
        !OF_MANY.contains(&format.about().name) && format.about().database.is_none()
    };
    let formats = FORMATS.iter().filter(of_one);
    formats.filter(|format| format.about().shape == Shape::Lines)
}

/// All `(case/file)` of a format but the expectations. Cases without have tests of their own, where
/// the format is.
fn files(format: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut cases = names(&fixtures(format));
    cases.retain(|case| fixtures(format).join(case).join("expected.json").exists());
    for case in cases {
        for file in names(&fixtures(format).join(&case)) {
            // What lies deeper is read by the tests of its format.
            let is_file = fixtures(format).join(&case).join(&file).is_file();
            if file != "expected.json" && is_file {
                files.push(Path::new(&case).join(file));
            }
        }
    }
    files
}

/// One entry as it lies in the file.
struct Entry {
    offset: u64,
    bytes: Vec<u8>,
    facts: Facts,
}

/// Cut a whole file; panics unless the pieces tile it.
fn cut(format: &dyn Format, bytes: &[u8]) -> (Vec<Entry>, Vec<&'static str>) {
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    let mut at = 0;
    at += format.passed_over(bytes);
    for line in bytes[at..].split_inclusive(|byte| *byte == b'\n') {
        let start = at;
        let pieces = split(line);
        if let Some(facts) = format.facts_of_line(line) {
            let mut found = pieces.iter().filter(|piece| piece.kind != PieceKind::Blank);
            let only = found.next().expect("one piece");
            assert_eq!(
                found.next(),
                None,
                "read as one value, but it is several pieces"
            );
            assert_eq!(only.kind, PieceKind::Value { fused: false });
            assert_eq!(facts, format.facts(&line[only.range.clone()]));
            assert_eq!(line.trim_ascii(), &line[only.range.clone()]);
        }
        for piece in pieces {
            assert_eq!(start + piece.range.start, at, "pieces tile the file");
            assert!(!piece.range.is_empty());
            at = start + piece.range.end;
            let bytes = &line[piece.range.clone()];
            match piece.kind {
                PieceKind::Value { fused } => {
                    let mut facts = format.facts(bytes);
                    facts.agent_sees &= !fused;
                    let offset = (start + piece.range.start) as u64;
                    entries.push(Entry {
                        offset,
                        bytes: bytes.to_vec(),
                        facts,
                    });
                }
                PieceKind::Blank => {}
                PieceKind::Bad(reason) => problems.push(reason),
            }
        }
        assert_eq!(at, start + line.len(), "pieces tile the file");
    }
    assert_eq!(at, bytes.len());
    (entries, problems)
}

fn kind_of(entry: &Entry) -> String {
    let unseen = if entry.facts.agent_sees { "" } else { "~" };
    format!("{unseen}{}", entry.facts.kind)
}

fn pieces(passages: &[Passage], class: Class) -> Vec<String> {
    passages
        .iter()
        .filter(|passage| passage.class == class)
        .flat_map(|passage| passage.pieces.clone())
        .collect()
}

fn check(format: &dyn Format, file: &Path, expected: Option<&Value>, wrong: &mut Vec<String>) {
    let bytes = fs::read(fixtures(format.about().name).join(file)).unwrap();
    let (part, unlisted) = match (format.place(file, false), expected) {
        (
            Placement::Source {
                session,
                part,
                unlisted,
            },
            Some(_),
        ) => {
            assert_eq!(session, file.to_str().unwrap());
            (part, unlisted)
        }
        (Placement::Ignore(_) | Placement::Database, None) => return,
        (placement, expected) => {
            wrong.push(format!(
                "{}: {placement:?}, expected {expected:?}",
                file.display()
            ));
            return;
        }
    };
    let Some(expected) = expected else { return };
    let (entries, problems) = cut(format, &bytes);

    let mut fold = Fold::default();
    let lines = bytes[format.passed_over(&bytes)..].split(|byte| *byte == b'\n');
    for line in lines.filter(|line| format.facts_of_line(line).is_none()) {
        format.fold_line(&mut fold, line);
    }
    let mut passages = Vec::new();
    for entry in &entries {
        // The saved state goes through JSON between any two entries, as between two syncs.
        fold = serde_json::from_str(&serde_json::to_string(&fold).unwrap()).unwrap();
        let mut facts = entry.facts.clone();
        format.relate(&mut fold, &entry.bytes, &mut facts);
        format.fold(&mut fold, &facts);
        let mut of_entry = match facts.silent {
            true => Vec::new(),
            false => format.passages(&entry.bytes),
        };
        of_entry.retain(|passage| !facts.repeats.contains(&passage.class));
        let classes: HashSet<_> = of_entry.iter().map(|passage| passage.class).collect();
        assert_eq!(classes.len(), of_entry.len(), "one passage a class");
        assert!(of_entry.iter().all(|passage| !passage.pieces.is_empty()));
        passages.extend(of_entry);
    }
    let session = format.session(&[SourceFacts {
        relative: file,
        mtime_ms: MTIME,
        fold: &fold,
        part,
        unlisted: unlisted.as_deref(),
        problems: (problems.len() as u64, problems.first().copied()),
    }]);

    let mut found = serde_json::json!({
        "session": session,
        "entries": entries.iter().map(kind_of).collect::<Vec<_>>(),
        "problems": problems.len(),
        "prose": pieces(&passages, Class::Prose),
        "output": pieces(&passages, Class::Output),
        "part": part,
    });
    for (key, wanted) in expected.as_object().unwrap() {
        match (key.as_str(), wanted) {
            ("session", Value::Object(wanted)) => {
                for (field, wanted) in wanted {
                    let found = found["session"].get(field);
                    if found != Some(wanted) {
                        wrong.push(format!(
                            "{} {field}: {found:?}, expected {wanted}",
                            file.display()
                        ));
                    }
                }
            }
            _ => {
                let found = found[key].take();
                if found != *wanted {
                    wrong.push(format!(
                        "{} {key}: {found}, expected {wanted}",
                        file.display()
                    ));
                }
            }
        }
    }
}

#[test]
fn fixtures_read_as_expected() {
    let (mut wrong, mut cases) = (Vec::new(), 0);
    for format in line_formats() {
        let mut expected: BTreeMap<String, Value> = BTreeMap::new();
        for file in files(format.about().name) {
            let case = file.parent().unwrap().to_str().unwrap().to_owned();
            let expected = expected.entry(case.clone()).or_insert_with(|| {
                let path = fixtures(format.about().name)
                    .join(&case)
                    .join("expected.json");
                serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
            });
            check(
                *format,
                &file,
                expected.get(file.file_name().unwrap().to_str().unwrap()),
                &mut wrong,
            );
            cases += 1;
        }
    }
    assert!(cases > 120, "{cases} files");
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A file that ends anywhere is still tiled, and its whole lines read as before (the one-line law).
#[test]
fn every_prefix_of_every_fixture_is_tiled() {
    for format in line_formats() {
        for file in files(format.about().name) {
            let bytes = fs::read(fixtures(format.about().name).join(&file)).unwrap();
            let (whole, _) = cut(*format, &bytes);
            let step = (bytes.len() / 400).max(1);
            for end in (0..bytes.len()).step_by(step) {
                let (part, _) = cut(*format, &bytes[..end]);
                let last_line = last_line_start(&bytes[..end]);
                for (a, b) in part
                    .iter()
                    .zip(&whole)
                    .take_while(|(a, _)| a.offset < last_line as u64)
                {
                    assert_eq!(a.facts, b.facts);
                }
            }
        }
    }
}

/// Where the last line, whole or not, begins.
fn last_line_start(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1)
}

/// Keys, and the values under keys that hold no text.
fn collect(value: &Value, key: &str, never: &mut HashSet<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            never.insert(key.clone());
            collect(value, key, never);
        }),
        Value::Array(items) => items.iter().for_each(|item| collect(item, key, never)),
        Value::String(text) => {
            let id = key == "id" || key.ends_with("Id") || key.ends_with("_id");
            let secret = key.ends_with("ignature")
                || key == "base64_data"
                || (key == "data" && !text.contains(' '));
            if id && key != "modelId" || secret {
                never.insert(text.clone());
            }
        }
        _ => {}
    }
}

#[test]
fn no_key_id_signature_or_base64_is_text() {
    let (mut never, mut texts) = (HashSet::new(), Vec::new());
    for format in line_formats() {
        for file in files(format.about().name) {
            let bytes = fs::read(fixtures(format.about().name).join(&file)).unwrap();
            for entry in cut(*format, &bytes).0 {
                if let Ok(value) = serde_json::from_slice(&entry.bytes) {
                    collect(&value, "", &mut never);
                }
                texts.extend(
                    format
                        .passages(&entry.bytes)
                        .into_iter()
                        .flat_map(|passage| passage.pieces),
                );
            }
        }
    }
    assert!(
        never.len() > 100 && texts.len() > 200,
        "{} and {}",
        never.len(),
        texts.len()
    );
    for text in &texts {
        assert!(
            !never.contains(text),
            "{text:?} is a key, an id, a signature or base64"
        );
    }
    for secret in never.iter().filter(|secret| secret.len() > 8) {
        let holder = texts.iter().find(|text| text.contains(secret.as_str()));
        assert_eq!(holder, None, "{secret:?}");
    }
}

/// Where agents look is listed; everything else that may be a session is a source all the same.
#[test]
fn places() {
    let format = |name: &str| {
        *FORMATS
            .iter()
            .find(|known| known.about().name == name)
            .unwrap()
    };
    let place = |name: &str, path: &str, flat| match format(name).place(Path::new(path), flat) {
        Placement::Source { part, unlisted, .. } => (Some(part), unlisted.is_none()),
        Placement::Ignore(_) | Placement::Database => (None, false),
    };
    let listed = (Some(SourcePart::Main), true);
    let unlisted = (Some(SourcePart::Main), false);
    for (format, path, flat, expected) in [
        ("pi", "--home--/a.jsonl", false, listed),
        ("pi", "a.jsonl", false, unlisted),
        ("pi", "x/y/a.jsonl", false, unlisted),
        ("pi", "a.jsonl", true, listed),
        ("pi", "x/a.jsonl", true, unlisted),
        ("pi", "x/a.JSONL", false, unlisted),
        (
            "pi",
            "x/a.jsonl.bak-1-2",
            false,
            (Some(SourcePart::Copy), false),
        ),
        (
            "pi",
            "x/a.jsonl.reset.2026",
            false,
            (Some(SourcePart::Copy), false),
        ),
        // Names that mean something to OpenClaw, and nothing to pi.
        ("pi", "x/a.trajectory.jsonl", false, listed),
        ("pi", "x/a.bak-1-2.jsonl", false, listed),
        ("pi", "x/a.jsonl.bak-1.jsonl", false, listed),
        ("indusagi", "x/a.checkpoint.b.jsonl", false, listed),
        ("pindusagi", "x/a.trajectory.jsonl", false, listed),
        ("pi", "x/a.json", false, (None, false)),
        ("clido", "_home_ada/a.jsonl", false, listed),
        ("clido", "a.jsonl", false, listed),
        ("clido", "x/y/a.jsonl", false, unlisted),
        ("clido", "a.jsonl", true, listed),
        ("clido", "x/a.jsonl", true, unlisted),
        ("clido", "x/.jsonl", false, unlisted),
        ("clido", "x/audit.json", false, (None, false)),
    ] {
        assert_eq!(
            place(format, path, flat),
            expected,
            "{format} {path} flat={flat}"
        );
    }
}

/// Of a custom entry's data 16 KiB are searched; what is longer says so.
#[test]
fn long_custom_data_is_marked_as_cut() {
    let facts = |pieces: &[usize]| {
        let data: Vec<String> = pieces
            .iter()
            .map(|bytes| "a ".repeat(bytes.div_ceil(2)))
            .collect();
        let record =
            serde_json::json!({"type": "custom", "customType": "x", "data": data, "id": "a"});
        sessionary::format::pi::Dialect::PI.facts(record.to_string().as_bytes())
    };
    assert!(!facts(&[]).text_cut);
    // Long enough as JSON, not as text.
    assert!(!facts(&[100; 160]).text_cut);
    assert!(!facts(&[8 << 10, 8 << 10]).text_cut);
    assert!(facts(&[8 << 10, 8 << 10, 2]).text_cut);
}

#[test]
fn system_prompts_and_tool_schemas_are_apart() {
    let agentuse = FORMATS
        .iter()
        .find(|f| f.about().name == "agentuse")
        .unwrap();
    for (path, record, expected) in [
        (
            "s/tools.json",
            r#"{"tools":[{"name":"read","description":"Reads a file","inputSchema":{"properties":{"path":{"type":"string","description":"Where it is"}}}}]}"#,
            &["read", "Reads a file", "Where it is"][..],
        ),
        (
            "s/m/message.json",
            r#"{"id":"m","user":{"prompt":{"task":"sort","user":"please"}},"assistant":{"system":["You are a careful sorter."]}}"#,
            &["You are a careful sorter."],
        ),
    ] {
        let (path, record) = (Path::new(path), record.as_bytes());
        assert!(agentuse.facts_at(path, record).has_prompt, "{path:?}");
        let prompts = agentuse.prompts_at(path, record);
        for text in expected {
            assert!(prompts.iter().any(|piece| piece == text), "{prompts:?}");
        }
        let passages = agentuse.passages_at(path, record);
        let said = pieces(&passages, Class::Prose);
        assert!(!said.iter().any(|piece| expected.contains(&piece.as_str())));
    }
    let talk = r#"{"type":"message","id":"a","message":{"role":"user","content":"hello"}}"#;
    let pi = FORMATS.iter().find(|f| f.about().name == "pi").unwrap();
    assert!(!pi.facts(talk.as_bytes()).has_prompt);
    assert!(
        pi.prompts_at(Path::new("s.jsonl"), talk.as_bytes())
            .is_empty()
    );
}
