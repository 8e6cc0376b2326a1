#!/bin/sh
# Installs the official MCP clients of both eras for tests/mcp.rs: install.sh [DIR]
# DIR is the node_modules folder to fill, by default below target/mcp.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
modules=${1:-$here/../../target/mcp/node_modules}
sh "$here/../npm-ci.sh" "$here" "$modules"
ls "$modules/@modelcontextprotocol"
