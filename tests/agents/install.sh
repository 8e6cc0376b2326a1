#!/bin/sh
# Installs the agents that tests/agents.rs runs, 1.6 GB, in the versions of the lock file: install.sh [DIR]
# DIR is the node_modules folder to fill, by default the one beside this script. Linux on x86-64 only.
# A folder that already holds what the lock file asks for is left alone.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
modules=${1:-$here/node_modules}
sh "$here/../npm-ci.sh" "$here" "$modules"
for agent in claude codex copilot gemini opencode qwen; do
  node -p "const p = require('$modules/$agent/package.json'); p.name + ' ' + p.version"
done
