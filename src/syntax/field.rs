//! Which filters are there, and what does each leave?

use strsim::levenshtein;

use super::alternatives::Filter;
use super::{Filters, Now, SyntaxError, time};

pub(super) const FIELDS: [&str; 23] = [
    "agent", "project", "repo", "host", "cwd", "root", "session", "name", "label", "role", "kind",
    "tool", "file", "model", "provider", "status", "is", "has", "since", "until", "after",
    "before", "on",
];

impl Filter {
    /// Whether its values are names, any of which will do.
    pub(super) fn takes_names(&self) -> bool {
        !matches!(
            self.name.as_str(),
            "is" | "has" | "since" | "until" | "after" | "before" | "on"
        )
    }
}

impl Filters {
    /// Take in a filter, or its opposite.
    pub(super) fn take(
        &mut self,
        filter: &Filter,
        negated: bool,
        now: Now,
    ) -> Result<(), SyntaxError> {
        let (name, values) = (filter.name.as_str(), filter.values.as_slice());
        let names = match name {
            "agent" => &mut self.agent,
            "project" => &mut self.project,
            "repo" => &mut self.repo,
            "host" => &mut self.host,
            "cwd" => &mut self.cwd,
            "root" => &mut self.root,
            "name" => &mut self.name,
            "label" => &mut self.label,
            "file" => &mut self.file,
            "model" => &mut self.model,
            "provider" => &mut self.provider,
            "status" => &mut self.status,
            "role" => &mut self.role,
            "kind" => &mut self.kind,
            "tool" => &mut self.tool,
            "session" => &mut self.session,
            "is" | "has" => {
                let value = match values {
                    [value] => value.to_lowercase(),
                    _ => String::new(),
                };
                let (mark, expected) = match (name, value.as_str()) {
                    ("is", "error") => (&mut self.error, ""),
                    ("is", "branch") => (&mut self.branch, ""),
                    ("is", "named") => (&mut self.named, ""),
                    ("has", "image") => (&mut self.image, ""),
                    ("is", _) => (&mut self.error, "`error`, `branch` or `named` after `is:`"),
                    _ => (&mut self.image, "`image` after `has:`"),
                };
                if !expected.is_empty() {
                    let hint = values
                        .first()
                        .and_then(|value| meant(&value.to_lowercase()));
                    let hint = hint.map(|meant| format!("did you mean {meant}?"));
                    return Err(SyntaxError::new(filter.value_column, expected, hint));
                }
                if mark.is_some_and(|before| before == negated) {
                    return Err(SyntaxError::new(
                        filter.column,
                        format!("either {name}:{value} or -{name}:{value}"),
                        None,
                    ));
                }
                *mark = Some(!negated);
                return Ok(());
            }
            _ => return self.time(filter, negated, now),
        };
        if filter.is_half_typed && !negated {
            names.half_typed = values.last().cloned();
        }
        let list = if negated {
            &mut names.none
        } else {
            &mut names.any
        };
        list.extend(values.iter().cloned());
        Ok(())
    }

    fn time(&mut self, filter: &Filter, negated: bool, now: Now) -> Result<(), SyntaxError> {
        let (name, column) = (filter.name.as_str(), filter.value_column);
        let [value] = filter.values.as_slice() else {
            return Err(SyntaxError::new(column, "one time", None));
        };
        let span = time::span(value, now).ok_or_else(|| {
            let hint = match meant_time(value) {
                Some(meant) => format!("did you mean {name}:{meant}?"),
                None => "such as 2026-10, 2026-10-05, 2026-10-05T14:30, today, yesterday, last-week, monday, oct, 3d, 2w"
                    .to_owned(),
            };
            SyntaxError::new(column, "a date or a length of time", Some(hint))
        })?;
        if name == "on" {
            // `on:3d` is the day that lies so far back.
            let span = time::whole_day(span, now);
            if negated {
                self.outside_ms.push((span.start, span.end));
            } else {
                self.not_before(span.start);
                self.not_after(span.end);
            }
            return self.some_time(column);
        }
        let (is_lower, bound) = match name {
            "since" => (true, span.start),
            "after" => (true, span.end),
            "before" => (false, span.start),
            _ => (false, span.end),
        };
        match (is_lower, negated) {
            (true, false) => self.not_before(bound),
            (false, false) => self.not_after(bound),
            // The opposite keeps all that the filter leaves out, entries without a time too.
            (true, true) => self.outside_ms.push((bound, i64::MAX)),
            (false, true) => self.outside_ms.push((i64::MIN, bound)),
        }
        self.some_time(column)
    }

    /// `on:july on:june` looks like either, which two bounds cannot say.
    fn some_time(&self, column: usize) -> Result<(), SyntaxError> {
        let bounds = self.since_ms.zip(self.until_ms);
        match bounds.is_some_and(|(since, until)| since >= until) {
            false => Ok(()),
            true => {
                let expected = "a time within those beside it";
                let hint = "two times narrow each other: since:… until:… is all between two";
                Err(SyntaxError::new(column, expected, Some(hint.to_owned())))
            }
        }
    }

    fn not_before(&mut self, bound: i64) {
        let since = &mut self.since_ms;
        *since = Some(since.map_or(bound, |before| before.max(bound)));
    }

    fn not_after(&mut self, bound: i64) {
        let until = &mut self.until_ms;
        *until = Some(until.map_or(bound, |before| before.min(bound)));
    }
}

/// The property that a value of `is:` or `has:` names.
fn meant(value: &str) -> Option<&'static str> {
    match value {
        "failed" => return Some("is:error"),
        "name" => return Some("is:named"),
        "label" | "labeled" | "labelled" => return Some("label:NAME"),
        _ => {}
    }
    let marks = [
        ("error", "is:error"),
        ("branch", "is:branch"),
        ("named", "is:named"),
        ("image", "has:image"),
    ];
    let near = marks
        .iter()
        .filter(|(mark, _)| levenshtein(value, mark) <= 2);
    let nearest = near.min_by_key(|(mark, _)| levenshtein(value, mark));
    nearest.map(|(_, meant)| *meant)
}

/// The time that is meant by a text that names none.
fn meant_time(value: &str) -> Option<String> {
    let value = value.to_lowercase();
    // `past week`: that it is the last one is said by the filter.
    let words: Vec<&str> = value.split([' ', '-']).collect();
    let length = match words.as_slice() {
        ["last" | "past", "day"] => Some("1d"),
        ["past", "week"] => Some("1w"),
        ["past", "month"] => Some("1mo"),
        ["past", "year"] => Some("1y"),
        // Without quotes: `since:last week`.
        ["last"] => Some("last-week"),
        ["this"] => Some("this-week"),
        _ => None,
    };
    if let Some(length) = length {
        return Some(length.to_owned());
    }
    if let ["last" | "past" | "this", name] = words.as_slice() {
        return time::names()
            .any(|known| known == *name)
            .then(|| (*name).to_owned());
    }
    let nearest = time::names().min_by_key(|name| levenshtein(&value, name))?;
    (value.len() > 3 && levenshtein(&value, nearest) <= 2).then(|| nearest.to_owned())
}
