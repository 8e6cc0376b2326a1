//! Which patches does a script give to `apply_patch`? Codex's code mode takes JavaScript. What is
//! given as one text is known, by itself or by the name of a constant; what is put together while
//! the script runs is not.

use std::collections::HashMap;
use std::str::Chars;

use super::patch;
use super::shell::{ShellPatch, ShellPatches};

/// The tool that a script calls.
const APPLY: &str = "apply_patch";

/// Where a text stands in what is left of a script.
const TEXT: char = '\0';

/// Signs behind which a `/` begins a regular expression.
const BEFORE_REGEX: &str = "(,=:[!&|?{};+-*%~^<>";

/// Bytes of a regular expression at most; a longer one is taken for two divisions.
const MOST_REGEX: usize = 1024;

/// Words with which a script may leave a patch out, or hide that it did not fit.
const TURNS: [&str; 12] = [
    "if",
    "else",
    "switch",
    "for",
    "while",
    "return",
    "function",
    "catch",
    "finally",
    "allSettled",
    "exit",
    "throw",
];

/// The patches that a script gives to `apply_patch`.
pub(crate) fn patches(code: &str) -> ShellPatches {
    let mut found = ShellPatches {
        patches: Vec::new(),
        fails_with_them: true,
    };
    if !code.contains(APPLY) {
        return found;
    }
    let script = Script::read(code);
    let constants = script.constants();
    for (at, _) in script.code.match_indices(APPLY) {
        let is_longer = script.code[..at].ends_with(is_of_name);
        let behind = script.code[at + APPLY.len()..].trim_start();
        let Some(argument) = behind.strip_prefix('(').filter(|_| !is_longer) else {
            continue;
        };
        let text = script.given(argument.trim_start(), &constants);
        let text = text.filter(|text| text.trim_start().starts_with(patch::BEGIN));
        found.patches.push(ShellPatch {
            folder: text.map(|_| String::new()),
            text: text.unwrap_or_default().to_owned(),
        });
    }
    found.fails_with_them = script.goes_straight();
    found
}

/// A script, and the texts that stand in it.
struct Script {
    /// The script without comments, with [`TEXT`] in the place of each text.
    code: String,
    /// Each text with its place; `None` where something is put into it, or where it is none.
    texts: Vec<(usize, Option<String>)>,
}

impl Script {
    fn read(code: &str) -> Script {
        let mut script = Script {
            code: String::new(),
            texts: Vec::new(),
        };
        // How many braces were open where something is put into a text, for each such text.
        let (mut braces, mut holes) = (0_usize, Vec::new());
        let mut rest = code;
        while let Some(next) = rest.chars().next() {
            let behind = &rest[next.len_utf8()..];
            rest = match next {
                '/' => script.slash(behind),
                '"' | '\'' => {
                    let (text, _, behind) = text(behind, next, false);
                    script.push(text);
                    behind
                }
                '`' => {
                    let is_raw = script.take_tag();
                    let (text, end, behind) = text(behind, next, is_raw == Some(true));
                    script.push(text.filter(|_| is_raw.is_some()));
                    holes.extend((end == End::Hole).then_some(braces));
                    behind
                }
                '}' if holes.last() == Some(&braces) => {
                    let (_, end, behind) = text(behind, '`', false);
                    if end != End::Hole {
                        holes.pop();
                    }
                    behind
                }
                _ => {
                    braces = match next {
                        '{' => braces + 1,
                        '}' => braces.saturating_sub(1),
                        _ => braces,
                    };
                    // Nothing but a text is taken for one.
                    script.code.push(if next == TEXT { ' ' } else { next });
                    behind
                }
            };
        }
        script
    }

    fn push(&mut self, text: Option<String>) {
        self.texts.push((self.code.len(), text));
        self.code.push(TEXT);
    }

