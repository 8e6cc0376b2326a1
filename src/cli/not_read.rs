//! What lies on this machine that is not read: a list that is empty, or too short, says so.

use sessionary::Config;
use sessionary::locations::NotRead;
use sessionary::model::RootStatus;

use crate::output::Screen;
use crate::output::text::plain_line;
use crate::output::time::{bytes, count};
use crate::places;

/// More lines than one in so many that cannot be read are worth a word, where they are more than
/// torn ones.
const UNPARSED_SHARE: u64 = 20;
const UNPARSED_LEAST: u64 = 10;

/// A line for each agent whose sessions are there and are not read.
pub fn others(config: &Config) -> Vec<NotRead> {
    places::surroundings().not_read(&config.roots)
}

/// `Cursor: 412 files, 1.2 GB, not read by this version`.
pub fn sentence(other: &NotRead) -> String {
    let more = if other.has_more { "more than " } else { "" };
    format!(
        "{}: {more}{}, {more}{}, not read by this version",
        plain_line(&other.agent),
        count(other.files, "file"),
        bytes(other.bytes)
    )
}

/// All that is not read: sessions of other agents, with their places, and of known ones what is of
/// another shape than it was.
pub fn lines(others: &[NotRead], roots: &[RootStatus], screen: &Screen) -> Vec<String> {
    let mut lines = Vec::new();
    for root in roots {
        let agent = plain_line(&root.agent);
        if let Some(first) = &root.first_unknown {
            lines.push(format!(
                "{agent}: {} of a shape that this version does not know; first: {}, line 1",
                count(root.unknown, "file"),
                screen.path(first)
            ));
        }
        let all = root.entries + root.unparsed;
        if root.unparsed >= UNPARSED_LEAST && root.unparsed * UNPARSED_SHARE > all {
            lines.push(format!(
                "{agent}: {} of {} cannot be read; `sessionary sql 'SELECT * FROM problems'` lists them",
                root.unparsed,
                count(all, "line")
            ));
        }
    }
    for other in others {
        let places: Vec<String> = other
            .places
            .iter()
            .map(|place| screen.path(place))
            .collect();
        lines.push(format!("{} ({})", sentence(other), places.join(", ")));
    }
    lines
}

/// The same on stderr, beside an answer.
pub fn say(config: &Config, roots: &[RootStatus], screen: &Screen) {
    for line in lines(&others(config), roots, screen) {
        screen.say(&line);
    }
}
