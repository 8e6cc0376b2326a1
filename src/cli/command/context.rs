//! What would the model see if the session went on?

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sessionary::Config;
use sessionary::model::{Class, SCHEMA_VERSION, SessionRow};
use sessionary::session::clido::{ResumedMessage, SessionReader, resume};
use sessionary::session::{
    AgentMessage, Content, ContentBlock, Message, ModelChoice, Profile, SessionManager,
    convert_to_llm,
};

use super::writing::{entry_id, no_entry, refuse_archived, setup_of};
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::bounded::{Item, Page, PageArgs, Texts};
use crate::output::cursor::question;
use crate::output::fields::{FieldArgs, unknown};
use crate::output::style::Tone;
use crate::output::text::plain_lines;
use crate::output::wrap::Wrap;

/// Show what the model would see of a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary context last\n  \
    sessionary context 019b3f2a:c1d2e3f4       as it was at that entry\n  \
    sessionary context last --llm --json       the messages as they go to the model\n\n\
    Compactions, summaries and edits are taken into account.")]
pub struct Context {
    /// A session; with :ENTRY, the context at that entry instead of at the leaf
    #[arg(value_name = "SESSION[:ENTRY]", add = values::address())]
    session: String,
    /// Only messages of user, model and tools, as they go to the model
    #[arg(long)]
    llm: bool,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    fields: FieldArgs,
}

/// What `context --json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    schema_version: u32,
    session: &'a str,
    #[serde(rename = "thinkingLevel")]
    thinking_level: &'a str,
    provider: Option<&'a str>,
    model: Option<&'a str>,
    /// How many values are left out of the messages as `[redacted]`.
    left_out: usize,
    /// Printed one by one.
    messages: [(); 0],
}

/// A message as the agent has it.
#[derive(Serialize)]
#[serde(transparent)]
struct ContextMessage {
    #[serde(skip)]
    number: u64,
    json: MessageJson,
}

#[derive(Serialize)]
#[serde(untagged)]
enum MessageJson {
    Whole(Box<RawValue>),
    /// Once it has to be cut.
    Cut(Value),
}

/// Bytes of a string that is taken for text, and not for a name, at least.
const TEXT: usize = 100;

impl Item for ContextMessage {
    fn number(&self) -> u64 {
        self.number
    }

    fn texts(&mut self) -> Texts<'_> {
        if let MessageJson::Whole(raw) = &self.json {
            self.json = MessageJson::Cut(serde_json::from_str(raw.get()).unwrap_or_default());
        }
        let mut texts = Vec::new();
        if let MessageJson::Cut(value) = &mut self.json {
            collect_texts(value, &mut texts);
        }
        texts
    }
}

fn collect_texts<'v>(value: &'v mut Value, texts: &mut Texts<'v>) {
    match value {
        // What was cut already may have to be cut again.
        Value::String(text) if text.len() > TEXT || text.ends_with('…') => {
            texts.push(("messages", text))
        }
        Value::Array(members) => members.iter_mut().for_each(|one| collect_texts(one, texts)),
        Value::Object(members) => {
            members
                .values_mut()
                .for_each(|one| collect_texts(one, texts));
        }
        _ => {}
    }
}

/// The names of all fields that these messages have.
fn names(messages: &[Box<RawValue>]) -> Result<BTreeSet<String>, Failure> {
    let mut names = BTreeSet::new();
    for message in messages {
        let fields: BTreeMap<String, IgnoredAny> = serde_json::from_str(message.get())?;
        names.extend(fields.into_keys());
    }
    Ok(names)
}

/// Prints the messages, or as many as are asked for: the cursor of a page belongs to the messages
/// that begin as these do. Returns how many there are on it.
fn print_json(
    args: &Context,
    answer: Answer<'_>,
    messages: Vec<Box<RawValue>>,
    screen: &Screen,
) -> Result<usize, Failure> {
    // Each agent's have fields of their own.
    let fields = args.fields.of(Vec::new, &[], screen.json)?;
    let names = names(&messages)?;
    if let Some(field) = fields.missing_in(&names).filter(|_| !names.is_empty()) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        return Err(unknown(field, &names));
    }
    // A compaction replaces them all.
    let first = messages.first().map(|message| message.get());
    let question = question(("context", answer.session, &args.session, args.llm, first));
    let mut page = Page::new(&args.page, &fields, question)?;
    for (number, message) in (0..).zip(messages) {
        let json = MessageJson::Whole(message);
        page.offer(ContextMessage { number, json })?;
    }
    let shown = page.len();
    screen.print(&page.print(answer, "messages", |_| Vec::new())?)?;
    Ok(shown)
}