    /// Passes over a comment or a regular expression, of which this stands behind the first `/`.
    fn slash<'c>(&mut self, behind: &'c str) -> &'c str {
        let past = |end: &str| behind.find(end).map_or("", |at| &behind[at..]);
        if behind.starts_with('/') {
            return past("\n");
        }
        if let Some(within) = behind.strip_prefix('*') {
            self.code.push(' ');
            return within.split_once("*/").map_or("", |(_, rest)| rest);
        }
        let before = self.code.trim_end().chars().next_back();
        let begins = before.is_none_or(|before| BEFORE_REGEX.contains(before));
        match regex(behind).filter(|_| begins) {
            Some(end) => {
                self.push(None);
                &behind[end..]
            }
            None => {
                self.code.push('/');
                behind
            }
        }
    }

    /// Takes away what stands before a template and says how that is read: whether as
    /// `String.raw` does; `None`: another function makes something of it.
    fn take_tag(&mut self) -> Option<bool> {
        if let Some(before) = self.code.strip_suffix("String.raw")
            && !before.ends_with(|c: char| is_of_name(c) || c == '.')
        {
            self.code.truncate(before.len());
            return Some(true);
        }
        let is_tagged = self
            .code
            .ends_with(|c: char| is_of_name(c) || ")]".contains(c));
        (!is_tagged).then_some(false)
    }

    /// The text that stands at the beginning of the end of the script.
    fn text_at(&self, end: &str) -> Option<&str> {
        let place = self.code.len() - end.len();
        let at = self
            .texts
            .binary_search_by_key(&place, |(at, _)| *at)
            .ok()?;
        self.texts[at].1.as_deref()
    }

    /// The constants that are a text. One of which there are several is none.
    fn constants(&self) -> HashMap<&str, Option<&str>> {
        let mut constants = HashMap::new();
        for (at, text) in &self.texts {
            let name = || {
                let before = self.code[..*at].trim_end().strip_suffix('=')?.trim_end();
                let rest = before.trim_end_matches(is_of_name);
                let is_const = rest.trim_end().ends_with("const") && rest.ends_with([' ', '\n']);
                is_const.then(|| &before[rest.len()..])
            };
            let Some(name) = name() else {
                continue;
            };
            let behind = self.code[at + TEXT.len_utf8()..].trim_start();
            let is_all = !behind.starts_with(|c: char| ".+[(?*/-&|=<>%^".contains(c));
            let text = text.as_deref().filter(|_| is_all);
            let known = constants.entry(name).or_insert(text);
            if *known != text {
                *known = None;
            }
        }
        constants
    }

    /// The text that a function is given, as its argument or as the first member of that.
    fn given<'s>(
        &'s self,
        argument: &'s str,
        constants: &HashMap<&str, Option<&'s str>>,
    ) -> Option<&'s str> {
        let value = match argument.strip_prefix('{') {
            Some(members) => {
                let members = members.trim_start();
                let behind = members.trim_start_matches(|c: char| is_of_name(c) || c == TEXT);
                behind.trim_start().strip_prefix(':')?.trim_start()
            }
            None => argument,
        };
        let (text, behind) = match value.strip_prefix(TEXT) {
            Some(behind) => (self.text_at(value), behind),
            None => {
                let behind = value.trim_start_matches(is_of_name);
                let name = &value[..value.len() - behind.len()];
                (constants.get(name).copied().flatten(), behind)
            }
        };
        let is_all = behind.trim_start().starts_with([')', ',', '}']);
        text.filter(|_| is_all)
    }

    /// Whether it waits for what it calls, and fails where one of that does.
    fn goes_straight(&self) -> bool {
        let words = || self.code.split(|c: char| !is_of_name(c));
        let turns = ["?", "&&", "||", "=>"];
        words().any(|word| word == "await")
            && !words().any(|word| TURNS.contains(&word))
            && !turns.iter().any(|turn| self.code.contains(turn))
    }
}

fn is_of_name(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_' || sign == '$'
}

