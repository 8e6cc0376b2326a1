#!/usr/bin/env python3
"""Writes fixtures/copilot-events.txt: `python3 tests/agents/copilot_events.py session-events.schema.json`.

Copilot ships the schema of its events (`~/.cache/copilot/pkg/<system>/<version>/schemas/`). A line is the type of an
event, and `written` or `ephemeral`: events that the schema calls ephemeral are sent to clients and never written.
"""
import json
import os
import sys

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../fixtures/copilot-events.txt")

schema = json.load(open(sys.argv[1]))
definitions = schema["definitions"]


def definition(reference):
    return definitions[reference["$ref"].rsplit("/", 1)[-1]]


lines = []
for reference in definition(schema)["anyOf"]:
    properties = definition(reference)["properties"]
    is_ephemeral = properties.get("ephemeral", {}).get("const") is True
    lines.append("%s %s\n" % (properties["type"]["const"], "ephemeral" if is_ephemeral else "written"))
with open(OUT, "w") as out:
    out.writelines(sorted(lines))
print(len(lines), "types of events")
