//! Which habits of other search languages mean nothing in this one? Their signs are text; a note
//! says so, and what does the same here.

use strsim::levenshtein;

use super::alternatives::Filter;
use super::field::FIELDS;
use super::lex::{Lexeme, TokenKind};
use super::notes::{Habit, Notes, as_written, short};
use super::{Filters, Now, phrase, searchable};

/// Names that are no filters here, and what is meant by them: the name of a filter for the same
/// value, or a filter and the value as a word.
const SYNONYMS: [(&str, &str); 27] = [
    ("title", "name:"),
    ("path", "file:"),
    ("filename", "file:"),
    ("ext", "file:*."),
    ("dir", "cwd:"),
    ("directory", "cwd:"),
    ("folder", "cwd:"),
    ("in", "cwd:"),
    ("repository", "repo:"),
    ("remote", "repo:"),
    ("machine", "host:"),
    ("id", "session:"),
    ("type", "kind:"),
    ("tag", "label:"),
    ("date", "on:"),
    ("from", "since:"),
    ("newer", "since:"),
    ("to", "until:"),
    ("older", "until:"),
    ("by", "role:"),
    ("author", "role:"),
    ("user", "role:user "),
    ("human", "role:user "),
    ("assistant", "role:assistant "),
    ("system", "kind:system "),
    ("error", "is:error "),
    ("failed", "is:error "),
];

/// Letters of a name that may have been meant as a filter.
const NAME: std::ops::RangeInclusive<usize> = 2..=12;

/// Tell of every habit in these words, each once.
pub(super) fn tell(lexemes: &[Lexeme], characters: &[char], notes: &mut Notes) {
    tell_minus(lexemes, characters, notes);
    tell_demand(lexemes, notes);
    tell_or(lexemes, notes);
    for (at, lexeme) in lexemes.iter().enumerate() {
        let TokenKind::Word(text) = &lexeme.piece else {
            continue;
        };
        let sign = usize::from(lexeme.negated || lexeme.demanded);
        let typed = &characters[lexeme.column - 1 + sign..];
        let column = lexeme.column + sign;
        tell_filter(column, typed, text, notes);
        tell_number(column, text, notes);
        tell_wildcard(column, text, notes);
        if at == 0 {
            tell_quote(column, text, lexemes.get(1), notes);
        }
        let before = at.checked_sub(1).and_then(|at| lexemes.get(at));
        let follows = |before: &Lexeme| before.end + 1 == lexeme.column;
        if let Some(Lexeme {
            piece: TokenKind::Phrase { .. },
            ..
        }) = before.filter(|b| follows(b))
            && text.strip_prefix('~').is_some_and(is_number)
        {
            let what = format!(
                "{text} is searched as text: how far words stand apart cannot be asked for; a AND b finds both in one passage"
            );
            notes.say_once(Habit::Proximity, column, &what);
        }
        if let Some(TokenKind::Word(word)) = before.map(|before| &before.piece)
            && text.starts_with('~')
        {
            tell_number(column, &format!("{word}{text}"), notes);
        }
        tell_time(lexeme, text, lexemes.get(at + 1), notes);
    }
}

/// `psql -c` and nothing else of the language: a command was typed as it was run.
fn tell_minus(lexemes: &[Lexeme], characters: &[char], notes: &mut Notes) {
    let is_bare = |one: &Lexeme| match &one.piece {
        TokenKind::Word(text) => !(one.demanded || one.negated && text.contains('*')),
        TokenKind::Phrase { .. } => !one.demanded && !one.negated,
        TokenKind::Filter { .. } => true,
        _ => false,
    };
    let has_minus = |one: &Lexeme| characters.get(one.column - 1) == Some(&'-');
    if !lexemes
        .iter()
        .all(|one| is_bare(one) && (!one.negated || has_minus(one)))
    {
        return;
    }
    let is_filter = |one: &Lexeme| matches!(one.piece, TokenKind::Filter { .. });
    let mut texts = lexemes.iter().filter(|one| !is_filter(one));
    let Some(first) = texts.next().filter(|first| !first.negated) else {
        return;
    };
    let (mut before, mut minus) = (first, None);
    for next in texts {
        if next.negated {
            minus = Some(next);
            break;
        }
        before = next;
    }
    if let Some(minus) = minus
        && let TokenKind::Word(text) = &minus.piece
        && searchable(text)
    {
        let typed = minus.typed(characters);
        let as_text = match &before.piece {
            TokenKind::Word(word) => phrase(&format!("{word} {typed}")),
            _ => as_written(&typed),
        };
        let what = format!(
            "{} leaves out what holds {}; {} finds it as text",
            short(&typed),
            short(text),
            short(&as_text)
        );
        notes.say(minus.column, &what);
    }
}

