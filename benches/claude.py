#!/usr/bin/env python3
"""Writes sessions of the corpus as Claude Code would have: claude.py CORPUS FOLDER

CORPUS is a folder of pi's sessions, as `cargo bench -- --only-corpus` writes it; FOLDER is then
given as `--root claude:FOLDER/projects`. The same texts, calls, results and pictures stand in lines of the
shape of Claude Code 2.1: a line for each block of an answer, all with the answer's id and usage, a
result once in its message and once more as `toolUseResult`, and the environment in every line.
Branches, labels, names and compactions are left out.
"""
import json
import os
import re
import sys
import uuid


def lines(session, entries):
    """The lines of one session."""
    own = str(uuid.uuid5(uuid.NAMESPACE_OID, session["id"]))
    parent, answers = None, 0

    def line(kind, time, message, **more):
        nonlocal parent
        name = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{own}{parent}"))
        head = {"parentUuid": parent, "isSidechain": False, "type": kind, "message": message}
        around = {"uuid": name, "timestamp": time, "userType": "external", "entrypoint": "cli", "cwd": session["cwd"],
                  "sessionId": own, "version": "2.1.330", "gitBranch": "main"}
        parent = name
        return {**head, **more, **around}

    for entry in entries:
        message, time = entry.get("message"), entry["timestamp"]
        if not message or message["role"] not in ("user", "assistant", "toolResult"):
            continue
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "user":
            yield line("user", time, {"role": "user", "content": [block_of(block) for block in blocks]}, promptId=own, permissionMode="default")
        elif message["role"] == "toolResult":
            result = {"type": "tool_result", "tool_use_id": message["toolCallId"], "content": [block_of(block) for block in blocks],
                      "is_error": message.get("isError", False)}
            printed = "".join(block.get("text", "") for block in blocks)
            yield line("user", time, {"role": "user", "content": [result]}, sourceToolAssistantUUID=parent,
                       toolUseResult={"stdout": printed, "stderr": "", "interrupted": False, "isImage": False})
        else:
            answers += 1
            used = message.get("usage", {})
            usage = {"input_tokens": used.get("input", 0), "cache_creation_input_tokens": used.get("cacheWrite", 0),
                     "cache_read_input_tokens": used.get("cacheRead", 0), "output_tokens": used.get("output", 0), "service_tier": "standard"}
            for number, block in enumerate(blocks):
                answer = {"id": f"msg_{own[:8]}{answers}", "type": "message", "role": "assistant", "model": message.get("model"),
                          "content": [block_of(block)], "stop_reason": "tool_use", "usage": usage}
                yield line("assistant", time, answer, requestId=f"req_{own[:8]}{answers}", apiBlockIndex=number)


def block_of(block):
    if block["type"] == "toolCall":
        return {"type": "tool_use", "id": block["id"], "name": block["name"], "input": block["arguments"]}
    if block["type"] == "thinking":
        return {"type": "thinking", "thinking": block["thinking"], "signature": block.get("thinkingSignature", "")}
    if block["type"] == "image":
        return {"type": "image", "source": {"type": "base64", "media_type": block["mimeType"], "data": block["data"]}}
    return {"type": "text", "text": block["text"]}


def main(corpus, folder):
    sessions = size = 0
    for place, _, names in os.walk(corpus):
        for name in sorted(names):
            if not name.endswith(".jsonl"):
                continue
            with open(os.path.join(place, name), encoding="utf-8") as file:
                session, *entries = [json.loads(text) for text in file]
            told = list(lines(session, entries))
            if not told:
                continue
            project = os.path.join(folder, "projects", re.sub(r"[^A-Za-z0-9]", "-", session["cwd"]))
            os.makedirs(project, exist_ok=True)
            path = os.path.join(project, told[0]["sessionId"] + ".jsonl")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(one, separators=(",", ":"), ensure_ascii=False) + "\n" for one in told)
            sessions, size = sessions + 1, size + os.path.getsize(path)
    print(f"{sessions} sessions, {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
