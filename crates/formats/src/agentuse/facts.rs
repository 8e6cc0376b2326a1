//! What one agentuse document says about itself.

use std::path::Path;

use super::place::{self, Kind};
use super::record::{Assistant, Message, Tokens, provider_and_model};
use super::{header, part};
use crate::json::{self, Loose};
use crate::model::{Facts, Usage};

/// The facts of one record. A part's parent is its message.
pub(super) fn facts(path: &Path, kind: Kind, record: &[u8]) -> Facts {
    let named = |name: &str| Facts {
        kind: name.to_owned(),
        id: Some(name.to_owned()),
        agent_sees: true,
        ..Facts::default()
    };
    match kind {
        Kind::Context => return named("context"),
        Kind::Tools => {
            return Facts {
                has_prompt: true,
                ..named("tools")
            };
        }
        Kind::Artifact => {
            return Facts {
                id: path
                    .file_stem()
                    .map(|stem| stem.to_string_lossy().into_owned()),
                parent: place::message(path),
                time_ms: place::ulid_ms(path),
                ..named("artifact")
            };
        }
        Kind::Session | Kind::Message | Kind::Part => {}
    }
    let of = |name: &str| Facts {
        kind: name.to_owned(),
        agent_sees: true,
        ..Facts::default()
    };
    let read = json::tiers(record, |text| {
        Some(match kind {
            Kind::Session => {
                let mut facts = of("session");
                if let Loose::Object(session) = json::parse::<Loose<header::Session<'_>>>(text)? {
                    header::facts(&session, &mut facts);
                }
                facts
            }
            Kind::Message => {
                let mut facts = of("message");
                if let Loose::Object(record) = json::parse::<Loose<Message<'_>>>(text)? {
                    message(&record, &mut facts);
                }
                facts.id = facts.id.or_else(|| place::message(path));
                facts
            }
            _ => {
                let mut facts = of("");
                if let Loose::Object(record) = json::parse(text)? {
                    part::facts(&record, &mut facts)?;
                }
                facts.parent = facts.parent.or_else(|| place::message(path));
                facts
            }
        })
    });
    read.unwrap_or_else(|| of(""))
}

fn message(message: &Message<'_>, facts: &mut Facts) {
    facts.id = message.id.shown();
    facts.role = Some("user".to_owned());
    facts.is_message = true;
    if let Some(times) = message.time.object() {
        facts.time_ms = times.created.0;
        facts.message_ms = times.completed.0;
    }
    if let Some(prompt) = message.user.object().and_then(|user| user.prompt.object()) {
        // What the person typed; without it the agent was run on its own instructions.
        facts.user_text = [&prompt.user, &prompt.task]
            .into_iter()
            .filter_map(|text| text.text())
            .find(|text| !text.trim().is_empty())
            .map(|text| text.into_owned());
    }
    if let Some(assistant) = message.assistant.object() {
        facts.is_error = assistant.error.is_value();
        facts.has_prompt = assistant.system.is_value();
        if let Some(named) = assistant.model.as_str() {
            let (provider, model) = provider_and_model(named);
            facts.provider = provider.or_else(|| assistant.provider.owned());
            facts.model = Some(model);
        }
        facts.usage = answer(assistant).map(|usage| Usage {
            provider: facts.provider.clone(),
            model: facts.model.clone(),
            ..usage
        });
    }
}

fn answer(assistant: &Assistant<'_>) -> Option<Usage> {
    usage(&assistant.tokens, assistant.cost)
}

/// Tokens and cost; `None` where neither is recorded.
pub(super) fn usage(tokens: &Loose<Tokens>, cost: json::Num) -> Option<Usage> {
    let tokens = tokens.object();
    if tokens.is_none() && cost.0.is_none() {
        return None;
    }
    let cache = tokens.and_then(|tokens| tokens.cache.object());
    Some(Usage {
        input: tokens.and_then(|tokens| tokens.input.0),
        output: tokens.and_then(|tokens| tokens.output.0),
        reasoning: tokens.and_then(|tokens| tokens.reasoning.0),
        cache_read: cache.and_then(|cache| cache.read.0),
        cache_write: cache.and_then(|cache| cache.write.0),
        cost_total: cost.0,
        ..Usage::default()
    })
}
