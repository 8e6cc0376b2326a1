#!/bin/sh
# Runs a Node of at least 22.19, the one on the machine or the installed one: node22.sh MODULES ARGS...
set -eu
modules=$1
shift
if node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 19) ? 0 : 1)'; then
  exec node "$@"
fi
exec "$modules/node-22/bin/node" "$@"
