#!/bin/sh
# Installs the tools that read the catalogue in tests: install.sh [DIR]
# DIR (default: target/tools) becomes a Python environment. One that already holds what is asked for is left alone.
set -eu
missing=0
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
place=${1:-$here/../../target/tools}
command -v python3 >/dev/null || { echo "tools: python3 is not installed" >&2; exit 2; }
if ! command -v sqlite3 >/dev/null; then
  echo "tools: the sqlite3 shell is not installed; trying apt-get" >&2
  root=$([ "$(id -u)" = 0 ] || echo "sudo -n")
  $root apt-get install -y sqlite3 >&2 || { $root apt-get update >&2 && $root apt-get install -y sqlite3 >&2; } || missing=1
fi
if ! cmp -s "$here/requirements.txt" "$place/requirements.txt"; then
  rm -rf "$place"
  mkdir -p "$(dirname -- "$place")"
  python3 -m venv "$place"
  "$place/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$place/"
fi
[ "$missing" = 1 ] || sqlite3 --version
"$place/bin/python" -c 'import sqlite3, duckdb; print("python sqlite", sqlite3.sqlite_version, "duckdb", duckdb.__version__)'
"$place/bin/datasette" --version
exit "$missing"
