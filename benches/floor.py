#!/usr/bin/env python3
"""Does an agent find what is there, and does it hear "nothing fits" of what is not?

    floor.py PROGRAM [--questions FILE] [--real FOLDER] [--rg PROGRAM] [--answers FILE]

Asks `PROGRAM mcp` the questions of FILE (questions.tsv, fresh-questions.tsv or third-questions.tsv,
of which each was written before the floor that it judges, or without sight of it): over the scenes of the judged queries, forks and
noise among them as the ranking is measured, and over the pi sessions in FOLDER, which the last
known items are in. Without FOLDER these are left out. Each is asked twice: in the repository
that it is about, as agents ask, and over all sessions (`--all`), most of which are of other
repositories. FILE gets every answer.

What the agent does is fixed. Its first call is `search_sessions` with the first query of the
question. Where an answer names the answering entry, or one at most three entries away, it knows
that: the item is found. It is read when the entry's text is shown. Where the first answer does not
do that, the second call is `show_entry` of the nearest entry named, with three entries around it;
where none is near, `search_sessions` with the second query. The bytes are those of the text of
these answers. An agent that cannot tell what is near opens the first entry that is named, and asks
the second query where none is.

The agent with ripgrep counts the word of the first query that is rarest in the files, among those
that occur (`rg -i -c`), then reads its lines, 300 characters around each (`rg -i -n -o`), then
those of the next rarest word, then those of the second query, until a line of the answering entry
is printed.
"""
import argparse
import csv
import json
import os
import random
import re
import subprocess
import tempfile
from datetime import datetime, timedelta, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
NOISE = 20
BESIDE = 3
SMALL = 6_000
FEW = {"a", "an", "and", "at", "before", "by", "for", "from", "in", "of", "on", "than", "the", "to", "when", "which", "while", "without", "not"}


def scenes():
    """The scenes of scenes.rs."""
    with open(os.path.join(HERE, "scenes.rs"), encoding="utf-8") as file:
        blocks = file.read().split("    Scene {")[1:]
    text = re.compile(r'"((?:[^"\\]|\\.)*)"')
    read = lambda found: json.loads(f'"{found}"')
    for block in blocks:
        field = lambda name: read(re.search(rf'{name}: {text.pattern}', block).group(1))
        scene = {name: field(name) for name in ("project", "name", "ask", "command", "output", "answer")}
        queries = block.split("queries:")[1]
        scene["queries"] = [read(found) for found in re.findall(rf'\({text.pattern},', queries)]
        yield scene


def message(entry, days, role, content, **more):
    return {"type": "message", "id": entry, "timestamp": time(days), "message": {"role": role, "content": content, **more}}


def said(text):
    return [{"type": "text", "text": text}]


def called(call, command):
    return {"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": command}}


def printed(entry, days, call, text):
    return message(entry, days, "toolResult", said(text), toolCallId=call, toolName="bash", isError=False)


