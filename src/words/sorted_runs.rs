//! Where do the postings of a field go when there are more of them than fit into memory?
//!
//! Into *sorted runs*: all that is in memory goes into a private file, ordered by term. When
//! everything is added, the runs are read side by side, and each term is written once, with its
//! postings from every run. So even a large batch becomes one segment with one dictionary; several
//! dictionaries would cost more than the runs do.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use tantivy::postings::FieldSerializer;

use super::postings::Postings;
use super::term::{Numbers, beginning, push_number};

/// Bytes of a run that are read or written at once.
const PIECE: usize = 128 << 10;

/// The runs of a field, one after the other in a file that is gone with its handle.
///
/// A run is a term after the other: how many bytes it has in common with the one before, how many
/// more there are, and these; the bytes of its list, as a number, and these.
pub(super) struct SortedRuns {
    file: File,
    /// Where each run ends.
    ends: Vec<u64>,
}

impl SortedRuns {
    /// No runs yet, in a file in this folder.
    pub fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile_in(folder)?,
            ends: Vec::new(),
        })
    }

    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Add a run of all these postings, whose documents come after those of the runs before.
    pub fn add(&mut self, postings: &Postings) -> io::Result<()> {
        let mut file = BufWriter::with_capacity(PIECE, &self.file);
        let (mut last, mut head) = (Vec::new(), Vec::new());
        postings.each(|term, list| {
            let both = term.iter().zip(&last);
            let shared = both.take_while(|(this, that)| this == that).count();
            head.clear();
            // No token is longer than `MAX_TOKEN`.
            head.extend([shared as u8, (term.len() - shared) as u8]);
            head.extend_from_slice(&term[shared..]);
            push_number(&mut head, list.len() as u32);
            last.clear();
            last.extend_from_slice(term);
            file.write_all(&head)?;
            file.write_all(list)
        })?;
        file.flush()?;
        drop(file);
        self.ends.push((&self.file).stream_position()?);
        Ok(())
    }

    /// Write all terms.
    pub fn write(&self, terms: &mut Terms<'_, '_>) -> io::Result<()> {
        let mut nexts = Vec::with_capacity(self.ends.len());
        let mut start = 0;
        for &end in &self.ends {
            nexts.extend(RunHead::first(FileRange {
                file: &self.file,
                start,
                end,
            })?);
            start = end;
        }
        let mut term = Vec::new();
        loop {
            let by_text = |a: &&RunHead, b: &&RunHead| {
                let by_beginning = a.beginning.cmp(&b.beginning);
                by_beginning.then_with(|| a.term.cmp(&b.term))
            };
            let Some(least) = nexts.iter().min_by(by_text) else {
                return Ok(());
            };
            term.clone_from(&least.term);
            let beginning = least.beginning;
            terms.begin(&term)?;
            let mut at = 0;
            while let Some(next) = nexts.get_mut(at) {
                if next.beginning == beginning && next.term == term {
                    terms.list(&next.list);
                    if !next.advance()? {
                        nexts.remove(at);
                        continue;
                    }
                }
                at += 1;
            }
            terms.end()?;
        }
    }
}

/// A range of a file that several readers share.
struct FileRange<'a> {
    file: &'a File,
    start: u64,
    end: u64,
}

impl Read for FileRange<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.start).unwrap_or(usize::MAX);
        let most = bytes.len().min(left);
        self.file.seek(SeekFrom::Start(self.start))?;
        let read = self.file.read(&mut bytes[..most])?;
        self.start += read as u64;
        Ok(read)
    }
}

/// The term of a run that comes next.
struct RunHead<'a> {
    file: BufReader<FileRange<'a>>,
    term: Vec<u8>,
    beginning: u64,
    list: Vec<u8>,
}

impl<'a> RunHead<'a> {
    /// The first term of a run, if it has any.
    fn first(run: FileRange<'a>) -> io::Result<Option<Self>> {
        let mut first = RunHead {
            file: BufReader::with_capacity(PIECE, run),
            term: Vec::new(),
            beginning: 0,
            list: Vec::new(),
        };
        Ok(first.advance()?.then_some(first))
    }

    /// Go on to the term after this one. Whether there is one.
    fn advance(&mut self) -> io::Result<bool> {
        if self.file.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let shared = self.byte()?;
        let more = self.byte()?;
        self.term.resize(usize::from(shared) + usize::from(more), 0);
        self.file
            .read_exact(&mut self.term[usize::from(shared)..])?;
        self.beginning = beginning(&self.term);
        let (mut length, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            length |= usize::from(byte & 127) << shift;
            if byte < 128 {
                break;
            }
            shift += 7;
        }
        self.list.resize(length, 0);
        self.file.read_exact(&mut self.list)?;
        Ok(true)
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.file.read_exact(&mut byte)?;
        Ok(byte[0])
    }
}

/// Writes the terms of one field of a segment.
pub(super) struct Terms<'a, 'f> {
    field: &'a mut FieldSerializer<'f>,
    /// The number of the first document.
    base: u32,
    with_positions: bool,
    positions: Vec<u32>,
}

impl<'a, 'f> Terms<'a, 'f> {
    pub fn new(field: &'a mut FieldSerializer<'f>, base: u32, with_positions: bool) -> Self {
        Self {
            field,
            base,
            with_positions,
            positions: Vec::new(),
        }
    }

    /// Begin a term, which comes after those before it.
    pub fn begin(&mut self, term: &[u8]) -> io::Result<()> {
        // How many documents there are is counted by `write_doc`.
        self.field.new_term(term, 1, true)
    }

    /// Append a posting list of the current term. Its document numbers follow those already
    /// written.
    pub fn list(&mut self, list: &[u8]) {
        let mut numbers = Numbers(list);
        let Some(first) = numbers.next() else {
            return;
        };
        let mut document = self.base + first;
        if !self.with_positions {
            self.field.write_doc(document, 1, &[]);
            for distance in numbers {
                document += distance;
                self.field.write_doc(document, 1, &[]);
            }
            return;
        }
        while let Some(value) = numbers.next() {
            if value > 0 {
                self.positions.push(value - 1);
                continue;
            }
            self.document(document);
            document += numbers.next().unwrap_or_default();
        }
        self.document(document);
    }

    fn document(&mut self, document: u32) {
        let positions = &mut self.positions;
        self.field
            .write_doc(document, positions.len() as u32, positions);
        positions.clear();
    }

    /// End the term.
    pub fn end(&mut self) -> io::Result<()> {
        self.field.close_term()
    }
}
