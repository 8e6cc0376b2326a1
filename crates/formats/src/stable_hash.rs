//! How is a text known again by a number that is kept? `std` does not promise that its hash of
//! today is the one of its next version.

use crc_fast::{CrcAlgorithm, Digest};

/// The same number for the same parts, whatever the machine and the version.
#[must_use]
pub fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut digest = Digest::new(CrcAlgorithm::Crc64Nvme);
    for part in parts {
        digest.update(&(part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.finalize()
}

/// The same for one part, where such numbers are added up. What two parts exchange would often
/// cancel out in a sum of checksums: so every bit of one is spread over all.
#[must_use]
pub fn to_add_up(part: &[u8]) -> u64 {
    let mut number = crc_fast::checksum(CrcAlgorithm::Crc64Nvme, part);
    for factor in [0xff51_afd7_ed55_8ccd_u64, 0xc4ce_b9fe_1a85_ec53] {
        number = (number ^ (number >> 33)).wrapping_mul(factor);
    }
    number ^ (number >> 33)
}

#[cfg(test)]
mod tests {
    use super::{of, to_add_up};

    #[test]
    fn it_stays_the_same_and_knows_where_parts_end() {
        assert_eq!(of([]), 0);
        assert_eq!(of([&b"oar"[..]]), 0x8b8f_7870_1a57_4799);
        assert_ne!(of([&b"oar"[..], b"mast"]), of([&b"oarm"[..], b"ast"]));
        assert_eq!(to_add_up(b""), 0);
        assert_eq!(to_add_up(b"oar"), 0xb20e_7dec_8438_999f);
    }

    #[test]
    fn a_sum_knows_what_two_parts_exchange() {
        let sum = |parts: [[u8; 2]; 2]| {
            let numbers = parts.iter().map(|part| to_add_up(part));
            numbers.fold(0, u64::wrapping_add)
        };
        let is_told = |a: u8, b: u8| sum([[0, a], [1, b]]) != sum([[0, b], [1, a]]);
        let all = (0..=u8::MAX).flat_map(|a| (0..a).map(move |b| (a, b)));
        assert!(all.into_iter().all(|(a, b)| is_told(a, b)));
    }
}
