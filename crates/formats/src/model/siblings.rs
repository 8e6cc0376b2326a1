//! In which order do the children of one entry stand? As pi sorts them, in JavaScript.

/// Fewer than so many V8 sorts by halves; of more it merges runs.
const BY_HALVES: usize = 64;

/// Sort by time, ties in the order they have.
///
/// A time that cannot be read makes pi's comparison NaN, which JavaScript takes for equal, with
/// whatever it is compared with. Where there is such a one the order depends on how V8 sorts
/// (`array-sort.tq`): fewer than 64 are one run that ascends or descends, then each of the rest is
/// put into its place by halves. Among 64 and more the rule is ours: one without a time has that of
/// the one before it, and the first ones stand first.
pub fn sort_siblings<T: Copy>(siblings: &mut [T], time: impl Fn(T) -> Option<i64>) {
    if siblings.len() >= BY_HALVES || siblings.iter().all(|one| time(*one).is_some()) {
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
        return;
    }
    let is_before = |a: T, b: T| matches!((time(a), time(b)), (Some(a), Some(b)) if a < b);
    let sorted = make_run(siblings, &is_before);
    for at in sorted..siblings.len() {
        let pivot = siblings[at];
        let (mut low, mut high) = (0, at);
        while low < high {
            let middle = low + (high - low) / 2;
            match is_before(pivot, siblings[middle]) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        siblings[low..=at].rotate_right(1);
    }
}

/// How many at the beginning are in order; those that descend are turned around.
fn make_run<T: Copy>(siblings: &mut [T], is_before: &impl Fn(T, T) -> bool) -> usize {
    let descends = |pair: &[T]| is_before(pair[1], pair[0]);
    let Some(first) = siblings.windows(2).next().map(descends) else {
        return siblings.len();
    };
    let pairs = siblings.windows(2);
    let run = 1 + pairs.take_while(|pair| descends(pair) == first).count();
    if first {
        siblings[..run].reverse();
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Held against what Node 20 gave for the same times.
    #[test]
    fn times_that_cannot_be_read_stand_where_v8_puts_them() {
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
        let long = [
            t(2),
            t(6),
            t(7),
            x,
            t(1),
            t(2),
            t(5),
            t(4),
            t(0),
            t(4),
            t(1),
            x,
            x,
        ];
        assert_eq!(sorted(&long), [8, 0, 1, 2, 3, 4, 10, 5, 7, 9, 6, 11, 12]);
    }

    #[test]
    fn among_many_one_without_a_time_has_that_of_the_one_before() {
        for many in [BY_HALVES as u32, 100_000] {
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
