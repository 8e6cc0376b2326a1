//! How are the matches spread over agents, projects, roles and days?

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Search;
use super::compiled::CompiledSearch;
use super::counted::MatchCounts;
use crate::catalogue::write::ARRIVAL_BITS;
use crate::error::Error;
use crate::model::{Count, Facets, project_name};
use crate::words::Order;

impl Search<'_> {
    /// Count the entries that match, each once.
    pub(super) fn facets(
        &self,
        asked: &CompiledSearch<'_>,
        counted: &MatchCounts,
    ) -> Result<Facets, Error> {
        if counted.total == 0 {
            return Ok(Facets {
                exact: counted.is_exact,
                timezone: self.zone.name().to_owned(),
                ..Facets::default()
            });
        }
        let found = asked.hits(Order::Newest, usize::MAX)?;
        let ours = self.snapshot.root_numbers()?;
        let mut sessions: HashMap<i64, (String, String)> = HashMap::new();
        self.catalogue.each_session(&ours, |s| {
            let of = (project_name(s.cwd).to_owned(), s.agent.to_owned());
            sessions.insert(s.session, of);
        })?;
        let [mut agents, mut projects, mut roles, mut days]: [BTreeMap<String, u64>; 4] =
            Default::default();
        let mut seen = HashSet::new();
        for hit in found.hits.iter().filter(|hit| !counted.refutes(hit)) {
            self.check_wanted()?;
            if !seen.insert(hit.key) {
                continue;
            }
            let Some((project, agent)) = sessions.get(&((hit.key >> ARRIVAL_BITS) as i64)) else {
                continue;
            };
            let Some(role) = self.catalogue.role(hit.key as i64)? else {
                continue;
            };
            let day = hit.time_ms.and_then(|ms| self.zone.day(ms));
            for (counts, value) in [
                (&mut agents, agent.as_str()),
                (&mut projects, project),
                (&mut roles, &role),
                (&mut days, &day.unwrap_or_default()),
            ] {
                match counts.get_mut(value) {
                    Some(count) => *count += 1,
                    None => {
                        counts.insert(value.to_owned(), 1);
                    }
                }
            }
        }
        let by_count = |counts: BTreeMap<String, u64>| {
            let mut list = listed(counts);
            list.sort_by_key(|one| std::cmp::Reverse(one.count));
            list
        };
        Ok(Facets {
            exact: counted.is_exact,
            timezone: self.zone.name().to_owned(),
            agents: by_count(agents),
            projects: by_count(projects),
            roles: by_count(roles),
            days: listed(days),
        })
    }
}

fn listed(counts: BTreeMap<String, u64>) -> Vec<Count> {
    counts
        .into_iter()
        .map(|(value, count)| Count { value, count })
        .collect()
}
