"""Reads a catalogue with one tool again and again, while another process writes it: reads.py TOOL CATALOGUE ROUNDS

Each round asks in one statement how many entries there are and how many the sessions say there are: the two are equal in
every state that was committed. Then every public view is read. Prints the numbers of entries that were seen.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

tool, catalogue, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
BOTH = "SELECT (SELECT count(1) FROM entries) AS there, (SELECT sum(entries) FROM sessions) AS said"
VIEWS = "SELECT name FROM sqlite_schema WHERE type = 'view' AND substr(name, 1, 1) <> '_'"

# Every column that holds numbers.
NUMBERS = """contract_version session entry created_ms modified_ms file_ms messages entries problems errors version tokens cost
listed_cost bytes listed_by_agent is_subagent subagents current source start length line hash time_ms time_written_ms
agent_sees provisional is_error has_image fused text_cut ordinal answer duration_ms answer_ms calls answered error_rate mean_ms
longest_ms is_result input output cache_read cache_write reasoning total total_written cost_input cost_output cost_cache_read
cost_cache_write cost_total records answers sessions step turns cost_so_far reads modifications first_ms last_ms modified
tokens_before size mtime_ms consumed seq last_scan_ms last_batch outstanding_items outstanding_bytes first_change
last_change""".split()


def counted(ask, view, number, column):
    """One count, one filter and one sum of a view: the tool can bind all of it."""
    ask(f"SELECT count(*) FROM {view}")
    ask(f"SELECT count(*) FROM {view} WHERE {column} IS NOT NULL")
    if number != "*":
        ask(f"SELECT sum({number}) FROM {view} WHERE {number} >= 0")


def python():
    import sqlite3

    connection = sqlite3.connect(Path(catalogue).as_uri() + "?mode=ro", uri=True)

    def ask(query):
        return connection.execute(query).fetchall()

    views = [name for (name,) in ask(VIEWS)]
    def all_views():
        for view in views:
            columns = [name for _, name, *_ in ask(f"PRAGMA table_info({view})")]
            numbers = [name for name in columns if name in NUMBERS]
            counted(ask, view, numbers[0] if numbers else "*", columns[0])
        return [len(ask(f"SELECT * FROM {view}")) for view in views]

    return lambda: ask(BOTH)[0], all_views


def duck():
    import duckdb
    import duckdb_extension_sqlite_scanner as scanner
    import sqlite3

    views = [n for (n,) in sqlite3.connect(Path(catalogue).as_uri() + "?mode=ro", uri=True).execute(VIEWS)]
    extension = next(Path(scanner.__file__).parent.glob("extensions/*/*.duckdb_extension"))
    settings = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    connection = duckdb.connect(config=settings)
    connection.execute(f"LOAD '{extension}'")
    connection.execute(f"ATTACH '{catalogue}' AS c (TYPE sqlite, READ_ONLY)")

    def ask(query):
        return connection.execute(query).fetchall()

    def all_views():
        listed = {name for (name,) in ask("SELECT view_name FROM duckdb_views() WHERE database_name = 'c'")}
        assert listed.issuperset(views), set(views) - listed
        for view in views:
            columns = {name: kind for name, kind, *_ in ask(f"DESCRIBE c.{view}")}
            as_text = [name for name, kind in columns.items() if kind == "VARCHAR" and name in NUMBERS]
            assert not as_text, (view, as_text)
            numbers = [name for name, kind in columns.items() if kind != "VARCHAR"]
            counted(ask, f"c.{view}", numbers[0] if numbers else "*", list(columns)[0])
        return [len(ask(f"SELECT * FROM c.{view}")) for view in views]

    # One statement of DuckDB's may be several of SQLite's; handed through it is one.
    both = f"SELECT there::BIGINT, said::BIGINT FROM sqlite_query('c', '{BOTH}')"
    return lambda: ask(both)[0], all_views


def datasette():
    from datasette.app import Datasette

    served = Datasette([catalogue])
    loop = asyncio.new_event_loop()

    def get(path):
        answer = loop.run_until_complete(served.client.get(path))
        assert answer.status_code == 200, (path, answer.status_code, answer.text[:500])
        return answer

    def ask(query):
        from urllib.parse import urlencode

        rows = get("/catalogue.json?" + urlencode({"sql": query, "_shape": "array"})).json()
        return [tuple(row.values()) for row in rows]

    views = [name for (name,) in ask(VIEWS)]

    def columns_of(view):
        return [name for (name,) in ask(f"SELECT name FROM pragma_table_info('{view}')")]

    def all_views():
        get("/catalogue")
        get("/catalogue/sessions")
        for view in views:
            columns = columns_of(view)
            numbers = [name for name in columns if name in NUMBERS]
            counted(ask, view, numbers[0] if numbers else "*", columns[0])
        return [len(get(f"/catalogue/{view}.json?_shape=array").json()) for view in views]

    return lambda: ask(BOTH)[0], all_views


both, views = {"python": python, "duckdb": duck, "datasette": datasette}[tool]()
seen = []
for round in range(rounds):
    there, said = both()
    assert there == said, f"{there} entries, {said} said"
    seen.append(there)
    if round % 5 == 0:
        views()
    time.sleep(0.02)
assert seen == sorted(seen), seen
print(json.dumps(sorted(set(seen))))
