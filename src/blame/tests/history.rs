//! Random histories of a file that sessions and hands change. Each line knows who may have written
//! it: who did, and where it was written once more in its own place, who had written it before.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{SessionEdit, State, seen};
use crate::format::edits::{Change, Hunk, HunkLine};

const HANDS: i64 = 0;

#[derive(Clone, Debug, PartialEq)]
struct Line {
    text: String,
    /// Sessions, and hands.
    by: Vec<i64>,
}

struct History {
    rng: ChaCha8Rng,
    file: Vec<Line>,
    /// States to which somebody may go back.
    past: Vec<Vec<Line>>,
    made: Vec<SessionEdit>,
    /// Lines that were written at some time.
    written: Vec<String>,
    /// Lines that hands took away, and lines that sessions wrote and that are like no other: hands
    /// that type one of them put it back.
    away: Vec<Line>,
    told: usize,
}

impl History {
    fn new(seed: u64) -> Self {
        let mut history = History {
            rng: ChaCha8Rng::seed_from_u64(seed),
            file: Vec::new(),
            past: Vec::new(),
            made: Vec::new(),
            written: Vec::new(),
            away: Vec::new(),
            told: 0,
        };
        let by = if history.rng.random_bool(0.5) {
            HANDS
        } else {
            1
        };
        let lines = history.lines(6..14);
        if by == HANDS {
            history.put(0..0, &lines, HANDS);
        } else {
            let is_new = history.rng.random_bool(0.5).then_some(true);
            history.put(0..0, &lines, 1);
            history.push(1, vec![Change::Write(joined(&lines))], |made| {
                made.is_new = is_new
            });
        }
        history
    }

    /// Lines: new ones, such as stand everywhere, and such as were written before.
    fn lines(&mut self, count: std::ops::Range<usize>) -> Vec<String> {
        let count = self.rng.random_range(count);
        let mut lines = Vec::new();
        for _ in 0..count {
            let text = match self.rng.random_range(0..20) {
                0..3 => "}".to_owned(),
                3..5 => String::new(),
                5..7 => "    return;".to_owned(),
                7..9 if !self.written.is_empty() => self
                    .written
                    .choose(&mut self.rng)
                    .cloned()
                    .unwrap_or_default(),
                _ => {
                    self.told += 1;
                    format!("    let value = compute({});", self.told)
                }
            };
            self.written.push(text.clone());
            lines.push(text);
        }
        lines
    }

    fn push(&mut self, session: i64, changes: Vec<Change>, known: impl FnOnce(&mut SessionEdit)) {
        let mut made = SessionEdit {
            session,
            changes,
            ..SessionEdit::default()
        };
        known(&mut made);
        self.made.push(made);
    }

    fn text(&self) -> String {
        let texts: Vec<String> = self.file.iter().map(|line| line.text.clone()).collect();
        joined(&texts)
    }

    fn range(&mut self, most: usize) -> std::ops::Range<usize> {
        let from = self.rng.random_range(0..=self.file.len());
        let to = (from + self.rng.random_range(0..=most)).min(self.file.len());
        from..to
    }

    /// Puts lines in place of others. Where one was there before, its writer may be either.
    fn put(&mut self, range: std::ops::Range<usize>, lines: &[String], by: i64) {
        let mut before: Vec<Line> = self.file[range.clone()].to_vec();
        if by == HANDS {
            before.extend(self.away.iter().cloned());
        } else {
            let texts = lines.iter().filter(|text| text.contains("compute"));
            self.away.extend(texts.map(|text| line(text, by)));
        }
        let after = lines.iter().map(|text| {
            let same = before.iter().filter(|line| line.text == *text);
            let mut writers: Vec<i64> = same.flat_map(|line| line.by.clone()).collect();
            writers.push(by);
            Line {
                text: text.clone(),
                by: writers,
            }
        });
        let after: Vec<Line> = after.collect();
        let taken: Vec<Line> = self.file.splice(range, after).collect();
        if by == HANDS {
            self.take(taken);
        }
    }