/// A `+` demands one of several plain words; of what stands on one side of an OR all must be there.
fn tell_demand(lexemes: &[Lexeme], notes: &mut Notes) {
    let has_or = lexemes.iter().any(|one| matches!(one.piece, TokenKind::Or));
    if let Some(demanded) = lexemes.iter().find(|one| one.demanded && has_or) {
        let what = "+ is left out: of what stands on one side of an OR, all must be there anyway";
        notes.say_once(Habit::Demand, demanded.column, what);
    }
}

/// `this or that` and nothing else.
fn tell_or(lexemes: &[Lexeme], notes: &mut Notes) {
    let is_word = |lexeme: &Lexeme| matches!(lexeme.piece, TokenKind::Word(_));
    if let [one, or, other] = lexemes
        && is_word(one)
        && is_word(other)
        && matches!(&or.piece, TokenKind::Word(word) if word == "or")
    {
        let what = "or is searched as text; OR finds either";
        notes.say_once(Habit::Or, or.column, what);
    }
}

/// `user:x` looks like a filter, `http://x`, `std::io`, `12:30` and `main.rs:12` do not.
fn tell_filter(column: usize, typed: &[char], text: &str, notes: &mut Notes) {
    let Some((name, value)) = text.split_once(':') else {
        return;
    };
    let is_name = NAME.contains(&name.len()) && name.bytes().all(|b| b.is_ascii_lowercase());
    let begins = |first: char| first.is_alphanumeric() || "_\"*~./".contains(first);
    // `\:` is told to be text.
    let is_plain = typed.get(name.len()) == Some(&':');
    if notes.has_said(Habit::Filter)
        || !(is_name && is_plain && value.starts_with(begins))
        || value.contains(':')
        || value.starts_with("//")
        || !value.contains(char::is_alphanumeric)
    {
        return;
    }
    // `title:"release notes"` is two words, but one value.
    let quoted = value.starts_with('"').then(|| {
        let rest = typed[name.len() + 2..].iter().take_while(|c| **c != '"');
        format!("\"{}\"", rest.collect::<String>())
    });
    let value = quoted.as_deref().unwrap_or(value);
    let meant = meant(name, value);
    let is_digits = value.starts_with(|first: char| first.is_ascii_digit());
    // A branch of git has slashes, and nothing else is written so.
    let is_path = name != "branch" && value.contains(['/', '\\']);
    if meant.is_none() && (is_digits || is_path) {
        return;
    }
    let mut what = format!(
        "{name}: is no filter, so {} is searched as text",
        short(&format!("{name}:{value}"))
    );
    if let Some(meant) = meant {
        what.push_str(&format!("; did you mean {}?", short(&meant)));
    }
    notes.say_once(Habit::Filter, column, &what);
}

/// What somebody means who types `name:value`, if that is known.
fn meant(name: &str, value: &str) -> Option<String> {
    let synonym = SYNONYMS.iter().find(|(known, _)| *known == name);
    let filter = match synonym {
        // A name of a folder is no directory.
        Some((_, "cwd:")) if !value.contains(['/', '\\', '~']) => "project:".to_owned(),
        // `from:user`, and the type of a message in most agents' files.
        Some((_, "since:" | "kind:")) if matches!(value, "user" | "assistant") => {
            "role:".to_owned()
        }
        Some((_, filter)) => (*filter).to_owned(),
        None => format!("{}:", near(name)?),
    };
    let is_time = matches!(
        filter.as_str(),
        "since:" | "until:" | "after:" | "before:" | "on:"
    );
    // `line:12` and `file:///x` look otherwise, unless the name is known.
    let is_code = value.starts_with(|first: char| first.is_ascii_digit()) || value.contains('/');
    if is_code && !is_time && synonym.is_none() {
        return None;
    }
    // `no:way` is no time, and nothing is advised that would be refused.
    if let Some(name) = filter.strip_suffix(':') {
        let filter = Filter {
            column: 0,
            value_column: 0,
            negated: false,
            name: name.to_owned(),
            values: vec![value.trim_matches('"').to_owned()],
            is_half_typed: false,
        };
        let taken = Filters::default().take(&filter, false, Now::utc(0));
        taken.ok()?;
    }
    Some(match filter.ends_with([':', ' ', '.']) {
        true => format!("{filter}{value}"),
        false => filter,
    })
}

