//! What did answers take, of which each may stand on several lines?

use super::{ADVISORS, ANSWERS, Answer, State};
use crate::claude::usage::answer_key;
use crate::model::{Facts, Fold, Usage, sum_costs};

/// Adds all that models took in a line.
pub(super) fn add_figures(fold: &mut Fold, facts: &Facts) {
    for usage in facts.all_usage() {
        add_usage(fold, usage, facts);
    }
}

/// Adds what a line says of its answer beyond what earlier lines of it said. One without figures
/// says nothing.
fn add_usage(fold: &mut Fold, usage: &Usage, facts: &Facts) {
    let Some(id) = usage.response_id.as_ref().filter(|_| usage.is_repeated) else {
        fold.add_usage(usage);
        return;
    };
    let tokens = usage.tokens();
    let output = usage.output.unwrap_or(0);
    let own = facts.usage.as_ref();
    let is_own = own.is_some_and(|own| own.response_id == usage.response_id);
    let (answers, most) = match is_own {
        true => (&mut fold.claude.answers, ANSWERS),
        false => (&mut fold.claude.advisors, ADVISORS),
    };
    let key = answer_key(id, facts.copied_with.as_deref());
    let before = match answers.iter_mut().find(|answer| answer.key == key) {
        Some(answer) if output < answer.output || tokens.is_none() => return,
        Some(answer) => {
            answer.output = output;
            std::mem::replace(&mut answer.tokens, tokens.unwrap_or(0))
        }
        // It is one of those that came before, whose figures are no longer known.
        None if !facts.repeats.is_empty() => return,
        None => {
            if answers.len() == most {
                answers.remove(0);
            }
            answers.push(Answer {
                key,
                output,
                tokens: tokens.unwrap_or(0),
            });
            fold.cost = sum_costs([fold.cost, usage.cost_total]);
            0
        }
    };
    if let Some(tokens) = tokens {
        let sum = fold.tokens.unwrap_or(0).saturating_sub(before);
        fold.tokens = Some(sum.saturating_add(tokens));
    }
}

impl State {
    /// Takes from a line that comes again the figures that are known of its answer. What it took
    /// grows from line to line, and an earlier copy of the line may say less.
    pub(super) fn leave_figures(&mut self, facts: &mut Facts) {
        let (answers, advisors) = (&self.answers, &self.advisors);
        let history = &mut self.history;
        let request = facts.copied_with.clone();
        let mut is_more = |usage: &Usage| {
            let is_new = history.note_figure(usage, request.as_deref());
            let id = usage.response_id.as_deref().unwrap_or_default();
            let key = answer_key(id, request.as_deref());
            let mut known = answers.iter().chain(advisors);
            let told = known.find(|answer| answer.key == key);
            let output = usage.output.unwrap_or(0);
            let is_more = told.map_or(is_new, |told| output > told.output);
            usage.is_repeated && is_more
        };
        facts.usage = facts.usage.take().filter(&mut is_more);
        facts.more_usage.retain(is_more);
        if facts.usage.is_none() && facts.more_usage.is_empty() {
            facts.copied_with = None;
        }
    }
}
