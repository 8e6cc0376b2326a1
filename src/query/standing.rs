//! Where does a session stand, and may its entries stand elsewhere?

use crate::catalogue::read::StoredSession;
use crate::error::Error;
use crate::format::{Format, Structure};
use crate::model::LeafRule;
use crate::query::Snapshot;

impl Snapshot<'_> {
    fn format_of(&self, stored: &StoredSession) -> Option<&'static dyn Format> {
        self.config().format(&stored.format)
    }

    /// How its entries hang together; `None` of a format that is not known.
    pub(super) fn structure(&self, stored: &StoredSession) -> Option<Structure> {
        let format = self.format_of(stored)?;
        Some(format.structure_of(stored.version))
    }

    /// How it is known where the session stands.
    pub(super) fn leaf_rule(&self, stored: &StoredSession) -> LeafRule {
        let format = self.format_of(stored);
        format.map_or(LeafRule::OfEntries, |format| {
            format.leaf_rule(stored.row.own.as_ref())
        })
    }

    /// Whether entries of the session may be off its active branch: because it is a tree, or
    /// because its end was taken back.
    pub(super) fn has_branches(&self, stored: &StoredSession) -> bool {
        let format = self.format_of(stored);
        format.is_some_and(|format| {
            format.about().structure != Structure::Line
                || matches!(self.leaf_rule(stored), LeafRule::Before(_))
        })
    }

    /// The leaf of a session of which some entry has an id, where that is known without an outline
    /// of all its entries.
    pub(super) fn leaf(&self, stored: &StoredSession) -> Result<Option<i64>, Error> {
        match self.leaf_rule(stored) {
            LeafRule::OfEntries => Ok(self.catalogue.leaf(stored.session)?),
            LeafRule::Named => match self.catalogue.named_leaf(stored.session)? {
                Some(id) => Ok(self.catalogue.key_of_id(stored.session, &id)?),
                None => Ok(None),
            },
            LeafRule::Before(_) => Ok(None),
        }
    }
}
