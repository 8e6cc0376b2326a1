//! What did an answer of Claude Code's take?

use super::line::{Iteration, Line, Message};
use crate::json::{self, Raw};
use crate::model::{Facts, Usage};
use crate::stable_hash;

/// The type of a request that an advisor answered.
const ADVISOR: &str = "advisor_message";

/// Models of advisors that are told apart in an answer.
pub(super) const MODELS: usize = 16;

/// What an answer took, as each of its lines says.
pub(super) fn usage<L, C>(line: &Line<'_, L>, message: &Message<'_, C>) -> Option<Usage> {
    let tokens = message.usage.object()?;
    let details = tokens.output_tokens_details.object();
    Some(Usage {
        model: message.model.owned(),
        response_id: message.id.owned(),
        input: tokens.input_tokens.0,
        output: tokens.output_tokens.0,
        cache_read: tokens.cache_read_input_tokens.0,
        cache_write: tokens.cache_creation_input_tokens.0,
        reasoning: details.and_then(|details| details.thinking_tokens.0),
        cost_total: line.cost_usd.0.filter(is_cost),
        is_repeated: message.id.as_str().is_some_and(|id| !id.is_empty()),
        ..Usage::default()
    })
}

/// What advisors took in an answer, by their models, as far as one of its lines says it. The sums
/// of the answer are without it. Like them it is repeated, so each has an id of its own.
pub(super) fn advisors<C>(message: &Message<'_, C>) -> Vec<Usage> {
    let tokens = message.usage.object();
    let requests = tokens.and_then(|tokens| tokens.iterations.0);
    let id = message.id.as_str().filter(|id| !id.is_empty());
    // Hardly any answer asked one, and most say what each of their requests took.
    let (Some(requests), Some(id)) = (requests.filter(|all| all.contains(ADVISOR)), id) else {
        return Vec::new();
    };
    let mut advisors: Vec<Usage> = Vec::new();
    for request in Raw(Some(requests)).items().unwrap_or_default() {
        let Some(request) = request.parse::<Iteration<'_>>() else {
            continue;
        };
        if request.kind.as_str() != Some(ADVISOR) {
            continue;
        }
        let model = request.model.as_str();
        let at = advisors.iter().position(|of| of.model.as_deref() == model);
        let at = match at {
            Some(at) => at,
            None if advisors.len() == MODELS => continue,
            None => {
                advisors.push(Usage {
                    response_id: Some(format!("{id}/advisor/{}", model.unwrap_or_default())),
                    model: request.model.owned(),
                    is_repeated: true,
                    ..Usage::default()
                });
                advisors.len() - 1
            }
        };
        let of = &mut advisors[at];
        for (sum, figure) in [
            (&mut of.input, request.input_tokens),
            (&mut of.output, request.output_tokens),
            (&mut of.cache_read, request.cache_read_input_tokens),
            (&mut of.cache_write, request.cache_creation_input_tokens),
        ] {
            let parts = [*sum, figure.0].into_iter().flatten();
            *sum = parts.reduce(i64::saturating_add);
        }
    }
    advisors
}

/// Nothing is spent backwards, nor without end.
pub(super) fn is_cost(dollars: &f64) -> bool {
    dollars.is_finite() && *dollars >= 0.0
}

/// By what an answer is known: some servers give one id to all that they say.
pub(super) fn answer_key(id: &str, request: Option<&str>) -> u64 {
    stable_hash::of([id, request.unwrap_or_default()].map(str::as_bytes))
}

/// The key of the answer of a line. Mostly its id stands with its usage, but not all have any.
pub(super) fn answer(record: &[u8], facts: &Facts) -> Option<u64> {
    let key = |id: &str, request: Option<&str>| (!id.is_empty()).then(|| answer_key(id, request));
    if let Some(usage) = &facts.usage {
        return key(usage.response_id.as_deref()?, facts.copied_with.as_deref());
    }
    let line = json::utf8(record)?;
    let text = |of: &str, key: &str| Some(json::Raw(json::member(of, key)).text()?.into_owned());
    let id = text(json::member(line, "message")?, "id")?;
    key(&id, text(line, "requestId").as_deref())
}
