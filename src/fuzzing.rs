//! What must hold of checkpoints, whatever was stored and whatever the file is now? The one door to
//! what is private, for fuzzing.

use std::io::Cursor;

use crate::source::checkpoint::{BLOCK, Proof, hash, prove_all, prove_range, tail_holds};

/// Takes a stored proof from the beginning of the bytes, proves a file with it, and proves a file
/// by what was read of another one: nothing panics, and what is proven is the same in both.
///
/// # Panics
/// When one of these does not hold.
pub fn checkpoint(bytes: &[u8]) {
    let cut = bytes
        .first()
        .map_or(0, |cut| usize::from(*cut))
        .min(bytes.len());
    let (stored, file) = bytes.split_at(cut);
    let proof = Proof::from_bytes(stored);
    assert_eq!(
        Proof::from_bytes(&proof.to_bytes()).to_bytes(),
        proof.to_bytes()
    );
    let _ = tail_holds(&mut Cursor::new(file), &proof);
    if let Ok((all, read)) = prove_all(&mut Cursor::new(file), &proof) {
        assert!(read <= file.len() as u64 && (!all || read == proof.covers()));
    }
    // A file that was read in two pieces, and the same with a byte changed: several blocks long,
    // from few bytes.
    let long: Vec<u8> = file
        .iter()
        .copied()
        .cycle()
        .take(file.len() * 977 % 200_000)
        .collect();
    let (first, second) = long.split_at(long.len() / 3);
    let mut proof = Proof::default();
    proof.extend(first);
    proof.extend(second);
    proof.set_tail(&long);
    let whole = prove_all(&mut Cursor::new(&long), &proof);
    assert_eq!(whole.ok(), Some((true, long.len() as u64)));
    if let Some(at) = long
        .len()
        .checked_sub(1)
        .map(|last| hash(bytes) as usize % (last + 1))
    {
        let mut changed = long.clone();
        changed[at] ^= 1;
        let first = prove_range(&mut Cursor::new(&changed), &proof, 0..usize::MAX);
        let first = first.ok().and_then(|(first, _)| first);
        assert_eq!(first, Some(at / BLOCK), "byte {at} is another");
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn any_checkpoint_proves_only_what_is_there() {
        let asked = std::env::var("SESSIONARY_FUZZ").ok();
        let many = asked.and_then(|many| many.parse().ok()).unwrap_or(300);
        for seed in 0..many {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut bytes = vec![0; rng.random_range(0..600)];
            rng.fill(&mut bytes[..]);
            if let [cut, rest @ ..] = &mut bytes[..]
                && rest.len() > 40
            {
                // Something that could have been stored.
                *cut = 1 + 8 * rng.random_range(0..5_u8);
                let filled = rng.random_range(0..70_000_u64).to_le_bytes();
                rest[8..16].copy_from_slice(&filled);
            }
            super::checkpoint(&bytes);
        }
    }
}
