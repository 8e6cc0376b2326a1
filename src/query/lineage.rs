//! What does a session go on from without holding it?
//!
//! A fork in Codex's paginated rollouts names its origin and a byte in it: what stands before that
//! is the fork's beginning. It is catalogued, found and counted with the origin alone, and shown
//! with both.

use crate::catalogue::read::StoredSession;
use crate::error::Error;
use crate::model::Base;
use crate::query::Snapshot;

/// The beginnings that a session inherits, the first one first.
#[derive(Debug, Clone, Default)]
pub(super) struct Lineage {
    /// Of which session, its id, and up to which byte.
    pub parts: Vec<(i64, Base)>,
    /// Why there is more that cannot be shown.
    pub lost: Option<String>,
}

impl Lineage {
    /// The id of the session from which the entry of this key is inherited.
    pub fn origin(&self, key: i64) -> Option<String> {
        let session = key >> crate::model::ARRIVAL_BITS;
        let part = self.parts.iter().find(|(part, _)| *part == session);
        part.map(|(_, base)| base.session.clone())
    }
}

impl Snapshot<'_> {
    /// What a session inherits, from its base, from that one's base, and so on.
    pub(super) fn lineage(&self, stored: &StoredSession) -> Result<Lineage, Error> {
        let mut lineage = Lineage::default();
        let (mut at, mut next) = (stored.session, stored.base.clone());
        while let Some(base) = next {
            let above = self.catalogue.base(&base.session, at)?;
            let known = |session| {
                session == stored.session || lineage.parts.iter().any(|(part, _)| *part == session)
            };
            let lost = match above {
                None => "is not in the index",
                Some((session, _)) if known(session) => "goes on from this one",
                Some((session, _)) if !self.catalogue.reaches(session, base.end)? => {
                    "was changed since"
                }
                Some((session, above)) => {
                    lineage.parts.push((session, base));
                    (at, next) = (session, above);
                    continue;
                }
            };
            lineage.lost = Some(format!("the session {} {lost}", base.session));
            break;
        }
        lineage.parts.reverse();
        Ok(lineage)
    }
}
