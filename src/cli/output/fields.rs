//! Which fields of each item are printed, in JSON or as a line of tab-separated values?

use std::collections::BTreeSet;

use clap::Args;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde_json::Value;

use super::text::{acts, json_escape};
use crate::failure::Failure;

/// Which fields of each item are printed, and how.
#[derive(Debug, Clone, Default, Args)]
pub struct FieldArgs {
    /// Print only these fields, named as in the JSON and separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    fields: Vec<String>,
    /// Print the fields as tab-separated values, one line each; \t, \n, \\ and \u001b are escapes
    #[arg(long, conflicts_with_all = ["json", "max_bytes", "cursor"])]
    tsv: bool,
    /// Print the names of the fields as the first line
    #[arg(long, requires = "tsv")]
    header: bool,
}

impl FieldArgs {
    /// The fields, of those that items have (none known: of any). What stands behind a dot is
    /// within one. Of lines of values for which none are named these are the `columns`.
    ///
    /// # Errors
    /// When there is no such field, or the output has none.
    pub fn of(
        &self,
        known: impl FnOnce() -> Vec<String>,
        columns: &[&str],
        json: bool,
    ) -> Result<Fields, Failure> {
        if self.tsv && self.fields.is_empty() && columns.is_empty() {
            return Err(Failure::usage("--tsv needs --fields"));
        }
        if !(self.fields.is_empty() || json || self.tsv) {
            return Err(Failure::usage("--fields needs --json or --tsv"));
        }
        let are_named = !self.fields.is_empty();
        let known = are_named.then(known).unwrap_or_default();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let is_wrong = |field: &&String| !known.is_empty() && !is_known(field, &known);
        if let Some(field) = self.fields.iter().find(is_wrong) {
            return Err(unknown(field, &known));
        }
        let columns = columns.iter().map(|column| (*column).to_owned());
        Ok(Fields {
            names: match self.tsv && !are_named {
                true => columns.collect(),
                false => self.fields.clone(),
            },
            tsv: self.tsv,
            header: self.header,
        })
    }

    /// Whether this field is asked for.
    pub fn name(&self, field: &str) -> bool {
        self.fields.iter().any(|named| named == field)
    }

    /// Whether not all of each item is asked for.
    pub fn are_asked(&self) -> bool {
        self.tsv || !self.fields.is_empty()
    }
}

/// The names of the fields that a type has in JSON, those that are left out at times as well.
pub fn names_of<T: JsonSchema>() -> Vec<String> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = T::json_schema(&mut settings.into_generator());
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.map_or_else(Vec::new, |fields| fields.keys().cloned().collect())
}

/// Fields that are objects, and the fields within; none: any name, as agents and explanations have
/// names of their own.
const OBJECTS: [(&str, &[&str]); 4] = [
    ("resume", &["cwd", "argv"]),
    ("at", &["file", "line", "start", "length", "table", "key"]),
    ("own", &[]),
    ("explanation", &[]),
];

/// Whether a field is one of those known, or within one of them.
fn is_known(field: &str, known: &[&str]) -> bool {
    let is_within = |at: usize| {
        let (object, within) = (&field[..at], &field[at + 1..]);
        let name = object.rsplit('.').next();
        let object_has =
            |(_, fields): &(&str, &[&str])| fields.is_empty() || fields.contains(&within);
        let objects = OBJECTS.iter().filter(|(object, _)| Some(*object) == name);
        known.contains(&object) && !within.is_empty() && { objects }.any(object_has)
    };
    known.contains(&field) || field.match_indices('.').any(|(at, _)| is_within(at))
}

/// Names that fields have elsewhere, in the heads of columns as well, and their names here.
const SYNONYMS: [(&str, &str); 6] = [
    ("session", "id"),
    ("text", "snippet"),
    ("project", "cwd"),
    ("date", "modified"),
    ("messages", "messageCount"),
    ("what", "title"),
];

/// The known name that may have been meant by one that is not known.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let distance = |known: &&&str| strsim::damerau_levenshtein(known, name);
    let near = known.iter().min_by_key(distance).copied();
    near.filter(|near| strsim::jaro_winkler(near, name) > 0.7)
}

/// That there is no such field, and which one may have been meant.
pub fn unknown(field: &str, known: &[&str]) -> Failure {
    let failure = Failure::usage(format!("--fields: there is no field `{field}`"));
    let lower = field.to_lowercase();
    let synonyms = SYNONYMS.iter().filter(|(synonym, _)| *synonym == lower);
    let names = synonyms.map(|(_, name)| *name).chain([field]);
    let meant = { names }.find_map(|name| {
        // What is a session's stands apart where hits are listed.
        let of_session = |known: &&&str| known.strip_prefix("session.") == Some(name);
        let own = known.iter().find(|known| **known == name);
        own.or_else(|| known.iter().find(of_session)).copied()
    });
    let failure = match meant.or_else(|| nearest(field, known)) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure,
    };
    failure.hint(format!("known fields: {}", known.join(", ")))
}

/// The fields that are asked for; none: all.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    names: Vec<String>,
    /// As lines of values, not as JSON.
    pub tsv: bool,
    header: bool,
}

impl Fields {
    /// All of them, as JSON.
    pub const ALL: Self = Self {
        names: Vec::new(),
        tsv: false,
        header: false,
    };