pub fn run(args: &Context, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    args.page.check(screen.json)?;
    let mut index = super::open(config, screen)?;
    let (row, entry) = super::naming::named(&args.session, &mut index, config, screen)?;
    drop(index);
    let is_of_clido = row.agent == "clido";
    if !is_of_clido && Profile::of(&row.agent).is_none() {
        return Err(Failure::usage(format!(
            "what the model would see of a session of {} is not known",
            row.agent
        ))
        .hint("`sessionary show` reads it back"));
    }
    refuse_archived(&row)?;
    if is_of_clido {
        return of_clido(args, &row, entry.as_deref(), screen);
    }
    let session = SessionManager::open_read_only(&setup_of(&row, config, screen)?, &row.path)?;
    let entry = entry.map(|entry| entry_id(&session, entry)).transpose()?;
    let context = match &entry {
        Some(entry) => session.build_session_context_at(entry)?,
        None => session.build_session_context(),
    };
    let messages = match args.llm {
        true => convert_to_llm(&context.messages),
        false => context.messages,
    };
    let shown = if screen.json || args.fields.are_asked() {
        let model = context.model.as_ref().map(|model| masked(model, screen));
        let masked = messages
            .iter()
            .flat_map(|message| screen.masked_json(message.as_str()));
        let masked: Vec<_> = masked.collect();
        let answer = Answer {
            schema_version: SCHEMA_VERSION,
            session: session.session_id(),
            thinking_level: &screen.masked(context.thinking_level),
            provider: model.as_ref().and_then(|model| model.provider.as_deref()),
            model: model.as_ref().map(|model| &*model.model_id),
            left_out: screen.left_out(),
            messages: [],
        };
        print_json(args, answer, masked, screen)?
    } else {
        let shown = messages.iter();
        let shown = shown.map(|message| (message.role().to_owned(), texts_of(message, screen)));
        screen.page(printed(shown, screen).into(), || ())?;
        let said = summary(&messages, context.model.as_ref(), &context.thinking_level);
        screen.say(&screen.masked(said));
        messages.len()
    };
    screen.say_count_redacted();
    Ok(Outcome::of(shown > 0))
}

/// A model as it may be named.
fn masked(model: &ModelChoice, screen: &Screen) -> ModelChoice {
    ModelChoice {
        provider: model.provider.clone().map(|name| screen.masked(name)),
        model_id: screen.masked(model.model_id.clone()),
    }
}

/// What clido hands to the model when it takes the session up, all of it or up to a line.
fn of_clido(
    args: &Context,
    row: &SessionRow,
    entry: Option<&str>,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    let no_entry = || no_entry(entry.unwrap_or_default());
    let last: Option<u64> = match entry {
        None => None,
        Some(entry) => {
            let line = entry.strip_prefix('L').and_then(|line| line.parse().ok());
            Some(line.filter(|line| *line > 0).ok_or_else(no_entry)?)
        }
    };
    let mut reader = SessionReader::open(&row.path)?;
    let (mut lines, mut at) = (Vec::new(), 0);
    while last.is_none_or(|last| at < last)
        && let Some(line) = reader.next()
    {
        if last.is_some_and(|last| reader.line() > last) {
            break;
        }
        at = reader.line();
        lines.push(line.with_context(|| format!("clido cannot read {}", row.path.display()))?);
    }
    // A line that is empty, or behind the last one.
    if last.is_some_and(|last| at != last) {
        return Err(no_entry());
    }
    let messages = resume(&lines).map_err(anyhow::Error::new)?;
    let shown = if screen.json || args.fields.are_asked() {
        let raw = |message: &ResumedMessage| {
            let json = json!({"role": message.role, "content": message.content});
            screen.masked_json(&json.to_string())
        };
        let masked: Vec<_> = messages.iter().flat_map(raw).collect();
        let answer = Answer {
            schema_version: SCHEMA_VERSION,
            session: &row.id,
            thinking_level: "off",
            provider: None,
            model: None,
            left_out: screen.left_out(),
            messages: [],
        };
        print_json(args, answer, masked, screen)?
    } else {
        let count = crate::output::time::count(messages.len() as u64, "message");
        let shown = messages.iter().map(|message| {
            let texts = message.content.iter();
            let texts = texts.map(|block| of_block(block, screen)).collect();
            (message.role.to_owned(), texts)
        });
        screen.page(printed(shown, screen).into(), || ())?;
        screen.say(&format!("{count} · clido records no model"));
        messages.len()
    };
    screen.say_count_redacted();
    Ok(Outcome::of(shown > 0))
}

