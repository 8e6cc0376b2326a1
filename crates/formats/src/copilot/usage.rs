//! What did a run take whose answers have no records of usage?

use serde::{Deserialize, Serialize};

use super::line::{Data, Event, ModelMetrics, ModelTokens};
use crate::json::{self, Loose};
use crate::model::{Facts, Usage};
use crate::stable_hash;

/// Models of a run that are remembered.
const MODELS: usize = 64;

/// Input, output, read from the cache, written to it, reasoning.
type Tokens = [Option<i64>; 5];

/// A run of a session, from its start or resumption on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Run {
    /// Answers of it have records of usage.
    has_records: bool,
    /// What each model took of which its ends so far say it, by a hash of its name.
    told: Vec<(u64, Tokens)>,
}

impl Run {
    pub(super) fn is_empty(&self) -> bool {
        *self == Run::default()
    }

    /// Gives a run's end the usage of answers that have no records. Where models are named and none
    /// is known, the only one is the session's. Whether an end says what its run took alone.
    pub(super) fn relate(&mut self, knows_model: bool, record: &[u8], facts: &mut Facts) -> bool {
        match facts.kind.as_str() {
            "session.start" | "session.resume" => *self = Run::default(),
            "session.usage_record" => self.has_records |= facts.usage.is_some(),
            "session.shutdown" => {
                let (is_of_session, models) = ended(record).unwrap_or_default();
                if let ([(model, _)], false, None) = (&*models, knows_model, &facts.model) {
                    facts.model = Some(model.clone());
                }
                if !is_of_session && !self.has_records {
                    let mut all = self.add(models).into_iter();
                    facts.usage = all.next();
                    facts.more_usage = all.collect();
                    if !facts.more_usage.is_empty() {
                        facts.copied_with.clone_from(&facts.id);
                    }
                    return true;
                }
            }
            _ => {}
        }
        false
    }

    /// What each model took since the run's last end, if it took something. Two ends of a run say
    /// both what was taken from its start on.
    fn add(&mut self, models: Vec<(String, Tokens)>) -> Vec<Usage> {
        let mut all = Vec::new();
        for (model, now) in models {
            let name = stable_hash::of([model.as_bytes()]);
            let at = self.told.iter().position(|(told, _)| *told == name);
            let at = match at {
                Some(at) => at,
                None if self.told.len() < MODELS => {
                    self.told.push((name, Tokens::default()));
                    self.told.len() - 1
                }
                None => continue,
            };
            let taken = since(&mut self.told[at].1, now);
            if taken.iter().flatten().any(|part| *part > 0) {
                let [input, output, cache_read, cache_write, reasoning] = fresh(taken);
                all.push(Usage {
                    model: Some(model),
                    input,
                    output,
                    cache_read,
                    cache_write,
                    reasoning,
                    ..Usage::default()
                });
            }
        }
        all
    }
}

/// What there is more than was told, which is told from now on.
fn since(told: &mut Tokens, now: Tokens) -> Tokens {
    let mut taken = now;
    for (taken, told) in taken.iter_mut().zip(told) {
        let before = told.unwrap_or(0);
        *told = (*told).max(*taken);
        *taken = taken.map(|now| now.saturating_sub(before).max(0));
    }
    taken
}

/// Input without what was read from the cache and written to it.
fn fresh(mut tokens: Tokens) -> Tokens {
    let cached = tokens[2]
        .unwrap_or(0)
        .saturating_add(tokens[3].unwrap_or(0));
    tokens[0] = tokens[0].map(|input| input.saturating_sub(cached).max(0));
    tokens
}

/// What a run's end says of each model, and whether it says it of the whole session. Versions that
/// write no records count from 0 in each run; later ones go on counting, and say how far.
fn ended(record: &[u8]) -> Option<(bool, Vec<(String, Tokens)>)> {
    json::tiers(record, |text| {
        Some(match json::parse::<Loose<Event<'_>>>(text)? {
            Loose::Object(event) => event.data.object().map(|data| totals(data)),
            _ => None,
        })
    })
    .flatten()
}

fn totals(data: &Data<'_>) -> (bool, Vec<(String, Tokens)>) {
    let marks = [data.usage_accounting_watermarks, data.accounting_snapshot];
    let is_of_session = marks.iter().any(|mark| mark.is_value());
    let models = json::members(data.model_metrics.0.unwrap_or_default());
    let models = models.into_iter().filter_map(|model| {
        let metrics = json::parse::<Loose<ModelMetrics>>(model.value)?;
        let tokens = tokens(metrics.object()?.usage.object()?);
        Some((model.key.into_owned(), tokens))
    });
    (is_of_session, models.collect())
}

fn tokens(of: &ModelTokens) -> Tokens {
    [
        of.input_tokens.0,
        of.output_tokens.0,
        of.cache_read_tokens.0,
        of.cache_write_tokens.0,
        of.reasoning_tokens.0,
    ]
}