    /// Hands took these away: of equal lines nobody can tell which.
    fn take(&mut self, taken: Vec<Line>) {
        for gone in taken {
            let mut any: Vec<i64> = gone.by.clone();
            let is_equal = |line: &&mut Line| line.text == gone.text;
            any.extend(
                self.file
                    .iter_mut()
                    .filter(is_equal)
                    .flat_map(|line| line.by.clone()),
            );
            any.sort_unstable();
            any.dedup();
            let equal = self.file.iter_mut().filter(is_equal);
            equal.for_each(|line| line.by.clone_from(&any));
            self.away.push(gone);
        }
    }

    fn step(&mut self) {
        if self.rng.random_bool(0.2) {
            self.past.push(self.file.clone());
        }
        match self.rng.random_range(0..10) {
            0..4 => self.hands(),
            4 => self.rewrite(),
            _ => self.edit(),
        }
    }

    fn hands(&mut self) {
        match self.rng.random_range(0..7) {
            0 => {
                let lines = self.lines(1..4);
                let range = self.range(0);
                self.put(range, &lines, HANDS);
            }
            1 => {
                let range = self.range(3);
                let taken: Vec<Line> = self.file.drain(range).collect();
                self.take(taken);
            }
            2 => {
                let (range, lines) = (self.range(3), self.lines(1..3));
                self.put(range, &lines, HANDS);
            }
            3 => {
                // Moved.
                let range = self.range(4);
                let moved: Vec<Line> = self.file.drain(range).collect();
                let at = self.rng.random_range(0..=self.file.len());
                self.file.splice(at..at, moved.iter().cloned());
                self.take(moved);
            }
            4 => {
                // Indented otherwise.
                for line in &mut self.file {
                    if line.text.starts_with("    ") {
                        line.text = line.text.replacen("    ", "\t", 1);
                        line.by = vec![HANDS];
                    }
                }
            }
            5 => {
                // Doubled.
                let range = self.range(3);
                let copied = self.file[range.clone()].to_vec();
                self.file
                    .splice(range.end..range.end, copied.iter().cloned());
                self.take(copied);
            }
            _ => {
                let Some(past) = self.past.choose(&mut self.rng) else {
                    return;
                };
                self.away
                    .extend(std::mem::replace(&mut self.file, past.clone()));
                // Nobody can tell a line that a session wrote once more from the one that is back.
                for line in self
                    .file
                    .iter_mut()
                    .filter(|line| line.text.contains("compute"))
                {
                    let same = self.away.iter().filter(|other| other.text == line.text);
                    line.by.extend(same.flat_map(|other| other.by.clone()));
                }
            }
        }
    }

    /// A session writes the whole file.
    fn rewrite(&mut self) {
        let session = self.rng.random_range(1..4);
        let before = self.text();
        let all = 0..self.file.len();
        if self.rng.random_bool(0.3) {
            // It knows nothing of it, nor of anything that was written before.
            let written = std::mem::take(&mut self.written);
            let lines = self.lines(3..9);
            self.written.extend(written);
            self.put(all, &lines, session);
            return self.push(session, vec![Change::Write(joined(&lines))], |_| {});
        }
        let (range, lines) = (self.range(4), self.lines(1..4));
        self.put(range, &lines, session);
        let knows = self.rng.random_bool(0.5);
        let text = self.text();
        let read = seen(&text, &format!("file.rs\n{before}"));
        self.push(session, vec![Change::Write(text)], |made| match knows {
            true => made.before = Some(before),
            false => made.seen = read,
        });
    }