    /// The first field that none of these objects has; what is within one is not looked at.
    pub fn missing_in<'f>(&'f self, names: &BTreeSet<String>) -> Option<&'f str> {
        let first = |field: &str| field.split('.').next().unwrap_or_default().to_owned();
        let mut asked = self.names.iter().map(String::as_str);
        asked.find(|field| !names.contains(&first(field)))
    }

    /// Whether all are printed.
    pub fn are_all(&self) -> bool {
        self.names.is_empty()
    }

    /// Those within the object `name`, and those outside of it.
    pub fn within(&self, name: &str) -> (Fields, Fields) {
        let is_within = |field: &&String| field.split('.').next() == Some(name);
        let (within, others): (Vec<&String>, Vec<&String>) = self.names.iter().partition(is_within);
        let rest = |field: &String| field[name.len()..].trim_start_matches('.').to_owned();
        let named = |names| Fields {
            names,
            ..Fields::default()
        };
        let within = within.into_iter().map(rest).collect();
        (named(within), named(others.into_iter().cloned().collect()))
    }

    /// The JSON of an object with these fields only, in the order in which they are asked for; what
    /// it lacks is `null`.
    pub fn of_json(&self, json: String) -> Result<String, Failure> {
        match self.are_all() {
            true => Ok(json),
            false => self.some_of_json(json),
        }
    }

    /// The JSON of an object with these fields only, also where they are none.
    pub fn some_of_json(&self, json: String) -> Result<String, Failure> {
        let object: Value = serde_json::from_str(&json)?;
        let members = self.names.iter().map(|field| {
            let name = Value::from(field.as_str());
            format!("{name}:{}", value(&object, field))
        });
        Ok(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
    }

    /// The values of an object as a line.
    pub fn tsv(&self, object: &Value) -> String {
        let values = self.names.iter().map(|field| match value(object, field) {
            Value::Null => String::new(),
            Value::String(text) => escaped(text),
            list @ Value::Array(_) if field == "text" => {
                escaped(&pieces(list).unwrap_or_else(|| list.to_string()))
            }
            other => escaped(&other.to_string()),
        });
        values.collect::<Vec<_>>().join("\t") + "\n"
    }

    /// The names as a line, if they are asked for.
    pub fn header(&self) -> String {
        if !self.header {
            return String::new();
        }
        let names = self.names.iter().map(|name| escaped(name));
        names.collect::<Vec<_>>().join("\t") + "\n"
    }
}

/// What stands in the field, through as many objects as it has dots.
fn value<'v>(object: &'v Value, field: &str) -> &'v Value {
    let mut parts = field.split('.');
    parts
        .try_fold(object, |value, part| value.get(part))
        .unwrap_or(&Value::Null)
}

/// The text of an entry, of which each class has its pieces.
fn pieces(text: &Value) -> Option<String> {
    let classes: Vec<(&str, Vec<&str>)> = Deserialize::deserialize(text).ok()?;
    let pieces: Vec<&str> = classes.into_iter().flat_map(|(_, pieces)| pieces).collect();
    Some(pieces.join("\n"))
}

/// A text in which nothing ends a value or a line, or acts on a terminal.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            _ if acts(character) => out.push_str(&json_escape(character)),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use sessionary::model::TreeRow;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_names_are_those_of_the_json() {
        let names = names_of::<TreeRow>();
        // One that most rows lack, and one that none has.
        assert!(names.contains(&"inherited_from".to_owned()), "{names:?}");
        assert!(!names.contains(&"ordinal".to_owned()), "{names:?}");
    }

    #[test]
    fn values_in_the_order_asked_for() {
        let args = FieldArgs {
            fields: owned(&["name", "own.status", "cost", "id"]),
            header: true,
            ..FieldArgs::default()
        };
        let known = || owned(&["id", "name", "own", "cost"]);
        let fields = args.of(known, &[], true).unwrap();
        let object = json!({"id": "a\\b", "name": "one\ttwo\r\n\u{1b}[31m", "own": {"status": "ok"}, "x": 1});
        assert_eq!(
            fields.tsv(&object),
            "one\\ttwo\\r\\n\\u001b[31m\tok\t\ta\\\\b\n"
        );
        assert_eq!(fields.header(), "name\town.status\tcost\tid\n");
        assert_eq!(
            fields.of_json(object.to_string()).unwrap(),
            r#"{"name":"one\ttwo\r\n\u001b[31m","own.status":"ok","cost":null,"id":"a\\b"}"#
        );
        let wrong = FieldArgs {
            fields: vec!["nmae".to_owned()],
            ..args
        };
        let error = wrong.of(|| owned(&["id", "name"]), &[], true).unwrap_err();
        assert!(
            format!("{error:?}").contains("did you mean `name`?"),
            "{error:?}"
        );
        let without_output = args_without_output().of(|| owned(&["id"]), &[], false);
        assert!(without_output.is_err());
    }

    #[test]
    fn lines_of_values_have_columns_and_the_text_of_entries() {
        let args = FieldArgs {
            tsv: true,
            ..FieldArgs::default()
        };
        let fields = args.of(Vec::new, &["id", "text"], false).unwrap();
        let entry = json!({"id": "a", "text": [["prose", ["one"]], ["output", ["ls", "two"]]]});
        assert_eq!(fields.tsv(&entry), "a\tone\\nls\\ntwo\n");
        assert_eq!(fields.tsv(&json!({"id": "a", "text": "one"})), "a\tone\n");
        assert!(args.of(Vec::new, &[], false).is_err());
        let of_session = unknown("id", &["address", "session.id"]);
        let said = format!("{of_session:?}");
        assert!(said.contains("did you mean `session.id`?"), "{said}");
    }

    fn args_without_output() -> FieldArgs {
        FieldArgs {
            fields: vec!["id".to_owned()],
            ..FieldArgs::default()
        }
    }
}
