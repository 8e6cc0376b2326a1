#!/bin/sh
# Installs the tools that tests use where they are there, shells and readers of the catalogue:
# install.sh [DIR]. DIR (default: target/tools) becomes a Python environment. One that already holds
# what is asked for is left alone.
set -eu
missing=0
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
place=${1:-$here/../../target/tools}
command -v python3 >/dev/null || { echo "tools: python3 is not installed" >&2; exit 2; }
wanted=
for tool in sqlite3 zsh fish tmux; do
  command -v "$tool" >/dev/null || wanted="$wanted $tool"
done
if [ -n "$wanted" ]; then
  echo "tools: not installed:$wanted; trying apt-get" >&2
  root=$([ "$(id -u)" = 0 ] || echo "sudo -n")
  # shellcheck disable=SC2086 # These are words.
  $root apt-get install -y $wanted >&2 || { $root apt-get update >&2 && $root apt-get install -y $wanted >&2; } || missing=1
fi
if ! cmp -s "$here/requirements.txt" "$place/requirements.txt"; then
  rm -rf "$place"
  mkdir -p "$(dirname -- "$place")"
  python3 -m venv "$place"
  "$place/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$place/"
fi
sqlite3 --version || missing=1
"$place/bin/python" -c 'import sqlite3, duckdb; print("python sqlite", sqlite3.sqlite_version, "duckdb", duckdb.__version__)'
"$place/bin/datasette" --version
exit "$missing"
