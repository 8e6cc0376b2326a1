//! How is a text known again by a number that is kept? `std` does not promise that its hash of
//! today is the one of its next version.

use crc_fast::{CrcAlgorithm, Digest};

/// The same number for the same parts, whatever the machine and the version.
pub(crate) fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut digest = Digest::new(CrcAlgorithm::Crc64Nvme);
    for part in parts {
        digest.update(&(part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.finalize()
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn it_stays_the_same_and_knows_where_parts_end() {
        assert_eq!(of([]), 0);
        assert_eq!(of([&b"oar"[..]]), 0x8b8f_7870_1a57_4799);
        assert_ne!(of([&b"oar"[..], b"mast"]), of([&b"oarm"[..], b"ast"]));
    }
}
