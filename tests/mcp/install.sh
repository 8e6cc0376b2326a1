#!/bin/sh
# Installs the official MCP clients of both eras for tests/mcp.rs: install.sh [DIR]
# DIR is target/mcp by default. One that already holds what is asked for is left alone.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
place=${1:-$here/../../target/mcp}
command -v npm >/dev/null || { echo "mcp: npm is not installed" >&2; exit 2; }
if ! cmp -s "$here/package.json" "$place/package.json" || [ ! -d "$place/node_modules" ]; then
  rm -rf "$place"
  mkdir -p "$place"
  cp "$here/package.json" "$place/"
  (cd "$place" && npm install --silent --no-audit --no-fund --ignore-scripts)
fi
ls "$place/node_modules/@modelcontextprotocol"