/// Where a regular expression ends, of which this stands behind the first `/`.
fn regex(behind: &str) -> Option<usize> {
    let (mut is_class, mut is_escaped) = (false, false);
    for (at, sign) in behind.char_indices().take(MOST_REGEX) {
        match sign {
            '\n' | '\r' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_class = true,
            ']' => is_class = false,
            '/' if !is_class => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// How a text, or a part of one, ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// With its mark, or where no text goes on.
    Mark,
    /// `${`
    Hole,
}

/// The text behind its first mark, how it ends, and what stands behind that. `None` where no script
/// may say so, where something is put into it, and where it is no text of whole signs.
fn text(code: &str, mark: char, is_raw: bool) -> (Option<String>, End, &str) {
    let mut said = Some(String::new());
    let mut chars = code.chars();
    let is_template = mark == '`';
    while let Some(next) = chars.next() {
        let sign = match next {
            _ if next == mark => return (said, End::Mark, chars.as_str()),
            '$' if is_template && chars.as_str().starts_with('{') => {
                return (None, End::Hole, &chars.as_str()[1..]);
            }
            '\\' if is_raw => {
                said.iter_mut().for_each(|said| said.push(next));
                chars.next().map(|next| line_feed(next, &mut chars))
            }
            '\\' => match escaped(&mut chars) {
                Some(sign) => sign,
                None => {
                    said = None;
                    continue;
                }
            },
            '\n' | '\r' if !is_template => return (None, End::Mark, chars.as_str()),
            next => Some(line_feed(next, &mut chars)),
        };
        said.iter_mut().for_each(|said| said.extend(sign));
    }
    (None, End::Mark, "")
}

/// A sign of a template: every end of a line is a line feed there.
fn line_feed(sign: char, chars: &mut Chars<'_>) -> char {
    match sign {
        '\r' => {
            skip(chars, "\n");
            '\n'
        }
        sign => sign,
    }
}

/// Whether this came next. Then it is passed over.
fn skip(chars: &mut Chars<'_>, what: &str) -> bool {
    let behind = chars.as_str().strip_prefix(what);
    if let Some(behind) = behind {
        *chars = behind.chars();
    }
    behind.is_some()
}

/// The sign that stands behind a `\`: none at the end of a line. `None`: no script may say so, or
/// it is half a sign.
fn escaped(chars: &mut Chars<'_>) -> Option<Option<char>> {
    Some(Some(match chars.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '0' if !chars.as_str().starts_with(|c: char| c.is_ascii_digit()) => '\0',
        '0'..='9' => return None,
        'x' => char::from_u32(hex(chars, 2)?)?,
        'u' => by_number(chars)?,
        '\r' => {
            skip(chars, "\n");
            return Some(None);
        }
        '\n' | '\u{2028}' | '\u{2029}' => return Some(None),
        sign => sign,
    }))
}

/// The sign of a number behind `\u`; of one that is written as two halves both are read.
fn by_number(chars: &mut Chars<'_>) -> Option<char> {
    if skip(chars, "{") {
        let digits = chars
            .as_str()
            .bytes()
            .take(8)
            .position(|byte| byte == b'}')?;
        let number = hex(chars, digits)?;
        chars.next();
        return char::from_u32(number);
    }
    let first = hex(chars, 4)?;
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first);
    }
    let second = skip(chars, "\\u").then(|| hex(chars, 4)).flatten();
    let second = second.filter(|second| (0xdc00..0xe000).contains(second))?;
    char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))
}

