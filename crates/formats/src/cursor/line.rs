//! What one line of a Cursor transcript says.

use serde::Deserialize;

use super::{place, said};
use crate::edits::{patch, touches};
use crate::json::{self, Loose, Raw, Text};
use crate::model::{Call, Facts, FileTouch, Header, Passage};
use crate::pieces::Pieces;
use crate::tools::used;

/// Any line; fields of unexpected types are left out.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    message: Loose<Message<'a>>,
    /// How a turn ended.
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    error: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message<'a> {
    /// Blocks, or text.
    #[serde(borrow)]
    content: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    thinking: Raw<'a>,
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    input: Raw<'a>,
}

/// What a tool was asked about.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Input<'a> {
    #[serde(borrow)]
    path: Text<'a>,
    #[serde(borrow)]
    file_path: Text<'a>,
    #[serde(borrow)]
    target_file: Text<'a>,
    #[serde(borrow)]
    target_notebook: Text<'a>,
    #[serde(borrow)]
    paths: Raw<'a>,
    #[serde(borrow)]
    target_directory: Text<'a>,
    #[serde(borrow)]
    working_directory: Text<'a>,
    #[serde(borrow)]
    command: Text<'a>,
    #[serde(borrow)]
    pattern: Text<'a>,
    #[serde(borrow)]
    query: Text<'a>,
    #[serde(borrow)]
    url: Text<'a>,
}

impl<'a> Line<'a> {
    /// The content's blocks, each with its JSON. `None` where the second tier is needed.
    fn blocks(&self) -> Option<Vec<(Raw<'a>, Block<'a>)>> {
        let Some(message) = self.message.object() else {
            return Some(Vec::new());
        };
        let mut blocks = Vec::new();
        for block in message.content.items()? {
            if let Loose::Object(parsed) = block.parse::<Loose<Block<'_>>>()? {
                blocks.push((block, parsed));
            }
        }
        Some(blocks)
    }

    /// The texts of the content, each apart.
    fn texts(&self) -> Option<Vec<String>> {
        let message = self.message.object();
        if let Some(text) = message.and_then(|message| message.content.text()) {
            return Some(vec![text.into_owned()]);
        }
        let blocks = self.blocks()?.into_iter().map(|(_, block)| block);
        let texts = blocks.filter(|block| block.kind.as_str() == Some("text"));
        Some(texts.filter_map(|block| block.text.shown()).collect())
    }
}

/// The facts of one record of a transcript in the folder of this project.
pub(super) fn facts(record: &[u8], project: Option<&str>) -> Facts {
    json::tiers(record, |text| {
        Some(match json::parse::<Loose<Line<'_>>>(text)? {
            Loose::Object(line) => of_line(&line, project)?,
            _ => Facts::default(),
        })
    })
    .unwrap_or_default()
}

/// The facts of a record of a subagent's: what was asked of it was asked by a model. Its session is
/// called by that all the same.
pub(super) fn of_subagent(mut facts: Facts) -> Facts {
    if facts.role.as_deref() == Some("user") {
        facts.role = Some("injected".to_owned());
        facts.is_message = false;
    }
    facts
}

/// `None` where a part of the line needs the second tier.
fn of_line(line: &Line<'_>, project: Option<&str>) -> Option<Facts> {
    let kind = line.kind.owned();
    let mut facts = Facts {
        // Lines with a role have no type.
        kind: kind.unwrap_or_else(|| "message".to_owned()),
        role: line.role.owned(),
        agent_sees: true,
        ..Facts::default()
    };
    match line.role.as_str() {
        Some("user") => {
            let texts = line.texts()?;
            let time = texts.iter().find_map(|text| said::time(text));
            facts.time_raw = time.map(str::to_owned);
            facts.time_ms = time.and_then(said::time_ms);
            let said = texts.iter().map(|text| said::said(text));
            let typed: Vec<_> = said.flat_map(|said| said.typed).collect();
            facts.is_message = !typed.is_empty();
            match facts.is_message {
                true => facts.user_text = Some(typed.join("\n\n")),
                false => facts.role = Some("injected".to_owned()),
            }
        }
        Some("assistant") => {
            facts.is_message = true;
            for (_, block) in line.blocks()? {
                if block.kind.as_str() == Some("tool_use") {
                    let named = call(&block, &mut facts)?;
                    note_directory(project, &named, &mut facts);
                }
            }
        }
        Some("system") => facts.has_prompt = !line.texts()?.is_empty(),
        // A turn that failed, or that somebody broke off.
        None => {
            let has_failed = matches!(line.status.as_str(), Some("error" | "aborted"));
            facts.is_error = has_failed || line.error.is_value();
        }
        _ => {}
    }
    Some(facts)
}

