//! What is set in git's files of settings? What they include is not read.

use std::str::Lines;

/// A setting with a value.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Setting {
    /// Its section, in lowercase.
    pub section: String,
    /// The part of the section in quotes: `origin` of `[remote "origin"]`.
    pub part: Option<String>,
    /// Its name, in lowercase.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// All settings with a value, in order. What cannot be read is left out.
pub(super) fn settings(text: &str) -> Vec<Setting> {
    let mut all = Vec::new();
    let (mut section, mut part) = (String::new(), None);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            let Some((name, within, rest)) = header_of(header) else {
                continue;
            };
            (section, part, line) = (name, within, rest.trim_start());
        }
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some((name, value)) = line.split_once('=') {
            all.push(Setting {
                section: section.clone(),
                part: part.clone(),
                name: name.trim().to_lowercase(),
                value: value_of(value, &mut lines),
            });
        }
    }
    all
}

/// The section, the part of it in quotes, and what follows the bracket.
fn header_of(header: &str) -> Option<(String, Option<String>, &str)> {
    let end = header.find(['"', ']'])?;
    let section = header[..end].trim().to_lowercase();
    if header[end..].starts_with(']') {
        return Some((section, None, &header[end + 1..]));
    }
    let mut part = String::new();
    let mut characters = header[end + 1..].char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => part.extend(characters.next().map(|(_, escaped)| escaped)),
            '"' => {
                let rest = header[end + 1 + at + 1..].trim_start();
                return Some((section, Some(part), rest.strip_prefix(']')?));
            }
            _ => part.push(character),
        }
    }
    None
}

/// A value: without comments and quotes, and with the next line where a backslash ends this one.
fn value_of(first: &str, lines: &mut Lines<'_>) -> String {
    let mut value = String::new();
    // So much of it stays when blanks at its end are cut.
    let mut kept = 0;
    let (mut line, mut is_quoted) = (first, false);
    loop {
        let mut characters = line.chars();
        let mut goes_on = false;
        while let Some(character) = characters.next() {
            match character {
                '"' => is_quoted = !is_quoted,
                '#' | ';' if !is_quoted => break,
                '\\' => match characters.next() {
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some(escaped) => value.push(escaped),
                    None => goes_on = true,
                },
                blank if blank.is_whitespace() && !is_quoted => {
                    if kept > 0 {
                        value.push(blank);
                    }
                    continue;
                }
                plain => value.push(plain),
            }
            kept = value.len();
        }
        match goes_on.then(|| lines.next()).flatten() {
            Some(next) => line = next,
            None => break,
        }
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::settings;

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = concat!(
            "lost = 1\n",
            "# [remote \"comment\"]\n",
            "[Core]\n\tBare = false ; no\n\tignorecase\n",
            "[remote \"a \\\"b\\\"\"] url = \"x # y\" # z\n",
            "\tpushurl = one\\\n two  \n",
            "[broken \"part]\n",
            "[remote \"Origin\" ]\n url=  a b\\tc \\\\ \n",
            "[x\n",
            "empty =\n",
            "last = \\",
        );
        let read: Vec<_> = settings(text)
            .into_iter()
            .map(|one| (one.section, one.part, one.name, one.value))
            .collect();
        let is = |section: &str, part: Option<&str>, name: &str, value: &str| {
            (
                section.to_owned(),
                part.map(str::to_owned),
                name.to_owned(),
                value.to_owned(),
            )
        };
        let quoted = Some("a \"b\"");
        assert_eq!(
            read,
            [
                is("", None, "lost", "1"),
                is("core", None, "bare", "false"),
                is("remote", quoted, "url", "x # y"),
                is("remote", quoted, "pushurl", "one two"),
                is("remote", Some("Origin"), "url", "a b\tc \\"),
                is("remote", Some("Origin"), "empty", ""),
                is("remote", Some("Origin"), "last", ""),
            ]
        );
    }
}
