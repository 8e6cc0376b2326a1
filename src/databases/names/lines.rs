//! What do the lines of a file call sessions? The last name of each session counts.
//!
//! There may be a million of them, and each session's is asked for by itself: so the file is read
//! once, and where each line stands is kept, by the hash of its session.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::{Said, said};
use crate::format::names::NamesFile;
use crate::regular::Recent;

/// A longer line says nothing.
const LONGEST: u64 = 1 << 20;

/// The files that were asked for last.
static RECENT: Recent<Lines> = Recent::new();

/// What it says of these sessions.
pub fn named(
    path: &Path,
    file: &NamesFile,
    sessions: &HashSet<String>,
) -> io::Result<BTreeMap<String, Said>> {
    let (mut opened, lines) = RECENT.of(path, |opened| Lines::of(opened, file))?;
    let mut named = BTreeMap::new();
    for session in sessions {
        if let Some(said) = lines.last(&mut opened, file, session)? {
            named.insert(session.clone(), said);
        }
    }
    Ok(named)
}

/// What it says of a session.
pub fn of(path: &Path, file: &NamesFile, session: &str) -> io::Result<Option<Said>> {
    let (mut opened, lines) = RECENT.of(path, |opened| Lines::of(opened, file))?;
    lines.last(&mut opened, file, session)
}

/// Where the lines are that name a session, sorted.
struct Lines(Vec<Place>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// Of its session.
    hash: u64,
    start: u64,
    length: u64,
}

impl Lines {
    /// A line that says nothing costs itself alone.
    fn of(opened: &mut File, file: &NamesFile) -> io::Result<Lines> {
        let mut reader = BufReader::with_capacity(64 << 10, opened);
        let (mut places, mut line) = (Vec::new(), Vec::new());
        let (mut start, mut is_rest) = (0, false);
        loop {
            line.clear();
            let length = (&mut reader).take(LONGEST).read_until(b'\n', &mut line)? as u64;
            if length == 0 {
                break;
            }
            let is_cut = length == LONGEST && !line.ends_with(b"\n");
            if !is_rest
                && !is_cut
                && let Some((session, _)) = file.said(&line)
            {
                let hash = hash(&session);
                places.push(Place {
                    hash,
                    start,
                    length,
                });
            }
            is_rest = is_cut;
            start += length;
        }
        places.sort_unstable();
        places.shrink_to_fit();
        Ok(Lines(places))
    }

    /// What the last line says that names the session.
    fn last(&self, opened: &mut File, file: &NamesFile, session: &str) -> io::Result<Option<Said>> {
        let hash = hash(session);
        let end = self.0.partition_point(|place| place.hash <= hash);
        let own = self.0[..end].iter().rev();
        for place in own.take_while(|place| place.hash == hash) {
            let mut line = Vec::new();
            opened.seek(SeekFrom::Start(place.start))?;
            opened.take(place.length).read_to_end(&mut line)?;
            // Two sessions may have one hash.
            if let Some((found, name)) = file.said(&line)
                && found == session
            {
                return Ok(Some(said(file.table, session, Some(&name), false)));
            }
        }
        Ok(None)
    }
}

fn hash(session: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    session.hash(&mut hasher);
    hasher.finish()
}