def time(days):
    return (NOW - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def write(folder, project, name, days, lines):
    """A session whose entries follow each other."""
    folder = os.path.join(folder, f"--home-ada-{project}--")
    os.makedirs(folder, exist_ok=True)
    parent = None
    for line in lines:
        line["parentId"], parent = parent, line["id"]
    head = {"type": "session", "version": 3, "id": name, "timestamp": time(days), "cwd": f"/home/ada/{project}"}
    with open(os.path.join(folder, f"{name}.jsonl"), "w", encoding="utf-8") as file:
        for line in [head, *lines]:
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


def written(folder):
    """Writes the sessions that relevance.rs writes, with other chances."""
    chance = random.Random(4)
    every = list(scenes())
    for number, scene in enumerate(every):
        days, call, entry = chance.randrange(1, 300), f"call{number}", f"scene{number:02}"
        lines = [
            message(entry + "Ask", days, "user", said(scene["ask"])),
            message(entry + "Call", days, "assistant", [called(call, scene["command"])]),
            printed(entry + "Output", days, call, scene["output"]),
            message(entry + "Answer", days, "assistant", said(scene["answer"])),
            {"type": "session_info", "id": entry + "Name", "timestamp": time(days), "name": scene["name"]},
        ]
        write(folder, scene["project"], entry, days, lines)
        if number % 5 == 0:
            write(folder, scene["project"], f"fork{number:02}", days - 1, lines)
    words = [word for scene in every for name in ("name", "ask", "answer", "output") for word in scene[name].split()]
    has = lambda scene, word: word in scene["ask"] or word in scene["answer"]
    usual = [word for word in words if sum(has(scene, word) for scene in every) > 1]
    for number in range(NOISE):
        days = chance.randrange(300)
        write(folder, "elsewhere", f"noise{number:02}", days, noise(number, days, every, words, usual, chance))


def babble(words, count, chance):
    return "".join(chance.choice(words) + chance.choice([" ", " ", " ", "\n", ": "]) for _ in range(count))


def noise(number, days, every, words, usual, chance):
    """Reminders, pasted logs, earlier searches and outputs, of words in no order."""
    lines = []
    for at in range(10):
        entry, call = f"noise{number:02}{at}", f"c{number}x{at}"
        reminder = f"<system-reminder>{babble(words, 40, chance)}</system-reminder>\n{babble(usual, 12, chance)}"
        lines.append(message(entry + "u", days, "user", said(reminder)))
        if at % 4 == 0:
            log = "".join(f"2026-02-03T04:05:{second:02}Z " + babble(words, 8, chance).replace("\n", " ") + "\n" for second in range(12))
            lines.append(message(entry + "p", days, "user", said("What is this?\n" + log)))
        query = chance.choice(chance.choice(every)["queries"])
        command = f"sessionary search '{query}'" if at % 3 == 0 else "make " + babble(usual, 2, chance)
        lines.append(message(entry + "a", days, "assistant", [*said(babble(usual, 12, chance)), called(call, command)]))
        lines.append(printed(entry + "r", days, call, babble(words, chance.randrange(40, 400), chance) + query))
    return lines


class Files:
    """Which entries stand in which line of which file."""

    def __init__(self, folders):
        self.lines, self.places, self.projects = {}, {}, {}
        for folder in folders:
            for where, _, names in sorted(os.walk(folder)):
                for name in sorted(name for name in names if name.endswith(".jsonl")):
                    self.read(os.path.join(where, name))

    def read(self, path):
        session = None
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    line = json.loads(line)
                except json.JSONDecodeError:
                    continue
                if not session:
                    session = line["id"]
                    self.projects[os.path.basename(line["cwd"])] = line["cwd"]
                entry = line.get("id") or f"L{number}"
                self.lines[path, number] = entry, session
                self.places[session, entry] = number


class Agent:
    """Calls the tools of `sessionary mcp`, in a project or over all sessions."""

    def __init__(self, command, home, project):
        self.command, self.project, self.number = command, project, 0
        scope = [] if project else ["--all"]
        self.process = subprocess.Popen([*command, "mcp", *scope], env={"HOME": home}, cwd=home, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8")
        client = {"name": "floor", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"{self.command[0]} mcp ended before it answered {method}")
            answer = json.loads(line)
            if answer.get("method") == "roots/list":
                roots = [{"uri": f"file://{self.project}"}] if self.project else []
                self.send({"jsonrpc": "2.0", "id": answer["id"], "result": {"roots": roots}})
            elif answer.get("id") == self.number:
                return answer

    def call(self, tool, **arguments):
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if "result" not in answer or answer["result"].get("isError"):
            raise SystemExit(f"{tool} {arguments}: {answer}")
        return "".join(part["text"] for part in answer["result"]["content"])

    def search(self, query):
        return Answer(self.call("search_sessions", query=query))

    def show(self, address):
        return Answer(self.call("show_entry", address=address, context=BESIDE))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Answer:
    """What a tool said: the entries that it names, and whether it gives their text."""

    def __init__(self, text):
        self.text, self.bytes = text, len(text.encode())
        self.is_silent = text.startswith("Nothing fits")
        self.warns = "\nNo earlier session here holds: " in text
        found = re.findall(r"^(\S+):(\S+) · .*\n(.?)", text, re.MULTILINE)
        self.named = [(session, entry, mark == ">") for session, entry, mark in found]

    def shows(self, item):
        return any(is_quoted and item.is_it(session, entry) for session, entry, is_quoted in self.named)

    def near(self, item, files):
        """The address nearest to the answering entry, where one is near enough."""
        named = [(item.distance(session, entry, files), f"{session}:{entry}") for session, entry, _ in self.named]
        distance, address = min(named, default=(BESIDE + 1, None))
        return address if distance <= BESIDE else None


class Item:
    """A question."""

    def __init__(self, row):
        self.id, self.project = row["id"], row["project"]
        self.question, self.queries = row["question"], (row["query1"], row["query2"])
        self.is_known = row["kind"] == "known"
        self.entries = set(row["entries"].split(","))
        self.sessions = {row["session"], row["session"].replace("scene", "fork")}

    def is_it(self, session, entry):
        return session in self.sessions and entry in self.entries

    def distance(self, session, entry, files):
        if session not in self.sessions or not self.is_known:
            return BESIDE + 1
        # A line that is no JSON has a place in no session.
        at = files.places.get((session, entry), float("inf"))
        return min(abs(at - files.places[session, answer]) for answer in self.entries)


def with_tools(agent, item, files, log):
    """How an agent with the tools fares."""
    first, second, whole = (agent.search(query) for query in (*item.queries, item.question))
    near = first.near(item, files)
    calls, size, is_read = 1, first.bytes, first.shows(item)
    then = None
    if not is_read:
        then = agent.show(near) if near else second
        calls, size, is_read = 2, size + then.bytes, then.shows(item)
    is_named = bool(near or second.near(item, files))
    opened = second
    if first.named:
        opened = agent.show("{}:{}".format(*first.named[0][:2]))
    answers = zip([first, second, whole, then, opened], [*item.queries, item.question, "second call", "first opened"])
    log.write(f"==== {item.id} {item.question}\n" + "".join(f"-- {asked}\n{said.text}\n" for said, asked in answers if said))
    return {
        "found": is_named, "read": is_read, "opened": opened.shows(item), "calls": calls, "bytes": size,
        "silent": [answer.is_silent for answer in (first, second, whole)], "warned": first.warns,
    }


def with_rg(rg, item, files, folders):
    """How an agent with ripgrep fares."""
    def run(*arguments):
        told = subprocess.run([rg, "--no-config", "--color=never", "-i", *arguments, *folders], stdout=subprocess.PIPE, check=False)
        return told.stdout

    def ordered(query):
        words = dict.fromkeys(word for word in re.findall(r"[\w.#-]+", query.lower()) if word not in FEW)
        counted = [(run("-c", "-F", "-e", word), word) for word in words]
        lines = lambda told: sum(int(line.rsplit(b":", 1)[1]) for line in told.splitlines())
        return sorted((lines(told), word, told) for told, word in counted if told)

    calls = size = 0
    read = set()
    for query in item.queries:
        words = ordered(query)
        for number, (_, word, told) in enumerate(words):
            if number == 0:
                calls, size = calls + 1, size + len(told)
            if word in read:
                continue
            read.add(word)
            around = 150 - len(word) // 2
            told = run("-n", "-o", "--with-filename", "-e", f".{{0,{around}}}{re.escape(word)}.{{0,{around}}}")
            calls, size = calls + 1, size + len(told)
            for line in told.decode("utf-8", "replace").splitlines():
                place = re.match(r"(.*?\.jsonl):(\d+):", line)
                entry, session = files.lines.get((place[1], int(place[2])), ("", "")) if place else ("", "")
                if item.is_known and item.is_it(session, entry):
                    return {"found": True, "calls": calls, "bytes": size, "silent": False}
            if not item.is_known:
                return {"found": False, "calls": calls, "bytes": size, "silent": False}
    return {"found": False, "calls": calls, "bytes": size, "silent": calls == 0}


def share(part, all):
    return f"{part} of {all} = {100 * part / max(all, 1):.1f} %"


def middle(numbers):
    numbers = sorted(numbers)
    return f"{numbers[len(numbers) // 2]:,}; {numbers[-1]:,}" if numbers else "none"


def told(items, columns, rg):
    """The table; `columns` are what the tools gave, by where they were asked."""
    known = [item for item in items if item.is_known]
    other = [item for item in items if not item.is_known]
    ways = list(columns.values())
    print(f"| | {' | '.join(columns)} | rg |\n|---|{'---|' * (len(ways) + 1)}")

    def line(name, of_tools, of_rg=None):
        cells = [of_tools(way) if of_tools else "" for way in ways]
        print(f"| {name} | {' | '.join(cells)} | {of_rg(rg) if rg and of_rg else ''} |")

    counted = lambda group, holds: lambda way: share(sum(bool(holds(way[item.id])) for item in group), len(group))
    sizes = lambda group: lambda way: middle([way[item.id]["bytes"] for item in group])
    mean = lambda way: f"{sum(way[item.id]['calls'] for item in known) / len(known):.2f}"
    is_quick = lambda fares: fares["found"] and fares["calls"] <= 2
    is_small = lambda fares: is_quick(fares) and fares["bytes"] <= SMALL
    is_silent = lambda at: lambda fares: fares["silent"][at]
    are_silent = lambda fares: all(fares["silent"][:2])
    line("known: found in 2 calls and 6 KB", counted(known, is_small), counted(known, is_small))
    line("known: found in 2 calls", counted(known, is_quick), counted(known, is_quick))
    line("known: read in 2 calls", counted(known, lambda fares: fares["read"]), counted(known, is_quick))
    line("known: read in 1 call", counted(known, lambda fares: fares["read"] and fares["calls"] == 1))
    line("known: read when the first is opened", counted(known, lambda fares: fares["opened"]))
    line("known: found or read by more calls", None, counted(known, lambda fares: fares["found"]))
    line("known: calls, mean", mean, mean)
    line("known: bytes, median; most", sizes(known), sizes(known))
    for name, group in (("known: false silence", known), ("none: silence", other)):
        line(f"{name} to the first query", counted(group, is_silent(0)), counted(group, lambda fares: fares["silent"]))
        line(f"{name} to the second", counted(group, is_silent(1)))
        line(f"{name} to both", counted(group, are_silent))
        line(f"{name} to the question itself", counted(group, is_silent(2)))
        line(f"{name}, or a word is named that no session holds", counted(group, lambda fares: fares["silent"][0] or fares["warned"]))
    line("none: bytes, median; most", sizes(other), sizes(other))
    for name, way in columns.items():
        ids = lambda group, holds: " ".join(item.id for item in group if holds(way[item.id])) or "none"
        print(f"\n{name}\n  not found in 2 calls: {ids(known, lambda fares: not is_quick(fares))}")
        print(f"  not read in 2 calls: {ids(known, lambda fares: not fares['read'])}")
        print(f"  more than 6 KB: {ids(known, lambda fares: fares['bytes'] > SMALL)}")
        print(f"  false silence: {ids(known, is_silent(0))}")
        print(f"  no silence: {ids(other, lambda fares: not fares['silent'][0])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--real", metavar="FOLDER")
    parser.add_argument("--questions", metavar="FILE", default=os.path.join(HERE, "questions.tsv"))
    parser.add_argument("--rg", metavar="PROGRAM")
    parser.add_argument("--answers", metavar="FILE")
    options = parser.parse_args()
    with open(options.questions, encoding="utf-8", newline="") as file:
        items = [Item(row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    with tempfile.TemporaryDirectory() as home, open(options.answers or os.devnull, "w", encoding="utf-8") as log:
        folders = [os.path.join(home, "sessions"), *([os.path.abspath(options.real)] if options.real else [])]
        written(folders[0])
        files = Files(folders)
        items = [item for item in items if item.project in files.projects]
        command = [os.path.abspath(options.program), "--no-default-roots", *(f"--root=pi:{folder}" for folder in folders)]
        subprocess.run([*command, "sync"], env={"HOME": home}, cwd=home, check=True, stdout=subprocess.DEVNULL)
        columns = {"its repository": {}, "all sessions": {}}
        for project, directory in files.projects.items():
            for name, where in zip(columns, (directory, None)):
                asked = [item for item in items if item.project == project]
                agent = Agent(command, home, where)
                log.write(f"######## {project}: {name}\n")
                columns[name].update((item.id, with_tools(agent, item, files, log)) for item in asked)
                agent.end()
        rg = options.rg and {item.id: with_rg(options.rg, item, files, folders) for item in items}
    told(items, columns, rg)


if __name__ == "__main__":
    main()
