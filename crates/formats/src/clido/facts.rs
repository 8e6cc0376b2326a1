//! What one clido line says about itself.

use std::borrow::Cow;

use super::line::{Block, Input, Line, refusal};
use crate::json::{self, Loose};
use crate::model::{Call, Facts, FileTouch, Header, Run};
use crate::tools::used;

/// The facts of one record. clido sees it only if it reads it strictly.
pub(super) fn facts(record: &[u8]) -> Facts {
    let refusal = refusal(record);
    let read = json::tiers(record, |text| {
        Some(match json::parse::<Loose<Line<'_>>>(text)? {
            Loose::Object(line) => of_line(&line)?,
            _ => Facts::default(),
        })
    });
    Facts {
        agent_sees: refusal.is_none(),
        breaks_list: refusal,
        ..read.unwrap_or_default()
    }
}

/// `None` where a part of the line needs the second tier.
fn of_line(line: &Line<'_>) -> Option<Facts> {
    let mut facts = Facts {
        kind: line.kind.owned().unwrap_or_default(),
        role: line.role.owned(),
        ..Facts::default()
    };
    match facts.kind.as_str() {
        "meta" => meta(line, &mut facts),
        "user_message" => {
            facts.is_message = true;
            blocks(line, &mut facts)?;
        }
        "assistant_message" => {
            facts.role = Some("assistant".to_owned());
            blocks(line, &mut facts)?;
        }
        // Repeats a tool_use block of the assistant line before it, which has the call already.
        "tool_call" => {}
        "tool_result" => {
            facts.is_error = line.is_error.0 == Some(true);
            facts.calls.push(Call {
                call_id: line.tool_use_id.shown(),
                is_result: true,
                is_error: Some(facts.is_error),
                subject: line.path.shown(),
                duration_ms: line.duration_ms.0,
                ..Call::default()
            });
            // Only Write and Edit record a hash.
            if let (Some(path), true) = (line.path.shown(), line.content_hash.is_value()) {
                facts.files.push(FileTouch {
                    path,
                    modified: true,
                });
            }
        }
        "result" => {
            let run = Run {
                turns: line.num_turns.0,
                cost: line.total_cost_usd.0,
                duration_ms: line.duration_ms.0,
            };
            facts.run = Some(run).filter(|run| *run != Run::default());
            facts.stop_reason = line.exit_status.owned();
            facts.is_error = line
                .exit_status
                .as_str()
                .is_some_and(|status| !matches!(status, "success" | "completed"));
        }
        "title" => facts.name = line.title.shown(),
        _ => {}
    }
    Some(facts)
}

fn meta(line: &Line<'_>, facts: &mut Facts) {
    facts.time_raw = line.start_time.owned();
    facts.time_ms = line.start_time.as_str().and_then(json::date_ms);
    facts.header = Some(Header {
        id: line.session_id.shown(),
        id_is_string: line.session_id.text().is_some(),
        version: line.schema_version.0,
        cwd: line.project_path.owned(),
        created_raw: facts.time_raw.clone(),
        created_ms: facts.time_ms,
        parent_session: None,
        own: None,
    });
}

fn blocks(line: &Line<'_>, facts: &mut Facts) -> Option<()> {
    for (index, (block, _)) in line.blocks()?.into_iter().enumerate() {
        let Loose::Object(block) = block else {
            continue;
        };
        if index == 0 && facts.is_message {
            // `content[0].text` of any block type: what clido's preview looks at.
            facts.user_text = block.text.text().map(Cow::into_owned);
        }
        match block.kind.as_str() {
            Some("image") => facts.has_image = true,
            Some("tool_use") => tool_use(&block, facts)?,
            _ => {}
        }
    }
    Some(())
}

fn tool_use(block: &Block<'_>, facts: &mut Facts) -> Option<()> {
    let input: Input<'_> = block.input.object()?.unwrap_or_default();
    let tool = block.name.shown();
    let path = input.file_path.owned().or_else(|| input.path.owned());
    let others = [&input.pattern, &input.query, &input.url];
    let subject = used(facts, tool.as_deref(), path, &input.command, &others);
    facts.calls.push(Call {
        call_id: block.id.shown(),
        tool,
        subject,
        ..Call::default()
    });
    Some(())
}
