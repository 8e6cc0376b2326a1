//! What is in the session files below a folder, entry by entry? For programs that want everything
//! and keep no index; `sessionary` reads only what was added since.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::identity::Identity;
use crate::json::{PieceKind, split};
use crate::model::{Facts, Fold, Passage, Placement, SessionFacts, SourcePart};
use crate::{Format, Shape, SourceFacts};

/// One entry of a session file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Entry {
    /// What it is: role, id, parent, time, model, tokens.
    pub facts: Facts,
    /// What it says.
    pub passages: Vec<Passage>,
}

/// What is in a session file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Read {
    /// Its entries, in their order.
    pub entries: Vec<Entry>,
    /// Its session, as far as this file says what that is: an agent may keep one in several files,
    /// and what it is called in another one.
    pub session: SessionFacts,
}

/// The session files below a folder.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SessionFiles {
    /// Relative to the folder, by their names.
    pub files: Vec<PathBuf>,
    /// Folders below it that could not be read, or not to their end, and why.
    pub unread: Vec<(PathBuf, io::Error)>,
}

/// The session files below `root`, which is a folder where the format's agent keeps sessions. What
/// the agent keeps in a database is left out, as is what is no session.
///
/// # Errors
/// `root` itself cannot be read.
pub fn session_files(format: &dyn Format, root: &Path) -> io::Result<SessionFiles> {
    let mut found = SessionFiles::default();
    let mut folders = Vec::new();
    add_folder(format, root, Path::new(""), &mut found.files, &mut folders)?;
    while let Some(folder) = folders.pop() {
        let added = add_folder(format, root, &folder, &mut found.files, &mut folders);
        found
            .unread
            .extend(added.err().map(|error| (folder, error)));
    }
    found.files.sort();
    Ok(found)
}

fn add_folder(
    format: &dyn Format,
    root: &Path,
    folder: &Path,
    files: &mut Vec<PathBuf>,
    folders: &mut Vec<PathBuf>,
) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            if format.leaves_out(&path).is_none() {
                folders.push(path);
            }
        } else if let Placement::Source { .. } = format.place(&path, false) {
            files.push(path);
        }
    }
    Ok(())
}

/// What is in the session file at `relative` below `root`. It is read into memory. Bytes that the
/// agent itself could not read are no entry; compressed files are to be unpacked first.
///
/// # Errors
/// A file that cannot be read.
pub fn read_file(format: &dyn Format, root: &Path, relative: &Path) -> io::Result<Read> {
    let path = root.join(relative);
    let file = fs::read(&path)?;
    let mut reader = Reader {
        format,
        path: relative,
        fold: Fold::default(),
        entries: Vec::new(),
        problems: (0, None),
    };
    match format.shape_of(relative) {
        Shape::Text => reader.add(&file),
        Shape::Document => reader.add_line(&file),
        Shape::Elements => {
            let elements = format.elements(relative, &file).unwrap_or_default();
            elements.into_iter().for_each(|at| reader.add(&file[at]));
        }
        Shape::Lines => file[format.passed_over(&file)..]
            .split_inclusive(|byte| *byte == b'\n')
            .for_each(|line| reader.add_line(line)),
    }
    let session = reader.session(Identity::of(&fs::metadata(&path)?).mtime_ms());
    Ok(Read {
        entries: reader.entries,
        session,
    })
}

struct Reader<'a> {
    format: &'a dyn Format,
    path: &'a Path,
    /// What the entries before say of the next one.
    fold: Fold,
    entries: Vec<Entry>,
    /// How many pieces of it are no entry, and why the first one is none.
    problems: (u64, Option<&'static str>),
}

