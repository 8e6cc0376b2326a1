//! How much is put into the store at once, and in which order?

use crate::block::{self, Part};
use crate::error::Error;
use crate::store::Batch;

use super::Push;

/// Bytes that are put at once, compressed.
const BATCH_BYTES: usize = 8 << 20;
/// Blocks, or manifests, that are put at once: a folder has each of them open.
pub(super) const BATCH_PIECES: usize = 128;

impl Push<'_> {
    pub(super) fn block(&mut self, part: &Part, bytes: &[u8]) -> Result<(), Error> {
        if !self.blocks.insert(part.id.clone()) {
            return Ok(());
        }
        let packed = block::pack(bytes).map_err(|source| Error::Io {
            path: "zstd".into(),
            source,
        })?;
        self.pushed.sent_blocks += 1;
        self.pushed.sent_bytes += packed.len() as u64;
        self.batch_bytes += packed.len();
        self.batch.blocks.push((part.id.clone(), packed));
        self.send_if_full()
    }

    pub(super) fn send_if_full(&mut self) -> Result<(), Error> {
        let has_rows = self.rows.is_some();
        let manifests = self.batch.manifests.len();
        let is_full = self.batch.blocks.len() >= BATCH_PIECES
            || self.batch_bytes >= BATCH_BYTES
            || manifests >= BATCH_PIECES && !has_rows;
        match (is_full, has_rows) {
            (false, _) => Ok(()),
            (true, false) => self.send(),
            // Manifests go with their rows, once all files of the bundle are read.
            (true, true) => self.send_blocks(),
        }
    }

    pub(super) fn send_blocks(&mut self) -> Result<(), Error> {
        let blocks = std::mem::take(&mut self.batch.blocks);
        self.batch_bytes = 0;
        self.put(Batch {
            blocks,
            ..Batch::default()
        })
    }

    pub(super) fn send(&mut self) -> Result<(), Error> {
        if let Some((_, maker)) = &mut self.rows {
            self.batch.rows = maker.take()?;
        }
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        self.put(batch)
    }

    pub(super) fn put(&mut self, batch: Batch) -> Result<(), Error> {
        if batch.is_empty() || self.options.dry_run {
            return Ok(());
        }
        let host = self.host;
        self.has_put = true;
        self.store.later(move |store| store.put(host, &batch))
    }
}
