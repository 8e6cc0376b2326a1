//! Which patches does a script give to `apply_patch`? Codex's code mode takes JavaScript. A script
//! is known only if all of it is statements of a few kinds, one after the other: each runs once,
//! and where a patch does not fit, the script fails.
//!
//! ```text
//! const NAME = TEXT;
//! const NAME = await CALL;
//! await CALL;
//! text(await CALL);    text(TEXT);    text(NAME.member);    text(JSON.stringify(NAME));
//! ```
//!
//! A CALL is `tools.apply_patch(TEXT)`, with the name of a text in its place or as a member `input`
//! or `patch`, or it is `tools.exec_command({…})` with nothing but literals. A TEXT has no holes.

use std::collections::HashMap;
use std::str::Chars;

use super::patch;
use super::shell::{ShellPatch, ShellPatches};

/// The tool that a script calls.
const APPLY: &str = "apply_patch";

/// The patches that a script gives to `apply_patch`. Where it is not known, one of which nothing
/// is.
pub(crate) fn patches(code: &str) -> ShellPatches {
    let known = match code.contains(APPLY) {
        true => Script::read(code),
        false => Some(Vec::new()),
    };
    let fails_with_them = known.is_some();
    let known = known.map(|texts| texts.into_iter().map(Some).collect());
    let texts: Vec<Option<String>> = known.unwrap_or_else(|| vec![None]);
    let patch = |text: Option<String>| ShellPatch {
        folder: text.as_ref().map(|_| String::new()),
        text: text.unwrap_or_default(),
    };
    ShellPatches {
        patches: texts.into_iter().map(patch).collect(),
        fails_with_them,
    }
}

/// A script as it is read, token by token.
struct Script<'c> {
    /// What is left of it. It begins with a token.
    rest: &'c str,
    /// What has a name: a text, or what a call gave.
    names: HashMap<&'c str, Option<String>>,
    patches: Vec<String>,
    /// Together the patches are no longer than the script, however often it gives the same one.
    most: usize,
}

impl<'c> Script<'c> {
    /// The patches; `None`: the script is not known.
    fn read(code: &'c str) -> Option<Vec<String>> {
        let mut script = Script {
            rest: code,
            names: HashMap::new(),
            patches: Vec::new(),
            most: code.len(),
        };
        script.skip_blanks();
        while !script.rest.is_empty() {
            if script.sign(';').is_none() {
                script.statement()?;
            }
        }
        Some(script.patches)
    }

    fn statement(&mut self) -> Option<()> {
        match self.word()? {
            "await" => self.call(),
            "text" => {
                self.sign('(')?;
                self.shown()?;
                self.sign(')')
            }
            "const" | "let" | "var" => {
                let name = self.word()?;
                self.sign('=')?;
                let text = self.text();
                if text.is_none() {
                    self.exactly("await")?;
                    self.call()?;
                }
                // A name that is made twice may be either.
                self.names.insert(name, text).is_none().then_some(())
            }
            _ => None,
        }
    }

    /// What `text` is given.
    fn shown(&mut self) -> Option<()> {
        if self.text().is_some() {
            return Some(());
        }
        match self.word()? {
            "await" => self.call(),
            "JSON" => {
                self.sign('.')?;
                self.exactly("stringify")?;
                self.sign('(')?;
                self.word()?;
                self.sign(')')
            }
            _ => {
                while self.sign('.').is_some() {
                    self.word()?;
                }
                Some(())
            }
        }
    }

    /// The call of a tool, behind `await`.
    fn call(&mut self) -> Option<()> {
        self.exactly("tools")?;
        self.sign('.')?;
        let tool = self.word()?;
        self.sign('(')?;
        match tool {
            APPLY => self.patch()?,
            "exec_command" => self.literals()?,
            _ => return None,
        }
        self.sign(',');
        self.sign(')')
    }

    /// The patch that `apply_patch` is given, by itself or as the one member of an object.
    fn patch(&mut self) -> Option<()> {
        let is_member = self.sign('{').is_some();
        if is_member {
            let key = self.key()?;
            self.sign(':')
                .filter(|()| key == "input" || key == "patch")?;
        }
        let text = match self.text() {
            Some(text) => text,
            None => {
                let name = self.word()?;
                let text = self.names.get(name)?.as_ref();
                text.filter(|text| text.len() <= self.most)?.clone()
            }
        };
        self.most = self.most.checked_sub(text.len())?;
        let is_patch = text.trim_start().starts_with(patch::BEGIN);
        self.patches.push(text);
        if is_member {
            self.sign(',');
            self.sign('}')?;
        }
        is_patch.then_some(())
    }

    /// An object of texts, numbers, `true`, `false` and `null`, which names no patch.
    fn literals(&mut self) -> Option<()> {
        self.sign('{')?;
        while self.sign('}').is_none() {
            self.key()?;
            self.sign(':')?;
            let is_literal = match self.text() {
                Some(text) => !text.contains(APPLY),
                None => {
                    let word = self.word()?;
                    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
                    is_number || ["true", "false", "null"].contains(&word)
                }
            };
            let is_ended = self.sign(',').is_some() || self.rest.starts_with('}');
            if !is_literal || !is_ended {
                return None;
            }
        }
        Some(())
    }

