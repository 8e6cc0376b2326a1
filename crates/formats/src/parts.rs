//! The parts of a message as the Gemini API has them. Gemini CLI and Qwen Code write them down as
//! they are, whatever model answers.

use std::collections::HashSet;

use serde::Deserialize;

use crate::json::{Loose, Raw, Text};
use crate::model::{Call, Facts, Usage};
use crate::pieces::Pieces;
use crate::tools::used;

/// One part: text, a thought, a call of a tool, its answer, or data.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Part<'a> {
    #[serde(borrow)]
    pub text: Raw<'a>,
    /// Whether the text is a thought.
    #[serde(borrow)]
    pub thought: Raw<'a>,
    #[serde(borrow)]
    pub function_call: Loose<Box<FunctionCall<'a>>>,
    #[serde(borrow)]
    pub function_response: Loose<Box<FunctionResponse<'a>>>,
    #[serde(borrow)]
    pub inline_data: Loose<InlineData<'a>>,
}

/// What a tool is asked.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct FunctionCall<'a> {
    #[serde(borrow)]
    pub id: Raw<'a>,
    #[serde(borrow)]
    pub name: Raw<'a>,
    #[serde(borrow)]
    pub args: Raw<'a>,
}

/// What a tool answers: `{"output": …}`, `{"error": …}`, or anything else.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct FunctionResponse<'a> {
    #[serde(borrow)]
    pub id: Raw<'a>,
    #[serde(borrow)]
    pub name: Raw<'a>,
    #[serde(borrow)]
    pub response: Raw<'a>,
}

/// Data in base64. It is never text.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct InlineData<'a> {
    #[serde(borrow)]
    mime_type: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Response<'a> {
    #[serde(borrow)]
    error: Raw<'a>,
}

/// The arguments that say what a tool is used on.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Arguments<'a> {
    #[serde(borrow)]
    command: Text<'a>,
    #[serde(borrow)]
    file_path: Text<'a>,
    #[serde(borrow)]
    absolute_path: Text<'a>,
    #[serde(borrow)]
    path: Text<'a>,
    #[serde(borrow)]
    dir_path: Text<'a>,
    #[serde(borrow)]
    pattern: Text<'a>,
    #[serde(borrow)]
    query: Text<'a>,
    #[serde(borrow)]
    url: Text<'a>,
    #[serde(borrow)]
    agent_name: Text<'a>,
    #[serde(borrow)]
    description: Text<'a>,
}

/// The parts of a message's content: a text, one part, or a list of both. `None` where the second
/// tier is needed.
pub(crate) fn parts<'a>(content: &Raw<'a>) -> Option<Vec<Part<'a>>> {
    match content.0.and_then(|raw| raw.bytes().next()) {
        Some(b'[') => content.items()?.iter().map(part).collect(),
        Some(b'"' | b'{') => Some(vec![part(content)?]),
        _ => Some(Vec::new()),
    }
}

fn part<'a>(raw: &Raw<'a>) -> Option<Part<'a>> {
    if raw.0.is_some_and(|raw| raw.starts_with('"')) {
        return Some(Part {
            text: *raw,
            ..Part::default()
        });
    }
    Some(match raw.parse::<Loose<Part<'a>>>()? {
        Loose::Object(part) => part,
        _ => Part::default(),
    })
}

impl Part<'_> {
    pub(crate) fn is_image(&self) -> bool {
        let data = self.inline_data.object();
        data.and_then(|data| data.mime_type.as_str())
            .is_some_and(|kind| kind.starts_with("image/"))
    }

    /// Adds what is searched of it: what is said and thought as prose, what tools are given and
    /// give back as output.
    pub(crate) fn add_to(&self, pieces: &mut Pieces) {
        if self.text.is_value() {
            pieces.prose(&self.text);
        }
        if let Some(call) = self.function_call.object() {
            pieces.output(&call.name);
            pieces.leaves_of_arguments(&call.args);
        }
        if let Some(answer) = self.function_response.object() {
            pieces.leaves(&answer.response);
        }
    }

    /// Notes its call or answer. `None` where the second tier is needed.
    pub(crate) fn note(&self, facts: &mut Facts) -> Option<()> {
        facts.has_image |= self.is_image();
        if let Some(call) = self.function_call.object() {
            note_call(&call.id, &call.name, &call.args, facts)?;
        }
        if let Some(answer) = self.function_response.object() {
            facts.calls.push(Call {
                call_id: answer.id.shown(),
                tool: answer.name.shown(),
                is_result: true,
                is_error: Some(is_error(&answer.response)?),
                ..Call::default()
            });
        }
        Some(())
    }
}

