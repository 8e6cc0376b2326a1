//! Where does a session stand? One rule, for the catalogue and for the session manager.

/// How it is known where a session stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeafRule {
    /// By its entries: see [`Leaf`].
    OfEntries,
    /// At the entry that [`SessionFacts::leaf`](super::SessionFacts::leaf) names, wherever that is
    /// in the file, and nowhere where it names none. Where it names one that is not there, by its
    /// entries.
    Named,
    /// Before the entry with this id: from there on all was taken back. Where that is not there, by
    /// its entries.
    Before(String),
}

/// The leaf of a session: of the entries that its agent sees the last one that has an id. Where
/// none has an id, as in pi's first version and in clido's files, it is the last of them.
///
/// An entry may say that the session stands at another one ([`Facts::stands_at`]): then that is the
/// leaf, until another entry follows.
///
/// [`Facts::stands_at`]: super::Facts::stands_at
///
/// The rule is ours, for files whose last record has no id: what add-ons write, or text that is no
/// object. Nothing can go on from such a record. pi 0.87.1 stands at it all the same: its leaf is
/// undefined, and the context is that of the last record and its parents. The core of agents 0.74.2
/// (`jsonl-storage.js`) opens no such file; its own records of a leaf have an id, and stand for
/// their `targetId`, while pi and this take them for entries as others are.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<T> {
    with_id: Option<T>,
    last: Option<T>,
}

impl<T> Default for Leaf<T> {
    fn default() -> Self {
        Leaf {
            with_id: None,
            last: None,
        }
    }
}

impl<T: Copy> Leaf<T> {
    /// Note the next entry that the agent sees, in file order.
    pub fn note(&mut self, entry: T, has_id: bool) {
        self.last = Some(entry);
        if has_id {
            self.with_id = self.last;
        }
    }

    /// The session stands at this entry from here on, which was noted before. Where it is not in
    /// the file yet nothing has to be noted: it will be the last one when it comes.
    pub fn stand(&mut self, entry: T) {
        self.note(entry, true);
    }

    /// The leaf of the entries so far; `None` of none.
    pub fn entry(&self) -> Option<T> {
        self.with_id.or(self.last)
    }
}
