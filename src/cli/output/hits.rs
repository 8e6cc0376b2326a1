//! How do hits look: a session's title, below it each hit with its address and snippet?

use std::path::Path;

use sessionary::model::{
    BranchPlace, Count, Explanation, Facets, Hit, HitGroup, NamedMatch, SessionRow,
};

use crate::command::title;
use crate::output::Screen;
use crate::output::address::ShortAddresses;
use crate::output::style::{Style, Tone};
use crate::output::text::{
    columns, fit, grapheme_columns, graphemes, plain_line, plain_line_marked,
};
use crate::output::wrap::Wrap;

/// One session and its hits.
pub fn group(group: &HitGroup, names: &ShortAddresses, screen: &Screen) -> String {
    let mut out = heading(&group.session, screen);
    for (number, hit) in group.hits.iter().enumerate() {
        // Whose neighbours they are is not seen otherwise.
        if number > 0 && !hit.context.is_empty() {
            out.push('\n');
        }
        out.push_str(&hit_lines(hit, &group.session, names, screen));
    }
    out
}

/// A session or entry that was asked for by its id.
pub fn named(named: &NamedMatch, names: &ShortAddresses, screen: &Screen) -> String {
    let (what, address) = match &named.entry {
        Some(entry) => ("entry", names.address(&named.session, entry)),
        None => ("session", names.session(&named.session)),
    };
    format!(
        "{}  {}  {}\n",
        screen.style.paint(Tone::Name, &address),
        screen.style.paint(Tone::Quiet, what),
        heading(&named.session, screen).trim_end()
    )
}

/// How many entries there are of each agent, project, repository, role and day.
pub fn facets(facets: &Facets, screen: &Screen) -> String {
    let mut out = String::new();
    for (name, counts) in [
        ("agents", &facets.agents),
        ("projects", &facets.projects),
        ("repos", &facets.repositories),
        ("hosts", &facets.hosts),
        ("roles", &facets.roles),
        ("days", &facets.days),
    ] {
        // Not every session is of a repository with a remote, and hardly any of another machine.
        if counts.is_empty() && ["repos", "hosts"].contains(&name) {
            continue;
        }
        let shown = |one: &Count| {
            let value = match one.value.as_str() {
                "" => "(none)".to_owned(),
                value => plain_line(value),
            };
            format!("{value} {}", one.count)
        };
        let list: Vec<String> = counts.iter().map(shown).collect();
        let label = screen.style.paint(Tone::Quiet, &format!("{name:<8}"));
        let most = if facets.exact { "" } else { "at most " };
        out.push_str(&format!("{label}  {most}{}\n", list.join(" · ")));
    }
    out
}

fn heading(row: &SessionRow, screen: &Screen) -> String {
    let mut about = Vec::new();
    if !row.cwd.is_empty() {
        about.push(screen.path(Path::new(&row.cwd)));
    }
    about.push(plain_line(&row.agent));
    about.extend(row.label.as_deref().map(plain_line));
    about.push(screen.age(row.modified.as_deref()));
    about.extend(row.archived.then(|| "archived".to_owned()));
    about.retain(|part| !part.is_empty());
    let about = about.join(" · ");
    let room = screen.width.map_or(100, |width| {
        width.saturating_sub(columns(&about) + 2).max(20)
    });
    format!(
        "{}  {}\n",
        screen.style.paint(Tone::Strong, &fit(&title(row).1, room)),
        screen.style.paint(Tone::Quiet, &about)
    )
}

