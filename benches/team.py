#!/usr/bin/env python3
"""What sharing costs: team.py PROGRAMS CORPUS

PROGRAMS is a folder with `sessionary` and `sessionary-team`; CORPUS is a folder of pi's sessions, as
`cargo bench -- --only-corpus` writes it, which is copied. A PostgreSQL server (Debian's) is started
in a temporary folder, with its settings as they come, so each transaction is flushed to the disk.

Printed are seconds of wall time and of processor time (of the program and, where it takes part, of
the server), each also per GB and as a share of a first sync of the same sessions on one machine,
measured in the same run: on a busy machine only such shares mean something. --json prints it all.
"""
import argparse
import json
import os
import pathlib
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A server of its own; root may not run it, so then PostgreSQL's user does."""

    def __init__(self, folder):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
        if not found:
            sys.exit("PostgreSQL is not installed (Debian: postgresql)")
        self.bin, self.folder = found[-1], folder
        self.user = pwd.getpwnam("postgres") if os.getuid() == 0 else None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        folder.mkdir()
        word = folder / "word"
        word.write_text("word\n")
        if self.user:
            for path in (folder, word):
                os.chown(path, self.user.pw_uid, self.user.pw_gid)
        self.run("initdb", "-D", folder / "data", "--username=admin", "--auth=scram-sha-256", "--encoding=UTF8", "--pwfile", word)
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
        self.run("pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log", "-o", options, "start")
        self.sql("CREATE DATABASE team", "postgres")

    def run(self, program, *arguments):
        def become():
            if self.user:
                os.setgid(self.user.pw_gid)
                os.setuid(self.user.pw_uid)
        subprocess.run([self.bin / program, *arguments], check=True, cwd=self.folder, preexec_fn=become,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sql(self, sql, database="team"):
        command = [self.bin / "psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "admin", "-d", database, "-XAtq", "-c", sql]
        answer = subprocess.run(command, check=True, text=True, capture_output=True, env={"PGPASSWORD": "word"})
        return answer.stdout.strip()

    def address(self, role):
        return f"postgres://{role}@127.0.0.1:{self.port}/team"

    def cpu(self):
        """Seconds of processor time of the server and of all that it has started."""
        first = int((self.folder / "data/postmaster.pid").read_text().split("\n")[0])
        ticks = 0
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                name, rest = stat.read_text().rsplit(")", 1)
            except OSError:
                continue
            fields = rest.split()
            number, parent = int(name.split()[0]), int(fields[1])
            if number == first:
                ticks += sum(map(int, fields[11:15]))
            elif parent == first:
                ticks += sum(map(int, fields[11:13]))
        return ticks / TICKS

    def stop(self):
        self.run("pg_ctl", "-D", self.folder / "data", "-m", "fast", "-w", "stop")


class Machine:
    """A home with the programs; its role in the database is called as it is."""

    def __init__(self, folder, name, programs, server):
        self.home, self.name, self.programs, self.server = folder / name, name, programs, server
        self.home.mkdir()
        if server:
            (self.home / ".pgpass").write_text(f"127.0.0.1:{server.port}:*:{name}:{'word'}\n")
            (self.home / ".pgpass").chmod(0o600)

    def environment(self):
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "CI": "1", "TZ": "UTC"}

    def run(self, *arguments, expected=(0, 1)):
        program = self.programs / "sessionary"
        ended = subprocess.run([program, *arguments], env=self.environment(), cwd=self.home, text=True, capture_output=True)
        if ended.returncode not in expected:
            sys.exit(f"{arguments}: {ended.stderr}")
        return ended.stdout

    def timed(self, *arguments):
        """Wall time, its processor time, and the server's."""
        server = self.server.cpu() if self.server else 0.0
        began, before = time.monotonic(), os.times()
        answer = self.run(*arguments)
        wall, after = time.monotonic() - began, os.times()
        own = after.children_user + after.children_system - before.children_user - before.children_system
        return answer, (wall, own, (self.server.cpu() if self.server else 0.0) - server)

    def sessions(self, corpus):
        """The sessions of a corpus, as those of one repository."""
        code, size = self.home / "code", 0
        (code / ".git/objects").mkdir(parents=True)
        (code / ".git/refs").mkdir()
        (code / ".git/HEAD").write_text("ref: refs/heads/main\n")
        (code / ".git/config").write_text('[remote "origin"]\n\turl = https://github.com/ada/code.git\n')
        for path in sorted(corpus.rglob("*.jsonl")):
            text = path.read_bytes()
            head, rest = text.split(b"\n", 1)
            cwd = code / re.search(rb'"cwd":"([^"]*)"', head).group(1).decode().strip("/")
            cwd.mkdir(parents=True, exist_ok=True)
            head = re.sub(rb'"cwd":"[^"]*"', b'"cwd":"' + str(cwd).encode() + b'"', head)
            to = self.home / ".pi/agent/sessions" / path.parent.name / path.name
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(head + b"\n" + rest)
            before = path.stat()
            os.utime(to, ns=(before.st_atime_ns, before.st_mtime_ns))
            size += to.stat().st_size
        return size

    def join(self, store):
        self.run("team", "init", store, "--host", self.name, "--keep", expected=(0,))
        self.run("team", "share", "github.com/ada/code", expected=(0,))


def entry(number, text):
    message = {"role": "user", "content": text, "timestamp": 1}
    line = {"type": "message", "id": f"line{number:04}", "parentId": None, "timestamp": "2026-01-05T09:00:01.000Z", "message": message}
    return json.dumps(line) + "\n"


def one_line(writer, reader, lines):
    """Seconds from a line that is appended until a reader, who pulls again and again, finds it."""
    settings = writer.home / ".config/sessionary/config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("[team]\nauto = true\n")
    environment = {**writer.environment(), "CI": ""}
    watch = subprocess.Popen([writer.programs / "sessionary", "watch", "--json"], env=environment, cwd=writer.home,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    path = max((writer.home / ".pi/agent/sessions").rglob("*.jsonl"), key=lambda path: path.stat().st_mtime)
    took = []
    try:
        time.sleep(5)
        for number in range(lines):
            word = f"zyxwv{number}q{os.getpid()}"
            with path.open("a") as file:
                file.write(entry(number, f"the word is {word}"))
            began = time.monotonic()
            # The answer names the query too.
            while not json.loads(reader.run("search", word, "--json"))["sessions"]:
                reader.run("team", "pull")
                if time.monotonic() - began > 60:
                    sys.exit(f"{word} was not found in a minute")
            took.append(time.monotonic() - began)
            time.sleep(1.5)
    finally:
        watch.terminate()
        watch.wait()
    return took


class Table:
    def __init__(self, size):
        self.size, self.rows, self.sync = size / 1e9, [], None

    def row(self, name, times):
        wall, own, server = times
        self.sync = self.sync or times
        shares = (wall / self.sync[0], (own + server) / (self.sync[1] + self.sync[2]))
        self.rows.append({"what": name, "wall_s": wall, "cpu_s": own, "server_cpu_s": server, "wall_s_per_gb": wall / self.size,
                          "of_sync_wall": shares[0], "of_sync_cpu": shares[1]})
        print(f"{name:44} {wall:7.2f} s  {own:7.2f} s CPU  {server:7.2f} s CPU of the server  {wall / self.size:6.2f} s/GB"
              f"  {shares[0]:5.2f} and {shares[1]:5.2f} x a first sync", file=sys.stderr, flush=True)


def measure(folder, programs, corpus, lines):
    server = Server(folder / "server")
    try:
        ada = Machine(folder, "ada", programs, server)
        size = ada.sessions(corpus)
        table = Table(size)
        admin = Machine(folder, "admin", programs, server)
        admin.join(server.address("admin"))
        for role in ("ada", "bob"):
            server.sql(f"CREATE ROLE {role} LOGIN PASSWORD 'word'; GRANT sessionary_reader_team, sessionary_writer_team TO {role}")
        table.row("first sync of all, on one machine", ada.timed("sync")[1])
        shared = folder / "shared"
        ada.join(f"dir:{shared}")
        table.row("push into a folder", ada.timed("team", "push")[1])
        table.row("push again, nothing is new", ada.timed("team", "push")[1])
        bob = Machine(folder, "bob", programs, server)
        bob.join(f"dir:{shared}")
        table.row("pull from a folder", bob.timed("team", "pull")[1])
        shutil.rmtree(bob.home)
        shutil.rmtree(shared)
        ada.join(server.address("ada"))
        table.row("push into a database, with rows", ada.timed("team", "push")[1])
        table.row("push again, nothing is new", ada.timed("team", "push")[1])
        bob = Machine(folder, "bob", programs, server)
        bob.join(server.address("bob"))
        table.row("pull from a database", bob.timed("team", "pull")[1])
        table.row("the list after it", bob.timed("list", "--all", "--json")[1])
        table.row("everything after it", bob.timed("sync")[1])
        for view in ("sessions", "usage_by_model", "tools", "usage"):
            query = f"SELECT count(*) FROM (SELECT * FROM {view}) AS v"
            table.row(f"sql --at team: {view}", bob.timed("team", "sql", query)[1])
        took = one_line(ada, bob, lines) if lines else []
        print("a line is found after " + ", ".join(f"{of:.2f}" for of in took) + " s", file=sys.stderr)
        stored = server.sql("SELECT pg_total_relation_size('sessionary.blocks'), sum(pg_total_relation_size(c.oid)) FROM pg_class c"
                            " JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'sessionary_catalogue' AND relkind = 'r'")
        blocks, rows = map(int, stored.split("|"))
        print(f"{size} bytes of sessions are {blocks} bytes of blocks and {rows} of rows", file=sys.stderr)
        return {"bytes": size, "blocks_bytes": blocks, "rows_bytes": rows, "rows": table.rows, "line_s": took}
    finally:
        server.stop()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("programs", type=pathlib.Path, metavar="PROGRAMS")
    arguments.add_argument("corpus", type=pathlib.Path, metavar="CORPUS")
    arguments.add_argument("--lines", type=int, default=10, help="lines that are appended [10]")
    arguments.add_argument("--json", action="store_true", help="print the figures as JSON")
    asked = arguments.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sessionary-team-"))
    folder.chmod(0o755)
    try:
        measured = measure(folder, asked.programs.resolve(), asked.corpus.resolve(), asked.lines)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if asked.json:
        print(json.dumps(measured, indent=1))


main()