/// The tool that runs commands.
const SHELL: &str = "run_shell_command";

/// How what a hook adds to the answer of a tool begins, behind all of it (0.61.0,
/// `coreToolHookTriggers`).
const HOOKS: &str = "\n\n<hook_context>";
const HOOKS_END: &str = "</hook_context>";

/// How the lines begin that may stand behind the exit code of a command.
const BEHIND_CODE: [&str; 4] = [
    "Signal:",
    "Background PIDs:",
    "Process Group PGID:",
    "</untrusted_context>",
];

/// What the tool that runs commands gave back.
#[derive(Deserialize, Default)]
#[serde(default)]
struct ShellResponse<'a> {
    #[serde(borrow)]
    output: Raw<'a>,
}

/// Whether an answer of the shell's says that the command failed: to the agent it is an answer as
/// any other. `None` where the second tier is needed.
pub(crate) fn has_failed(tool: &Raw<'_>, response: &Raw<'_>) -> Option<bool> {
    if tool.text().as_deref() != Some(SHELL) || !response.is_value() {
        return Some(false);
    }
    let response = response.parse::<Loose<ShellResponse<'_>>>()?;
    let output = response.object().and_then(|said| said.output.text());
    let output = output.unwrap_or_default();
    // What a hook adds ends with the answer: the command itself may say such a mark.
    let hooked = output.trim_end().strip_suffix(HOOKS_END);
    let before = hooked.and_then(|output| output.rsplit_once(HOOKS));
    let output = before.map_or(&*output, |(before, _)| before);
    let is_behind = |line: &&str| BEHIND_CODE.iter().any(|begin| line.starts_with(begin));
    let last = output
        .trim_end()
        .lines()
        .rev()
        .find(|line| !is_behind(line));
    let code = last.and_then(|line| line.strip_prefix("Exit Code: "));
    let code = code.and_then(|code| code.trim_end().parse::<i64>().ok());
    Some(code.is_some_and(|code| code != 0))
}

/// What stands between what was typed and the files that it names, which the agents put behind it
/// (Gemini CLI 0.61.0 and Qwen Code 0.24.4, `atCommandProcessor`).
const REFERENCED: &str = "--- Content from referenced files ---";
/// What stands behind these files.
const REFERENCED_END: &str = "--- End of content ---";

/// What is around a part that a hook adds to a prompt (Qwen Code, hooks `UserPromptSubmit` and
/// `SessionStart`).
const HOOKED: [(&str, &str); 2] = [
    (
        "<qwen:user-prompt-submit-context>",
        "</qwen:user-prompt-submit-context>",
    ),
    (
        "<qwen:session-start-context>",
        "</qwen:session-start-context>",
    ),
];

fn is_hooked(text: &str) -> bool {
    let text = text.trim();
    let mut tags = HOOKED.iter();
    tags.any(|(begin, end)| text.starts_with(begin) && text.ends_with(end))
}

/// Whether hooks said all of a message.
pub(crate) fn is_of_hooks(message: &[Part<'_>]) -> bool {
    let is_added = |part: &Part<'_>| part.text.text().is_some_and(|text| is_hooked(&text));
    !message.is_empty() && message.iter().all(is_added)
}

/// What a person typed: as it was shown, where that is recorded, else the message without the files
/// that were put into it and what hooks added. `None` where the second tier is needed.
pub(crate) fn typed(shown: &Raw<'_>, message: &[Part<'_>]) -> Option<String> {
    let shown = parts(shown)?;
    let whole: String = match shown.is_empty() {
        true => {
            let texts = message.iter().filter_map(|part| part.text.text());
            texts.filter(|text| !is_hooked(text)).collect()
        }
        false => shown.iter().filter_map(|part| part.text.text()).collect(),
    };
    let typed = whole.split(REFERENCED).next().unwrap_or_default();
    Some(typed.trim_end().to_owned())
}

