"""How long does a stranger wait from the command that installs to the session that he looks for?

    python3 benches/minute.py PACKAGES [SESSIONS]

PACKAGES is a folder that `python3 packages/make` filled. A home is made with SESSIONS sessions
(5,000) of four agents, pi, Claude Code, Codex and Qwen Code, some 100 KB each. Then, with nothing
installed and no network: the npm packages are installed, a session is looked for by what was said
in it, found by its name, and the command that goes on with it is printed.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

MEAN_BYTES = 100_000
ENTRIES = 40
# What is remembered of one session, and what that session is called.
REMEMBERED, NAME = "gyroscopic hinge", "Align the gyroscopic hinge"


def words(chance, vocabulary, number):
    return " ".join(chance.choices(vocabulary[0], cum_weights=vocabulary[1], k=number))


def vocabulary(chance):
    letters = "abcdefghijklmnopqrstuvwxyz"
    known = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(30_000)]
    weights, total = [], 0.0
    for rank in range(len(known)):
        total += 1 / (rank + 2)
        weights.append(total)
    return known, weights


def moment(number, entry):
    seconds = 1_767_603_600 + number * 600 + entry * 7
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(seconds))


def pi(home, number, texts):
    cwd = f"/home/ada/pi-{number % 20}"
    one = str(uuid.UUID(int=number))
    lines = [{"type": "session", "version": 3, "id": one, "timestamp": moment(number, 0), "cwd": cwd}]
    for at, (role, text) in enumerate(texts):
        lines.append({
            "type": "message", "id": f"{at:08x}", "parentId": f"{at - 1:08x}" if at else None,
            "timestamp": moment(number, at),
            "message": {"role": role, "content": [{"type": "text", "text": text}]},
        })
    stamp = moment(number, 0).replace(":", "-").replace(".", "-")
    return home / ".pi/agent/sessions" / f"--home-ada-pi-{number % 20}--" / f"{stamp}_{one}.jsonl", lines


def claude(home, number, texts):
    one, cwd = str(uuid.UUID(int=number)), f"/home/ada/claude-{number % 20}"
    lines, before = [], None
    for at, (role, text) in enumerate(texts):
        own = str(uuid.UUID(int=number * 1000 + at + 1))
        said = {"role": role, "content": [{"type": "text", "text": text}]}
        if role == "assistant":
            said |= {"id": f"msg_{number}_{at}", "type": "message", "model": "claude-opus-5-5"}
        lines.append({
            "parentUuid": before, "isSidechain": False, "type": role, "uuid": own,
            "timestamp": moment(number, at), "cwd": cwd, "sessionId": one, "version": "2.1.330",
            "message": said,
        })
        before = own
    folder = home / ".claude/projects" / cwd.replace("/", "-")
    return folder / f"{one}.jsonl", lines


def codex(home, number, texts):
    one, cwd = str(uuid.UUID(int=number)), f"/home/ada/codex-{number % 20}"
    lines = [{"timestamp": moment(number, 0), "type": "session_meta", "payload": {
        "id": one, "timestamp": moment(number, 0), "cwd": cwd, "originator": "codex_cli_rs",
        "cli_version": "0.169.0", "source": "cli"}}]
    for at, (role, text) in enumerate(texts):
        kind = "input_text" if role == "user" else "output_text"
        lines.append({"timestamp": moment(number, at), "type": "response_item", "payload": {
            "type": "message", "role": role, "content": [{"type": kind, "text": text}]}})
        if role == "user":
            lines.append({"timestamp": moment(number, at), "type": "event_msg", "payload": {
                "type": "user_message", "message": text}})
    stamp = moment(number, 0)[:19].replace(":", "-")
    day = moment(number, 0)[:10].replace("-", "/")
    return home / ".codex/sessions" / day / f"rollout-{stamp}-{one}.jsonl", lines


def qwen(home, number, texts):
    one, cwd = str(uuid.UUID(int=number)), f"/home/ada/qwen-{number % 20}"
    lines, before = [], None
    for at, (role, text) in enumerate(texts):
        own = f"{number:08x}-{at:04x}"
        lines.append({
            "uuid": own, "parentUuid": before, "sessionId": one, "timestamp": moment(number, at),
            "type": role, "cwd": cwd, "version": "0.24.4",
            "provenance": "real_user" if role == "user" else "assistant_output",
            "message": {"role": "user" if role == "user" else "model", "parts": [{"text": text}]},
        })
        before = own
    folder = home / ".qwen/projects" / cwd.replace("/", "-") / "chats"
    return folder / f"{one}.jsonl", lines


def write(home, sessions):
    chance = random.Random(1)
    known = vocabulary(chance)
    total = 0
    for number in range(sessions):
        size = MEAN_BYTES / ENTRIES / 7 * chance.lognormvariate(-0.5, 1)
        texts = [
            ("assistant" if at % 2 else "user", words(chance, known, int(size) + 3))
            for at in range(ENTRIES)
        ]
        if number == sessions // 2:
            texts[0] = ("user", NAME)
            texts[9] = ("assistant", f"the {REMEMBERED} is aligned")
        agent = (pi, claude, codex, qwen)[number % 4]
        file, lines = agent(home, number, texts)
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(line) + "\n" for line in lines)
        file.write_text(text)
        total += len(text)
    return total


def main():
    packages = Path(sys.argv[1]).resolve()
    sessions = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000
    place = Path(tempfile.mkdtemp(prefix="minute-"))
    try:
        home = place / "home"
        total = write(home, sessions)
        print(f"{sessions} sessions of 4 agents, {total / 1e6:.0f} MB")
        variables = {"HOME": str(home), "PATH": os.environ["PATH"]}
        spent = 0.0

        def timed(what, *command):
            nonlocal spent
            begun = time.monotonic()
            ran = subprocess.run(
                command, env=variables, cwd=home, text=True, capture_output=True, check=False)
            took = time.monotonic() - begun
            spent += took
            print(f"{took:7.2f} s  {what}")
            if ran.returncode != 0:
                sys.exit(f"{command}: {ran.stderr}")
            return ran.stdout

        made = sorted(str(file) for file in packages.glob("sessionary-cli-*.tgz"))
        timed("npm install", "npm", "install", "--offline", "--ignore-scripts", "--no-audit",
              "--prefix", str(place / "npm"), *made)
        program = str(place / "npm/node_modules/.bin/sessionary")
        found = timed(f"search {REMEMBERED}", program, "search", REMEMBERED)
        if "is aligned" not in found:
            sys.exit(f"not found: {found}")
        listed = timed("list --all", program, "list", "--all")
        resumed = timed(f"resume '{NAME}' --print", program, "resume", NAME, "--print")
        print(f"         {resumed.strip()}")
        if not listed or str(uuid.UUID(int=sessions // 2)) not in resumed:
            sys.exit("another session")
        print(f"{spent:7.2f} s  in all")
    finally:
        shutil.rmtree(place)


main()
