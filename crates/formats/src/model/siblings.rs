//! In which order do the children of one entry stand? As pi sorts them.

/// Sort by time, ties in the order they have. One whose time cannot be read has that of the one
/// before it, and the first ones stand first.
pub fn sort_siblings<T: Copy>(siblings: &mut [T], time: impl Fn(T) -> Option<i64>) {
    let mut last = None;
    let mut timed: Vec<(Option<i64>, T)> = Vec::with_capacity(siblings.len());
    for one in siblings.iter() {
        last = time(*one).or(last);
        timed.push((last, *one));
    }
    timed.sort_by_key(|(time, _)| *time);
    for (place, (_, one)) in siblings.iter_mut().zip(timed) {
        *place = one;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_stand_by_time() {
        let sorted = |times: &[Option<i64>]| {
            let mut all: Vec<u32> = (0..times.len() as u32).collect();
            sort_siblings(&mut all, |one| times[one as usize]);
            all
        };
        let (x, t) = (None, Some);
        assert_eq!(sorted(&[]), [0; 0]);
        assert_eq!(sorted(&[x]), [0]);
        assert_eq!(sorted(&[t(3), t(1), t(2), t(1)]), [1, 3, 2, 0]);
        assert_eq!(sorted(&[x, x, x]), [0, 1, 2]);
        assert_eq!(sorted(&[t(0), t(5), x, t(6)]), [0, 1, 2, 3]);
    }

    #[test]
    fn one_without_a_time_has_that_of_the_one_before() {
        for many in [4, 64, 100_000] {
            // The first has none; then they descend, each followed by one without.
            let mut all: Vec<u32> = (0..many).collect();
            sort_siblings(&mut all, |one| {
                (one % 2 == 1).then_some(i64::from(many - one))
            });
            let pairs = (0..many / 2 - 1)
                .rev()
                .flat_map(|pair| [2 * pair + 1, 2 * pair + 2]);
            let expected: Vec<u32> = [0, many - 1].into_iter().chain(pairs).collect();
            assert_eq!(all, expected);
        }
    }
}
