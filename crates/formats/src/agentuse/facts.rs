//! What one agentuse document says about itself.

use std::path::Path;

use super::place::{self, Kind};
use super::record::{Assistant, Message, Tokens, provider_and_model};
use super::{header, part};
use crate::json::{self, Loose};
use crate::model::{Facts, Usage};
use crate::path::stem;

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
                id: Some(stem(path)),
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

/// Tokens and cost; `None` where neither is recorded. The input is the AI SDK's, which holds what
/// was read from a cache and written to it (agentuse's `usageToAssistantTokens`). That of
/// Anthropic's models in version 5 of the SDK does not: it is hardly ever as large as the two.
pub(super) fn usage(tokens: &Loose<Tokens>, cost: json::Num) -> Option<Usage> {
    let tokens = tokens.object();
    if tokens.is_none() && cost.0.is_none() {
        return None;
    }
    let cache = tokens.and_then(|tokens| tokens.cache.object());
    let cached = cache.map_or(0, |cache| {
        let parts = [cache.read.0, cache.write.0].into_iter().flatten();
        parts.fold(0, i64::saturating_add)
    });
    let input = tokens.and_then(|tokens| tokens.input.0);
    Some(Usage {
        input: input.map(|all| if all >= cached { all - cached } else { all }),
        output: tokens.and_then(|tokens| tokens.output.0),
        reasoning: tokens.and_then(|tokens| tokens.reasoning.0),
        cache_read: cache.and_then(|cache| cache.read.0),
        cache_write: cache.and_then(|cache| cache.write.0),
        // It is 0 from the start, and no version at hand writes another one.
        cost_total: cost.0.filter(|cost| *cost != 0.0),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(input: i64, read: i64, write: i64) -> Usage {
        let message = serde_json::json!({"id": "m", "user": {"prompt": {"task": "t"}},
            "assistant": {"cost": 0, "tokens": {"input": input, "output": 1, "reasoning": 0,
                "cache": {"read": read, "write": write}}}});
        let mut facts = Facts::default();
        super::message(
            &serde_json::from_str(&message.to_string()).unwrap(),
            &mut facts,
        );
        facts.usage.unwrap()
    }

    #[test]
    fn what_was_cached_counts_once_and_a_cost_of_zero_is_none() {
        // The figures of agentuse's own test of `usageToAssistantTokens`.
        let usage = of(501_684, 350_000, 31_684);
        let parts = [
            usage.input,
            usage.cache_read,
            usage.cache_write,
            usage.output,
        ];
        assert_eq!(parts, [120_000, 350_000, 31_684, 1].map(Some));
        assert_eq!(usage.cost_total, None);
        // Of Anthropic's models by version 5 of the SDK.
        assert_eq!(of(12, 4_000, 0).input, Some(12));
        assert_eq!(of(12, 0, 0).input, Some(12));
    }
}