/// Adds what was typed as prose, and as output the files and hints that were put beside it.
/// `None` where the second tier is needed.
pub(crate) fn add_typed(shown: &Raw<'_>, message: &[Part<'_>], pieces: &mut Pieces) -> Option<()> {
    let shown = parts(shown)?;
    shown.iter().for_each(|part| pieces.prose(&part.text));
    let said: HashSet<_> = shown.iter().filter_map(|part| part.text.text()).collect();
    let mut is_typed = shown.is_empty();
    for part in message {
        let Some(text) = part.text.text() else {
            part.add_to(pieces);
            continue;
        };
        if said.contains(&text) || text.trim() == REFERENCED_END {
            continue;
        }
        match text.split_once(REFERENCED) {
            Some((before, behind)) => {
                if is_typed {
                    pieces.prose_text(before);
                }
                is_typed = false;
                pieces.output_text(behind);
            }
            None if is_typed && !is_hooked(&text) => pieces.prose(&part.text),
            None => pieces.output(&part.text),
        }
    }
    Some(())
}

/// Notes the call of a tool, and the file it is about. `None` where the second tier is needed.
pub(crate) fn note_call(
    id: &Raw<'_>,
    tool: &Raw<'_>,
    args: &Raw<'_>,
    facts: &mut Facts,
) -> Option<()> {
    let given: Arguments<'_> = args.object()?.unwrap_or_default();
    let tool = tool.shown();
    let paths = [&given.file_path, &given.absolute_path, &given.path];
    let path = paths.into_iter().find_map(Text::owned);
    let others = [
        &given.dir_path,
        &given.pattern,
        &given.query,
        &given.url,
        &given.agent_name,
        &given.description,
    ];
    let subject = used(facts, tool.as_deref(), path, &given.command, &others);
    facts.calls.push(Call {
        call_id: id.shown(),
        tool,
        subject,
        ..Call::default()
    });
    Some(())
}

/// Whether a tool's answer is an error. `None` where the second tier is needed.
fn is_error(response: &Raw<'_>) -> Option<bool> {
    let response: Option<Response<'_>> = response.object()?;
    Some(response.is_some_and(|said| said.error.is_value()))
}

/// Tokens as the API counts them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tokens {
    /// Of all that the model was given, what came from the cache among it.
    pub prompt: Option<i64>,
    pub cached: Option<i64>,
    /// Of what a tool on the server added to the prompt.
    pub tool: Option<i64>,
    /// Of the answer.
    pub candidates: Option<i64>,
    /// Of its thoughts. Google counts them beside the answer, other vendors within it.
    pub thoughts: Option<i64>,
    pub total: Option<i64>,
}

impl Tokens {
    /// The usage, in which input, cache and output add up to the total; `None` of nothing.
    pub(crate) fn usage(self) -> Option<Usage> {
        let Tokens {
            prompt,
            cached,
            tool,
            candidates,
            thoughts,
            total,
        } = self;
        [prompt, candidates, total].into_iter().flatten().next()?;
        let given = prompt.map(|prompt| prompt.saturating_add(tool.unwrap_or(0)));
        let beside = |output: i64| {
            let with_thoughts = output.saturating_add(thoughts.unwrap_or(0));
            let is_total = total == Some(given.unwrap_or(0).saturating_add(with_thoughts));
            if is_total { with_thoughts } else { output }
        };
        Some(Usage {
            input: given.map(|given| given.saturating_sub(cached.unwrap_or(0)).max(0)),
            output: candidates.map(beside),
            cache_read: cached,
            reasoning: thoughts,
            total,
            ..Usage::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_cache_and_output_add_up_to_the_total() {
        let tokens = Tokens {
            prompt: Some(100),
            cached: Some(20),
            tool: Some(0),
            candidates: Some(30),
            thoughts: Some(5),
            total: Some(130),
        };
        for (total, output) in [(130, 30), (135, 35)] {
            let tokens = Tokens {
                total: Some(total),
                ..tokens
            };
            let usage = tokens.usage().unwrap();
            assert_eq!((usage.input, usage.cache_read), (Some(80), Some(20)));
            assert_eq!(usage.output, Some(output));
            assert_eq!(80 + 20 + output, total);
        }
        assert_eq!(Tokens::default().usage(), None);
    }
}
