#!/bin/sh
# Installs the real pi in two versions, and the Node that it needs, 360 MB: install.sh [DIR]
# DIR is the node_modules folder to fill, by default the one beside this script. Linux on x86-64 only.
# A folder that already holds what the lock file asks for is left alone.
#
# The lock file has pi 1.5 without its dependencies: what runs is its bundle, which needs jiti alone.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
modules=${1:-$here/node_modules}
command -v npm >/dev/null || { echo "pi: npm is not installed" >&2; exit 2; }
case $modules in */node_modules) ;; *) echo "pi: $modules must be named node_modules" >&2; exit 2 ;; esac
stamp=$modules/.pi-lock
if ! cmp -s "$here/package-lock.json" "$stamp"; then
  place=$(dirname -- "$modules")
  mkdir -p "$place"
  [ "$place" -ef "$here" ] || cp "$here/package.json" "$here/package-lock.json" "$place/"
  (cd "$place" && npm ci --ignore-scripts --omit=optional --no-audit --no-fund --engine-strict=false --loglevel=error >&2)
  cp "$here/package-lock.json" "$stamp"
fi
for agent in 0.87 1.5; do
  "$modules/node-22/bin/node" -p "const p = require('$modules/pi-$agent/package.json'); p.name + ' ' + p.version"
done
"$modules/node-22/bin/node" --version
