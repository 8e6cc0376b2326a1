//! How much may what is compressed in a session decode to? A few bytes may say that they are many.

/// Bytes of the longest line that is decoded; OpenClaw compresses none of more than 4 MiB.
pub(super) const LONGEST_LINE: u64 = 64 << 20;

/// What may still be decoded of a session.
#[derive(Debug)]
pub(super) struct Budget {
    /// Bytes of its lines, and what is noted of each.
    kept: u64,
    /// Bytes in all: of several texts later ones repeat what earlier ones say.
    decoded: u64,
    is_spent: bool,
}

impl Budget {
    const KEPT: u64 = 256 << 20;
    const DECODED: u64 = 4 << 30;
    /// What a line costs beside its bytes: where it is and what it is called.
    const NOTED: u64 = 192;
    /// Why something is left out.
    pub const SPENT: &str = "it and all behind it that is compressed or put away is left out, \
        because of one session 256 MiB of that are kept and 4 GiB decoded; where its agent did \
        not write so much, restore the database from a backup";

    #[cfg(test)]
    pub fn of(kept: u64, decoded: u64) -> Budget {
        Budget {
            kept,
            decoded,
            is_spent: false,
        }
    }

    /// Whether there was once too little of it. Then nothing more is decoded.
    pub fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// How much may be decoded.
    pub fn left(&self) -> u64 {
        self.decoded
    }

    /// So many bytes were decoded; `false`: they were too many.
    pub fn decode(&mut self, bytes: u64) -> bool {
        take(&mut self.decoded, bytes, &mut self.is_spent)
    }

    /// Keep a line of so many bytes; `false`: there is no room for it.
    pub fn keep(&mut self, bytes: usize) -> bool {
        let cost = (bytes as u64).saturating_add(Self::NOTED);
        take(&mut self.kept, cost, &mut self.is_spent)
    }
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            kept: Self::KEPT,
            decoded: Self::DECODED,
            is_spent: false,
        }
    }
}

/// Take so much of what is left, if there is so much.
fn take(left: &mut u64, cost: u64, is_spent: &mut bool) -> bool {
    let after = left.checked_sub(cost).filter(|_| !*is_spent);
    *is_spent = after.is_none();
    *left = after.unwrap_or_default();
    after.is_some()
}
