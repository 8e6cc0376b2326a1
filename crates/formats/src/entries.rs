//! What is in the session files below a folder, entry by entry? For programs that want everything
//! and keep no index; `sessionary` reads only what was added since.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::json::{PieceKind, split};
use crate::model::{Facts, Fold, Passage, Placement};
use crate::{Format, Shape};

/// One entry of a session file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Entry {
    /// What it is: role, id, parent, time, model, tokens.
    pub facts: Facts,
    /// What it says.
    pub passages: Vec<Passage>,
}

/// The session files below `root`, which is a folder where the format's agent keeps sessions:
/// relative to it, by their names. What the agent keeps in a database is left out, as is what is no
/// session.
///
/// # Errors
/// A folder that cannot be read.
pub fn session_files(format: &dyn Format, root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                if format.leaves_out(&path).is_none() {
                    folders.push(path);
                }
            } else if let Placement::Source { .. } = format.place(&path, false) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The entries of the session file at `relative` below `root`, in their order. The file is read into
/// memory. Bytes that the agent itself could not read are no entry; compressed files are to be
/// unpacked first.
///
/// # Errors
/// A file that cannot be read.
pub fn entries(format: &dyn Format, root: &Path, relative: &Path) -> io::Result<Vec<Entry>> {
    let file = fs::read(root.join(relative))?;
    let mut reader = Reader {
        format,
        path: relative,
        fold: Fold::default(),
        entries: Vec::new(),
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
    Ok(reader.entries)
}

struct Reader<'a> {
    format: &'a dyn Format,
    path: &'a Path,
    /// What the entries before say of the next one.
    fold: Fold,
    entries: Vec<Entry>,
}

impl Reader<'_> {
    fn add_line(&mut self, line: &[u8]) {
        self.format.fold_line(&mut self.fold, line);
        for piece in split(line) {
            if let PieceKind::Value { .. } = piece.kind {
                let value = &line[piece.range];
                let within = self.format.entries_within(&self.fold, value);
                match within.is_empty() {
                    true => self.add(value),
                    false => within.into_iter().for_each(|at| self.add(&value[at])),
                }
            }
        }
    }

    fn add(&mut self, record: &[u8]) {
        let mut facts = self.format.facts_at(self.path, record);
        self.format.relate(&mut self.fold, record, &mut facts);
        self.format.fold(&mut self.fold, &facts);
        let passages = self.format.passages_at(self.path, record);
        self.entries.push(Entry { facts, passages });
    }
}
