//! Where was it said? Hits grouped by session.

use std::path::Path;

use clap::Args;
use sessionary::Config;
use sessionary::index::SearchScope;
use sessionary::model::{Hit, HitGroup, SearchAnswer};

use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::style::{Style, Tone};
use crate::output::text::{char_columns, columns, fit, plain_line, plain_line_marked};
use crate::output::time::count;

/// Search everything that was said, thought, run and printed
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary search tokenizer bug            both words in one passage\n  \
    sessionary search '\"off by one\" -test'     a phrase, and without a word\n  \
    sessionary search 'fold* OR unfold'\n  \
    sessionary search --here --newest 'kind:user deploy'\n\n\
    Quote what the shell would change, and put -- before a word that begins with a hyphen. Filters: agent: project: role: kind: tool: since: until: session:\n\
    System prompts and tool schemas are found with kind:system only.\n\
    `sessionary show ADDRESS` reads on from a hit.")]
pub struct Search {
    /// Words, "phrases", -word, OR, prefix*, filters
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Only sessions of this directory
    #[arg(long)]
    here: bool,
    /// Newest first instead of best first
    #[arg(long)]
    newest: bool,
    /// At most N hits; 0 for all of them
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

pub fn run(args: &Search, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let cwd = if args.here {
        Some(super::here()?)
    } else {
        None
    };
    let query = args.query.join(" ");
    let mut index = super::open(config, screen)?;
    let scope = SearchScope {
        cwd: cwd.clone(),
        newest_first: args.newest,
        limit: args.limit,
        now_ms: screen.now_ms,
    };
    let answer = index.search(&query, &scope)?;
    if screen.json {
        screen.json(&answer)?;
    } else {
        let groups: Vec<String> = answer
            .sessions
            .iter()
            .map(|group| printed(group, screen))
            .collect();
        screen.print(&groups.join("\n"))?;
    }
    super::say_pending(screen, &index, answer.complete, Some(answer.pending_files));
    if let Some(damage) = &answer.words_damage {
        screen.say(&format!(
            "{}. All text was read instead; they are built anew by and by, or at once by `sessionary sync`.",
            plain_line(damage)
        ));
    }
    screen.say(&summary(&query, &answer, cwd.as_deref(), screen));
    super::afterwards(&mut index);
    Ok(Outcome::found(!answer.sessions.is_empty()))
}

/// How much there is, and what the other scope would add.
fn summary(query: &str, answer: &SearchAnswer, cwd: Option<&Path>, screen: &Screen) -> String {
    let shown: usize = answer.sessions.iter().map(|group| group.hits.len()).sum();
    let mut line = if shown == 0 {
        let place = cwd
            .map(|cwd| format!(" in {}", screen.path(cwd)))
            .unwrap_or_default();
        format!("Nothing found for {}{place}.", fit(&plain_line(query), 60))
    } else {
        let place = cwd
            .map(|cwd| format!(" of {}", screen.path(cwd)))
            .unwrap_or_default();
        let most = if answer.total_exact { "" } else { "at most " };
        let matches = count(answer.total, "match");
        let sessions = count(answer.total_sessions, "session");
        if answer.total > shown as u64 {
            let of = match answer.sessions.len() as u64 {
                all if all == answer.total_sessions => String::new(),
                some => format!("{some} of {most}"),
            };
            format!("{shown} of {most}{matches}, in {of}{sessions}{place}; --limit 0 shows all.")
        } else {
            format!("{matches} in {sessions}{place}.")
        }
    };
    match (cwd, answer.elsewhere) {
        (Some(_), Some(elsewhere)) if elsewhere > 0 => {
            line.push_str(&format!(" {elsewhere} more elsewhere: without --here."));
        }
        (None, _) if shown > 0 => line.push_str(" --here keeps to this directory."),
        _ => {}
    }
    line
}

/// One session and its hits.
fn printed(group: &HitGroup, screen: &Screen) -> String {
    let row = &group.session;
    let mut about = Vec::new();
    if !row.cwd.is_empty() {
        about.push(screen.path(Path::new(&row.cwd)));
    }
    about.push(plain_line(&row.agent));
    about.extend(row.label.as_deref().map(plain_line));
    about.push(screen.age(row.modified.as_deref()));
    about.retain(|part| !part.is_empty());
    let about = about.join(" · ");
    let room = screen.width.map_or(100, |width| {
        width.saturating_sub(columns(&about) + 2).max(20)
    });
    let mut out = format!(
        "{}  {}\n",
        screen
            .style
            .paint(Tone::Strong, &fit(&super::title(row).1, room)),
        screen.style.paint(Tone::Quiet, &about)
    );
    for hit in &group.hits {
        out.push_str(&hit_lines(hit, screen));
    }
    out
}

fn hit_lines(hit: &Hit, screen: &Screen) -> String {
    let mut said = vec![plain_line(hit.role.as_deref().unwrap_or(&hit.kind))];
    said.extend(hit.tool.as_deref().map(plain_line));
    said.push(screen.age(hit.time.as_deref()));
    said.retain(|part| !part.is_empty());
    format!(
        "  {}  {}\n    {}\n",
        screen.style.paint(Tone::Quiet, &said.join(" · ")),
        screen.style.paint(Tone::Name, &plain_line(&hit.address)),
        snippet(
            &hit.snippet,
            &hit.highlights,
            screen.width.map(|width| width.saturating_sub(4)),
            screen.style
        )
    )
}

/// The snippet on one line, its matches marked, cut around the first match where it is too wide.
fn snippet(
    text: &str,
    highlights: &[(usize, usize)],
    width: Option<usize>,
    style: Style,
) -> String {
    let (line, marks) = plain_line_marked(text, highlights);
    let (from, to) = window(&line, marks.first().copied(), width);
    let marked = |offset: usize| marks.iter().any(|&(from, to)| (from..to).contains(&offset));
    let mut out = String::new();
    if from > 0 {
        out.push('…');
    }
    let mut run = String::new();
    let mut strong = false;
    let mut flush = |run: &mut String, strong: bool| {
        out.push_str(&style.paint(if strong { Tone::Match } else { Tone::Plain }, run));
        run.clear();
    };
    for (offset, character) in line[from..to].char_indices() {
        if marked(from + offset) != strong {
            flush(&mut run, strong);
            strong = !strong;
        }
        run.push(character);
    }
    flush(&mut run, strong);
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
    for (offset, character) in line[..target].char_indices().rev() {
        before += char_columns(character);
        if before > room / 3 {
            break;
        }
        from = offset;
    }
    let mut end = from;
    let mut taken = 0;
    for character in line[from..].chars() {
        taken += char_columns(character);
        if taken > room {
            break;
        }
        end += character.len_utf8();
    }
    // Room left at the end is given to the beginning.
    for (offset, character) in line[..from].char_indices().rev() {
        taken += char_columns(character);
        if taken > room {
            break;
        }
        from = offset;
    }
    (from, end)
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
            assert!(shown.contains("needle"), "{width}: {shown}");
            assert!(columns(&shown) <= width, "{width}: {shown}");
        }
        let at_end = snippet(
            "one two three four needle",
            &[(19, 25)],
            Some(15),
            Style::new(false),
        );
        assert_eq!(at_end, "…e four needle");
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
            "a \u{1b}[1;33mneedle\u{1b}[0m, a \u{1b}[1;33mneedle\u{1b}[0m"
        );
        // Ranges that do not lie on characters mark nothing wrong and break nothing.
        assert_eq!(
            snippet("日本", &[(1, 2), (90, 99)], None, Style::new(false)),
            "日本"
        );
    }
}
