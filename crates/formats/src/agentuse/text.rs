//! All text of one agentuse document that can be searched, and the secrets that are no text.

use super::header::Session;
use super::place::Kind;
use super::record::{Message, Part, Payload, State, Tools};
use crate::json::{self, Leaf, Loose, Raw};
use crate::model::{Class, Passage};
use crate::pieces::Pieces;
use crate::terminal::seen;

pub(super) fn passages(kind: Kind, record: &[u8]) -> Vec<Passage> {
    let read = |text: &str| {
        let mut pieces = Pieces::default();
        match kind {
            // Copies of what the messages say, and the tools' descriptions.
            Kind::Context | Kind::Tools => {}
            Kind::Artifact => pieces.output(&Raw(Some(text))),
            Kind::Session => match json::parse::<Loose<Session<'_>>>(text)? {
                Loose::Object(record) => session(&record, &mut pieces),
                _ => pieces.unknown(text),
            },
            Kind::Message => match json::parse::<Loose<Message<'_>>>(text)? {
                Loose::Object(record) => message(&record, &mut pieces)?,
                _ => pieces.unknown(text),
            },
            Kind::Part => match json::parse::<Loose<Part<'_>>>(text)? {
                Loose::Object(record) => part(&record, text, &mut pieces)?,
                _ => pieces.unknown(text),
            },
        }
        Some(without(secrets(text), pieces.into_passages()))
    };
    match kind {
        Kind::Artifact if json::whole(record).is_none() => plain(record),
        _ => json::tiers(record, read).unwrap_or_default(),
    }
}

/// The system prompts of a message, or the descriptions of tools.
pub(super) fn prompts(kind: Kind, record: &[u8]) -> Vec<String> {
    json::tiers(record, |text| {
        let mut pieces = Pieces::default();
        match kind {
            Kind::Message => {
                if let Loose::Object(message) = json::parse::<Loose<Message<'_>>>(text)?
                    && let Some(assistant) = message.assistant.object()
                {
                    pieces.prose(&assistant.system);
                }
            }
            Kind::Tools => {
                if let Loose::Object(record) = json::parse::<Loose<Tools<'_>>>(text)? {
                    pieces.leaves(&record.tools);
                }
            }
            _ => {}
        }
        Some(pieces.into_pieces())
    })
    .unwrap_or_default()
}

/// An artifact that is no JSON.
fn plain(record: &[u8]) -> Vec<Passage> {
    let text = String::from_utf8_lossy(record);
    if text.trim().is_empty() {
        return Vec::new();
    }
    vec![Passage {
        class: Class::Output,
        pieces: vec![seen(text).into_owned()],
    }]
}

/// The agent and how its run failed: the other fields of the header are fields of the session.
fn session(session: &Session<'_>, pieces: &mut Pieces) {
    if let Some(agent) = session.agent.object() {
        pieces.prose(&agent.name);
        pieces.prose(&agent.description);
    }
    if let Some(error) = session.error.object() {
        pieces.prose(&error.message);
        pieces.prose(&error.detail);
        pieces.prose(&error.cause);
    }
    pieces.leaves(&session.earlier_errors);
    if let Some(verification) = session.verification.object() {
        pieces.prose(&verification.critique);
    }
}

fn message(message: &Message<'_>, pieces: &mut Pieces) -> Option<()> {
    if let Some(prompt) = message.user.object().and_then(|user| user.prompt.object()) {
        pieces.prose(&prompt.task);
        pieces.prose(&prompt.user);
    }
    // System prompts are no part of the talk: see `prompts`.
    if let Some(assistant) = message.assistant.object() {
        pieces.prose(&assistant.error);
        pieces.prose(&assistant.summary);
    }
    Some(())
}

