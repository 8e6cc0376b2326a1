//! How long does somebody wait at the picker where there are many sessions, or a large one?

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Instant;

use crate::Result;
use crate::corpus::RARE;
use crate::picker::{
    PATIENCE, Picker, QUIET, SETTLED, Terminal, Typist, Waits, line, ms, queries, type_all,
};
use crate::rows::median;

/// Bytes of a session where there are many.
const SMALL: u64 = 12_000;
/// So many sessions, the first frame of which is measured.
const SOME: usize = 4_000;
/// So many, among which is searched.
const MANY: usize = 100_000;
/// Bytes of the session in which a match is shown.
const LARGE: u64 = 100_000_000;
/// How often a program is started.
const STARTS: usize = 5;
/// Lines and columns of the terminal in which there is a preview.
const SCREEN: (u16, u16) = (40, 120);
/// The preview begins behind so many columns: the list has 45 of a hundred.
const LIST: u16 = 54;

/// Adds the rows for these corpora to the table; `corpus` writes one of so many bytes in so many
/// sessions.
pub fn measure(
    binary: &Path,
    work: &Path,
    corpus: &dyn Fn(u64, usize) -> Result<PathBuf>,
) -> Result<()> {
    println!();
    let work = |name: &str| -> Result<PathBuf> {
        let work = work.join(name);
        fs::create_dir_all(&work)?;
        Ok(work)
    };
    for files in [SOME, MANY] {
        let (sessions, work) = (
            corpus(SMALL * files as u64, files)?,
            work(&files.to_string())?,
        );
        let picker = Picker {
            binary,
            sessions: &sessions,
            work: &work,
        };
        picker.index()?;
        let typist = Typist {
            name: "sessionary",
            command: &|| picker.command(&[]),
            clear: "\u{15}",
            leave: "\u{1b}",
        };
        let queries = queries(&sessions)?;
        line(
            &format!("sessionary, {files} sessions"),
            &type_all(&typist, SCREEN.1, &queries)?,
        );
    }
    let (sessions, work) = (corpus(LARGE, 1)?, work("large")?);
    let picker = Picker {
        binary,
        sessions: &sessions,
        work: &work,
    };
    picker.index()?;
    let starts = (0..STARTS).map(|_| first_look(&picker));
    let starts: Vec<(f64, f64)> = starts.collect::<Result<_>>()?;
    let first = median(starts.iter().map(|(first, _)| *first).collect());
    let looks = starts.iter().map(|(_, look)| (RARE.to_owned(), *look));
    line(
        "sessionary, match in 100 MB",
        &Waits {
            first: first.unwrap_or_default(),
            keys: looks.collect(),
        },
    );
    Ok(())
}

/// Milliseconds to the first frame, and from a word that is put in at once to its match in the
/// preview of the session.
fn first_look(picker: &Picker<'_>) -> Result<(f64, f64)> {
    let mut terminal = Terminal::open(SCREEN.1, SCREEN.0)?;
    let begun = Instant::now();
    let mut program = terminal.start(picker.command(&[]))?;
    let first = ms(terminal.first_frame()? - begun);
    sleep(SETTLED);
    terminal.answered(QUIET)?;
    let size = |length| NonZero::new(length).unwrap_or(NonZero::<u16>::MIN);
    let mut screen = vt100::Parser::new(size(SCREEN.0), size(SCREEN.1), 0);
    let mut fed = 0;
    let typed = Instant::now();
    terminal.type_in(RARE)?;
    let look = loop {
        let at = terminal.read(PATIENCE)?.ok_or("the match is not shown")?;
        screen.process(&terminal.written[fed..]);
        fed = terminal.written.len();
        let mut rows = screen.screen().rows(LIST, SCREEN.1 - LIST);
        if rows.any(|row| row.contains(RARE)) {
            break ms(at - typed);
        }
    };
    let _ = program.kill();
    program.wait()?;
    Ok((first, look))
}
