#!/usr/bin/env python3
"""Makes an OpenCode-like database of made-up sessions: opencode.py FOLDER MEGABYTES

Tables, indexes and shapes of rows are those of OpenCode 1.18: an assistant's message is one call of
the model with the parts step-start, reasoning, text, tool and step-finish, and `event_sequence` has
a number for each session. The table `event`, which repeats every row, is left out.
"""
import json
import os
import random
import sqlite3
import sys

SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, workspace_id text, parent_id text, slug text NOT NULL,
  directory text NOT NULL, path text, title text NOT NULL, version text NOT NULL, share_url text, summary_additions integer,
  summary_deletions integer, summary_files integer, summary_diffs text, metadata text, cost real DEFAULT 0 NOT NULL,
  tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL, tokens_reasoning integer DEFAULT 0 NOT NULL,
  tokens_cache_read integer DEFAULT 0 NOT NULL, tokens_cache_write integer DEFAULT 0 NOT NULL, revert text, permission text,
  agent text, model text, time_created integer NOT NULL, time_updated integer NOT NULL, time_compacting integer, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL REFERENCES session(id) ON DELETE CASCADE,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL REFERENCES message(id) ON DELETE CASCADE, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer NOT NULL, owner_id text);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
"""


def main(folder, megabytes):
    chance = random.Random(7)
    words = ["".join(chance.choice("etaoinshrdlucmfwyp") for _ in range(chance.randint(2, 9))) for _ in range(20000)]
    weights = [1 / (rank + 10) for rank in range(len(words))]
    pool = chance.choices(words, weights, k=2_000_000)

    def say(length):
        start = chance.randrange(len(pool) - length)
        return " ".join(pool[start:start + length])

    db = sqlite3.connect(os.path.join(folder, "opencode.db"), isolation_level=None)
    db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000;" + SCHEMA)
    now, number, written, parts = 1_767_600_000_000, 0, 0, 0

    def name(kind):
        nonlocal number
        number += 1
        return f"{kind}_{now:012x}{number:014d}"

    while written < megabytes * 1_000_000:
        session, begun = name("ses"), now
        db.execute("BEGIN")
        db.execute("INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) VALUES (?,?,?,?,?,?,?,?)",
                   (session, "global", "made-up", f"/code/project{chance.randint(1, 40)}", say(5), "1.18.33", begun, begun))
        changes = 0

        def part(message, data):
            nonlocal written, parts, changes, now
            now += chance.randint(5, 400)
            text = json.dumps(data, separators=(",", ":"))
            db.execute("INSERT INTO part VALUES (?,?,?,?,?,?)", (name("prt"), message, session, now, now, text))
            written, parts, changes = written + len(text), parts + 1, changes + 1

        def message(data):
            nonlocal written, changes, now
            now += chance.randint(50, 4000)
            text = json.dumps({**data, "time": {"created": now, "completed": now + 3000}}, separators=(",", ":"))
            own = name("msg")
            db.execute("INSERT INTO message VALUES (?,?,?,?,?)", (own, session, now, now + 3000, text))
            written, changes = written + len(text), changes + 1
            return own

        for _ in range(max(1, int(chance.lognormvariate(1.6, 1.0)))):
            user = message({"role": "user", "agent": "build", "model": {"providerID": "stub", "modelID": "m1"}})
            part(user, {"type": "text", "text": say(chance.randint(5, 80))})
            for _ in range(max(1, int(chance.lognormvariate(2.0, 0.7)))):
                tokens = {"total": 1300, "input": 800, "output": 250, "reasoning": 50, "cache": {"read": 200, "write": 0}}
                answer = message({"parentID": user, "role": "assistant", "mode": "build", "agent": "build", "cost": 0.01,
                                  "path": {"cwd": "/code", "root": "/code"}, "tokens": tokens, "modelID": "m1", "providerID": "stub",
                                  "finish": "tool-calls"})
                part(answer, {"type": "step-start", "snapshot": "4b825dc642cb6eb9a060e54bf8d69288fbee4904"})
                part(answer, {"type": "reasoning", "text": say(chance.randint(10, 120)), "time": {"start": now, "end": now + 900}})
                part(answer, {"type": "text", "text": say(chance.randint(10, 200)), "time": {"start": now, "end": now + 900}})
                output = say(max(5, int(chance.lognormvariate(6.4, 1.1))))
                part(answer, {"type": "tool", "tool": chance.choice(["bash", "read", "edit", "grep"]), "callID": name("call"),
                              "state": {"status": "completed", "input": {"command": say(8), "filePath": "/code/" + say(1) + ".rs"},
                                        "output": output, "title": say(3), "metadata": {"exit": 0, "output": output[:2000]},
                                        "time": {"start": now, "end": now + 700}}})
                part(answer, {"type": "step-finish", "reason": "tool-calls", "tokens": tokens, "cost": 0.01})
        db.execute("UPDATE session SET time_updated = ? WHERE id = ?", (now, session))
        db.execute("INSERT INTO event_sequence VALUES (?,?,NULL)", (session, changes))
        db.execute("COMMIT")
    sessions = db.execute("SELECT count(*) FROM session").fetchone()[0]
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    print(f"{sessions} sessions, {parts} parts, {written / 1e6:.0f} MB of data")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
