//! What differs between two things that should be equal?

/// What differs: the first of it, and how much more.
#[derive(Default)]
pub struct Differences {
    first: Option<String>,
    more: u64,
}

impl Differences {
    /// Note one more.
    pub fn add(&mut self, what: impl FnOnce() -> String) {
        match self.first {
            Some(_) => self.more += 1,
            None => self.first = Some(what()),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// All of them in one line.
    pub fn summary(self) -> Option<String> {
        let Differences { first, more } = self;
        first.map(|first| match more {
            0 => first,
            _ => format!("{first}; and {more} more differences"),
        })
    }
}
