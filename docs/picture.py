#!/usr/bin/env python3
"""Draws docs/picture.svg and docs/picker.svg: terminals in which the real program answers, and in which its picker is
open, on the sessions of fixtures/tour.

    cargo build && python3 docs/picture.py target/debug/sessionary            draw it
    cargo build && python3 docs/picture.py --check target/debug/sessionary    exit 1 if it is out of date

Needs nothing but Python. The program runs in a temporary home and prints its own colours, which
become colours of the SVG's text.
"""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path
from xml.sax.saxutils import escape

PROJECT = Path(__file__).resolve().parent.parent
COMMANDS = ["list --all", "search linker error", "tree last"]
NOW = "2026-01-05T12:00:00Z"
COLUMNS = 100
# What is typed into the picker, and when its answer is there.
TYPED, ROWS, SHOWN = "linker", 18, "2 of 3"

# Codes of `src/cli/output/style.rs`, and what they look like.
COLOURS = {"31": "#f47067", "33": "#e0b45f", "35": "#c297e0", "36": "#6cc7d6"}
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


def picker(program):
    """The screen of the picker, as lines with escape sequences for colours."""
    folder = Path(tempfile.mkdtemp()).resolve()
    try:
        here = home(folder)
        environment = {"HOME": str(folder), "CLIDO_DATA_DIR": str(folder / "clido"), "TERM": "xterm-256color"}
        subprocess.run([program, "sync"], env=environment, cwd=here, capture_output=True, check=True)
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(here)
            os.execve(program, [str(program), "--now", NOW, "pick"], environment)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        screen = Screen()
        screen.read(terminal, "F1 help")
        os.write(terminal, TYPED.encode())
        screen.read(terminal, SHOWN)
        os.write(terminal, b"\x1b")
        os.waitpid(process, 0)
        return screen.lines()
    finally:
        shutil.rmtree(folder)


class Screen:
    """What stands on a terminal, as far as the picker asks for it: text, places, colours."""

    def __init__(self):
        self.cells = [[(" ", "")] * COLUMNS for _ in range(ROWS)]
        self.row = self.column = 0
        self.codes, self.rest = [], ""

    def read(self, terminal, shown):
        """Reads what is written until this is shown, and nothing more comes."""
        while True:
            readable, _, _ = select.select([terminal], [], [], 1)
            if readable:
                self.write(os.read(terminal, 65536).decode(errors="ignore"))
            elif any(shown in "".join(text for text, _ in row) for row in self.cells):
                return

    def write(self, text):
        for piece in re.split(r"(\x1b\[[0-9;?]*[A-Za-z])", text):
            place = re.fullmatch(r"\x1b\[(\d+);(\d+)H", piece)
            if place:
                self.row, self.column = int(place[1]) - 1, int(place[2]) - 1
            elif re.fullmatch(r"\x1b\[[0-9;]*m", piece):
                self.style(piece[2:-1])
            elif piece == "\x1b[2J":
                self.cells = [[(" ", "")] * COLUMNS for _ in range(ROWS)]
            elif not piece.startswith("\x1b"):
                for letter in piece:
                    if self.row < ROWS and self.column < COLUMNS:
                        self.cells[self.row][self.column] = (letter, ";".join(self.codes))
                    self.column += 1

    def style(self, codes):
        # What was found is black on a colour: here it has that colour.
        colour = re.search(r"48;5;(\d)|38;5;(\d)", codes)
        code = f"3{colour[1] or colour[2]}" if colour else codes
        if code in COLOURS or code in ("1", "2"):
            self.codes = [known for known in self.codes if known not in COLOURS] + [code]
        elif code == "22":
            self.codes = [known for known in self.codes if known not in ("1", "2")]
        else:
            self.codes = [known for known in self.codes if known not in COLOURS and code not in ("", "0")]

    def lines(self):
        lines = []
        for row in self.cells:
            line, last = "", ""
            for letter, codes in row:
                line += letter if codes == last else f"\x1b[0m\x1b[{codes}m{letter}"
                last = codes
            # How long the answer took differs from run to run.
            lines.append(re.sub(r"\d+ ms", "4 ms", line).rstrip())
        return lines


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


def svg(lines, label):
    plain = [re.sub(r"\x1b\[(?:[0-9;]*m|prompt\])", "", line) for line in lines]
    width = round(2 * MARGIN + CHARACTER * max(map(len, plain)))
    height = BAR + LINE * len(lines) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        f' role="img" aria-label="{label}">',
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
    program = Path(program[0]).resolve()
    pictures = {
        "picture.svg": (transcript, "A terminal: sessionary lists sessions, searches them, and shows one as a tree"),
        "picker.svg": (picker, "A terminal: the picker, a session selected, and its text beside it"),
    }
    for name, (draw, label) in pictures.items():
        picture, path = svg(draw(program), label), PROJECT / "docs" / name
        if not check:
            path.write_text(picture)
        elif path.read_text() != picture:
            sys.exit(f"docs/{name} is out of date: python3 docs/picture.py {program}")


main(sys.argv[1:])
