#!/bin/sh
# Installs the real agents (and a newer Node) that tests compare with: install.sh [DIR]
# DIR is the node_modules folder to fill, and nothing outside it is touched. Without it that is the
# one beside this script, and the Python package is installed as well (python.sh).
# A folder that already holds what the lock file asks for is left alone.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
modules=${1:-$here/node_modules}
command -v node >/dev/null || { echo "oracle: node is not installed; the oracle needs Node 20 or newer" >&2; exit 2; }
command -v npm >/dev/null || { echo "oracle: npm is not installed" >&2; exit 2; }

stamp=$modules/.oracle-lock
if ! cmp -s "$here/package-lock.json" "$stamp"; then
  case $modules in */node_modules) ;; *) echo "oracle: $modules must be named node_modules" >&2; exit 2 ;; esac
  place=$(dirname -- "$modules")
  mkdir -p "$place"
  [ "$place" -ef "$here" ] || cp "$here/package.json" "$here/package-lock.json" "$place/"
  # Two of the agents want a newer Node than may run here; they are run with the one that is installed beside them.
  (cd "$place" && npm ci --ignore-scripts --omit=optional --no-audit --no-fund --engine-strict=false --loglevel=error >&2)
  cp "$here/package-lock.json" "$stamp"
fi
for agent in 0.73 0.74 0.87; do
  node -p "const p = require('$modules/pi-$agent/package.json'); p.name + ' ' + p.version"
done
echo "node $("$here/node22.sh" "$modules" --version) and $(node --version)"
[ $# -gt 0 ] || "$here/python.sh"
