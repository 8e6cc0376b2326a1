#!/bin/sh
# Installs the real pi in two versions, and the Node that it needs, 360 MB: install.sh [DIR]
# DIR is the node_modules folder to fill, by default the one beside this script. Linux on x86-64 only.
# A folder that already holds what the lock file asks for is left alone.
#
# The lock file has pi 1.5 without its dependencies: what runs is its bundle, which needs jiti alone.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
modules=${1:-$here/node_modules}
sh "$here/../../../tests/npm-ci.sh" "$here" "$modules"
for agent in 0.87 1.5; do
  "$modules/node-22/bin/node" -p "const p = require('$modules/pi-$agent/package.json'); p.name + ' ' + p.version"
done
"$modules/node-22/bin/node" --version
