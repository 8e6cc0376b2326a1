//! How are the matches spread over agents, projects, repositories, hosts, roles and days?

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
        let found = asked.in_any_order(Order::Newest, usize::MAX)?;
        let sessions = self.groups()?;
        let mut all: [BTreeMap<String, u64>; 6] = Default::default();
        let mut seen = HashSet::new();
        for hit in found.hits.iter().filter(|hit| !counted.refutes(hit)) {
            self.check_wanted()?;
            if !seen.insert(hit.key) {
                continue;
            }
            let session = (hit.key >> ARRIVAL_BITS) as i64;
            let Some([agent, project, repository, host]) = sessions.get(&session) else {
                continue;
            };
            let Some(role) = self.catalogue.role(hit.key as i64)? else {
                continue;
            };
            let day = hit.time_ms.and_then(|ms| self.zone.day(ms));
            let day = day.unwrap_or_default();
            for (counts, value) in all
                .iter_mut()
                .zip([agent, project, repository, host, &role, &day])
            {
                match counts.get_mut(value) {
                    Some(count) => *count += 1,
                    None => {
                        counts.insert(value.clone(), 1);
                    }
                }
            }
        }
        let [agents, projects, mut repositories, mut hosts, roles, days] = all;
        repositories.remove("");
        hosts.remove("");
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
            repositories: by_count(repositories),
            hosts: by_count(hosts),
            roles: by_count(roles),
            days: listed(days),
        })
    }

    /// Agent, project, repository and host of every session.
    fn groups(&self) -> Result<HashMap<i64, [String; 4]>, Error> {
        let ours = self.snapshot.root_numbers()?;
        let mut groups = HashMap::new();
        self.catalogue.each_session(&ours, |s| {
            let repository = s.repository.unwrap_or_default();
            let of = [s.agent, project_name(s.cwd), repository, s.host];
            groups.insert(s.session, of.map(str::to_owned));
        })?;
        Ok(groups)
    }
}

fn listed(counts: BTreeMap<String, u64>) -> Vec<Count> {
    counts
        .into_iter()
        .map(|(value, count)| Count { value, count })
        .collect()
}
