#!/usr/bin/env python3
"""Prints what a new version of an agent writes that no fixture has: `python3 tests/agents/unseen.py AGENT FOLDER`.

AGENT is a folder of fixtures/, FOLDER holds JSON lines that the agent wrote. What is compared is the type of each line
and the keys in it, down to three levels; values are never printed. A line of output is a type, or a type and a key,
with the number of lines that have it and the first of them. Types that a list fixtures/AGENT-events.txt names are
known too; of a type that is new no keys are printed. Exit code 1: something is new.
"""
import json
import os
import sys

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../fixtures")
DEPTH = 3


def type_of(record):
    """Agents name it differently: the first that is there."""
    for key in ("type", "kind", "role"):
        if isinstance(record.get(key), str):
            return record[key]
    return "(no type)"


def keys(value, path=(), depth=DEPTH):
    if isinstance(value, list):
        for item in value:
            yield from keys(item, path, depth)
    elif isinstance(value, dict) and depth:
        for key, inner in value.items():
            # Names of files, models and the like are values.
            name = key if key.isidentifier() else "*"
            yield ".".join(path + (name,))
            yield from keys(inner, path + (name,), depth - 1)


def read(folder):
    """Types and keys by `(type, key or None)`, with how many lines have them and where the first is."""
    seen = {}
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(("jsonl", "ndjson")):
                continue
            path = os.path.join(base, name)
            with open(path, "rb") as file:
                for number, line in enumerate(file, 1):
                    try:
                        record = json.loads(line)
                    except ValueError:
                        continue
                    if not isinstance(record, dict):
                        continue
                    kind = type_of(record)
                    for key in {None, *keys(record)}:
                        count, first = seen.get((kind, key), (0, "%s, line %d" % (path, number)))
                        seen[kind, key] = count + 1, first
    return seen


def main(agent, folder):
    known = set(read(os.path.join(FIXTURES, agent)))
    listed = os.path.join(FIXTURES, agent + "-events.txt")
    types = {kind for kind, key in known if key is None}
    if os.path.exists(listed):
        types |= {line.split()[0] for line in open(listed)}
    new = 0
    for (kind, key), (count, first) in sorted(read(folder).items(), key=lambda item: (item[0][0], item[0][1] or "")):
        is_new_type = kind not in types
        if is_new_type and key is None or not is_new_type and key is not None and (kind, key) not in known:
            print("%s%s: %d, first in %s" % (kind, " " + key if key else "", count, first))
            new += 1
    print("%d types and keys are new" % new, file=sys.stderr)
    return 1 if new else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