    /// The name of a member.
    fn key(&mut self) -> Option<String> {
        self.text().or_else(|| self.word().map(str::to_owned))
    }

    /// A text in quotation marks. Where it is none, or is not known, nothing is read.
    fn text(&mut self) -> Option<String> {
        let raw = self.rest.strip_prefix("String.raw");
        let begin = raw.unwrap_or(self.rest);
        let mark = begin.chars().next()?;
        if mark != '`' && (raw.is_some() || !"\"'".contains(mark)) {
            return None;
        }
        let (text, rest) = text(&begin[1..], mark, raw.is_some())?;
        self.rest = rest;
        self.skip_blanks();
        Some(text)
    }

    fn exactly(&mut self, word: &str) -> Option<()> {
        self.word().filter(|read| *read == word).map(|_| ())
    }

    fn word(&mut self) -> Option<&'c str> {
        let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let rest = self.rest.trim_start_matches(is_of_word);
        let word = &self.rest[..self.rest.len() - rest.len()];
        self.rest = rest;
        self.skip_blanks();
        (!word.is_empty()).then_some(word)
    }

    fn sign(&mut self, sign: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(sign)?;
        self.skip_blanks();
        Some(())
    }

    /// Passes over blanks and comments. One without an end is no token.
    fn skip_blanks(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let behind = if let Some(comment) = self.rest.strip_prefix("//") {
                let is_end = |c: char| "\n\r\u{2028}\u{2029}".contains(c);
                Some(comment.find(is_end).map_or("", |at| &comment[at..]))
            } else {
                let comment = self.rest.strip_prefix("/*");
                comment.and_then(|comment| Some(comment.split_once("*/")?.1))
            };
            match behind {
                Some(behind) => self.rest = behind,
                None => return,
            }
        }
    }
}