    /// A session puts text in place of text.
    fn edit(&mut self) {
        let session = self.rng.random_range(1..4);
        let before = self.text();
        let old_lines: Vec<String> = self.file.iter().map(|line| line.text.clone()).collect();
        let around = self.rng.random_range(0..4);
        let range = self.range(3);
        let wide = range.start.saturating_sub(around)..(range.end + around).min(self.file.len());
        let old = joined(&old_lines[wide.clone()]);
        let is_clear = !old.is_empty() && before.matches(&old).count() == 1;
        let lines = self.lines(0..4);
        let new = [
            &old_lines[wide.start..range.start],
            &lines,
            &old_lines[range.end..wide.end],
        ]
        .concat();
        let outcome = self.rng.random_range(0..12);
        if !is_clear || outcome == 0 {
            // The tool refuses, and the session is told so.
            return;
        }
        let is_uncertain = outcome == 1;
        if !is_uncertain || self.rng.random_bool(0.5) {
            self.put(range.clone(), &lines, session);
        }
        let hunk = hunk(&old_lines, &wide, &range, &lines);
        let new = joined(&new);
        let replace = Change::Replace {
            old,
            new,
            all: false,
        };
        let kind = self.rng.random_range(0..4);
        let change = match kind {
            0 => Change::Hunks(vec![hunk.clone()]),
            _ => replace,
        };
        self.push(session, vec![change], |made| {
            made.is_uncertain = is_uncertain;
            match kind {
                1 if !is_uncertain => made.before = Some(before),
                2 if !is_uncertain => made.hunks = Some(vec![hunk]),
                _ => {}
            }
        });
    }
}

fn line(text: &str, by: i64) -> Line {
    Line {
        text: text.to_owned(),
        by: vec![by],
    }
}

fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

fn hunk(
    old: &[String],
    wide: &std::ops::Range<usize>,
    range: &std::ops::Range<usize>,
    new: &[String],
) -> Hunk {
    let same = |line: &String| HunkLine::Same(line.clone());
    let mut hunk: Hunk = old[wide.start..range.start].iter().map(same).collect();
    hunk.extend(old[range.clone()].iter().cloned().map(HunkLine::Old));
    hunk.extend(new.iter().cloned().map(HunkLine::New));
    hunk.extend(old[range.end..wide.end].iter().map(same));
    hunk
}

/// How many lines sessions wrote, and how many of these are known to be theirs; or what is wrong.
fn checked(seed: u64) -> Result<(usize, usize), String> {
    let mut history = History::new(seed);
    for _ in 0..history.rng.random_range(1..12) {
        history.step();
    }
    let texts: Vec<&str> = history.file.iter().map(|line| &*line.text).collect();
    let writers = State::after(&history.made).writers(&texts);
    let (mut theirs, mut known) = (0, 0);
    for (number, (line, writer)) in history.file.iter().zip(writers).enumerate() {
        let session = writer.map(|writer| history.made[writer].session);
        theirs += usize::from(!line.by.contains(&HANDS));
        known += usize::from(session.is_some());
        if session.is_some_and(|session| !line.by.contains(&session)) {
            let made: String = history.made.iter().map(told).collect();
            let file = history.file.iter();
            let file: String = file
                .map(|it| format!("  {:?} {}\n", it.by, it.text))
                .collect();
            let number = number + 1;
            return Err(format!(
                "seed {seed}: line {number} of\n{file}is said to be {session:?}'s after\n{made}"
            ));
        }
    }
    Ok((theirs, known))
}

/// A change as far as it fits a line.
fn told(made: &SessionEdit) -> String {
    let SessionEdit {
        session, changes, ..
    } = made;
    let (before, is_new) = (made.before.is_some(), made.is_new);
    let (hunks, is_uncertain) = (made.hunks.is_some(), made.is_uncertain);
    format!("  {session} {changes:?} {before} {is_new:?} {hunks} {is_uncertain}\n")
}

/// No line is somebody else's, and of those that sessions wrote most are known.
#[test]
fn nobody_is_named_for_what_another_wrote() {
    let (mut theirs, mut known, mut wrong) = (0, 0, Vec::new());
    for seed in 0..2_000 {
        match checked(seed) {
            Ok((of_sessions, found)) => (theirs, known) = (theirs + of_sessions, known + found),
            Err(what) => wrong.push(what),
        }
    }
    wrong.sort_by_key(String::len);
    assert!(wrong.is_empty(), "{} histories: {}", wrong.len(), wrong[0]);
    assert!(theirs > 5_000, "{theirs}");
    assert!(known * 2 > theirs, "{known} of {theirs}");
}
