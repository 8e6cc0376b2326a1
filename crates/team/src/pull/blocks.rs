//! How are the blocks of some files had with few questions to the store?

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sessionary::with_causes;

use super::Failed;
use crate::block::{BlockId, Part};
use crate::store::Store;

/// Bytes that are asked for at once, as they are when they are unpacked.
pub(super) const ASKED_AT_ONCE: u64 = 8 << 20;
/// Blocks that are asked for at once, whatever a manifest says of their bytes.
const MOST_ASKED: usize = 64;

/// A store that answers one question after the other.
pub(super) type SharedStore = Mutex<Box<dyn Store + Send>>;

/// The store, while nobody else asks it.
pub(super) fn alone(store: &SharedStore) -> MutexGuard<'_, Box<dyn Store + Send>> {
    store.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The blocks of some files. Whoever needs one is given it, and those after it are asked for too.
pub(super) struct Blocks<'a> {
    store: &'a SharedStore,
    host: &'a str,
    /// All parts, in the order in which they are needed.
    parts: Vec<&'a Part>,
    /// How many of them were asked for.
    asked: usize,
    /// What came with the last question, compressed; `None`: it is not there.
    packed: BTreeMap<BlockId, Option<Vec<u8>>>,
}

impl<'a> Blocks<'a> {
    /// Those of these parts, which are needed in this order.
    pub fn of(store: &'a SharedStore, host: &'a str, parts: Vec<&'a Part>) -> Blocks<'a> {
        Blocks {
            store,
            host,
            parts,
            asked: 0,
            packed: BTreeMap::new(),
        }
    }

    /// What a part says, proven.
    pub fn said(&mut self, part: &Part) -> Result<Vec<u8>, Failed> {
        if !self.packed.contains_key(&part.id) {
            self.ask(part)?;
        }
        let packed = self.packed.get(&part.id).and_then(Option::as_ref);
        let packed = packed.ok_or(Failed::Waiting)?;
        part.unpack(packed)
            .map_err(|why| Failed::Wrong(why.to_owned()))
    }

    fn ask(&mut self, part: &Part) -> Result<(), Failed> {
        let (mut ids, mut bytes) = (Vec::new(), 0);
        let mut rest = self.parts[self.asked..].iter();
        match rest.position(|of| of.id == part.id) {
            // The rest of a file that was given up is passed over.
            Some(passed_over) => self.asked += passed_over,
            // It was asked for, and has gone with the question before.
            None => ids.push(&part.id),
        }
        for next in &self.parts[self.asked..] {
            bytes += u64::from(next.bytes);
            if bytes > ASKED_AT_ONCE || ids.len() == MOST_ASKED {
                break;
            }
            ids.push(&next.id);
            self.asked += 1;
        }
        let mut store = alone(self.store);
        let all = store.packed(self.host, &ids).or_else(|_| {
            // One that cannot be read keeps none of the others back.
            ids = vec![&part.id];
            store.packed(self.host, &ids)
        });
        let mut all = all.map_err(|error| Failed::Wrong(with_causes(&error)))?;
        self.packed.clear();
        for id in ids {
            // Parts that say the same are one block.
            let packed = self.packed.entry(id.clone());
            packed.or_insert_with(|| all.remove(id));
        }
        Ok(())
    }
}
