#!/usr/bin/env python3
"""Writes sessions of many files as agentuse leaves them: `python3 benches/documents.py DIR SESSIONS PARTS`."""
import json
import os
import random
import sys

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
WORDS = "the walrus read src/main.rs and said that the linker error in fooBar must be fixed before tokens run out of memory again".split()
T0 = 1767603600000  # 2026-01-05T09:00:00Z


def ulid(ms, n):
    letters = ""
    for _ in range(10):
        letters, ms = LETTERS[ms % 32] + letters, ms // 32
    return letters + "%016d" % n


def write(path, value):
    with open(path, "w") as out:
        json.dump(value, out, indent=2)


random.seed(1)
root, sessions, parts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for s in range(sessions):
    at = T0 + s * 100000
    id, message = ulid(at, s), ulid(at + 1, s)
    home = "%s/%016x/session/%s-triage" % (root, s % 7, id)
    os.makedirs("%s/%s/part" % (home, message))
    write(home + "/session.json", {"agent": {"id": "triage", "name": "triage", "isSubAgent": False}, "model": "anthropic:x", "version": "1", "project": {"root": "/w%d" % (s % 7), "cwd": "/w"},
                                   "id": id, "status": "completed", "time": {"created": at, "updated": at + 9}})
    write("%s/%s/message.json" % (home, message), {"id": message, "sessionID": id, "time": {"created": at + 1}, "user": {"prompt": {"task": "sort it"}},
                                                   "assistant": {"modelID": "anthropic:x", "cost": 0, "tokens": {"input": 1, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}}})
    for p in range(parts):
        start, text = at + 10 + p, " ".join(random.choices(WORDS, k=80))
        part = {"id": ulid(start, p), "messageID": message, "type": "text", "text": text, "time": {"start": start}}
        if p % 2 == 0:
            part = {"id": part["id"], "messageID": message, "type": "tool", "callID": "c%d" % p, "tool": "tools__bash",
                    "state": {"status": "completed", "input": {"command": "cargo test"}, "output": text * 3, "time": {"start": start, "end": start + 1}}}
        write("%s/%s/part/%s.json" % (home, message, part["id"]), part)