fn hit_lines(hit: &Hit, session: &SessionRow, names: &ShortAddresses, screen: &Screen) -> String {
    let neighbours = |after| neighbours(hit, after, |id| names.entry(&session.path, id), screen);
    let mut said = vec![plain_line(hit.role.as_deref().unwrap_or(&hit.kind))];
    said.extend(hit.tool.as_deref().map(plain_line));
    said.push(screen.age(hit.time.as_deref()));
    match hit.place {
        Some(BranchPlace::Abandoned) => said.push("abandoned branch".to_owned()),
        Some(BranchPlace::Compacted) => said.push("before a compaction".to_owned()),
        Some(BranchPlace::Active) | None => {}
    }
    if hit.copies > 0 {
        said.push(match hit.copies {
            1 => "1 copy".to_owned(),
            copies => format!("{copies} copies"),
        });
    }
    said.retain(|part| !part.is_empty());
    let mut out = neighbours(false);
    out.push_str(&format!(
        "  {}  {}\n",
        screen.style.paint(Tone::Quiet, &said.join(" · ")),
        screen
            .style
            .paint(Tone::Name, &names.address(session, &hit.entry)),
    ));
    let width = screen.width.map(|width| width.saturating_sub(4));
    // What filters alone find may have no text.
    for line in snippet(&hit.snippet, &hit.highlights, width, screen.style) {
        out.push_str(&format!("    {line}\n"));
    }
    if let Some(why) = &hit.explanation {
        let line = score_of(hit, why);
        for (indent, piece) in Wrap::new(width).pieces(&line) {
            let line = format!("    {:indent$}{}", "", &line[piece]);
            out.push_str(&format!("{}\n", screen.style.paint(Tone::Quiet, &line)));
        }
    }
    out.push_str(&neighbours(true));
    out
}

/// How its score is made.
fn score_of(hit: &Hit, why: &Explanation) -> String {
    let passage = format!(
        "words {:.2} × standing {} × recency {:.2}",
        why.bm25, why.standing, why.recency
    );
    match why.session {
        None => format!("score {:.2} = {passage} × text {}", hit.score, why.text),
        // Whatever the score would be.
        Some(of) if hit.score == 0.0 => {
            format!(
                "newest first; words it has {:.2}; this passage: {passage}",
                of.held
            )
        }
        Some(of) => {
            let adjacent = match of.adjacent > 0.0 {
                true => format!(" + words side by side {}", of.adjacent),
                false => String::new(),
            };
            format!(
                "score {:.2} = (session {:.2} + its best passage {:.2}{adjacent}) × words it has {:.2} × text {}; this passage: {passage} × share {:.2} × near each other {:.2}",
                hit.score,
                of.whole,
                of.passage,
                of.held,
                why.text,
                of.share,
                1.0 + of.closeness
            )
        }
    }
}

/// The entries before a hit, or those behind it.
fn neighbours(hit: &Hit, after: bool, name: impl Fn(&str) -> String, screen: &Screen) -> String {
    let mut out = String::new();
    for one in hit.context.iter().filter(|one| one.after == after) {
        let who = plain_line(one.role.as_deref().unwrap_or(&one.kind));
        let line = format!("{who} {}: {}", name(&one.entry), plain_line(&one.text));
        let line = match screen.width {
            Some(width) => fit(&line, width.saturating_sub(2)),
            None => line,
        };
        out.push_str(&format!("  {}\n", screen.style.paint(Tone::Quiet, &line)));
    }
    out
}

/// The snippet, its matches marked: on one line, cut around the first match where it is too wide,
/// and around the first that cannot be seen there on another.
fn snippet(
    text: &str,
    highlights: &[(usize, usize)],
    width: Option<usize>,
    style: Style,
) -> Vec<String> {
    let (line, marks) = plain_line_marked(text, highlights);
    let first = window(&line, marks.first().copied(), width);
    let is_hidden = |mark: &&(usize, usize)| mark.1 > first.1;
    let second = marks.iter().find(is_hidden);
    let second = second.map(|mark| window(&line, Some(*mark), width));
    let mut windows = vec![first];
    // What both show is shown once.
    windows.extend(second.map(|(from, to)| (from.max(first.1), to)));
    let shown = windows.into_iter().filter(|(from, to)| from < to);
    let shown = shown.map(|window| marked(&line, &marks, window, style));
    shown.collect()
}

