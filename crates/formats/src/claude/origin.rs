//! From which session does one come, where its lines are not copies that say so?

use memchr::memmem;

use super::place::is_session_id;
use crate::json::{self, Raw};

/// What stands between a plan and the file of the session in which it was made.
const DETAILS: &str = "If you need specific details from before exiting plan mode";

/// A prompt that was made of a plan, without where more of it can be read.
pub(super) fn plan(said: &str) -> &str {
    said.rsplit_once(DETAILS)
        .map_or(said, |(plan, _)| plan.trim_end())
}

/// The session in which the plan was made of which this line's prompt is: where a person accepts
/// one and clears the context, another file begins with it, and names the file of that session.
pub(super) fn planned_in(record: &[u8]) -> Option<String> {
    memmem::find(record, br#""planContent""#)?;
    let line = json::utf8(record)?;
    if !Raw(json::member(line, "planContent")).is_value() {
        return None;
    }
    let said = Raw(json::member(json::member(line, "message")?, "content")).text()?;
    let (_, path) = said.rsplit_once("read the full transcript at: ")?;
    let name = path.trim_end().rsplit(['/', '\\']).next()?;
    let id = name.strip_suffix(".jsonl")?;
    is_session_id(id).then(|| id.to_owned())
}

/// Whether the line says that the session is a copy of one that it does not name: `/fork` tells the
/// model so.
pub(super) fn is_briefing(record: &[u8]) -> bool {
    let attachment = || json::member(json::utf8(record)?, "attachment");
    memmem::find(record, br#""fork_briefing""#).is_some()
        && attachment()
            .and_then(|of| Raw(json::member(of, "type")).text())
            .is_some_and(|kind| kind == "fork_briefing")
}