/// A number of so many hexadecimal digits.
fn hex(chars: &mut Chars<'_>, digits: usize) -> Option<u32> {
    let read = chars.as_str().get(..digits)?;
    let is_hex = read.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u32::from_str_radix(read, 16).ok().filter(|_| is_hex)?;
    skip(chars, read).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a script gives to `apply_patch`, and whether it fails with it.
    fn given(code: &str) -> (Vec<Option<String>>, bool) {
        let found = patches(code);
        let texts = found.patches.into_iter();
        let texts = texts.map(|of| of.folder.map(|_| of.text));
        (texts.collect(), found.fails_with_them)
    }

    const PATCH: &str = "*** Begin Patch\n*** Add File: a\n+it's \"one\"\n*** End Patch";

    #[test]
    fn a_patch_is_one_text() {
        let escaped = PATCH.replace('\n', "\\n").replace('"', "\\\"");
        let single = PATCH.replace('\n', "\\n").replace('\'', "\\'");
        for code in [
            format!("text(await tools.apply_patch(\"{escaped}\"));"),
            format!("const r = await tools.apply_patch( '{single}' )"),
            format!("await tools.apply_patch(`{PATCH}`)"),
            format!("await tools.apply_patch(`{}`)", PATCH.replace('\n', "\r\n")),
            format!("await tools.apply_patch(String.raw`{PATCH}`)"),
            format!("await tools.apply_patch({{input: \"{escaped}\"}})"),
            format!("await tools.apply_patch({{ \"patch\" : `{PATCH}`, dry: 0}})"),
            format!("const patch = `{PATCH}`;\ntext(await tools.apply_patch(patch));"),
            format!("const p =\n  \"{escaped}\"\nawait tools.apply_patch({{input: p}})"),
            format!("x = /[/\"]'/.test(y); // it's\n/* ` */ await apply_patch(`{PATCH}`)"),
            format!("a = `${{b({{c: `'`}})}}'`; await apply_patch(`{PATCH}`)"),
        ] {
            assert_eq!(given(&code), (vec![Some(PATCH.to_owned())], true), "{code}");
        }
    }

    #[test]
    fn what_is_put_together_is_not_known() {
        let quoted = PATCH.replace('\n', "\\n").replace('"', "\\\"");
        for code in [
            "await tools.apply_patch(`*** Begin Patch\n*** Add File: ${name}\n+x\n*** End Patch`)",
            "await tools.apply_patch(make`*** Begin Patch\n`)",
            "await tools.apply_patch(String.raw`*** Begin Patch\n${'x'}`)",
            "await tools.apply_patch([\"*** Begin Patch\"].join(\"\\n\"))",
            "await tools.apply_patch(patch)",
            "await tools.apply_patch(\"no patch\")",
            "await tools.apply_patch(\"*** Begin Patch\\8\")",
            "await tools.apply_patch(\"*** Begin Patch\\ud83d\")",
            "await tools.apply_patch(\"*** Begin Patch\n\")",
            &format!("await tools.apply_patch(\"{quoted}\" + more)"),
            &format!("let p = \"{quoted}\"; p += more; await tools.apply_patch(p)"),
            &format!("const p = \"{quoted}\".trim(); await tools.apply_patch(p)"),
            &format!("{{const p = \"{quoted}\"}} const p = \"\"; await tools.apply_patch(p)"),
        ] {
            assert_eq!(given(code).0, [None], "{code}");
        }
        for code in [
            format!("// await tools.apply_patch(\"{quoted}\")"),
            format!("text('await tools.apply_patch(`{}`)')", "*** Begin Patch"),
            format!("reapply_patch(\"{quoted}\"); typeof tools.apply_patch"),
        ] {
            assert_eq!(given(&code).0, [], "{code}");
        }
    }

    #[test]
    fn escapes_are_those_of_javascript() {
        let read = |code: &str| {
            let mark = code.chars().next()?;
            text(&code[1..], mark, false).0
        };
        for (code, expected) in [
            (
                r#""\n\t\r\b\f\v\0\\\"\'\`\q\$""#,
                Some("\n\t\r\u{8}\u{c}\u{b}\0\\\"'`q$"),
            ),
            (
                r#""\x41\u0042\u{43}\u{1f600}\ud83d\ude00""#,
                Some("ABC😀😀"),
            ),
            ("'a\\\nb\\\r\nc\\\u{2028}d'", Some("abcd")),
            ("`a\r\nb\rc\\${d}$`", Some("a\nb\nc${d}$")),
            ("'$ {a} ${b}'", Some("$ {a} ${b}")),
            (r#""\01""#, None),
            (r#""\1""#, None),
            (r#""\x4""#, None),
            (r#""\x+4""#, None),
            (r#""\u{110000}""#, None),
            (r#""\u{}""#, None),
            (r#""\ude00""#, None),
            (r#""\ud83d\u0041""#, None),
            ("'a\nb'", None),
            ("'torn", None),
            ("'torn\\", None),
        ] {
            assert_eq!(read(code).as_deref(), expected, "{code}");
        }
        assert_eq!(
            text("a\\n\\`\\${b}`", '`', true).0.as_deref(),
            Some("a\\n\\`\\${b}")
        );
    }

    #[test]
    fn a_script_that_turns_may_leave_a_patch_out() {
        for (before, behind, fails) in [
            ("", "", true),
            (
                "text(await tools.exec_command({cmd: \"if x; then y; fi\"}));",
                "",
                true,
            ),
            ("if (x) ", "", false),
            ("try { ", " } catch (e) { text(e) }", false),
            ("ok && ", "", false),
            ("items.map(x => x); ", "", false),
        ] {
            let code = format!("{before}await tools.apply_patch(`{PATCH}`){behind}");
            assert_eq!(given(&code).1, fails, "{code}");
        }
        // Nobody waits for it.
        assert!(!given(&format!("tools.apply_patch(`{PATCH}`)")).1);
    }

    #[test]
    fn a_script_asks_for_what_its_patches_change() {
        let code = format!("await tools.apply_patch(`{PATCH}`)");
        let call = serde_json::json!({"payload": {"type": "custom_tool_call", "call_id": "c",
            "name": "exec", "input": code}});
        let edits = crate::edits::edits(call.to_string().as_bytes());
        let [edit] = &*edits else {
            panic!("{edits:?}");
        };
        assert_eq!((edit.call_id.as_deref(), &*edit.path), (Some("c"), "a"));
        let written = "it's \"one\"\n".to_owned();
        assert_eq!(edit.change, crate::edits::Change::Write(written));
        let by = edit.by_command.map(|by| (by.patches, by.fails_with_them));
        assert_eq!(by, Some((1, true)));
    }

    /// Each sign is looked at a few times, whatever nests.
    #[test]
    fn long_scripts() {
        for (begin, part) in [
            ("", "`${"),
            ("", "{`"),
            ("", "=/["),
            ("", "apply_patch({a:"),
            ("'", "\\u{"),
            ("", "const a='';"),
        ] {
            let code = format!("{begin}{}apply_patch(`", part.repeat(20_000));
            assert!(given(&code).0.iter().all(Option::is_none), "{part}");
        }
    }
}
