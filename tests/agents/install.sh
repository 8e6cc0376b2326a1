#!/bin/sh
# Installs the agents that tests/agents.rs runs, 1.6 GB, in the versions of the lock file: install.sh [DIR]
# DIR is the node_modules folder to fill, by default the one beside this script. Linux on x86-64 only.
# A folder that already holds what the lock file asks for is left alone.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
modules=${1:-$here/node_modules}
command -v npm >/dev/null || { echo "agents: npm is not installed" >&2; exit 2; }
case $modules in */node_modules) ;; *) echo "agents: $modules must be named node_modules" >&2; exit 2 ;; esac
stamp=$modules/.agents-lock
if ! cmp -s "$here/package-lock.json" "$stamp"; then
  place=$(dirname -- "$modules")
  mkdir -p "$place"
  [ "$place" -ef "$here" ] || cp "$here/package.json" "$here/package-lock.json" "$place/"
  (cd "$place" && npm ci --ignore-scripts --omit=optional --no-audit --no-fund --engine-strict=false --loglevel=error >&2)
  cp "$here/package-lock.json" "$stamp"
fi
for agent in claude codex copilot gemini opencode qwen; do
  node -p "const p = require('$modules/$agent/package.json'); p.name + ' ' + p.version"
done