/// Text as people read it, and whether it was said or thought, or is what a tool took or gave.
type Text = (Class, String);

/// A block of clido's.
fn of_block(block: &Value, screen: &Screen) -> Text {
    let text = |key: &str| block[key].as_str().unwrap_or_default();
    match text("type") {
        "text" => (Class::Prose, text("text").to_owned()),
        "thinking" => (Class::Prose, format!("(thinking) {}", text("thinking"))),
        "tool_use" => (
            Class::Output,
            format!(
                "→ {} {}",
                text("name"),
                json_text(&block["input"].to_string(), screen)
            ),
        ),
        "tool_result" => (Class::Output, text("content").to_owned()),
        "image" => (Class::Output, format!("({})", text("media_type"))),
        _ => (Class::Output, json_text(&block.to_string(), screen)),
    }
}

fn summary(messages: &[Message<'_>], model: Option<&ModelChoice>, thinking: &str) -> String {
    let model = model.map_or_else(
        || "no model set".to_owned(),
        |model| match &model.provider {
            Some(provider) => format!("{provider}/{}", model.model_id),
            None => model.model_id.clone(),
        },
    );
    let messages = crate::output::time::count(messages.len() as u64, "message");
    plain_lines(&format!("{messages} · {model} · thinking {thinking}"))
}

fn printed(messages: impl Iterator<Item = (String, Vec<Text>)>, screen: &Screen) -> String {
    let mut out = String::new();
    for (role, texts) in messages {
        let role = screen.style.paint(Tone::Strong, &plain_lines(&role));
        out.push_str(&format!("{role}\n"));
        for (class, text) in texts {
            let text = plain_lines(screen.masked(text).trim_end());
            // Only what is said in words is broken at words.
            let mut wrap = Wrap::new(screen.width.filter(|_| class == Class::Prose));
            for line in text.lines() {
                for (indent, piece) in wrap.pieces(line) {
                    out.push_str(&format!("{:indent$}{}\n", "", &line[piece]));
                }
            }
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// The texts of a message.
fn texts_of(message: &Message<'_>, screen: &Screen) -> Vec<Text> {
    let prose = |text: String| vec![(Class::Prose, text)];
    match message.typed() {
        AgentMessage::System(message) => of_content(&message.content, Class::Prose, screen),
        AgentMessage::User(message) => of_content(&message.content, Class::Prose, screen),
        AgentMessage::Custom(message) => of_content(&message.content, Class::Prose, screen),
        AgentMessage::Assistant(message) => of_blocks(&message.content, Class::Prose, screen),
        AgentMessage::ToolResult(message) => of_blocks(&message.content, Class::Output, screen),
        AgentMessage::BashExecution(message) => {
            let run = format!("$ {}\n{}", message.command, message.output);
            vec![(Class::Output, run)]
        }
        AgentMessage::BranchSummary(message) => prose(message.summary),
        AgentMessage::CompactionSummary(message) => prose(message.summary),
        _ => vec![(Class::Output, json_text(message.as_str(), screen))],
    }
}

/// JSON as a text: what its names tell to be secret is left out of it while they are names.
fn json_text(json: &str, screen: &Screen) -> String {
    let masked = screen.masked_json(json);
    masked.map_or_else(|| json.to_owned(), |masked| masked.get().to_owned())
}

fn of_content(content: &Content, class: Class, screen: &Screen) -> Vec<Text> {
    match content {
        Content::Text(text) => vec![(class, text.clone())],
        Content::Blocks(blocks) => of_blocks(blocks, class, screen),
    }
}

/// Blocks of a message whose text is of this class.
fn of_blocks(blocks: &[ContentBlock], class: Class, screen: &Screen) -> Vec<Text> {
    let shown = |block: &ContentBlock| match block {
        ContentBlock::Text(block) => (class, block.text.clone()),
        ContentBlock::Thinking(block) => (class, format!("(thinking) {}", block.thinking)),
        ContentBlock::ToolCall(call) => {
            let arguments = call.arguments.as_ref().map_or("", |json| json.as_str());
            let arguments = json_text(arguments, screen);
            (Class::Output, format!("→ {} {arguments}", call.name))
        }
        ContentBlock::Image(image) => (Class::Output, format!("({})", image.mime_type)),
        ContentBlock::Other(json) => (Class::Output, json_text(json.as_str(), screen)),
        _ => (Class::Output, String::new()),
    };
    blocks.iter().map(shown).collect()
}
