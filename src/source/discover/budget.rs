//! How much is looked at behind one link?

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Discovery;

/// Files and folders without any session among them that are looked at behind one link: a disk of
/// other things, or links that lead to one another, would never end.
pub const MOST_BEHIND: usize = if cfg!(test) { 500 } else { 200_000 };

/// What was found behind a link and holds no sessions.
pub struct LinkBudget {
    link: PathBuf,
    others: AtomicUsize,
}

impl LinkBudget {
    pub fn new(link: PathBuf) -> Arc<LinkBudget> {
        let others = AtomicUsize::new(0);
        Arc::new(LinkBudget { link, others })
    }

    /// Count what lies in one directory, and the directory itself. Going beyond the limit is
    /// reported once.
    pub fn add(&self, others: usize, here: &mut Discovery) {
        let before = self.others.fetch_add(others, Ordering::Relaxed);
        if before <= MOST_BEHIND && before + others > MOST_BEHIND {
            let what = "files and folders of other things: not all of it is looked at";
            here.unread(
                &self.link,
                &format!("link to more than {MOST_BEHIND} {what}"),
            );
        }
    }

    pub fn is_over(&self) -> bool {
        self.others.load(Ordering::Relaxed) > MOST_BEHIND
    }
}