impl Reader<'_> {
    fn add_line(&mut self, line: &[u8]) {
        self.format.fold_line(&mut self.fold, line);
        for piece in split(line) {
            match piece.kind {
                PieceKind::Value { .. } => {
                    let value = &line[piece.range];
                    let within = self.format.entries_within(&self.fold, value);
                    match within.is_empty() {
                        true => self.add(value),
                        false => within.into_iter().for_each(|at| self.add(&value[at])),
                    }
                }
                PieceKind::Bad(why) => {
                    self.problems = (self.problems.0 + 1, self.problems.1.or(Some(why)));
                }
                PieceKind::Blank => {}
            }
        }
    }

    fn session(&self, mtime_ms: i64) -> SessionFacts {
        let (part, unlisted) = match self.format.place(self.path, false) {
            Placement::Source { part, unlisted, .. } => (part, unlisted),
            _ => (SourcePart::Main, None),
        };
        self.format.session(&[SourceFacts {
            relative: self.path,
            mtime_ms,
            fold: &self.fold,
            part,
            unlisted: unlisted.as_deref(),
            problems: self.problems,
        }])
    }

    fn add(&mut self, record: &[u8]) {
        let mut facts = self.format.facts_at(self.path, record);
        if facts.agent_sees {
            // What it proves is in the fold.
            let _ = self.format.prove_cwd(self.path, &mut self.fold, record);
        }
        self.format.relate(&mut self.fold, record, &mut facts);
        self.format.fold(&mut self.fold, &facts);
        let passages = self.format.passages_at(self.path, record);
        let others = facts.others();
        self.entries.push(Entry { facts, passages });
        self.entries.extend(others.into_iter().map(|facts| Entry {
            facts,
            passages: Vec::new(),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FORMATS, format_named};

    #[test]
    fn what_a_file_says_of_its_session_is_read_with_its_entries() {
        let pi = format_named(FORMATS, "pi").unwrap();
        let root = tempfile::tempdir().unwrap();
        let lines = [
            r#"{"type":"session","version":3,"id":"01","cwd":"/w"}"#,
            r#"{"type":"message","id":"a","message":{"role":"user","content":"Hello"}}"#,
            r#"{"type":"session_info","id":"b","parentId":"a","name":"Greeting"}"#,
            r#"{"type":"mess"#,
        ];
        let file = Path::new("--w--").join("one.jsonl");
        fs::create_dir(root.path().join("--w--")).unwrap();
        fs::write(root.path().join(&file), lines.join("\n")).unwrap();

        let read = read_file(pi, root.path(), &file).unwrap();
        assert_eq!(read.entries.len(), 3);
        let session = read.session;
        assert_eq!((&*session.id, &*session.cwd), ("01", "/w"));
        assert_eq!(session.name.as_deref(), Some("Greeting"));
        assert_eq!(session.first_message.as_deref(), Some("Hello"));
        assert_eq!((session.message_count, session.hidden), (1, None));
        assert!(session.modified_ms > 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_cannot_be_read_hides_no_other() {
        let pi = FORMATS
            .iter()
            .find(|format| format.about().name == "pi")
            .unwrap();
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("sessions");
        assert!(session_files(*pi, &root).is_err());
        for folder in ["--a--", "--z--"] {
            fs::create_dir_all(root.join(folder)).unwrap();
            fs::write(root.join(folder).join("one.jsonl"), "").unwrap();
        }
        // Below a folder that gets a longer name, paths become longer than the system takes. (Where
        // nobody has rights, who runs this may have them all the same.)
        let name = "o".repeat(250);
        let mut deep = root.join("m");
        while deep.as_os_str().len() + 1 + name.len() < 4096 {
            deep.push(&name);
        }
        fs::create_dir_all(deep).unwrap();
        fs::rename(root.join("m"), root.join("o".repeat(255))).unwrap();

        let found = session_files(*pi, &root).unwrap();
        let expected = ["--a--/one.jsonl", "--z--/one.jsonl"].map(PathBuf::from);
        assert_eq!(found.files, expected);
        let [(folder, _)] = &found.unread[..] else {
            panic!("{found:?}");
        };
        assert!(folder.as_os_str().len() > 3000, "{}", folder.display());
    }
}
