//! What versions from 0.2.126 to 2.1.100 write, as their own files show it.

use serde_json::{Value, json};

use super::*;

/// A line of this version.
fn of(version: &str, mut line: Value) -> Value {
    line["version"] = version.into();
    line
}

#[test]
fn since_2_1_97_what_was_typed_while_a_tool_worked_stands_in_an_attachment() {
    let queue = |operation: &str| {
        json!({"type": "queue-operation", "operation": operation, "sessionId": ID,
            "content": "mind the heron", "timestamp": "2026-03-01T10:00:03.000Z"})
    };
    let call = json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}});
    let messages = |version: &str| {
        let lines = [
            typed("u1", "", 1, "paint the hull"),
            said("a1", "u1", 2, "msg_1", call.clone(), 5),
            queue("enqueue"),
            queue("remove"),
        ];
        session(&lines.map(|line| of(version, line))).message_count
    };
    assert_eq!(messages("2.1.96"), 3);
    assert_eq!(messages("2.1.97"), 2);
}