/// Notes the project's directory, where one of the paths that a call names lies in it.
pub(super) fn note_directory(project: Option<&str>, named: &[String], facts: &mut Facts) {
    let of = |path: &String| place::directory(project?, path).map(str::to_owned);
    if facts.header.is_none() {
        facts.header = named.iter().find_map(of).map(|cwd| Header {
            cwd: Some(cwd),
            ..Header::default()
        });
    }
}

/// Notes a call, and gives the paths that it names. The input of `ApplyPatch` is the patch, a text.
/// `None` where the second tier is needed.
fn call(block: &Block<'_>, facts: &mut Facts) -> Option<Vec<String>> {
    let tool = block.name.shown();
    if let Some(patch) = block.input.text() {
        let touched = patch::touched(&patch, None);
        let named: Vec<_> = touched.iter().map(|file| file.path.clone()).collect();
        facts.files.extend(touched);
        facts.calls.push(Call {
            tool,
            subject: named.first().cloned(),
            ..Call::default()
        });
        return Some(named);
    }
    let input: Input<'_> = block.input.object()?.unwrap_or_default();
    let paths = [
        &input.path,
        &input.file_path,
        &input.target_file,
        &input.target_notebook,
    ];
    let mut named: Vec<_> = paths
        .into_iter()
        .find_map(Text::owned)
        .into_iter()
        .collect();
    let listed = input.paths.items()?;
    named.extend(
        listed
            .iter()
            .filter_map(|path| Some(path.text()?.into_owned())),
    );
    let others = [&input.pattern, &input.query, &input.url];
    note_call(facts, tool, &named, &input.command, &others);
    let folders = [&input.target_directory, &input.working_directory];
    named.extend(folders.into_iter().filter_map(Text::owned));
    Some(named)
}

/// Notes a call of a tool that is about a command, else the first file, else one of the others.
pub(super) fn note_call(
    facts: &mut Facts,
    tool: Option<String>,
    files: &[String],
    command: &Text<'_>,
    others: &[&Text<'_>],
) {
    let first = files.first().cloned();
    let subject = used(facts, tool.as_deref(), first, command, others);
    let modified = |tool: &str| touches(tool, command.as_str());
    if let Some(modified) = tool.as_deref().and_then(modified) {
        let further = files.iter().skip(1).cloned();
        let touched = further.map(|path| FileTouch { path, modified });
        facts.files.extend(touched);
    }
    facts.calls.push(Call {
        tool,
        subject,
        ..Call::default()
    });
}

/// All searchable text of one record: of a user's line what was typed, and as output what Cursor
/// asked and gave notice of.
pub(super) fn passages(record: &[u8]) -> Vec<Passage> {
    json::tiers(record, |text| {
        let mut pieces = Pieces::default();
        let Loose::Object(line) = json::parse::<Loose<Line<'_>>>(text)? else {
            return Some(Vec::new());
        };
        match line.role.as_str() {
            Some("user") => {
                for said in line.texts()?.iter().map(|text| said::said(text)) {
                    said.typed.iter().for_each(|text| pieces.prose_text(text));
                    let injected = said.injected.iter();
                    injected.for_each(|text| pieces.output_text(text));
                }
                let blocks = line.blocks()?.into_iter();
                let others = blocks.filter(|(_, block)| block.kind.as_str() != Some("text"));
                others.for_each(|(raw, _)| add_unknown(&raw, &mut pieces));
            }
            Some("assistant") => of_assistant(&line, &mut pieces)?,
            Some("system") => {}
            Some(_) => {
                if let Some(message) = line.message.object() {
                    add_unknown(&message.content, &mut pieces);
                }
            }
            None => pieces.output(&line.error),
        }
        Some(pieces.into_passages())
    })
    .unwrap_or_default()
}

/// What no transcript that is known has, as results of tools: it is found all the same.
fn add_unknown(value: &Raw<'_>, pieces: &mut Pieces) {
    pieces.unknown(value.0.unwrap_or_default());
}

/// What the model is told in Cursor's name.
pub(super) fn prompts(record: &[u8]) -> Vec<String> {
    json::tiers(record, |text| match json::parse::<Loose<Line<'_>>>(text)? {
        Loose::Object(line) if line.role.as_str() == Some("system") => line.texts(),
        _ => Some(Vec::new()),
    })
    .unwrap_or_default()
}

fn of_assistant(line: &Line<'_>, pieces: &mut Pieces) -> Option<()> {
    if let Some(message) = line.message.object()
        && message.content.text().is_some()
    {
        pieces.prose(&message.content);
    }
    for (raw, block) in line.blocks()? {
        match block.kind.as_str().unwrap_or_default() {
            "text" => pieces.prose(&block.text),
            "thinking" => pieces.prose(&block.thinking),
            "tool_use" => {
                pieces.output(&block.name);
                pieces.leaves_of_arguments(&block.input);
            }
            _ => add_unknown(&raw, pieces),
        }
    }
    Some(())
}
