//! Which file does a call touch, and what is it about?

use crate::json::Text;
use crate::model::{Facts, FileTouch};

/// Notes the file that a call names, where its tool reads (`false`) or modifies (`true`) it. Gives
/// what the call is about: the command, else that file, else the first of `others` that is there.
pub(crate) fn used(
    facts: &mut Facts,
    path: Option<String>,
    modified: Option<bool>,
    command: &Text<'_>,
    others: &[&Text<'_>],
) -> Option<String> {
    if let (Some(path), Some(modified)) = (&path, modified) {
        facts.files.push(FileTouch {
            path: path.clone(),
            modified,
        });
    }
    command
        .owned()
        .or(path)
        .or_else(|| others.iter().find_map(|other| other.owned()))
}

/// Whether a tool of this name reads (`false`) or modifies (`true`) the file it is given.
pub(crate) fn touches(tool: &str) -> Option<bool> {
    const READS: &[&str] = &["read", "readfile", "view"];
    const MODIFIES: &[&str] = &[
        "write",
        "writefile",
        "edit",
        "editfile",
        "multiedit",
        "createfile",
        "strreplace",
        "hashlineedit",
        "applypatch",
    ];
    let is = |name: &&str| {
        let letters = tool.bytes().filter(|byte| !matches!(byte, b'_' | b'-'));
        letters
            .map(|byte| byte.to_ascii_lowercase())
            .eq(name.bytes())
    };
    if READS.iter().any(is) {
        Some(false)
    } else {
        MODIFIES.iter().any(is).then_some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_about_its_command_else_its_file_else_what_else_it_names() {
        let text = |text: &'static str| Text(Some(text.into()));
        let (none, command, url) = (Text::default(), text("ls"), text("https://a.test"));
        for (command, path, about) in [
            (&command, Some("a.rs"), Some("ls")),
            (&none, Some("a.rs"), Some("a.rs")),
            (&none, None, Some("https://a.test")),
        ] {
            let mut facts = Facts::default();
            let named = path.map(str::to_owned);
            let subject = used(&mut facts, named, Some(true), command, &[&none, &url]);
            assert_eq!(subject.as_deref(), about);
            let touched = facts.files.iter().map(|file| file.path.as_str());
            assert!(touched.eq(path), "{:?}", facts.files);
            assert!(facts.files.iter().all(|file| file.modified));
        }
    }

    #[test]
    fn a_tool_that_neither_reads_nor_modifies_touches_no_file() {
        assert_eq!(touches("Read_File"), Some(false));
        assert_eq!(touches("str-replace"), Some(true));
        assert_eq!(touches("grep"), None);
        let mut facts = Facts::default();
        let none = Text::default();
        let subject = used(&mut facts, Some("a.rs".to_owned()), None, &none, &[]);
        assert_eq!(subject.as_deref(), Some("a.rs"));
        assert!(facts.files.is_empty());
    }
}
