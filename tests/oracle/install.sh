#!/bin/sh
# Installs the real agents (and a newer Node) that tests compare with: install.sh [DIR]
# DIR is the node_modules folder to fill, and nothing outside it is touched. Without it that is the
# one beside this script, and the Python package is installed as well (python.sh).
# A folder that already holds what the lock file asks for is left alone.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
modules=${1:-$here/node_modules}
command -v node >/dev/null || { echo "oracle: node is not installed; the oracle needs Node 20 or newer" >&2; exit 2; }
sh "$here/../npm-ci.sh" "$here" "$modules"
for agent in 0.73 0.74 0.87; do
  node -p "const p = require('$modules/pi-$agent/package.json'); p.name + ' ' + p.version"
done
echo "node $("$here/node22.sh" "$modules" --version) and $(node --version)"
[ $# -gt 0 ] || "$here/python.sh"
