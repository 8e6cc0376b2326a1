//! Random lines as agents write them, and as they should not.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

const WORDS: [&str; 18] = [
    "walrus",
    "fooBar",
    "snake_case",
    "src/main.rs",
    "1.2.3",
    "v10",
    "日本語",
    "検索",
    "naïve",
    "STRASSE",
    "straße",
    "0xdeadbeef",
    "don't",
    "😀",
    "\\u00e9t\\u00e9",
    "\\\"quoted\\\"",
    "a\\nb",
    "error",
];

pub fn text(rng: &mut ChaCha8Rng) -> String {
    let count = match rng.random_range(0..60) {
        0 => 9_000,
        1..4 => 700,
        _ => rng.random_range(0..7),
    };
    (0..count)
        .map(|_| *WORDS.choose(rng).unwrap())
        .collect::<Vec<_>>()
        .join(" ")
}

/// One line without its newline. `id` makes it unlike others.
pub fn pi(rng: &mut ChaCha8Rng, id: u32) -> Vec<u8> {
    let said = text(rng);
    let base = format!(
        r#""id":"e{id:07}","parentId":"e{:07}","timestamp":"2026-01-{:02}T09:00:{:02}.{:03}Z""#,
        id.saturating_sub(rng.random_range(1..4)),
        rng.random_range(1..28),
        rng.random_range(0..60),
        rng.random_range(0..1000)
    );
    let cost = rng.random::<f64>() / 7.0;
    match rng.random_range(0..16) {
        0 => format!(r#"{{"type":"session","version":3,"id":"s{id}","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/home/ada/code{}"}}"#, rng.random_range(0..3)),
        1..4 => format!(r#"{{"type":"message",{base},"message":{{"role":"user","content":"{said}","timestamp":17676036{id:05}}}}}"#),
        4..7 => format!(r#"{{"type":"message",{base},"message":{{"role":"assistant","content":[{{"type":"text","text":"{said}"}},{{"type":"toolCall","id":"t{id}","name":"read","arguments":{{"path":"src/{id}.rs"}}}}],"provider":"anthropic","model":"m{}","usage":{{"input":{id},"output":2,"cacheRead":0,"cacheWrite":1,"totalTokens":{},"cost":{{"input":0.1,"output":{cost},"cacheRead":0,"cacheWrite":0,"total":{cost}}}}},"stopReason":"toolUse","timestamp":1}}}}"#, id % 3, id + 3),
        7..9 => format!(r#"{{"type":"message",{base},"message":{{"role":"toolResult","toolCallId":"t{id}","toolName":"read","content":[{{"type":"text","text":"{said}"}}],"isError":{},"timestamp":2}}}}"#, id.is_multiple_of(2)),
        9 => format!(r#"{{"type":"session_info",{base},"name":"{}"}}"#, if id.is_multiple_of(3) { "" } else { "named" }),
        10 => format!(r#"{{"type":"label",{base},"targetId":"e{:07}","label":"mark {id}"}}"#, id / 2),
        11 => format!(r#"{{"type":"compaction",{base},"summary":"{said}","firstKeptEntryId":"e1","tokensBefore":{id},"details":{{"readFiles":["c{id}.rs"],"modifiedFiles":["d.rs"]}}}}"#),
        12 => format!(r#"{{"type":"custom",{base},"customType":"todo","data":{{"items":["{said}"]}}}}"#),
        13 => format!(r#"{{"type":"model_change",{base},"provider":"openai","modelId":"gpt-{id}"}}"#),
        14 => format!(r#"{{"type":"message",{base},"message":{{"role":"bashExecution","command":"cargo {id}","output":"{said}","exitCode":{},"timestamp":3}}}}"#, id % 2),
        _ => return junk(rng),
    }
    .into_bytes()
}

/// One line of clido without its newline.
pub fn clido(rng: &mut ChaCha8Rng, id: u32) -> Vec<u8> {
    let said = text(rng);
    match rng.random_range(0..14) {
        0..2 => format!(r#"{{"type":"meta","session_id":"c{id}","schema_version":1,"start_time":"2026-01-05T09:00:00.974528000+00:00","project_path":"/home/ada/code"}}"#),
        2..5 => format!(r#"{{"type":"user_message","role":"user","content":[{{"text":"{said}","type":"text"}}]}}"#),
        5..8 => format!(r#"{{"type":"assistant_message","content":[{{"thinking":"easy","type":"thinking"}},{{"text":"{said}","type":"text"}},{{"id":"u{id}","input":{{"file_path":"src/{id}.rs"}},"name":"Write","type":"tool_use"}}]}}"#),
        8 => format!(r#"{{"type":"tool_call","tool_use_id":"u{id}","tool_name":"Write","input":{{"file_path":"src/lib.rs","content":"{said}"}}}}"#),
        9 => format!(r#"{{"type":"tool_result","tool_use_id":"u{id}","content":"{said}","is_error":{},"duration_ms":{id},"path":"/w/src/lib.rs"}}"#, id.is_multiple_of(2)),
        10..12 => format!(r#"{{"type":"result","exit_status":"completed","total_cost_usd":{},"num_turns":{},"duration_ms":1200}}"#, rng.random::<f64>() / 3.0, rng.random_range(0..9)),
        12 => title(id),
        _ => return junk(rng),
    }
    .into_bytes()
}

/// One line of Claude Code without its newline.
pub fn claude(rng: &mut ChaCha8Rng, id: u32) -> Vec<u8> {
    let said = text(rng);
    let parent = id.saturating_sub(rng.random_range(1..4));
    let base = format!(
        r#""uuid":"e{id}","parentUuid":"e{parent}","sessionId":"c{}","timestamp":"2026-03-01T09:00:{:02}.000Z","cwd":"/w","gitBranch":"b{id}""#,
        id / 40,
        id % 60
    );
    let usage = format!(r#""usage":{{"input_tokens":3,"output_tokens":{}}}"#, id % 7);
    // Several lines record one answer.
    let answer = format!(
        r#""id":"msg_{}","model":"m","stop_reason":null,{usage}"#,
        id / 3
    );
    match rng.random_range(0..16) {
        0..3 => format!(r#"{{"type":"user",{base},"message":{{"role":"user","content":"{said}"}}}}"#),
        3..6 => format!(r#"{{"type":"assistant",{base},"effort":"low","message":{{{answer},"content":[{{"type":"text","text":"{said}"}}]}}}}"#),
        6..8 => format!(r#"{{"type":"assistant",{base},"requestSessionId":"c9","message":{{{answer},"content":[{{"type":"tool_use","id":"t{id}","name":"Read","input":{{"file_path":"/w/{id}"}}}}]}}}}"#),
        8..10 => format!(r#"{{"type":"user",{base},"message":{{"content":[{{"type":"tool_result","tool_use_id":"t{parent}","content":"{said}","is_error":{}}}]}},"toolUseResult":{{"durationMs":{id}}}}}"#, id.is_multiple_of(2)),
        10 => format!(r#"{{"type":"system","subtype":"compact_boundary","uuid":"e{id}","parentUuid":null,"logicalParentUuid":"e{parent}"}}"#),
        11..13 => format!(r#"{{"type":"last-prompt","lastPrompt":"x","leafUuid":"e{parent}"}}"#),
        13 => format!(r#"{{"type":"cost-state","totalCostUSD":{},"modelUsage":{{}}}}"#, rng.random::<f64>()),
        14 => format!(r#"{{"type":"custom-title","customTitle":"title {id}"}}"#),
        _ => return junk(rng),
    }
    .into_bytes()
}

pub fn title(id: u32) -> String {
    format!(r#"{{"type":"title","title":"title {id}"}}"#)
}

fn junk(rng: &mut ChaCha8Rng) -> Vec<u8> {
    match rng.random_range(0..8) {
        0 => b"".to_vec(),
        1 => b"   \t ".to_vec(),
        2 => vec![0; rng.random_range(1..40)],
        3 => b"not json at all".to_vec(),
        4 => b"{\"type\":\"message\",\"id\":\"bad\xff\xfe\"}".to_vec(),
        5 => b"{\"type\":\"zebra\",\"n\":1}{\"type\":\"zebra\",\"n\":2}".to_vec(),
        6 => b"{\"type\":\"zebra\",\"n\":1}\r".to_vec(),
        _ => b"null".to_vec(),
    }
}

/// One line of Gemini CLI without its newline: few ids, each again and again.
pub fn gemini(rng: &mut ChaCha8Rng, id: u32) -> Vec<u8> {
    let any = |rng: &mut ChaCha8Rng| format!("m{}", rng.random_range(id.saturating_sub(9)..=id));
    let message = |rng: &mut ChaCha8Rng| {
        let (said, name) = (text(rng), any(rng));
        let time = format!("2026-01-05T09:00:{:02}.000Z", id % 60);
        let answer = format!(
            r#"{{"functionResponse":{{"id":"c{id}","name":"read_file","response":{{"output":"{said}"}}}}}}"#
        );
        match rng.random_range(0..6) {
            0 => format!(
                r#"{{"id":"{name}","timestamp":"{time}","type":"user","content":[{{"text":"{said}"}}]}}"#
            ),
            1 => format!(
                r#"{{"id":"{name}_response","timestamp":"{time}","type":"user","content":[{answer}]}}"#
            ),
            2 => format!(
                r#"{{"id":"{name}","timestamp":"{time}","type":"user","content":[{answer}]}}"#
            ),
            3 => format!(
                r#"{{"id":"{name}","timestamp":"{time}","type":"gemini","content":"{said}","tokens":{{"input":{id},"output":2,"cached":1,"thoughts":1,"tool":0,"total":{}}},"model":"m"}}"#,
                id + 3
            ),
            4 => format!(
                r#"{{"id":"{name}","timestamp":"{time}","type":"gemini","content":"again","toolCalls":[{{"id":"c{id}","name":"read_file","args":{{"path":"src/{id}.rs"}},"result":[{answer}],"status":"success"}}]}}"#
            ),
            _ => format!(
                r#"{{"id":"d0","timestamp":"{time}","type":"user","content":"<session_context> {said}"}}"#
            ),
        }
    };
    match rng.random_range(0..14) {
        0 => format!(r#"{{"sessionId":"g{}","projectHash":"0","startTime":"2026-01-05T09:00:00.000Z","kind":"main"}}"#, id % 3),
        1..8 => message(rng),
        8 => format!(r#"{{"$set":{{"lastUpdated":"2026-01-05T10:00:00.000Z","summary":"{}"}}}}"#, text(rng)),
        9..12 => {
            let messages: Vec<_> = (0..rng.random_range(0..5)).map(|_| message(rng)).collect();
            format!(r#"{{"$set":{{"messages":[{}],"lastUpdated":"x"}}}}"#, messages.join(", "))
        }
        12 => format!(r#"{{"$rewindTo":"{}"}}"#, any(rng)),
        _ => return junk(rng),
    }
    .into_bytes()
}

/// One line of a rollout of Codex's without its newline.
pub fn codex(rng: &mut ChaCha8Rng, id: u32) -> Vec<u8> {
    let said = text(rng);
    let of = |kind: &str, payload: String| {
        let time = format!("2026-01-05T09:00:{:02}.{:03}Z", id % 60, id % 1000);
        format!(r#"{{"timestamp":"{time}","type":"{kind}","payload":{{{payload}}}}}"#)
    };
    let item = |payload: String| of("response_item", payload);
    let event = |payload: String| of("event_msg", payload);
    let usage = format!(
        r#""input_tokens":{id},"cached_input_tokens":1,"output_tokens":2,"reasoning_output_tokens":1,"total_tokens":{}"#,
        id + 2
    );
    match rng.random_range(0..16) {
        0 => of("session_meta", format!(r#""id":"{CODEX}","cwd":"/home/ada/code{}","originator":"codex_cli_rs","base_instructions":{{"text":"{said}"}}"#, id % 2)),
        1 => of("turn_context", format!(r#""cwd":"/home/ada","model":"m{}","effort":"high","turn_id":"u{id}""#, id % 3)),
        2..5 => item(format!(r#""type":"message","role":"user","content":[{{"type":"input_text","text":"{said}"}}]"#)),
        5..7 => item(format!(r#""type":"message","id":"i{id}","role":"assistant","content":[{{"type":"output_text","text":"{said}"}}]"#)),
        7 => item(format!(r#""type":"function_call","call_id":"c{id}","name":"shell","arguments":"{{\"command\":[\"ls\"]}}""#)),
        8 => item(format!(r#""type":"function_call_output","call_id":"c{}","output":"{said}""#, id.saturating_sub(1))),
        9 => event(format!(r#""type":"token_count","info":{{"last_token_usage":{{{usage}}},"total_token_usage":{{{usage}}}}}"#)),
        10 => event(format!(r#""type":"token_usage_record","response_id":"r{}","model":"m","usage":{{{usage}}}"#, id / 2)),
        11 => of("compacted", format!(r#""message":"{said}","replacement_history":[]"#)),
        12 => event(format!(r#""type":"turn_aborted","reason":"interrupted","turn_id":"u{id}""#)),
        13 => event(format!(r#""type":"thread_name_updated","thread_id":"{CODEX}","thread_name":"title {id}""#)),
        14 => event(format!(r#""type":"user_message","message":"{said}""#)),
        _ => return junk(rng),
    }
    .into_bytes()
}

/// The thread of the rollouts that are written.
pub const CODEX: &str = "019b8d5e-7c80-7000-8000-0000000000aa";

/// One line of Codex's file of names without its newline.
pub fn codex_name(rng: &mut ChaCha8Rng, id: u32) -> Vec<u8> {
    match rng.random_range(0..6) {
        0 => junk(rng),
        1 => {
            format!(r#"{{"id":"019b8d5e-7c80-7000-8000-0000000000bb","thread_name":"other {id}"}}"#)
                .into_bytes()
        }
        _ => format!(r#"{{"id":"{CODEX}","thread_name":"{}"}}"#, text(rng)).into_bytes(),
    }
}

/// One event of Copilot's without its newline.
pub fn copilot(rng: &mut ChaCha8Rng, id: u32) -> Vec<u8> {
    let said = text(rng);
    let of = |kind: &str, data: String| {
        let time = format!("2026-01-05T09:00:{:02}.000Z", id % 60);
        let agent = if id.is_multiple_of(5) {
            r#","agentId":"a1""#
        } else {
            ""
        };
        format!(
            r#"{{"type":"{kind}","id":"v{id}","parentId":"v{}","timestamp":"{time}"{agent},"data":{{{data}}}}}"#,
            id.saturating_sub(1)
        )
    };
    match rng.random_range(0..14) {
        0 => of("session.start", format!(r#""sessionId":"o{id}","copilotVersion":"1","startTime":"2026-01-05T09:00:00.000Z","context":{{"cwd":"/home/ada/code","branch":"b{}"}}"#, id % 2)),
        1..4 => of("user.message", format!(r#""content":"{said}","transformedContent":"no""#)),
        4..6 => of("assistant.message", format!(r#""content":"{said}","reasoningText":"hm","model":"m","toolRequests":[{{"toolCallId":"c{id}","name":"view","arguments":{{"path":"/w/{id}"}}}}]"#)),
        6 => of("tool.execution_complete", format!(r#""toolCallId":"c{}","success":{},"result":{{"content":"{said}"}}"#, id.saturating_sub(1), id.is_multiple_of(2))),
        7 => of("session.usage_record", format!(r#""usage":{{"model":"m","inputTokens":{id},"outputTokens":2,"apiCallId":"p{}"}}"#, id / 2)),
        8 => of("assistant.turn_start", format!(r#""turnId":"{id}""#)),
        9 => of("subagent.started", r#""toolCallId":"c1","agentName":"scout""#.to_owned()),
        10 => of("session.error", format!(r#""message":"{said}""#)),
        11 => of("session.shutdown", format!(r#""totalPremiumRequests":{id},"modelMetrics":{{"m":{{"usage":{{"inputTokens":{id},"outputTokens":1}}}},"n":{{"usage":{{"inputTokens":2,"outputTokens":{}}}}}}}"#, id / 2)),
        12 => of("session.brand_new", format!(r#""text":"{said}""#)),
        _ => return junk(rng),
    }
    .into_bytes()
}

/// One line of Copilot's file of a session's name without its newline.
pub fn workspace(rng: &mut ChaCha8Rng, id: u32) -> Vec<u8> {
    match rng.random_range(0..5) {
        0 => junk(rng),
        1 => b"user_named: true".to_vec(),
        2 => b"cwd: /home/ada/elsewhere".to_vec(),
        _ => format!("name: title {id}").into_bytes(),
    }
}

/// One line of a transcript of Cursor's without its newline.
pub fn cursor(rng: &mut ChaCha8Rng, id: u32) -> Vec<u8> {
    let said = text(rng);
    let of = |role: &str, content: String| {
        format!(r#"{{"role":"{role}","message":{{"content":[{content}]}}}}"#)
    };
    let part = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    match rng.random_range(0..8) {
        0..3 => of(
            "user",
            // Some say when they were sent.
            part(&match id.is_multiple_of(2) {
                true => format!(r"<user_query>\n{said}\n</user_query>"),
                false => format!(
                    r"<timestamp>Friday, May 8, 2026, 6:{:02} AM (UTC+5:30)</timestamp>\n<user_query>\n{said}\n</user_query>",
                    id % 60
                ),
            }),
        ),
        3..5 => of("assistant", part(&said)),
        5 => of(
            "assistant",
            format!(
                r#"{{"type":"tool_use","name":"read_file","input":{{"target_file":"/w/{id}"}}}}"#
            ),
        ),
        6 if id.is_multiple_of(2) => {
            r#"{"type":"turn_ended","status":"error","error":"It broke."}"#.to_owned()
        }
        6 => r#"{"type":"turn_ended"}"#.to_owned(),
        _ => return junk(rng),
    }
    .into_bytes()
}

/// One line of Qwen Code without its newline.
pub fn qwen(rng: &mut ChaCha8Rng, id: u32) -> Vec<u8> {
    let said = text(rng);
    let base = format!(
        r#""uuid":"u{id}","parentUuid":"u{}","sessionId":"q","timestamp":"2026-01-05T09:00:{:02}.000Z","cwd":"/home/ada/code","gitBranch":"b{}""#,
        id.saturating_sub(rng.random_range(1..4)),
        id % 60,
        id % 2
    );
    match rng.random_range(0..10) {
        0..2 => format!(r#"{{{base},"type":"user","provenance":"real_user","message":{{"role":"user","parts":[{{"text":"{said}"}}]}}}}"#),
        2..4 => format!(r#"{{{base},"type":"assistant","provenance":"assistant_output","model":"m","message":{{"role":"model","parts":[{{"text":"{said}"}},{{"functionCall":{{"id":"c{id}","name":"edit","args":{{"file_path":"src/{id}.rs"}}}}}}]}},"usageMetadata":{{"promptTokenCount":{id},"candidatesTokenCount":2,"totalTokenCount":{}}}}}"#, id + 2),
        4 => format!(r#"{{{base},"type":"tool_result","provenance":"tool_result","message":{{"role":"user","parts":[{{"functionResponse":{{"id":"c{}","name":"edit","response":{{"error":"{said}"}}}}}}]}},"toolCallResult":{{"status":"error","durationMs":{id}}}}}"#, id.saturating_sub(1)),
        5..8 => format!(r#"{{{base},"type":"system","subtype":"ui_telemetry","systemPayload":{{"uiEvent":{{"event.name":"qwen-code.api_response","response_id":"r{}","model":"m","input_token_count":{id},"output_token_count":2,"total_token_count":{},"response_text":"{said}"}}}}}}"#, id / 2, id + 2),
        8 => format!(r#"{{{base},"type":"system","subtype":"custom_title","systemPayload":{{"customTitle":"title {id}"}}}}"#),
        _ => return junk(rng),
    }
    .into_bytes()
}

/// One line of induscode without its newline: mostly a node, at times where the session stands.
pub fn induscode(rng: &mut ChaCha8Rng, id: u32) -> Vec<u8> {
    let said = text(rng);
    let any = |rng: &mut ChaCha8Rng| format!("n{}", id.saturating_sub(rng.random_range(1..4)));
    let prev = any(rng);
    let node = |role: &str, message: String| {
        format!(
            r#"{{"schema":"indus/transcript@1","kind":"entry","id":"n{id}","prev":"{prev}","role":"{role}","message":{{{message}}},"at":"2026-01-05T09:00:{:02}.000Z"}}"#,
            id % 60
        )
    };
    match rng.random_range(0..12) {
        0..3 => node("user", format!(r#""role":"user","content":"{said}""#)),
        3..6 => node("assistant", format!(r#""role":"assistant","content":[{{"type":"text","text":"{said}"}},{{"type":"toolCall","id":"t{id}","name":"read","arguments":{{"path":"src/{id}.rs"}}}}],"provider":"p","model":"m{}","usage":{{"input":{id},"output":2,"totalTokens":{},"cost":{{"total":0.25}}}}"#, id % 3, id + 2)),
        6..8 => node("tool", format!(r#""role":"toolResult","toolCallId":"t{}","toolName":"read","content":[{{"type":"text","text":"{said}"}}],"isError":{}"#, id.saturating_sub(1), id.is_multiple_of(2))),
        8 => node("condense", format!(r#""role":"compactionSummary","summary":"{said}""#)),
        9 => {
            let leaf = match rng.random_ratio(1, 4) {
                true => "null".to_owned(),
                false => format!("\"{}\"", any(rng)),
            };
            format!(r#"{{"schema":"indus/transcript@1","kind":"head","sessionId":"i{id}","leaf":{leaf}}}"#)
        }
        10 => format!(r#"{{"schema":"indus/transcript@2","kind":"entry","id":"n{id}","text":"{said}"}}"#),
        _ => return junk(rng),
    }
    .into_bytes()
}
