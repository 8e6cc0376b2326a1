//! Which sources must be read: what is found × what is known.

use super::keep::ArchivedSource;
use super::targets::{SyncTargets, SyncedRoot};
use crate::archive::{SourcePath, twin};
use crate::catalogue::entries::EntrySpan;
use crate::catalogue::read::{Checkpoint, StoredSource};
use crate::catalogue::{Catalogue, Error};
use crate::format::Format;
use crate::model::SourcePart;
use crate::source::checkpoint::{Decision, decide};
use crate::source::content::{Content, Location, is_in_database};
use crate::source::discover::{Discovery, FoundSource};

/// One source that has to be read or compared.
pub struct SourcePlan<'a> {
    /// Number of the root.
    pub root: i64,
    /// Where it is.
    pub path: Location,
    /// Path below the root.
    pub relative: &'a str,
    /// Key of its session below the root.
    pub session_key: &'a str,
    /// Which part of the session it is.
    pub part: SourcePart,
    /// Why the agent would not list it.
    pub unlisted: Option<String>,
    /// Since when its file is gone, and it is read from the archive.
    pub gone_ms: Option<i64>,
    /// What it is called in the archive, where what is read of it is kept there.
    pub kept_as: Option<SourcePath>,
    /// The format that reads it.
    pub format: &'a dyn Format,
    /// What is known of it.
    pub known: Option<&'a StoredSource>,
    /// From where it may be read on. Not for [`plan`] to say, which sees no more than a check
    /// needs.
    pub checkpoint: Option<Checkpoint>,
    /// Of a session in a database the entries that are stored, in order, if all of its lines became
    /// entries. Not for [`plan`] to say either.
    pub stored: Vec<EntrySpan>,
    /// Size as found.
    pub size: u64,
    /// Modification time as found: newest first.
    pub mtime_ns: i64,
    /// Up to which byte lines are read; `None`: to the end.
    pub until: Option<u64>,
}

impl<'a> SourcePlan<'a> {
    /// A source that is read to its end, and of which nothing is known: the session of this key.
    pub fn whole(
        root: i64,
        path: Location,
        relative: &'a str,
        session_key: &'a str,
        format: &'a dyn Format,
    ) -> Self {
        SourcePlan {
            root,
            path,
            relative,
            session_key,
            part: SourcePart::Main,
            unlisted: None,
            gone_ms: None,
            kept_as: None,
            format,
            known: None,
            checkpoint: None,
            stored: Vec::new(),
            size: 0,
            mtime_ns: 0,
            until: None,
        }
    }

    /// A source that was found below a root, and is read at `path`.
    pub fn of_found(root: SyncedRoot<'a>, path: Location, found: &'a FoundSource) -> Self {
        let (relative, session_key) = (&found.relative, &found.session_key);
        SourcePlan {
            part: found.part,
            unlisted: found.unlisted.clone(),
            size: found.identity.size,
            mtime_ns: found.identity.mtime_ns,
            ..SourcePlan::whole(root.number, path, relative, session_key, root.format)
        }
    }

    /// Get what the catalogue says of what was read before.
    pub fn recall(&mut self, catalogue: &Catalogue) -> Result<(), Error> {
        let Some(known) = self.known else {
            return Ok(());
        };
        self.checkpoint = catalogue.checkpoint(known.source)?;
        let is_valid = known.stored.revision == self.format.about().revision;
        let is_live = known.gone_ms.is_none() && self.gone_ms.is_none();
        if is_valid && is_live && is_in_database(self.format, self.relative) {
            self.stored = catalogue.entry_spans(known.source)?;
        }
        Ok(())
    }
}

/// The work of one root: sources to read, and sources that are gone.
#[derive(Default)]
pub struct RootPlan<'a> {
    /// Sources that have to be read or compared.
    pub plans: Vec<SourcePlan<'a>>,
    /// Known and no longer there.
    pub gone: Vec<&'a StoredSource>,
}

/// The work of one root: of what was found, what changed and `passes`, and what is read from the
/// archive because its file is gone. With what the stores say of each.
pub fn plan_root<'a>(
    SyncTargets { catalogue, keeper }: SyncTargets<'_>,
    root: SyncedRoot<'a>,
    discovery: &'a Discovery,
    known: &'a [StoredSource],
    archived: &'a [ArchivedSource],
    passes: impl FnMut(&SourcePlan<'a>) -> bool,
) -> Result<RootPlan<'a>, Error> {
    let mut work = plan(root, discovery, known);
    work.plans.retain(passes);
    for plan in &mut work.plans {
        plan.kept_as = keeper.kept_as(root, plan.relative);
    }
    work.plans.extend(archived.iter().map(|gone| SourcePlan {
        gone_ms: Some(gone.gone_ms),
        known: StoredSource::find(known, &gone.found.relative),
        ..SourcePlan::of_found(root, gone.location.clone(), &gone.found)
    }));
    for plan in &mut work.plans {
        plan.recall(catalogue)?;
    }
    work.gone.retain(|lost| keeper.is_forgotten(lost, archived));
    Ok(work)
}

/// Compare what was found with what is known; both are sorted by path.
pub fn plan<'a>(
    root: SyncedRoot<'a>,
    discovery: &'a Discovery,
    known: &'a [StoredSource],
) -> RootPlan<'a> {
    let mut work = RootPlan::default();
    let mut rest = known.iter().peekable();
    for found in &discovery.found {
        while let Some(lost) = rest.next_if(|k| k.relative < found.relative) {
            work.gone.push(lost);
        }
        let known = rest.next_if(|k| k.relative == found.relative);
        if is_current(known, found, root.format) {
            continue;
        }
        let path = root.spec.at(&found.relative).into();
        work.plans.push(SourcePlan {
            known,
            ..SourcePlan::of_found(root, path, found)
        });
    }
    work.gone.extend(rest);
    // What is in the archive is known to be gone, unless its file has come back, compressed or not,
    // and can be read.
    let has_twin = |k: &StoredSource| {
        let twin = twin(&k.relative);
        discovery.source(&twin).is_some() && Content::open(root.format, &root.spec.at(twin)).is_ok()
    };
    // Or has come back in a root within this one.
    let is_in_another = |k: &StoredSource| {
        discovery.other_root_of(&k.relative).is_some() && root.spec.at(&k.relative).exists()
    };
    let is_lost = |k: &&StoredSource| {
        let is_known_to_be_gone = k.gone_ms.is_some() && !has_twin(k) && !is_in_another(k);
        !is_known_to_be_gone && !discovery.hides(&k.relative)
    };
    work.gone.retain(is_lost);
    work
}

fn is_current(known: Option<&StoredSource>, found: &FoundSource, format: &dyn Format) -> bool {
    known.is_some_and(|k| {
        !k.unread
            && k.gone_ms.is_none()
            && k.unlisted == found.unlisted
            && decide(
                Some(&k.stored),
                &found.identity,
                format.about().write_mode,
                format.about().revision,
            ) == Decision::Unchanged
    })
}
