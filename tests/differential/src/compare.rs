//! Where do two programs read the same sessions differently?

use std::collections::BTreeSet;

use crate::session::{Session, Sessions};

/// How another program is compared.
#[derive(Clone, Copy)]
pub struct Other<'a> {
    /// Its name and version.
    pub name: &'a str,
    /// Whether a title of ours and one of its are the same.
    pub same_title: fn(&str, &str) -> bool,
    /// Whether it counts tokens.
    pub counts_tokens: bool,
}

/// What is the same, and of how many, for one agent.
#[derive(Default)]
struct Row {
    ours: usize,
    theirs: usize,
    both: usize,
    /// Titles, prompts, calls, tokens.
    same: [(usize, usize); 4],
}

/// Prints a table and each difference; how many there are.
pub fn compare(ours: &Sessions, theirs: &Sessions, other: Other<'_>) -> usize {
    let mut told = Vec::new();
    let agents: BTreeSet<&String> = theirs.keys().map(|(agent, _)| agent).collect();
    println!(
        "\n{}\n{:<10} {:>5} {:>7} {:>5} {:>9} {:>9} {:>9} {:>9}",
        other.name, "agent", "ours", "theirs", "both", "titles", "prompts", "calls", "tokens"
    );
    for agent in agents {
        let of_agent = |sessions: &Sessions| -> BTreeSet<String> {
            let keys = sessions.keys().filter(|(of, _)| of == agent);
            keys.map(|(_, key)| key.clone()).collect()
        };
        let (mine, others) = (of_agent(ours), of_agent(theirs));
        let mut row = Row {
            ours: mine.len(),
            theirs: others.len(),
            ..Row::default()
        };
        told.extend(
            mine.difference(&others)
                .map(|key| format!("{agent} {key}: only ours")),
        );
        told.extend(
            others
                .difference(&mine)
                .map(|key| format!("{agent} {key}: only theirs")),
        );
        for key in mine.intersection(&others) {
            row.both += 1;
            let key = (agent.clone(), key.clone());
            for (place, what) in differences(&ours[&key], &theirs[&key], other) {
                row.same[place].1 += 1;
                match what {
                    None => row.same[place].0 += 1,
                    Some(what) => told.push(format!("{agent} {}: {what}", key.1)),
                }
            }
        }
        let same = row.same.map(|(same, of)| match of {
            0 => "-".to_owned(),
            of => format!("{same}/{of}"),
        });
        let [titles, prompts, calls, tokens] = same;
        println!(
            "{agent:<10} {:>5} {:>7} {:>5} {titles:>9} {prompts:>9} {calls:>9} {tokens:>9}",
            row.ours, row.theirs, row.both
        );
    }
    told.iter()
        .for_each(|difference| println!("  {difference}"));
    told.len()
}

/// What both programs say of a session, by its place in the table, and how it differs.
fn differences(ours: &Session, theirs: &Session, how: Other<'_>) -> Vec<(usize, Option<String>)> {
    let mut all = Vec::new();
    if let (Some(mine), Some(other)) = (&ours.title, &theirs.title) {
        let what = format!("title {:?}, theirs {:?}", cut(mine), cut(other));
        all.push((0, (!(how.same_title)(mine, other)).then_some(what)));
    }
    if let (Some(mine), Some(other)) = (&ours.prompts, &theirs.prompts) {
        let what = format!("prompts, {}", lists(mine, other));
        all.push((1, (mine != other).then_some(what)));
    }
    if let (Some(mine), Some(other)) = (&ours.calls, &theirs.calls) {
        let what = format!("calls, {}", lists(mine, other));
        all.push((2, (mine != other).then_some(what)));
    }
    if how.counts_tokens && (ours.tokens.is_some() || theirs.tokens.is_some()) {
        let said = |session: &Session| match session.tokens {
            Some(tokens) => tokens.to_string(),
            None => "none".to_owned(),
        };
        let what = format!("tokens {}, theirs {}", said(ours), said(theirs));
        all.push((3, (ours.tokens != theirs.tokens).then_some(what)));
    }
    all
}

/// What only one of two lists has.
fn lists(ours: &[String], theirs: &[String]) -> String {
    let without = |all: &[String], others: &[String]| -> Vec<String> {
        let mut others = others.to_vec();
        let mut rest = Vec::new();
        for one in all {
            match others.iter().position(|other| other == one) {
                Some(at) => drop(others.remove(at)),
                None => rest.push(cut(one)),
            }
        }
        rest
    };
    let (mine, other) = (without(ours, theirs), without(theirs, ours));
    let (of_mine, of_other) = (ours.len(), theirs.len());
    match (mine.is_empty(), other.is_empty()) {
        (true, true) => "the same in another order".to_owned(),
        _ => format!("only ours {mine:?} of {of_mine}, only theirs {other:?} of {of_other}"),
    }
}

fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(70) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
