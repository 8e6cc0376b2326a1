//! What is a record, and by which number is it known again?

use crc_fast::CrcAlgorithm;

/// The bytes of a record.
#[derive(Debug, Clone, Copy)]
pub struct Record<'r> {
    /// As they stand in the file.
    pub bytes: &'r [u8],
    /// Their CRC-64/NVME.
    pub hash: u64,
}

impl<'r> Record<'r> {
    /// Of these bytes.
    #[must_use]
    pub fn of(bytes: &'r [u8]) -> Record<'r> {
        let hash = crc_fast::checksum(CrcAlgorithm::Crc64Nvme, bytes);
        Record { bytes, hash }
    }
}
