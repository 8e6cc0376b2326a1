//! Messages that the program sends in the place of a person: known by who the line says sent them,
//! else by how they begin.

use serde::Deserialize;

use crate::json::Text;

/// What must stand behind such a beginning, so that nothing a person types is taken for it.
enum Then {
    /// Anything.
    Any,
    /// The end of the line.
    LineEnd,
    /// This, anywhere.
    Holds(&'static str),
}

use Then::{Any, Holds, LineEnd};

/// How messages begin that nobody typed. `source` is OpenClaw's own code, `seen` are public
/// transcripts, each with its version or time.
const OWN: &[(&str, Then)] = &[
    // Tasks that are due, and a session's start: source, 2026.1.24.
    ("[cron:", Any),
    ("A new session was started via /new or /reset", Any),
    // What is put before a session's start: seen since April 2026.
    ("[Startup context loaded by runtime]", LineEnd),
    // The heartbeat, every half an hour: source, 2026.1.24 (`heartbeat-runner`).
    ("Read HEARTBEAT.md if it exists", Any),
    (
        "An async command you ran earlier has completed. The result is shown in the system \
         messages",
        Any,
    ),
    // The same since February 2026: seen.
    (
        "A scheduled reminder has been triggered. The reminder content is:",
        Any,
    ),
    (
        "A scheduled reminder has been triggered. The reminder message is shown in the system \
         messages",
        Any,
    ),
    (
        "A scheduled cron event was triggered, but no event content was found.",
        Any,
    ),
    // The same in later versions: source (`heartbeat-events-filter`, `heartbeat-filter`); the
    // second seen since May 2026.
    (
        "An async command you ran earlier has completed. The command completion details are:",
        LineEnd,
    ),
    ("An async command completion event was triggered, but ", Any),
    (
        "An async command completed or was terminated during cleanup. Handle the result internally",
        Any,
    ),
    (
        "Run the following periodic tasks (only those due based on their intervals):",
        Holds("\nAfter completing all due tasks"),
    ),
    // The same as 2026.9 asks: source (`heartbeat`).
    (
        "Follow the heartbeat monitor scratch context when provided. ",
        Any,
    ),
    // What stands for such a message in a transcript: source, 2026.9.7
    // (`INTERNAL_WAKE_TRANSCRIPT_PROMPTS`); seen since May 2026.
    ("[OpenClaw heartbeat poll]", LineEnd),
    ("[OpenClaw exec completion]", LineEnd),
    ("[OpenClaw cron wake]", LineEnd),
    ("[OpenClaw session event]", LineEnd),
    // What a subagent or a task came to: source (`subagent-announce`), until February 2026 and
    // then; what of it waited.
    ("A background task \"", Holds(".\n\nFindings:\n")),
    ("[System Message] [sessionId: ", Any),
    ("[Queued announce messages while agent was busy]", LineEnd),
    ("[Queue overflow] Dropped ", Holds(" due to cap.")),
    // Before a compaction: seen since March 2026.
    ("Pre-compaction memory flush. Store durable memories", Any),
    // After a model failed: source, until April 2026 (`resolveFallbackRetryPrompt`). Since then the
    // message itself is sent again.
    (
        "Continue where you left off. The previous model attempt failed or timed out.",
        LineEnd,
    ),
    // Other sessions: source (`input-provenance`, `sessions-send-tool`).
    ("[Inter-session message] sourceSession=", Any),
    ("[Inter-session message] sourceChannel=", Any),
    ("[Inter-session message] sourceTool=", Any),
    ("[Inter-session message] isUser=false", LineEnd),
    ("Agent-to-agent announce step.", LineEnd),
    // To a subagent: source (`subagent-spawn`), seen since February 2026.
    (SUBAGENT, Any),
];

/// How the first message to a subagent begins.
const SUBAGENT: &str = "[Subagent Context] You are running as a subagent (depth ";

/// Before what a subagent is to do, in older versions with a `:`.
const TASK: &str = "\n\n[Subagent Task]";

/// Behind it where there is none.
const BEGIN: &str = "\n\nBegin. Execute the assigned task to completion.";

/// Whether a text is such a message.
pub(super) fn is_own(text: &str) -> bool {
    OWN.iter().any(|(begin, then)| {
        text.strip_prefix(begin).is_some_and(|behind| match then {
            Any => true,
            LineEnd => behind.is_empty() || behind.starts_with(['\n', '\r']),
            Holds(text) => behind.contains(text),
        })
    })
}

/// What a subagent is to do, if a message is the first one to it: empty where its instructions say
/// that.
pub(super) fn task(text: &str) -> Option<&str> {
    let behind = text.strip_prefix(SUBAGENT)?;
    let task = behind.split_once(TASK).map_or("", |(_, task)| task);
    let task = task.strip_prefix(':').unwrap_or(task).trim();
    Some(task.strip_suffix(BEGIN).unwrap_or(task).trim_end())
}

/// Who sent a message of the role `user`, where its line says that (`provenance`: source,
/// `input-provenance`).
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Provenance<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
}

impl Provenance<'_> {
    /// Whether a person did. `None`: it does not say.
    pub fn is_persons(&self) -> Option<bool> {
        match self.kind.as_str()? {
            "external_user" => Some(true),
            "inter_session" | "internal_system" => Some(false),
            _ => None,
        }
    }
}
