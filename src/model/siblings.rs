//! In which order do the children of one entry stand? As pi sorts them, in JavaScript.

/// Sort by time, ties in the order they have.
///
/// A time that cannot be read makes pi's comparison NaN, which JavaScript takes for equal, with
/// whatever it is compared with. Where there is such a one the order depends on how V8 sorts: fewer
/// than 64 are one run that ascends or descends, then each of the rest is put into its place by
/// halves.
pub fn sort_siblings<T: Copy>(siblings: &mut [T], time: impl Fn(T) -> Option<i64>) {
    if siblings.iter().all(|one| time(*one).is_some()) {
        siblings.sort_by_key(|one| time(*one));
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
}