/// A part of a line, `…` where more of it is left out, its matches marked.
fn marked(
    line: &str,
    marks: &[(usize, usize)],
    (from, to): (usize, usize),
    style: Style,
) -> String {
    let mut out = String::new();
    if from > 0 {
        out.push('…');
    }
    out.push_str(&style.paint_marked(Tone::Plain, line, from..to, marks));
    if to < line.len() {
        out.push('…');
    }
    out
}

/// The part of `line` that fits: a third of the room before the first match.
fn window(line: &str, first: Option<(usize, usize)>, width: Option<usize>) -> (usize, usize) {
    let Some(width) = width.filter(|width| columns(line) > *width) else {
        return (0, line.len());
    };
    // Both ends may get an ellipsis.
    let room = width.saturating_sub(2).max(1);
    let target = first.map_or(0, |(from, _)| from);
    let mut from = target;
    let mut before = 0;
    for (offset, part) in graphemes(&line[..target]).rev() {
        before += grapheme_columns(part);
        if before > room / 3 {
            break;
        }
        from = offset;
    }
    let mut end = from;
    let mut taken = 0;
    for (_, part) in graphemes(&line[from..]) {
        taken += grapheme_columns(part);
        if taken > room {
            break;
        }
        end += part.len();
    }
    // Room left at the end is given to the beginning.
    for (offset, part) in graphemes(&line[..from]).rev() {
        taken += grapheme_columns(part);
        if taken > room {
            break;
        }
        from = offset;
    }
    let last = first.map_or(target, |(_, to)| to.min(end));
    (whole_from(line, from, target), whole_to(line, last, end))
}

/// A word that is longer than this may be cut.
const LONGEST_WORD: usize = 24;

/// Behind the word that would be cut at `from`, if it ends before `target`.
fn whole_from(line: &str, from: usize, target: usize) -> usize {
    let is_cut = line[..from].chars().next_back().is_some_and(|c| c != ' ');
    let rest = line[from..target].chars().take(LONGEST_WORD);
    match rest.collect::<String>().find(' ') {
        Some(blank) if is_cut => from + blank + 1,
        _ => from,
    }
}

/// Before the word that would be cut at `to`, if it starts behind `last`.
fn whole_to(line: &str, last: usize, to: usize) -> usize {
    let is_cut = line[to..].chars().next().is_some_and(|c| c != ' ');
    let rest: String = line[last..to].chars().rev().take(LONGEST_WORD).collect();
    match rest.find(' ') {
        Some(blank) if is_cut => to - blank - 1,
        _ => to,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippets_keep_the_match_in_view() {
        let text = format!("{}日本語 needle\n{}", "a ".repeat(300), "é ".repeat(300));
        let at = text.find("needle").unwrap_or(0);
        for width in 12..100 {
            let shown = snippet(&text, &[(at, at + 6)], Some(width), Style::new(false));
            let [shown] = shown.as_slice() else {
                panic!("{width}: {shown:?}");
            };
            assert!(shown.contains("needle"), "{width}: {shown}");
            assert!(columns(shown) <= width, "{width}: {shown}");
        }
        let plain = |text: &str, marks: &[(usize, usize)], width| {
            snippet(text, marks, Some(width), Style::new(false))
        };
        let at_end = plain("one two three four needle", &[(19, 25)], 15);
        assert_eq!(at_end, ["…four needle"]);
        let two = plain("alpha beta gamma delta epsilon", &[(0, 5), (23, 30)], 14);
        assert_eq!(two, ["alpha beta…", "…epsilon"]);
    }

    #[test]
    fn matches_are_marked() {
        let shown = snippet(
            "a needle, a\tneedle",
            &[(2, 8), (12, 18)],
            None,
            Style::new(true),
        );
        assert_eq!(
            shown,
            ["a \u{1b}[1;33mneedle\u{1b}[0m, a \u{1b}[1;33mneedle\u{1b}[0m"]
        );
        // Ranges that do not lie on characters mark nothing wrong and break nothing.
        assert_eq!(
            snippet("日本", &[(1, 2), (90, 99)], None, Style::new(false)),
            ["日本"]
        );
    }
}