/// The text behind its first mark, and what stands behind its last. `None` where no script may say
/// so, where something is put into it, and where it is no text of whole signs.
fn text(code: &str, mark: char, is_raw: bool) -> Option<(String, &str)> {
    let mut said = String::new();
    let mut chars = code.chars();
    let is_template = mark == '`';
    loop {
        match chars.next()? {
            end if end == mark => return Some((said, chars.as_str())),
            '$' if is_template && chars.as_str().starts_with('{') => return None,
            '\\' if is_raw => {
                said.push('\\');
                let sign = chars.next()?;
                said.push(line_feed(sign, &mut chars));
            }
            '\\' => said.extend(escaped(&mut chars)?),
            '\n' | '\r' if !is_template => return None,
            sign => said.push(line_feed(sign, &mut chars)),
        }
    }
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

    /// What a script gives to `apply_patch`; `None`: it is not known.
    fn given(code: &str) -> Option<Vec<String>> {
        let found = patches(code);
        let are_known = found.patches.iter().all(|of| of.folder.is_some());
        assert_eq!(are_known, found.fails_with_them, "{code}");
        let texts = found.patches.into_iter().map(|of| of.text);
        are_known.then(|| texts.collect())
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
            format!("await tools.apply_patch({{ \"patch\" : `{PATCH}`, }},);;"),
            format!("const patch = `{PATCH}`;\ntext(await tools.apply_patch(patch));"),
            format!("const p =\n  \"{escaped}\"\nawait tools.apply_patch({{input: p}})"),
            format!("// it's\u{2028}/* ` */ let p = `{PATCH}`; await tools // \"\n.apply_patch(p)"),
            format!("var r = await tools.apply_patch(`{PATCH}`)\ntext(r)\ntext(r.output) // `"),
            format!("const r = await tools.apply_patch(`{PATCH}`);text(JSON.stringify(r));"),
            format!("text('if (a) `'); await tools.apply_patch(`{PATCH}`); text(\"done\")"),
            format!(
                "text(await tools.exec_command({{cmd: 'if x; then y; fi', \"tty\": true,\n\
                 yield_time_ms: 1000,}})); await tools.apply_patch(`{PATCH}`)"
            ),
        ] {
            assert_eq!(given(&code), Some(vec![PATCH.to_owned()]), "{code}");
        }
        for code in [
            format!("// await tools.apply_patch(\"{escaped}\")"),
            format!("text('await tools.apply_patch(`{}`)')", "*** Begin Patch"),
        ] {
            assert_eq!(given(&code), Some(Vec::new()), "{code}");
        }
    }

    #[test]
    fn what_is_put_together_is_not_known() {
        let quoted = PATCH.replace('\n', "\\n").replace('"', "\\\"");
        for code in [
            "await tools.apply_patch(`*** Begin Patch\n*** Add File: ${name}\n+x\n*** End Patch`)",
            "await tools.apply_patch(make`*** Begin Patch\n`)",
            "await tools.apply_patch(String.raw`*** Begin Patch\n${'x'}`)",
            "await tools.apply_patch(String.raw\"*** Begin Patch\")",
            "await tools.apply_patch([\"*** Begin Patch\"].join(\"\\n\"))",
            "await tools.apply_patch(patch)",
            "await tools.apply_patch(\"no patch\")",
            "await tools.apply_patch(\"*** Begin Patch\\8\")",
            "await tools.apply_patch(\"*** Begin Patch\\ud83d\")",
            "await tools.apply_patch(\"*** Begin Patch\n\")",
            "await tools.apply_patch(\"*** Begin Patch\") /* torn",
            &format!("await tools.apply_patch(\"{quoted}\" + more)"),
            &format!("await tools.apply_patch(\"{quoted}\", more)"),
            &format!("await tools.apply_patch({{old: \"{quoted}\", patch: other()}})"),
            &format!("await tools.apply_patch({{input: \"{quoted}\", patch: other()}})"),
            &format!("await tools.apply_patch({{old: \"{quoted}\"}})"),
            &format!("let p = \"{quoted}\"; p += more; await tools.apply_patch(p)"),
            &format!("const p = \"{quoted}\".trim(); await tools.apply_patch(p)"),
            &format!("const p = \"{quoted}\"\n`x`; await tools.apply_patch(p)"),
            &format!("var p = \"{quoted}\"; var p = \"\"; await tools.apply_patch(p)"),
            &format!("await tools.apply_patch(p); var p = \"{quoted}\""),
            &format!("const p = \"{quoted}\"; {{ let p = make(); await tools.apply_patch(p) }}"),
            &format!("{{ const p = \"{quoted}\" }} {{ const p = a; await tools.apply_patch(p) }}"),
            &format!(
                "const p = \"{quoted}\"; async function go(p) {{ await tools.apply_patch(p) }} \
                 await go(p.replace('1', '9'))"
            ),
            &format!("reapply_patch(\"{quoted}\"); typeof tools.apply_patch"),
        ] {
            assert_eq!(given(code), None, "{code}");
        }
    }

    #[test]
    fn a_script_that_may_leave_a_patch_out_is_not_known() {
        let call = format!("tools.apply_patch(`{PATCH}`)");
        for code in [
            format!("if (x) await {call}"),
            format!("ok && await {call}"),
            format!("a: {{ break a; await {call} }}"),
            format!("try {{ await {call} }} catch (e) {{}} text(await tools.apply_patch(q))"),
            format!("items.map(x => x); await {call}"),
            format!("const o = {{ async go() {{ await {call} }} }}; text(await tools.ls())"),
            format!("class A {{ async go() {{ await {call} }} }}"),
            format!("{call}; text(await tools.exec_command({{cmd: \"ls\"}}))"),
            format!("text({call})"),
            format!("await {call}.then(text, text)"),
            format!("text(await Promise.any([tools.exec_command({{cmd: \"ls\"}}), {call}]))"),
            format!("await {call}; text(await tools.exec_command({{cmd: \"apply_patch < p\"}}))"),
            format!("await {call}; text(await tools.exec_command({{cmd: c}}))"),
            format!("await {call}; exit()"),
            // What only seems to be a text, or a comment.
            format!("if (ok()) /`/.test(\"x\"); await {call}; `"),
            format!("// \u{2029}if (x)\nawait {call}"),
            format!("// \rif (x)\nawait {call}"),
        ] {
            assert_eq!(given(&code), None, "{code}");
        }
    }

    #[test]
    fn escapes_are_those_of_javascript() {
        let read = |code: &str| {
            let mark = code.chars().next()?;
            text(&code[1..], mark, false).map(|(text, _)| text)
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
            text("a\\n\\`\\${b}`;", '`', true),
            Some(("a\\n\\`\\${b}".to_owned(), ";"))
        );
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
        let by = edit.by_command.map(|by| (by.is_script, by.fails_with_them));
        assert_eq!(by, Some((true, true)));
    }

    /// Each sign is looked at a few times, whatever nests, and a patch that is given again and
    /// again is not kept as often.
    #[test]
    fn long_scripts() {
        let (begin, again) = ("const p=`*** Begin Patch`;", "await tools.apply_patch(p);");
        for (begin, part) in [
            ("", "`${"),
            ("", "{`"),
            ("", "=/["),
            ("", "[/"),
            ("", "/*"),
            ("", "await tools.apply_patch({a:"),
            ("'", "\\u{"),
            ("", "const a='';"),
        ] {
            let code = format!("{begin}{}apply_patch(`", part.repeat(20_000));
            assert_eq!(given(&code), None, "{part}");
        }
        let known = format!("{begin}{}", again.repeat(20_000));
        assert_eq!(given(&known).map(|texts| texts.len()), Some(20_000));
        let long = format!("*** Begin Patch\n{}", "*** Delete File: a\n".repeat(20_000));
        let twice = format!("const p=`{long}`;{}", again.repeat(2));
        assert_eq!(given(&twice), None);
    }
}
