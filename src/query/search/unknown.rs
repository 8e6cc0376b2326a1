//! Which values of filters does nothing in the index have? Such a value may be right all the same,
//! so they are listed only where nothing was found.

use std::collections::{BTreeSet, HashSet};

use strsim::levenshtein;

use super::Search;
use crate::catalogue::values::FilterColumn;
use crate::error::Error;
use crate::model::{UnknownValue, project_name};
use crate::query::filter::{begins, holds, is_at, is_of_repository};
use crate::query::page::is_of_project;
use crate::query::tree::current_labels;
use crate::syntax::{FilterValue, opens_quote};

/// At most so many unknown values are listed, and so many known ones for each of them.
const MOST: usize = 10;
/// Bytes of a value beyond which nobody has misspelt one.
const LONGEST: usize = 128;

impl Search<'_> {
    /// The values of filters that nothing in the index has, as they were typed.
    pub(super) fn unknown(&self) -> Result<Vec<UnknownValue>, Error> {
        let mut unknown = Vec::new();
        for typed in &self.query.typed {
            let wants = |one: &crate::syntax::Alternative| one.filters.wants(typed);
            if !self.query.alternatives.iter().any(wants) {
                continue;
            }
            if unknown.len() == MOST {
                break;
            }
            let known = self.known(typed)?;
            if self.is_known(typed, &known)? {
                continue;
            }
            // There are too many sessions and files to list them.
            let mut known = match typed.field.as_str() {
                "session" | "file" => Vec::new(),
                "project" if !typed.value.contains(['/', '\\']) => {
                    let names: BTreeSet<&str> = known.iter().map(|cwd| project_name(cwd)).collect();
                    names.into_iter().map(str::to_owned).collect()
                }
                _ => known,
            };
            let value = typed.value.to_lowercase();
            if value.len() <= LONGEST {
                known.sort_by_cached_key(|one| levenshtein(&value, &one.to_lowercase()));
            }
            let suggestion = known
                .first()
                .filter(|one| value.len() <= LONGEST && is_near(&value, &one.to_lowercase()));
            let suggestion = suggestion.map(|one| written(&typed.field, one));
            known.truncate(MOST);
            let mut one = UnknownValue {
                filter: typed.field.clone(),
                value: typed.value.clone(),
                column: typed.column,
                known,
                suggestion,
            };
            if let Some(mask) = &self.scope.mask {
                one.mask(mask);
            }
            unknown.push(one);
        }
        Ok(unknown)
    }

    fn is_known(&self, typed: &FilterValue, known: &[String]) -> Result<bool, Error> {
        let value = typed.value.as_str();
        Ok(match typed.field.as_str() {
            "file" => !self.snapshot.with_file(&[value.to_owned()])?.is_empty(),
            // System prompts are stored apart from the kinds of entries.
            "kind" if value.eq_ignore_ascii_case("system") => true,
            "agent" | "host" | "role" | "kind" | "tool" | "status" => {
                known.iter().any(|one| one.eq_ignore_ascii_case(value))
            }
            "project" => known.iter().any(|one| is_of_project(one, value)),
            "repo" => known.iter().any(|one| is_of_repository(one, value)),
            "cwd" => known.iter().any(|one| is_at(one, value)),
            "root" => known.iter().any(|one| one == value || is_at(one, value)),
            "session" => known.iter().any(|one| begins(one, value) || one == value),
            _ => known.iter().any(|one| holds(one, value)),
        })
    }

    /// Every value that there is for this filter, each once.
    fn known(&self, typed: &FilterValue) -> Result<Vec<String>, Error> {
        let field = typed.field.as_str();
        let ours = self.snapshot.root_numbers()?;
        let mut sessions: HashSet<i64> = HashSet::new();
        if matches!(field, "label" | "model" | "provider") {
            self.catalogue.each_session(&ours, |s| {
                sessions.insert(s.session);
            })?;
        }
        let values = |of| self.catalogue.values(&ours, of);
        let mut known: BTreeSet<String> = BTreeSet::new();
        match field {
            "role" => known.extend(values(FilterColumn::Role)?),
            "kind" => known.extend(values(FilterColumn::Kind)?),
            "tool" => known.extend(values(FilterColumn::Tool)?),
            "status" => known.extend(values(FilterColumn::Stop)?),
            "label" => {
                let mut labelled = self.catalogue.labelled_sessions()?;
                labelled.retain(|session| sessions.contains(session));
                for session in labelled {
                    known.extend(current_labels(self.catalogue.labels(session)?).into_values());
                }
            }
            "model" => self.catalogue.each_model(|session, _, model| {
                if sessions.contains(&session) {
                    add(&mut known, model);
                }
            })?,
            "provider" => self.catalogue.each_model(|session, provider, _| {
                if sessions.contains(&session) {
                    add(&mut known, provider);
                }
            })?,
            _ => {}
        }
        self.catalogue.each_session(&ours, |s| match field {
            "agent" => add(&mut known, s.agent),
            "project" | "cwd" => add(&mut known, s.cwd),
            "repo" => add(&mut known, s.repository.unwrap_or_default()),
            "host" => add(&mut known, s.host),
            "root" => {
                add(&mut known, s.label.unwrap_or_default());
                add(&mut known, s.path);
            }
            "session" => {
                add(&mut known, s.id);
                add(&mut known, s.path);
            }
            "name" => add(&mut known, s.name.unwrap_or_default()),
            "model" => add(&mut known, s.model.unwrap_or_default()),
            "provider" => add(&mut known, s.provider.unwrap_or_default()),
            "status" => add(&mut known, &s.own("status").unwrap_or_default()),
            _ => {}
        })?;
        known.remove("");
        Ok(known.into_iter().collect())
    }
}

fn add(known: &mut BTreeSet<String>, value: &str) {
    if !known.contains(value) {
        known.insert(value.to_owned());
    }
}

/// Whether somebody who typed one may have meant the other: few letters are wrong, or some are
/// missing at the end.
fn is_near(typed: &str, known: &str) -> bool {
    levenshtein(typed, known) <= 1 + known.len() / 4
        || typed.len() > 2 && (known.starts_with(typed) || typed.starts_with(known))
}

/// A filter, as it would be typed.
fn written(field: &str, value: &str) -> String {
    match value.contains([' ', ',', '"', ')', '|']) || value.starts_with(opens_quote) {
        true => format!("{field}:\"{}\"", value.replace('"', "\\\"")),
        false => format!("{field}:{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::written;
    use crate::syntax::{Now, parse};

    #[test]
    fn what_is_suggested_can_be_typed() {
        for value in [
            "red",
            "red fox",
            "'red'",
            "“red” fox",
            "red|",
            "a,b",
            "\"x\"",
        ] {
            let query = parse(&written("name", value), Now::utc(0)).unwrap();
            let typed: Vec<&str> = query.typed.iter().map(|one| one.value.as_str()).collect();
            assert_eq!(typed, [value]);
            assert!(query.notes.is_empty() && query.words.is_empty(), "{value}");
        }
    }
}
