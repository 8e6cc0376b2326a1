"""What the Python package indusagi writes and reads: indusagi.py write | read OUT.json

`write` leaves sessions of every kind that its SessionManager can make in the home folder; `read`
says what it lists there and what it makes of every session file. It writes while it opens, so each
file is opened as a copy.
"""

import asyncio
import json
import os
import shutil
import sys
import uuid
from datetime import datetime, timedelta, timezone


def no_network(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise RuntimeError(f"{event}: this test talks to nobody")


sys.addaudithook(no_network)

from indusagi.agent import sessions  # noqa: E402
from indusagi.agent.sessions import SessionManager  # noqa: E402

FOLDER = os.path.join(os.environ["HOME"], ".pindusagi", "agent", "sessions")
CWD = "/home/ada/code"


class Ids:
    """UUIDs drawn as session-state.mjs draws them."""

    def __init__(self):
        self.drawn = 0

    def uuid4(self):
        number = self.drawn
        self.drawn += 1
        first = (number + 1) * 0x9E3779B1 & 0xFFFFFFFF
        return uuid.UUID(f"{first:08x}-0000-4000-8000-{number:012}")


class Clock:
    """Every answer of the agent is some seconds after the question."""

    def __init__(self):
        self.now = 1_767_603_600_250

    def tick(self):
        self.now += 1750
        return self.now


clock = Clock()


def user(text):
    return {"role": "user", "content": text, "timestamp": clock.tick()}


def assistant(text, model="opus"):
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]
    return {"role": "assistant", "content": content, "provider": "anthropic", "model": model, "stopReason": "stop", "timestamp": clock.tick()}


def talk(session, count=1):
    """Questions and answers; the ids of the questions."""
    questions = []
    for number in range(count):
        questions.append(session.append_message(user(f"question {number}: ñ 日本 \u2028 end")))
        session.append_message(assistant(f"answer {number}"))
    return questions


def tool(session):
    session.append_message({"role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": [{"type": "text", "text": "printed"}], "isError": False, "timestamp": clock.tick()})


def named(*names):
    def make(session):
        talk(session)
        for name in names:
            session.append_session_info(name)

    return make


def branches(session):
    first, second, *_ = talk(session, 3)
    session.branch(first)
    session.append_message(user("another way"))
    session.branch_with_summary(second, "what was tried", {"readFiles": ["a.rs"], "modifiedFiles": []}, True)
    talk(session)
    session.reset_leaf()
    talk(session)
    session.branch(second)
    session.append_message(assistant("ends here", "sonnet"))


def compactions(session):
    first, second, third = talk(session, 3)
    session.append_compaction("the first summary", second, 1200)
    talk(session)
    session.append_compaction("the second summary", third, 3400, {"readFiles": [], "modifiedFiles": ["b.rs"]}, False)
    tool(session)
    talk(session)


def kept_nothing(session):
    talk(session)
    session.append_compaction("nothing is kept", "nowhere", 5)
    talk(session)


def extensions(session):
    session.append_model_change("openai", "gpt")
    session.append_thinking_level_change("high")
    talk(session)
    session.append_custom_entry("todo", {"items": ["one"]})
    session.append_custom_entry("empty")
    session.append_custom_message_entry("note", "for the model", True, {"a": 1})
    session.append_custom_message_entry("note", [{"type": "text", "text": "a block"}], False)
    session.append_message({"role": "bashExecution", "command": "ls", "output": "a\n", "exitCode": 0, "cancelled": False, "truncated": False, "timestamp": clock.tick()})


def labels(session):
    first, second = talk(session, 2)
    session.append_label_change(first, "start")
    session.append_label_change(second, "gone")
    session.append_label_change(second, None)
    session.append_label_change(first, "begin")


def branched(session):
    first, second = talk(session, 2)
    session.append_label_change(first, "start")
    session.append_session_info("of the whole")
    session.create_branched_session(second)


def forked(session):
    branches(session)
    SessionManager.fork_from(session.get_session_file(), "/home/ada/elsewhere").append_session_info("the fork")


def unanswered(session):
    session.append_message(user("nobody hears this"))
    session.append_session_info("never written")


MADE = [
    named("first"), named("first", ""), named("first", "", "again"), named("  spaced  "), named("first", "   "), named("two\nlines"),
    branches, compactions, kept_nothing, extensions, labels, branched, forked, unanswered,
]


def write():
    for make in MADE:
        make(SessionManager.create(CWD))


def ms(moment):
    return (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)


def row(info):
    return {
        "id": info.id,
        "cwd": info.cwd,
        "name": info.name or None,
        "created": ms(info.created),
        "modified": ms(info.modified),
        "messageCount": info.messageCount,
        "firstMessage": info.firstMessage,
        "allMessagesText": info.allMessagesText,
    }


def nodes(roots):
    """Every node with its depth and its label, its children below it."""
    waiting = [(root, 0) for root in reversed(roots)]
    while waiting:
        node, depth = waiting.pop()
        yield [node.entry.get("id"), depth, node.label]
        waiting.extend((child, depth + 1) for child in reversed(node.children))


def opened(path, copy):
    """What session-state.mjs says of a session, as far as this agent says it."""
    shutil.copy(path, copy)
    sessions.uuid = Ids()
    try:
        if not sessions.load_entries_from_file(copy):
            return {"opens": False}  # To open it would be to overwrite it.
        session = SessionManager.open(copy)
    except ValueError as error:
        return {"fails": type(error).__name__}
    context = session.build_session_context()
    name = session.get_session_name()
    return {
        "id": session.get_session_id(),
        "cwd": session.get_cwd(),
        "header": session.get_header(),
        "entries": session.get_entries(),
        "leaf": session.get_leaf_id(),
        "branch": [entry["id"] for entry in session.get_branch()],
        "tree": list(nodes(session.get_tree())),
        # Its list trims names, its manager does not.
        "name": (name or "").strip() or None,
        "context": [sessions._jsonable(message) for message in context.messages],
        "thinking": context.thinkingLevel,
        "model": context.model,
    }


def read(out):
    listed = asyncio.run(SessionManager.list_all())
    copy = os.path.join(os.environ["HOME"], "opened.jsonl")
    files = [os.path.join(folder, name) for folder, _, names in os.walk(FOLDER) for name in names]
    answer = {
        "listed": [[os.path.relpath(info.path, FOLDER), row(info)] for info in listed],
        "opened": {os.path.relpath(path, FOLDER): opened(path, copy) for path in sorted(files)},
    }
    with open(out, "w", encoding="utf-8") as file:
        json.dump(answer, file, ensure_ascii=True)


write() if sys.argv[1] == "write" else read(sys.argv[2])