/// `None` where a part of the record needs the second tier.
fn part(part: &Part<'_>, whole: &str, pieces: &mut Pieces) -> Option<()> {
    match part.kind.as_str().unwrap_or_default() {
        "text" | "reasoning" => pieces.prose(&part.text),
        "tool" => {
            pieces.output(&part.tool);
            if let Loose::Object(state) = &part.state {
                tool(state, pieces)?;
            }
        }
        "file" => {
            pieces.output(&part.filename);
            pieces.output(&part.url);
            pieces.output(&part.source);
        }
        "agent" => {
            pieces.prose(&part.name);
            pieces.prose(&part.source);
        }
        "step-start" | "step-finish" => {}
        "snapshot" => pieces.output(&part.snapshot),
        "patch" => pieces.output(&part.files),
        "compaction" => pieces.prose(&part.reason),
        "learning" => {
            pieces.prose(&part.titles);
            pieces.prose(&part.detail);
        }
        "error" => {
            pieces.prose(&part.message);
            pieces.prose(&part.detail);
            pieces.prose(&part.code);
        }
        "log" => pieces.output(&part.message),
        _ => pieces.unknown(whole),
    }
    Some(())
}

fn tool(state: &State<'_>, pieces: &mut Pieces) -> Option<()> {
    pieces.leaves_of_arguments(&state.input);
    pieces.output(&state.title);
    pieces.output(&state.output);
    pieces.output(&state.error);
    pieces.leaves(&state.metadata);
    if state.waits_for.is_value()
        && let Loose::Object(wait) = state.waits_for.parse::<Loose<Payload<'_>>>()?
    {
        pieces.prose(&wait.prompt);
        pieces.prose(&wait.child);
        if let Some(review) = wait.review.object() {
            pieces.prose(&review.critique);
        }
    }
    Some(())
}

/// The tokens and URLs in `json` with which anyone could answer for the user.
pub(super) fn secrets(json: &str) -> Vec<String> {
    let mut secrets = Vec::new();
    if memchr::memmem::find(json.as_bytes(), b"resumeToken").is_none()
        && memchr::memmem::find(json.as_bytes(), b"approvalUrl").is_none()
    {
        return secrets;
    }
    json::leaves(json.as_bytes(), |key, leaf| {
        if let ("resumeToken" | "approvalUrl", Leaf::Text(text)) = (key, leaf)
            && !text.is_empty()
        {
            secrets.push(text.into_owned());
        }
    });
    secrets
}

/// The passages without the secrets, wherever else in the record they are repeated.
fn without(secrets: Vec<String>, mut passages: Vec<Passage>) -> Vec<Passage> {
    for secret in secrets.into_iter().map(|secret| seen(secret.into())) {
        for Passage { pieces, .. } in &mut passages {
            let around = |piece: String| piece.split(&*secret).map(str::to_owned).collect();
            let cut = std::mem::take(pieces).into_iter();
            pieces.extend(cut.flat_map::<Vec<_>, _>(around));
            pieces.retain(|piece| !piece.is_empty());
        }
    }
    passages.retain(|passage| !passage.pieces.is_empty());
    passages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_failed_by_is_found_wherever_it_is_said() {
        let session = r#"{"error": {"message": "final lynx", "cause": "blocked ocelot"},
            "errorHistory": [{"message": "earlier serval", "detail": "margay"}],
            "verification": {"status": "failed", "critique": "caracal"}}"#;
        let wait = r#"{"type": "tool", "tool": "await_human", "state": {"status": "pending",
            "resumePayload": {"prompt": "approve?", "signature": "SECRET",
                "reviewEscalation": {"critique": "sandcat"}}}}"#;
        for (kind, record, words) in [
            (
                Kind::Session,
                session,
                &[
                    "final lynx",
                    "blocked ocelot",
                    "earlier serval",
                    "margay",
                    "caracal",
                ][..],
            ),
            (Kind::Part, wait, &["approve?", "sandcat"]),
        ] {
            let texts = passages(kind, record.as_bytes()).into_iter();
            let texts: Vec<String> = texts.flat_map(|passage| passage.pieces).collect();
            for word in words {
                assert!(texts.iter().any(|text| text == word), "{word}: {texts:?}");
            }
            assert!(!texts.iter().any(|text| text == "SECRET"));
        }
    }
}
