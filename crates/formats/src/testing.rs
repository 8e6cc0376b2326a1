//! What tests of a format ask: the sessions below a folder, read as the index reads them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::json::{PieceKind, split};
use crate::model::{Class, Facts, Fold, Passage, Placement, SessionFacts, SourcePart};
use crate::{Format, Shape, SourceFacts};

/// The modification time every file is said to have.
pub const MTIME: i64 = 1_767_700_000_123;

/// A session and all that is in it.
#[derive(Debug, Default)]
pub struct Read {
    pub session: SessionFacts,
    /// In the order of the files' paths.
    pub entries: Vec<Facts>,
    pub prose: Vec<String>,
    pub output: Vec<String>,
    pub prompts: Vec<String>,
    /// Why bytes are no entry.
    pub problems: Vec<&'static str>,
}

impl Read {
    /// The entries of that kind.
    pub fn of_kind(&self, kind: &str) -> Vec<&Facts> {
        self.entries
            .iter()
            .filter(|facts| facts.kind == kind)
            .collect()
    }

    /// How often a text is found.
    pub fn found(&self, text: &str) -> usize {
        let pieces = self.prose.iter().chain(&self.output);
        pieces.filter(|piece| piece.contains(text)).count()
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// The sessions of `fixtures/<format>/<case>`, by their keys.
pub fn sessions(format: &dyn Format, case: &str) -> BTreeMap<String, Read> {
    let root = fixtures().join(format.about().name).join(case);
    let mut sources: BTreeMap<String, Vec<(PathBuf, SourcePart, Option<String>)>> = BTreeMap::new();
    for relative in files(format, &root, Path::new("")) {
        if let Placement::Source {
            session,
            part,
            unlisted,
        } = format.place(&relative, false)
        {
            sources
                .entry(session)
                .or_default()
                .push((relative, part, unlisted));
        }
    }
    let read = |(session, sources)| (session, read(format, &root, sources));
    sources.into_iter().map(read).collect()
}

/// The only session of a case.
pub fn only(format: &dyn Format, case: &str) -> Read {
    let mut sessions = sessions(format, case);
    assert_eq!(sessions.len(), 1, "{case}");
    sessions
        .pop_first()
        .map(|(_, read)| read)
        .unwrap_or_default()
}

/// The files below a folder in the order of their paths.
fn files(format: &dyn Format, root: &Path, below: &Path) -> Vec<PathBuf> {
    let folder = fs::read_dir(root.join(below)).unwrap();
    let mut names: Vec<_> = folder.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let mut found = Vec::new();
    for name in names {
        let path = below.join(name);
        match root.join(&path).is_dir() {
            true if format.leaves_out(&path).is_some() => {}
            true => found.extend(files(format, root, &path)),
            false => found.push(path),
        }
    }
    found
}

fn read(
    format: &dyn Format,
    root: &Path,
    sources: Vec<(PathBuf, SourcePart, Option<String>)>,
) -> Read {
    let mut read = Read::default();
    let mut folds = Vec::new();
    for (path, ..) in &sources {
        let file = fs::read(root.join(path)).unwrap();
        let mut fold = Fold::default();
        let before = read.problems.len();
        match format.shape_of(path) {
            Shape::Text => add(format, path, &file, &mut fold, &mut read),
            _ => add_lines(format, path, &file, &mut fold, &mut read),
        }
        folds.push((fold, (read.problems.len() - before) as u64));
    }
    let facts: Vec<SourceFacts<'_>> = sources
        .iter()
        .zip(&folds)
        .map(
            |((relative, part, unlisted), (fold, problems))| SourceFacts {
                relative,
                mtime_ms: MTIME,
                fold,
                part: *part,
                unlisted: unlisted.as_deref(),
                problems: (*problems, None),
            },
        )
        .collect();
    read.session = format.session(&facts);
    read
}

fn add_lines(format: &dyn Format, path: &Path, file: &[u8], fold: &mut Fold, read: &mut Read) {
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        for piece in split(line) {
            match piece.kind {
                PieceKind::Value { .. } => add(format, path, &line[piece.range], fold, read),
                PieceKind::Bad(reason) => read.problems.push(reason),
                PieceKind::Blank => {}
            }
        }
    }
}

/// The fold goes through JSON between any two entries, as between two syncs.
fn add(format: &dyn Format, path: &Path, record: &[u8], fold: &mut Fold, read: &mut Read) {
    let facts = format.facts_at(path, record);
    let saved = serde_json::to_string(fold).unwrap();
    *fold = serde_json::from_str(&saved).unwrap();
    format.fold(fold, &facts);
    for Passage { class, pieces } in format.passages_at(path, record) {
        match class {
            Class::Prose => read.prose.extend(pieces),
            Class::Output => read.output.extend(pieces),
        }
    }
    let prompts = format.prompts_at(path, record);
    assert!(facts.has_prompt || prompts.is_empty());
    read.prompts.extend(prompts);
    read.entries.push(facts);
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Two hundred damages in each file of these formats, of one byte or to its end: none stops the
    /// reading, and one byte costs no more than the lines that it stands between.
    #[test]
    fn damage_costs_the_line_in_which_it_is() {
        let formats: [&dyn Format; 3] = [
            &crate::copilot::Copilot,
            &crate::cursor::Cursor,
            &crate::induscode::Induscode,
        ];
        let mut random = ChaCha8Rng::seed_from_u64(21);
        let mut damaged = 0;
        for format in formats {
            for case in fs::read_dir(fixtures().join(format.about().name)).unwrap() {
                let root = case.unwrap().path();
                for path in files(format, &root, Path::new("")) {
                    let is_lines = format.shape_of(&path) == Shape::Lines;
                    let file = fs::read(root.join(&path)).unwrap();
                    if is_lines && !file.is_empty() && !path.ends_with("expected.json") {
                        damaged += damage(format, &path, &file, &mut random);
                    }
                }
            }
        }
        assert!(damaged > 4_000, "{damaged}");
    }

    /// Returns how often one byte was changed.
    fn damage(format: &dyn Format, path: &Path, file: &[u8], random: &mut ChaCha8Rng) -> usize {
        let whole = entries(format, path, file);
        for round in 0..200 {
            let at = random.random_range(0..file.len());
            let mut bytes = file.to_vec();
            bytes[at] = random.random();
            if round % 4 == 0 {
                bytes.truncate(at);
                entries(format, path, &bytes);
            } else {
                let left = entries(format, path, &bytes);
                assert!(left + 2 >= whole, "{}: {left} of {whole}", path.display());
            }
        }
        150
    }

    /// The number of entries in a file, all of which are read.
    fn entries(format: &dyn Format, path: &Path, file: &[u8]) -> usize {
        let (mut fold, mut read) = (Fold::default(), Read::default());
        add_lines(format, path, file, &mut fold, &mut read);
        read.entries.len()
    }
}
