//! What would answers have cost of which no cost is recorded? By the prices that makers of models
//! ask, as pi-ai lists them; `tests/oracle/prices.mjs` writes the table.

use std::collections::HashMap;

use sessionary::model::{Spent, Tokens, WithoutCost};

/// Where the prices are from: package, version and the day on which it came out.
pub const SOURCE: &str = "pi-ai 0.87.1 of 2026-09-22";

/// A line a model.
const TABLE: &str = include_str!("prices.tsv");

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy)]
struct Price {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

/// Prices by model.
pub struct Prices(HashMap<&'static str, Price>);

impl Prices {
    pub fn known() -> Self {
        Self(TABLE.lines().filter_map(line).collect())
    }

    /// What the answers without a cost would have cost, as far as their models are known; `None`:
    /// there are none such.
    pub fn estimate(&self, spent: &Spent) -> Option<f64> {
        let costs = spent.without_cost.iter().filter_map(|of| self.cost(of));
        costs.reduce(|sum, cost| sum + cost)
    }

    /// Answers for which there is no price.
    pub fn unknown(&self, spent: &Spent) -> u64 {
        let unknown = spent.without_cost.iter();
        let unknown = unknown.filter(|of| self.cost(of).is_none());
        unknown.map(|of| of.answers).sum()
    }

    fn cost(&self, of: &WithoutCost) -> Option<f64> {
        let Tokens {
            input,
            output,
            cache_read,
            cache_write,
            ..
        } = of.tokens;
        let model = of.model.as_deref().filter(|_| of.tokens.has_parts())?;
        let price = self.of_model(model)?;
        let parts = [
            (input, price.input),
            (output, price.output),
            (cache_read, price.cache_read),
            (cache_write, price.cache_write),
        ];
        let parts = parts.map(|(tokens, price)| tokens.unwrap_or(0) as f64 * price / 1e6);
        Some(parts.into_iter().sum())
    }

    /// The price of a model, whose name may begin with that of its maker (`openai/`) and end with
    /// its day (`-20251001`).
    fn of_model(&self, model: &str) -> Option<Price> {
        let name = model.rsplit('/').next().unwrap_or(model);
        let is_day = |end: &str| end.len() == 8 && end.bytes().all(|one| one.is_ascii_digit());
        let undated = name.rsplit_once('-').filter(|(_, end)| is_day(end));
        let price = self.0.get(name);
        let price = price.or_else(|| self.0.get(undated?.0));
        price.copied()
    }
}

fn line(line: &'static str) -> Option<(&'static str, Price)> {
    let mut fields = line.split('\t');
    let model = fields.next()?;
    let mut price = || fields.next()?.parse().ok();
    let price = Price {
        input: price()?,
        output: price()?,
        cache_read: price()?,
        cache_write: price()?,
    };
    Some((model, price))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(model: &str, tokens: Tokens) -> WithoutCost {
        let mut without_cost = WithoutCost::default();
        without_cost.model = Some(model.to_owned());
        without_cost.answers = 2;
        without_cost.tokens = tokens;
        without_cost
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(Prices::known().0.len(), lines);
        assert!(lines > 100);
        let version = SOURCE.split(' ').nth(1).unwrap();
        assert!(TABLE.lines().next().unwrap().contains(version));
    }

    #[test]
    fn tokens_are_priced_by_what_they_are() {
        let prices = Prices(HashMap::from([(
            "m-1",
            Price {
                input: 1.0,
                output: 10.0,
                cache_read: 0.5,
                cache_write: 2.0,
            },
        )]));
        let mut tokens = Tokens::default();
        tokens.input = Some(1_000_000);
        tokens.output = Some(100_000);
        tokens.cache_read = Some(2_000_000);
        tokens.cache_write = Some(500_000);
        tokens.total = Some(3_600_000);
        let spent = |model| {
            let mut spent = Spent::default();
            spent.without_cost = vec![of(model, tokens)];
            spent
        };
        for model in ["m-1", "maker/m-1", "m-1-20260105"] {
            assert_eq!(prices.estimate(&spent(model)), Some(4.0), "{model}");
            assert_eq!(prices.unknown(&spent(model)), 0, "{model}");
        }
        assert_eq!(prices.estimate(&spent("m-2")), None);
        assert_eq!(prices.unknown(&spent("m-2")), 2);
        // What is not recorded in parts has no price.
        let mut whole = Tokens::default();
        whole.total = Some(9);
        assert!(prices.cost(&of("m-1", whole)).is_none());
    }
}
