#!/usr/bin/env python3
"""Reads stores with a second reading of their formats and prints where sessionary reads otherwise.

independent.py SESSIONARY HOME: SESSIONARY is the built command, HOME a folder in which stores of
OpenCode (1.x), Copilot CLI, OpenClaw and induscode lie as in a person's home. It is copied before
anything is opened. Nothing here was taken from sessionary: only the standard library, and what
these agents write. Sessions, titles, what was typed, calls and tokens are compared.
"""
import collections
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

Tokens = collections.namedtuple("Tokens", "input output cache_read cache_write")
# What a session says: `tokens` is None where no answer has any.
Session = collections.namedtuple("Session", "title prompts calls tokens")


def add_up(usages):
    return Tokens(*map(sum, zip(*usages))) if usages else None


def on_one_line(text):
    return " ".join((text or "").split())


def lines_of(path):
    """The objects that are whole lines of a file."""
    with open(path, "rb") as file:
        for line in file.read().split(b"\n"):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def texts(content):
    """The pieces of text in the content of a message of pi's kind."""
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content or [] if block.get("type") == "text"]


def called(content):
    if isinstance(content, str):
        return []
    return [block["name"] for block in content or [] if block.get("type") == "toolCall"]


def usage_of(message):
    """What one of pi's answers spent."""
    usage = message.get("usage")
    if message.get("role") != "assistant" or not usage:
        return None
    names = "input", "output", "cacheRead", "cacheWrite"
    return Tokens(*(usage.get(name) or 0 for name in names))


def opencode(home):
    for file in glob.glob(os.path.join(home, ".local/share/opencode/opencode*.db")):
        database = sqlite3.connect(file)
        sessions = database.execute("SELECT id, title, parent_id FROM session").fetchall()
        for session, title, parent in sessions:
            prompts, calls, usages = [], [], []
            messages = database.execute(
                "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id",
                [session])
            for message, data in messages.fetchall():
                data = json.loads(data)
                tokens = data.get("tokens")
                if data["role"] == "assistant" and tokens:
                    usages.append(Tokens(tokens["input"], tokens["output"] + tokens["reasoning"],
                                         tokens["cache"]["read"], tokens["cache"]["write"]))
                parts = database.execute(
                    "SELECT data FROM part WHERE message_id = ? ORDER BY id", [message])
                typed = []
                for part, in parts:
                    part = json.loads(part)
                    if part["type"] == "tool":
                        calls.append(part["tool"])
                    is_typed = data["role"] == "user" and not part.get("synthetic")
                    if part["type"] == "text" and is_typed:
                        typed.append(part["text"])
                # What a model wrote for its subagent was not typed.
                if parent is None:
                    prompts += typed
            if re.fullmatch(r"(New|Child) session - \d{4}-\d\d-\d\dT[\d:.]+Z", title):
                title = prompts[0] if prompts else title
            yield f"{file}/{session}", Session(title, prompts, calls, add_up(usages))


def copilot(home):
    for file in glob.glob(os.path.join(home, ".copilot/session-state/*/events.jsonl")):
        prompts, calls, usages = [], [], {}
        for event in lines_of(file):
            data = event["data"]
            if event["type"] == "user.message" and "agentId" not in event:
                prompts.append(data["content"])
            if event["type"] == "assistant.message":
                calls += [call["name"] for call in data["toolRequests"]]
            if event["type"] == "session.usage_record":
                usage = data["usage"]
                cached = usage["cacheReadTokens"], usage["cacheWriteTokens"]
                fresh = usage["inputTokens"] - sum(cached)
                usages[usage["apiCallId"]] = Tokens(fresh, usage["outputTokens"], *cached)
        workspace = {}
        about = os.path.join(os.path.dirname(file), "workspace.yaml")
        if os.path.exists(about):
            with open(about, encoding="utf-8") as text:
                workspace = dict(line.rstrip("\n").split(": ", 1) for line in text if ": " in line)
        title = workspace.get("name") or (prompts[0] if prompts else "")
        yield file, Session(title, prompts, calls, add_up(list(usages.values())))


NOT_MODELS = "delivery-mirror", "gateway-injected"


def openclaw(home):
    for file in glob.glob(os.path.join(home, ".openclaw/agents/*/agent/openclaw-agent.sqlite")):
        database = sqlite3.connect(file)
        windows = database.execute(
            "SELECT w.session_id, n.display_name, n.label, w.display_name, w.session_key"
            " FROM session_windows w LEFT JOIN session_nodes n USING (session_key)").fetchall()
        for session, *names in windows:
            prompts, calls, usages = [], [], []
            rows = database.execute(
                "SELECT event_json FROM transcript_events WHERE session_id = ? ORDER BY seq",
                [session])
            for event, in rows:
                message = json.loads(event).get("message") or {}
                if message.get("role") == "user":
                    prompts.append("\n".join(texts(message["content"])))
                if message.get("role") == "assistant":
                    calls += called(message["content"])
                if message.get("model") not in NOT_MODELS and usage_of(message):
                    usages.append(usage_of(message))
            named = names[:3] + prompts[:1] + names[3:]
            title = next(name for name in named if name)
            yield f"{file}/{session}", Session(title, prompts, calls, add_up(usages))


