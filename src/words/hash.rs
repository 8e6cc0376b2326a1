//! Where does a term lie in the table of its field?

/// A hash of a short text, in the manner of wyhash. Each step takes the seed in, so no file can hold
/// words that meet in one slot, as it could where a seed is added to a fixed hash (`FxHasher`).
pub(super) fn hash(seed: u64, text: &[u8]) -> u32 {
    let four = |at: usize| {
        text.get(at..at + 4)
            .and_then(|four| four.try_into().ok())
            .map_or(0, |four| u64::from(u32::from_le_bytes(four)))
    };
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let length = text.len();
    let mut state = seed ^ length as u64;
    let (a, b) = match length {
        0 => (0, 0),
        1..4 => (
            u64::from(text[0]) << 16
                | u64::from(text[length / 2]) << 8
                | u64::from(text[length - 1]),
            0,
        ),
        _ => {
            let mut at = 0;
            while at + 16 < length {
                state = fold(
                    state ^ (four(at) << 32 | four(at + 4)),
                    0x9E37_79B9_7F4A_7C15 ^ (four(at + 8) << 32 | four(at + 12)),
                );
                at += 16;
            }
            // The rest, perhaps with bytes that were read before.
            let middle = (length - at) / 8 * 4;
            (
                four(at) << 32 | four(at + middle),
                four(length - 4) << 32 | four(length - 4 - middle),
            )
        }
    };
    let hash = fold(a ^ 0xA076_1D64_78BD_642F, b ^ state);
    (fold(hash ^ seed, 0xE703_7ED1_A0B4_28DB) >> 16) as u32
}