/// The filter that is called nearly so: a letter is wrong, or two are swapped.
fn near(name: &str) -> Option<&'static str> {
    let letters = |text: &str| {
        let mut letters: Vec<u8> = text.bytes().collect();
        letters.sort_unstable();
        letters
    };
    let mut near = FIELDS
        .iter()
        .filter(|field| match levenshtein(name, field) {
            // `no:x` and `one:x` are hardly `on:x`.
            1 => field.len() > 2,
            2 => field.len() > 7 || letters(name) == letters(field),
            _ => false,
        });
    near.next().copied()
}

/// `gamma~2` and `gamma^2`. `HEAD~2` is a commit.
fn tell_number(column: usize, text: &str, notes: &mut Notes) {
    let Some(at) = text.rfind(['~', '^']) else {
        return;
    };
    let (stem, number) = text.split_at(at);
    let is_word = stem.ends_with(|last: char| last.is_alphanumeric())
        && !stem.contains(|letter: char| letter.is_uppercase() || "/\\".contains(letter));
    if !is_word || !is_number(&number[1..]) {
        return;
    }
    if number.starts_with('~') {
        let what = format!(
            "{number} is searched as text; {} finds words one letter off",
            short(&format!("{stem}~"))
        );
        notes.say_once(Habit::Distance, column, &what);
    } else {
        let what = format!(
            "{number} is searched as text: words have no weights; +{} demands the word",
            short(stem)
        );
        notes.say_once(Habit::Weight, column, &what);
    }
}

/// `kang*roo`, `kang?roo`, `kangaroo{3}`, `*roo` and `${VAR}`.
fn tell_wildcard(column: usize, text: &str, notes: &mut Notes) {
    let is_word = |text: &str| {
        !text.is_empty() && text.chars().all(|one| one.is_alphanumeric() || one == '_')
    };
    let inner = text.trim_matches(|one| matches!(one, '*' | '?'));
    let parts: Vec<&str> = text.split(['*', '?']).collect();
    let what = if let Some(name) = text.strip_prefix("${").and_then(|n| n.strip_suffix('}'))
        && is_word(name)
    {
        format!("${{}} is not searched, so {text} finds {name}; *{text}* finds it as it is written")
    } else if let Some((stem, count)) = text.strip_suffix('}').and_then(|t| t.split_once('{'))
        && is_word(stem)
        && is_number(count)
    {
        format!("{{{count}}} is searched as text; /{text}/ is a regular expression")
    } else if text.strip_prefix('*').is_some_and(is_word) {
        format!("the * before {inner} is not searched; *{inner}* finds it within words, too")
    } else if inner == text && parts.len() > 1 && parts.iter().all(|part| is_word(part)) {
        let pattern = text.replace('*', "\\w*").replace('?', "\\w");
        format!(
            "{} is searched as text; /{}/i finds such words",
            short(text),
            short(&pattern)
        )
    } else {
        return;
    };
    notes.say_once(Habit::Wildcard, column, &what);
}

/// A single quote before several words that nothing closes. `'tis` and `'static` have one, too.
fn tell_quote(column: usize, text: &str, next: Option<&Lexeme>, notes: &mut Notes) {
    let Some(word) = text.strip_prefix(['\'', '‘', '‚']) else {
        return;
    };
    let is_text = next.is_some_and(|next| matches!(next.piece, TokenKind::Word(_)));
    let is_known = matches!(word, "static" | "cause" | "twas" | "round" | "neath");
    if is_text && !is_known && word.chars().count() > 3 && word.chars().all(char::is_alphabetic) {
        let what = "the quote is not closed, and is left out; \"…\" are quotes, too";
        notes.say_once(Habit::Quote, column, what);
    }
}

fn is_number(text: &str) -> bool {
    (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// `last week` beside other words are words, and perhaps a time.
fn tell_time(lexeme: &Lexeme, text: &str, next: Option<&Lexeme>, notes: &mut Notes) {
    let lower = text.to_ascii_lowercase();
    let next = match next.map(|next| &next.piece) {
        Some(TokenKind::Word(next)) => next.to_ascii_lowercase(),
        _ => String::new(),
    };
    let is_unit = matches!(next.as_str(), "week" | "month" | "year");
    let (typed, time) = match lower.as_str() {
        "last" | "this" if is_unit => (format!("{lower} {next}"), format!("{lower}-{next}")),
        "yesterday" => (lower.clone(), lower),
        _ => return,
    };
    if !lexeme.negated && !lexeme.demanded {
        let what = format!("{typed} is searched as text; on:{time} is the time");
        notes.say_once(Habit::Time, lexeme.column, &what);
    }
}
