//! What agentuse's documents say: a session, its messages, their parts. What is not named here is
//! kept as it is written.

use crate::value::{Json, Value, object};

/// How a session ended, or that it has not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// At work, or ended without a word.
    Running,
    /// Done.
    Completed,
    /// Failed.
    Error,
    /// Waiting for somebody's answer.
    Suspended,
    /// Another one.
    Other(String),
}

impl Value for Status {
    fn read(text: &str) -> Option<Self> {
        let status = String::read(text)?;
        Some(match &*status {
            "running" => Self::Running,
            "completed" => Self::Completed,
            "error" => Self::Error,
            "suspended" => Self::Suspended,
            _ => Self::Other(status),
        })
    }

    fn write(&self, out: &mut String) {
        let status = match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Error => "error",
            Self::Suspended => "suspended",
            Self::Other(status) => status,
        };
        status.to_owned().write(out);
    }
}

object! {
    /// `session.json`.
    SessionDocument {
        /// The session that this one's was started by.
        parent_session_id: "parentSessionID" Option<String>,
        /// `scheduled`, `manual`, `slack` or `api`; not in old files.
        trigger: "trigger" Option<String>,
        /// Who is at work.
        agent: "agent" Agent,
        /// `provider:model`.
        model: "model" String,
        /// The version of agentuse.
        version: "version" String,
        /// Timeout, steps, servers, subagents.
        config: "config" Option<Json>,
        /// Where the work is.
        project: "project" Project,
        /// The session's id, a ULID; written by the writer.
        id: "id" String,
        /// How it stands; not in old files. Written by the writer.
        status: "status" Option<Status>,
        /// When; written by the writer.
        time: "time" SessionTime,
        /// `{message, code, time, …}` of a session that failed.
        error: "error" Option<Json>,
        /// Where it was talked about, as in Slack.
        channels: "channels" Option<Json>,
    }
}

object! {
    /// Who is at work.
    Agent {
        /// Its path below the project, without `.agentuse`; not in old files.
        id: "id" Option<String>,
        /// Its name.
        name: "name" String,
        /// Its file.
        file_path: "filePath" Option<String>,
        /// What it is for.
        description: "description" Option<String>,
        /// Whether another session started it.
        is_sub_agent: "isSubAgent" bool,
    }
}

object! {
    /// Where the work is.
    Project {
        /// The folder with the agents.
        root: "root" String,
        /// The working directory.
        cwd: "cwd" String,
    }
}

object! {
    /// When a session began and changed, in ms since the epoch.
    SessionTime {
        /// Its beginning.
        created: "created" i64,
        /// The last change of `session.json`.
        updated: "updated" i64,
    }
}

object! {
    /// `message.json`: what was asked, and what came of it. The answer itself is in the parts.
    MessageDocument {
        /// The message's id, a ULID; written by the writer where it is empty.
        id: "id" String,
        /// The session; written by the writer.
        session_id: "sessionID" String,
        /// When; its beginning is written by the writer where it is 0.
        time: "time" MessageTime,
        /// What was asked.
        user: "user" User,
        /// Who answered, and what it cost.
        assistant: "assistant" Answer,
    }
}

impl MessageDocument {
    /// A message that gives a task.
    pub fn task(task: impl Into<String>) -> Self {
        let prompt = Prompt {
            task: task.into(),
            ..Prompt::default()
        };
        let user = User {
            prompt,
            ..User::default()
        };
        Self {
            user,
            ..Self::default()
        }
    }
}

object! {
    /// When a message began and ended, in ms since the epoch.
    MessageTime {
        /// Its beginning.
        created: "created" i64,
        /// Its end.
        completed: "completed" Option<i64>,
    }
}

object! {
    /// The asking side of a message.
    User {
        /// What was asked.
        prompt: "prompt" Prompt,
    }
}

object! {
    /// What was asked.
    Prompt {
        /// The agent's task.
        task: "task" String,
        /// What the user added.
        user: "user" Option<String>,
    }
}

object! {
    /// The answering side of a message.
    Answer {
        /// The system prompts.
        system: "system" Vec<String>,
        /// `provider:model`.
        model_id: "modelID" String,
        /// Who runs the model.
        provider_id: "providerID" String,
        /// What it cost, in US dollars.
        cost: "cost" f64,
        /// `{input, output, reasoning, cache: {read, write}}`.
        tokens: "tokens" Option<Json>,
        /// What failed.
        error: "error" Option<Json>,
    }
}

object! {
    /// A part of a message, of any type. What only one type has (`level` of a log, `titles` of a
    /// lesson, …) is in `other`.
    Part {
        /// The part's id, a ULID; written by the writer where it is empty.
        id: "id" String,
        /// The session; written by the writer.
        session_id: "sessionID" String,
        /// The message; written by the writer.
        message_id: "messageID" String,
        /// `text`, `reasoning`, `tool`, `compaction`, `learning`, `error`, `log`, …
        kind: "type" String,
        /// Of text and reasoning: what was said.
        text: "text" Option<String>,
        /// Of text: `user`, where it is not the assistant's.
        role: "role" Option<String>,
        /// Of a tool: the call's id.
        call_id: "callID" Option<String>,
        /// Of a tool: its name.
        tool: "tool" Option<String>,
        /// Of a tool: how far the call has come.
        state: "state" Option<ToolState>,
        /// When it was; a tool's time is in its state.
        time: "time" Option<PartTime>,
    }
}

impl Part {
    /// Text of the assistant.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            kind: "text".to_owned(),
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// The time by which parts are sorted: the start, or for a call that waits, since when it
    /// waits.
    pub(super) fn order_ms(&self) -> Option<i64> {
        let own = self.time.as_ref().and_then(|time| time.start);
        own.or_else(|| {
            let state = self.state.as_ref()?;
            let start = state.time.as_ref().and_then(|time| time.start);
            start.or(state.suspended_at)
        })
    }
}

object! {
    /// When a part began and ended, in ms since the epoch.
    PartTime {
        /// Its beginning.
        start: "start" Option<i64>,
        /// Its end.
        end: "end" Option<i64>,
    }
}

object! {
    /// How far a call has come.
    ToolState {
        /// `pending`, `running`, `completed` or `error`.
        status: "status" String,
        /// What the tool is given.
        input: "input" Option<Json>,
        /// What it gave back.
        output: "output" Option<Json>,
        /// What failed.
        error: "error" Option<Json>,
        /// What was done, in short.
        title: "title" Option<String>,
        /// What the tool tells the program.
        metadata: "metadata" Option<Json>,
        /// When.
        time: "time" Option<PartTime>,
        /// Since when it waits for an answer, in ms since the epoch.
        suspended_at: "suspendedAt" Option<i64>,
        /// What it waits for. `resumeToken` and `approvalUrl` in it let whoever has them answer.
        resume_payload: "resumePayload" Option<Json>,
    }
}
