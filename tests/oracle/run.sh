#!/bin/sh
# Makes the goldens: run.sh OUT [CORPUS]
# Leaves OUT/sessions (generated sessions, and what the agents make of the real files in CORPUS when it is given) and
# OUT/golden-VERSION.json for every agent. ORACLE_SEED and ORACLE_COUNT change what is generated; ORACLE_MODULES names
# another node_modules.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
out=${1:?usage: run.sh OUT [CORPUS]}
corpus=${2:-}
modules=${ORACLE_MODULES:-$here/node_modules}

"$here/install.sh" "$modules"
rm -rf "$out/sessions" "$out/elsewhere" "$out"/golden-*.json
mkdir -p "$out"
"$here/node22.sh" "$modules" "$here/generate.mjs" "$out" "${ORACLE_SEED:-20260105}" "${ORACLE_COUNT:-2400}" "$modules"
"$here/node22.sh" "$modules" "$here/real.mjs" "$corpus" "$out" "$modules"
node "$here/list.mjs" "$modules/pi-0.73" "$out/sessions" "$out/golden-0.73.1.json"
node "$here/list.mjs" "$modules/pi-0.74" "$out/sessions" "$out/golden-0.74.2.json"
"$here/node22.sh" "$modules" "$here/list.mjs" "$modules/pi-0.87" "$out/sessions" "$out/golden-0.87.1.json"
