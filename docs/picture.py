#!/usr/bin/env python3
"""Draws docs/picture.svg: a terminal in which the real program answers, on the sessions of fixtures/tour.

    cargo build && python3 docs/picture.py target/debug/sessionary            draw it
    cargo build && python3 docs/picture.py --check target/debug/sessionary    exit 1 if it is out of date

Needs nothing but Python. The program runs in a temporary home and prints its own colours, which
become colours of the SVG's text.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

PROJECT = Path(__file__).resolve().parent.parent
PICTURE = PROJECT / "docs" / "picture.svg"
COMMANDS = ["list --all", "search linker error", "tree last"]
NOW = "2026-01-05T12:00:00Z"
COLUMNS = 100

# Codes of `src/cli/output/style.rs`, and what they look like.
COLOURS = {"31": "#f47067", "33": "#e0b45f", "36": "#6cc7d6"}
FOREGROUND, QUIET, BACKGROUND, PROMPT = "#d6dde6", "#8b97a5", "#161b22", "#7ee787"
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
CHARACTER, LINE, MARGIN, BAR = 8.43, 20, 18, 34


def home(folder):
    """Copies the made-up sessions; `~` in them becomes the folder."""
    for source in sorted((PROJECT / "fixtures" / "tour").rglob("*.jsonl")):
        target = folder / source.relative_to(PROJECT / "fixtures" / "tour")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source.read_text().replace("~", str(folder)))
        if "clido" in target.relative_to(folder).parts:
            os.utime(target, (1767355200, 1767355200))  # 2026-01-02T12:00:00Z
    here = folder / "code" / "app"
    here.mkdir(parents=True)
    return here


def transcript(program):
    """The lines of a terminal, with escape sequences for colours."""
    folder = Path(tempfile.mkdtemp()).resolve()
    try:
        here = home(folder)
        environment = {"HOME": str(folder), "CLIDO_DATA_DIR": str(folder / "clido")}
        lines = []
        for command in COMMANDS:
            answer = subprocess.run(
                [program, "--now", NOW, "--width", str(COLUMNS), "--color", "always", *command.split()],
                cwd=here, env=environment, capture_output=True, text=True, check=True,
            )
            lines += [f"\x1b[prompt]$\x1b[0m \x1b[1msessionary {command}\x1b[0m"]
            lines += answer.stdout.rstrip("\n").split("\n") + [""]
        return lines[:-1]
    finally:
        shutil.rmtree(folder)


def spans(line):
    """The pieces of a line that look alike: (column, text, attributes)."""
    column, codes = 0, []
    for piece in re.split(r"(\x1b\[(?:[0-9;]*m|prompt\]))", line):
        if piece == "\x1b[prompt]":
            codes = ["prompt"]
        elif piece.startswith("\x1b["):
            codes = [code for code in piece[2:-1].split(";") if code not in ("", "0")]
        elif piece:
            if text := piece.strip():
                yield column + piece.index(text), text, attributes(codes)
            column += len(piece)


def attributes(codes):
    colour = next((COLOURS[code] for code in codes if code in COLOURS), FOREGROUND)
    colour = {"2": QUIET, "prompt": PROMPT}.get("".join(codes), colour)
    weight = ' font-weight="700"' if "1" in codes or "prompt" in codes else ""
    return f'fill="{colour}"{weight}'


def svg(lines):
    plain = [re.sub(r"\x1b\[(?:[0-9;]*m|prompt\])", "", line) for line in lines]
    width = round(2 * MARGIN + CHARACTER * max(map(len, plain)))
    height = BAR + LINE * len(lines) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        f' role="img" aria-label="A terminal: sessionary lists sessions, searches them, and shows one as a tree">',
        f'<rect width="{width}" height="{height}" rx="10" fill="{BACKGROUND}"/>',
    ]
    for at, colour in enumerate(["#f47067", "#e0b45f", "#7ee787"]):
        parts.append(f'<circle cx="{MARGIN + 4 + 18 * at}" cy="17" r="5.5" fill="{colour}"/>')
    parts.append(f'<g font-family="{FONT}" font-size="14" xml:space="preserve">')
    for number, line in enumerate(lines):
        y = BAR + LINE * number + 15
        for column, text, how in spans(line):
            x = round(MARGIN + CHARACTER * column, 1)
            parts.append(f'<text x="{x}" y="{y}" {how}>{escape(text)}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])


def main(arguments):
    check = "--check" in arguments
    program = [argument for argument in arguments if argument != "--check"]
    if len(program) != 1:
        sys.exit(__doc__)
    picture = svg(transcript(Path(program[0]).resolve()))
    if not check:
        PICTURE.write_text(picture)
    elif PICTURE.read_text() != picture:
        sys.exit(f"docs/picture.svg is out of date: python3 docs/picture.py {program[0]}")


main(sys.argv[1:])
