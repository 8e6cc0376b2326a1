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
    /// It counts from 0, and none of its ends was read so far.
    is_anew: bool,
    /// What each model took of which the ends so far say it, by a hash of its name: those of this
    /// run, and those from whose totals it goes on.
    told: Vec<(u64, Tokens)>,
}

/// Of what the figures of a run's end are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Of its run, or of this and those from whose totals it goes on.
    Run,
    Session,
}

impl Run {
    /// Whether the next end is the first one of a run that counts from 0.
    pub(super) fn is_anew(&self) -> bool {
        self.is_anew
    }

    /// Gives a run's end the usage of answers that have no records. Where models are named and none
    /// is known, the only one is the session's. Of what an end's figures are; `None` where they
    /// are those of a run with records.
    pub(super) fn relate(
        &mut self,
        knows_model: bool,
        record: &[u8],
        facts: &mut Facts,
    ) -> Option<Scope> {
        match facts.kind.as_str() {
            "session.start" => {
                *self = Run {
                    is_anew: true,
                    ..Run::default()
                };
            }
            "session.resume" => {
                self.has_records = false;
                self.is_anew = !read(record, goes_on).unwrap_or_default();
            }
            "session.usage_record" => self.has_records |= facts.usage.is_some(),
            "session.shutdown" => {
                let (scope, models) = read(record, totals)?;
                if let ([(model, _)], false, None) = (&*models, knows_model, &facts.model) {
                    facts.model = Some(model.clone());
                }
                if std::mem::take(&mut self.is_anew) {
                    self.told.clear();
                }
                let mut all = self.add(models).into_iter();
                let counts = scope == Scope::Run && !self.has_records;
                if counts {
                    facts.usage = all.next();
                    facts.more_usage = all.collect();
                    if !facts.more_usage.is_empty() {
                        facts.copied_with = kept_by_copies(record, facts);
                    }
                }
                return (counts || scope == Scope::Session).then_some(scope);
            }
            _ => {}
        }
        None
    }

    /// What each model took since the last end, if it took something. Two ends of a run say both
    /// what was taken from its start on.
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

/// By what a run's end is known, if its time does not tell: what each model took stands in entries
/// that have neither an id nor bytes.
fn kept_by_copies(record: &[u8], facts: &Facts) -> Option<String> {
    let id = facts.id.clone().filter(|id| !id.is_empty());
    id.or_else(|| {
        let is_known = facts.time_ms.is_some();
        (!is_known).then(|| stable_hash::of([record]).to_string())
    })
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

fn read<R>(record: &[u8], of: impl Fn(&Data<'_>) -> R) -> Option<R> {
    json::tiers(record, |text| {
        Some(match json::parse::<Loose<Event<'_>>>(text)? {
            Loose::Object(event) => event.data.object().map(|data| of(data)),
            _ => None,
        })
    })
    .flatten()
}

/// Whether a run goes on from the totals of the last end, as it does in versions that say, with
/// `null` for none, which limits the session has: 1.0.66 and later. Earlier ones count from 0.
fn goes_on(data: &Data<'_>) -> bool {
    data.session_limits.0.is_some()
}

/// What a run's end says of each model. Versions that write records say how far they counted, and
/// say it of the whole session.
fn totals(data: &Data<'_>) -> (Scope, Vec<(String, Tokens)>) {
    let marks = [data.usage_accounting_watermarks, data.accounting_snapshot];
    let scope = match marks.iter().any(|mark| mark.is_value()) {
        true => Scope::Session,
        false => Scope::Run,
    };
    let models = json::members(data.model_metrics.0.unwrap_or_default());
    let models = models.into_iter().filter_map(|model| {
        let metrics = json::parse::<Loose<ModelMetrics>>(model.value)?;
        let tokens = tokens(metrics.object()?.usage.object()?);
        Some((model.key.into_owned(), tokens))
    });
    (scope, models.collect())
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