def induscode(home):
    for file in glob.glob(os.path.join(home, ".pindusagi/sessions/*/*.ndjson")):
        # A line of an id that was there takes its place.
        nodes = {node["id"]: node for node in lines_of(file) if node.get("kind") == "entry"}
        heads = [line for line in lines_of(file) if line.get("kind") == "head"]
        prompts, calls, usages = [], [], []
        for node in nodes.values():
            message = node["message"]
            if node["role"] == "user":
                prompts.append("\n".join(texts(message["content"])))
            if node["role"] == "assistant":
                calls += called(message["content"])
                if usage_of(message):
                    usages.append(usage_of(message))
        # Its picker shows what the branch begins with on which it would go on.
        at, title = heads[-1]["leaf"] if heads else list(nodes)[-1], ""
        while at is not None:
            node = nodes[at]
            title = " ".join(texts(node["message"]["content"])) if node["role"] == "user" else title
            at = node["prev"]
        title = on_one_line(title)
        title = title if len(title) <= 72 else title[:71] + "…"
        yield file, Session(title, prompts, calls, add_up(usages))


# What its own picker shows, where that is not what sessionary calls a session.
SHOWN = {"induscode": "firstMessage"}
AGENTS = {"opencode": opencode, "copilot": copilot, "openclaw": openclaw, "induscode": induscode}


class Sessionary:
    """The built command over one home."""

    def __init__(self, command, home, index):
        self.command, self.home, self.index = command, home, index

    def lines(self, *arguments):
        asked = [self.command, "--index", self.index, *arguments]
        asked = subprocess.run(asked, stdout=subprocess.PIPE, env={"HOME": self.home},
                               cwd=self.home, check=False)
        return [json.loads(line) for line in asked.stdout.decode().splitlines() if line]

    def prompts(self, path):
        for shown in self.lines("show", path, "--all", "--json", "--reveal"):
            for entry in shown["entries"]:
                prose = [pieces for kind, pieces in entry["text"] if kind == "prose"]
                if entry["role"] == "user" and prose:
                    yield "\n".join(sum(prose, []))

    def sessions(self, agent):
        calls, tokens = collections.defaultdict(list), {}
        asked = ("SELECT path, tool FROM call_records JOIN sessions USING (session)"
                 " WHERE NOT is_result ORDER BY entry, ordinal")
        for row in self.lines("sql", "--jsonl", asked):
            calls[row["path"]].append(row["tool"])
        asked = ("SELECT path, sum(i) i, sum(o) o, sum(r) r, sum(w) w FROM"
                 " (SELECT session, max(input) i, max(output) o, max(cache_read) r,"
                 " max(cache_write) w FROM usage_records WHERE NOT step"
                 " GROUP BY session, coalesce(response_id, entry))"
                 " JOIN sessions USING (session) GROUP BY path")
        for row in self.lines("sql", "--jsonl", asked):
            tokens[row["path"]] = Tokens(*(row[key] or 0 for key in "iorw"))
        asked = "list", "--all", "--subagents", "--jsonl", "--limit", "0", "--agent", agent
        for row in self.lines(*asked):
            path, title = row["path"], row[SHOWN.get(agent, "title")]
            yield path, Session(title, list(self.prompts(path)), calls[path], tokens.get(path))


def differences(agent, ours, theirs, home):
    prompts, calls = (sum(len(said[what]) for said in ours.values()) for what in (1, 2))
    tokens = sum(sum(said.tokens or []) for said in ours.values())
    print(f"{agent}: {len(ours)} sessions, {len(theirs)} by the second reading;"
          f" {prompts} prompts, {calls} calls, {tokens} tokens")
    for path in sorted(ours.keys() | theirs.keys()):
        place = os.path.relpath(path, home)
        if path not in theirs or path not in ours:
            yield f"{place}: only {'ours' if path in ours else 'the second reading'}"
            continue
        for what, our, their in zip(Session._fields, ours[path], theirs[path]):
            if what == "title":
                our, their = on_one_line(our), on_one_line(their)
            if what == "prompts":
                our, their = ([text.strip() for text in said] for said in (our, their))
            if our != their:
                yield f"{place}: {what} {our!r}, by the second reading {their!r}"


def main(command, stores):
    found = 0
    with tempfile.TemporaryDirectory() as place:
        home = os.path.join(os.path.realpath(place), "home")
        shutil.copytree(stores, home)
        sessionary = Sessionary(os.path.realpath(command), home, os.path.join(place, "index"))
        for agent, read in AGENTS.items():
            ours = dict(sessionary.sessions(agent))
            # Read last: to open a database may change it.
            for difference in differences(agent, ours, dict(read(home)), home):
                print("  " + difference)
                found += 1
    print(f"{found} differences")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
