//! Which file does a call touch, and what is it about?

use crate::edits::touches;
use crate::json::Text;
use crate::model::{Facts, FileTouch};

/// Notes the file that a call names, where its tool [`touches`] it. Gives what the call is about:
/// the command, else that file, else the first of `others` that is there.
pub(crate) fn used(
    facts: &mut Facts,
    tool: Option<&str>,
    path: Option<String>,
    command: &Text<'_>,
    others: &[&Text<'_>],
) -> Option<String> {
    let modified = tool.and_then(|tool| touches(tool, command.as_str()));
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Format;
    use crate::claude::Claude;
    use crate::copilot::Copilot;

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
            let subject = used(&mut facts, Some("edit"), named, command, &[&none, &url]);
            assert_eq!(subject.as_deref(), about);
            let touched = facts.files.iter().map(|file| file.path.as_str());
            assert!(touched.eq(path), "{:?}", facts.files);
            assert!(facts.files.iter().all(|file| file.modified));
        }
    }

    #[test]
    fn a_tool_is_known_by_its_name_whatever_agent_or_server_has_it() {
        for (tool, command, touched) in [
            ("Read_File", None, Some(false)),
            ("str-replace", None, Some(true)),
            ("grep", None, None),
            ("mcp__filesystem__read_file", None, Some(false)),
            ("tools__filesystem_write", None, Some(true)),
            ("create", None, Some(true)),
            ("replace", None, Some(true)),
            ("search_replace", None, Some(true)),
            ("NotebookEdit", None, Some(true)),
            ("NotebookRead", None, Some(false)),
            ("edit_notebook", None, Some(true)),
            ("view_image", None, Some(false)),
            ("Delete", None, Some(true)),
            ("str_replace_editor", Some("view"), Some(false)),
            ("str_replace_editor", Some("insert"), Some(true)),
            ("str_replace_based_edit_tool", None, Some(true)),
            ("bash", Some("view"), None),
        ] {
            assert_eq!(touches(tool, command), touched, "{tool} {command:?}");
        }
    }

    #[test]
    fn what_is_an_edit_touches_the_file_for_every_agent() {
        for (tool, command, modified) in [
            ("str_replace_editor", "str_replace", true),
            ("str_replace_editor", "view", false),
            ("search_replace", "", true),
            ("mcp__files__write_file", "", true),
        ] {
            let given = json!({"path": "a.rs", "command": command});
            let copilot = json!({"type": "assistant.message", "data": {"toolRequests": [
                {"toolCallId": "c", "name": tool, "arguments": given}]}});
            let claude = json!({"type": "assistant", "message": {"content": [
                {"type": "tool_use", "id": "c", "name": tool, "input": given}]}});
            let copilot = Copilot.facts(copilot.to_string().as_bytes());
            let claude = Claude.facts(claude.to_string().as_bytes());
            for files in [copilot.files, claude.files] {
                let touched = files.iter().map(|file| (file.path.as_str(), file.modified));
                assert!(touched.eq([("a.rs", modified)]), "{tool}: {files:?}");
            }
        }
    }

    #[test]
    fn a_tool_that_neither_reads_nor_modifies_touches_no_file() {
        let mut facts = Facts::default();
        let none = Text::default();
        let named = Some("a.rs".to_owned());
        let subject = used(&mut facts, Some("grep"), named, &none, &[]);
        assert_eq!(subject.as_deref(), Some("a.rs"));
        assert!(facts.files.is_empty());
    }
}
