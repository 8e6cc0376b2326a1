//! Where do the tables of a segment in the making lie? In large pages of memory, once there is much in them.
//!
//! They are read here and there, all over their memory. Of small pages (4 KB) the processor knows too few by heart, and looks
//! most of them up anew.

use std::ops::{Deref, DerefMut};

/// What a large page holds on most systems.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;
/// From so many bytes on they are worth it: the kernel fills a page with zeros, however little is used of it.
#[cfg(target_os = "linux")]
const MUCH: usize = 2 * LARGE;
/// So many times as much as there is, is asked for. What is never touched costs nothing there, and growing costs a copy.
#[cfg(target_os = "linux")]
const AHEAD: usize = 8;

/// More bytes than these are given back when they are cleared.
const KEPT: usize = 64 << 20;

/// Bytes that can grow.
pub(super) struct Pages {
    memory: Memory,
    length: usize,
}

enum Memory {
    /// As long as there is room.
    Small(Vec<u8>),
    #[cfg(target_os = "linux")]
    Large(memmap2::MmapMut),
}

impl Pages {
    /// No bytes.
    pub fn new() -> Self {
        Self {
            memory: Memory::Small(Vec::new()),
            length: 0,
        }
    }

    /// So many bytes, all of them zero.
    pub fn zeros(length: usize) -> Self {
        Self {
            memory: zeros(length, length),
            length,
        }
    }

    /// No bytes any more. The memory stays, unless it is enormous.
    pub fn clear(&mut self) {
        if self.length > KEPT {
            *self = Self::new();
        }
        self.length = 0;
    }

    /// So many bytes more: zeros, or what was there when they were [cleared](Self::clear).
    pub fn grow(&mut self, more: usize) {
        let length = self.length + more;
        if length > self.memory.bytes().len() {
            self.make_room(length);
        }
        self.length = length;
    }

    pub fn extend(&mut self, bytes: &[u8]) {
        let from = self.length;
        self.grow(bytes.len());
        self[from..].copy_from_slice(bytes);
    }

    #[cold]
    fn make_room(&mut self, length: usize) {
        let mut memory = zeros(length, length.next_power_of_two());
        memory.bytes_mut()[..self.length].copy_from_slice(self);
        self.memory = memory;
    }
}

/// At least so many zeros, and room for more where that costs little: twice as many at most where each is written.
fn zeros(needed: usize, room: usize) -> Memory {
    #[cfg(target_os = "linux")]
    if needed >= MUCH {
        let ahead = needed.checked_mul(AHEAD).filter(|_| room > needed);
        let ahead = ahead.unwrap_or(needed);
        let whole = ahead.checked_next_multiple_of(LARGE).unwrap_or(ahead);
        if let Ok(memory) = memmap2::MmapMut::map_anon(whole) {
            // A wish: systems without them, or with none free, give small ones.
            let _ = memory.advise(memmap2::Advice::HugePage);
            return Memory::Large(memory);
        }
    }
    Memory::Small(vec![0; room.max(needed)])
}

impl Memory {
    fn bytes(&self) -> &[u8] {
        match self {
            Memory::Small(bytes) => bytes,
            #[cfg(target_os = "linux")]
            Memory::Large(bytes) => bytes,
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Memory::Small(bytes) => bytes,
            #[cfg(target_os = "linux")]
            Memory::Large(bytes) => bytes,
        }
    }
}

impl Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory.bytes()[..self.length]
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        let length = self.length;
        &mut self.memory.bytes_mut()[..length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_while_they_grow_into_large_pages() {
        let (mut pages, mut expected) = (Pages::new(), Vec::new());
        for step in 0..3_000usize {
            let bytes: Vec<u8> = (0..step).map(|at| (at * 7 + step) as u8).collect();
            pages.extend(&bytes);
            pages.grow(step % 3);
            expected.extend_from_slice(&bytes);
            expected.resize(expected.len() + step % 3, 0);
        }
        pages[5_000] ^= 1;
        expected[5_000] ^= 1;
        assert!(expected.len() > 4 << 20);
        assert!(pages[..] == expected[..]);
        pages.clear();
        assert!(pages.is_empty());
        pages.extend(b"anew");
        assert_eq!(&pages[..], b"anew");
        assert!(Pages::zeros(9 << 20).iter().all(|byte| *byte == 0));
    }
}
