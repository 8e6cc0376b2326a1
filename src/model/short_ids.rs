//! How much of an id has to be typed?

/// Characters of an id that are shown, at least.
const SHORTEST: usize = 8;
/// An id that ends so many characters behind, or fewer, is not worth cutting.
const WORTH_CUTTING: usize = 4;

/// The shortest beginnings, at least eight characters long, that tell some ids apart. They are made
/// for people to read and type: [`Index::resolve`](crate::Index::resolve) and
/// [`Snapshot::entry_named`](crate::index::Snapshot::entry_named) take them.
///
/// ```
/// use sessionary::model::ShortIds;
/// let ids = ["019b8d5e-7c80-7000-8000-0000000000a1", "5e550001"];
/// let short = ShortIds::of(ids.map(Into::into).to_vec());
/// assert_eq!(short.short(ids[0]), "019b8d5e");
/// assert_eq!(short.short(ids[1]), "5e550001");
/// ```
#[derive(Debug, Clone, Default)]
pub struct ShortIds {
    sorted: Vec<Box<str>>,
}

impl ShortIds {
    /// Of these ids.
    pub fn of(mut ids: Vec<Box<str>>) -> Self {
        ids.sort_unstable();
        ids.dedup();
        Self { sorted: ids }
    }

    /// Whether an id is long enough to be cut, whatever the others are.
    pub fn may_cut(id: &str) -> bool {
        id.chars().nth(SHORTEST + WORTH_CUTTING).is_some()
    }

    /// The beginning of one of them, or of an id that has come since.
    pub fn short<'i>(&self, id: &'i str) -> &'i str {
        let shared = |other: &str| {
            let both = other.chars().zip(id.chars());
            both.take_while(|(a, b)| a == b).count()
        };
        // In their order, those that share most of it are beside it.
        let before = self.sorted.partition_point(|other| **other < *id);
        let after = self.sorted.partition_point(|other| **other <= *id);
        let beside = [before.checked_sub(1), Some(after)];
        let others = beside.into_iter().filter_map(|at| self.sorted.get(at?));
        let shared = others.map(|other| shared(other)).max();
        let needed = (shared.unwrap_or(0) + 1).max(SHORTEST);
        if id.char_indices().nth(needed + WORTH_CUTTING).is_none() {
            return id;
        }
        let mut rest = id.char_indices().skip(needed);
        // No hyphen at its end.
        let end = rest.find(|(at, _)| !id[..*at].ends_with('-'));
        end.map_or(id, |(at, _)| &id[..at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_where_they_differ() {
        let ids = [
            "019b0000-0000-7000-8000-00000000000a",
            "019b0000-0001-7000-8000-00000000000b",
            "abc",
            "f47ac10b-58cc-4372-a567-0e02b2c3d479",
            "f47ac10",
            "f47ac10c",
            "one-two-three-four",
            "one-twoX",
        ];
        let short = ShortIds::of(ids.map(Into::into).to_vec());
        assert_eq!(
            ids.map(|id| short.short(id)),
            [
                "019b0000-0000",
                "019b0000-0001",
                "abc",
                "f47ac10b",
                "f47ac10",
                "f47ac10c",
                "one-two-t",
                "one-twoX"
            ]
        );
        for (id, may_cut) in ids.into_iter().zip([true, true, false, true, false, false]) {
            assert_eq!(ShortIds::may_cut(id), may_cut, "{id}");
        }
        // One that has come since is told apart from them all the same.
        let new = "019b0000-0001-7000-8000-00000000000c";
        assert_eq!(short.short(new), new);
        assert_eq!(
            ShortIds::default().short("日本語日本語日本語日本語日"),
            "日本語日本語日本"
        );
    }
}
