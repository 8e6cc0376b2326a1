//! What did an answer of Claude Code's take?

use super::line::{Content, Iteration, Line, Message};
use crate::json::{Count, Raw};
use crate::model::Usage;

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

/// What the advisor's model took, on the line of its answer, which stands behind that of the call.
/// The sums of the answer are without it. Like them it is repeated, so it has an id of its own.
pub(super) fn advisor_usage(message: &Message<'_, Content<'_>>) -> Option<Usage> {
    let [block] = message.content.list() else {
        return None;
    };
    let tokens = message.usage.object()?;
    let id = message.id.as_str().filter(|id| !id.is_empty())?;
    if !block.object()?.is("advisor_tool_result") {
        return None;
    }
    let all = tokens.iterations.items()?;
    let all: Vec<Iteration<'_>> = all.iter().filter_map(Raw::parse).collect();
    let of_advisor = |one: &&Iteration<'_>| one.kind.as_str() == Some("advisor_message");
    let model = all.iter().find(of_advisor)?.model.owned();
    let its = all.iter().filter(of_advisor);
    let its: Vec<_> = its
        .filter(|one| one.model.as_str() == model.as_deref())
        .collect();
    let sum = |figure: fn(&Iteration<'_>) -> Count| {
        let figures = its.iter().filter_map(|one| figure(one).0);
        figures.reduce(i64::saturating_add)
    };
    Some(Usage {
        response_id: Some(format!("{id}/advisor")),
        input: sum(|one| one.input_tokens),
        output: sum(|one| one.output_tokens),
        cache_read: sum(|one| one.cache_read_input_tokens),
        cache_write: sum(|one| one.cache_creation_input_tokens),
        is_repeated: true,
        model,
        ..Usage::default()
    })
}

/// Nothing is spent backwards, nor without end.
pub(super) fn is_cost(dollars: &f64) -> bool {
    dollars.is_finite() && *dollars >= 0.0
}
