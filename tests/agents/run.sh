#!/bin/sh
# Runs run.mjs for one agent where there is no network but the loopback: run.sh AGENT HOME VERB [WORD...]
# Exits with 77 where the system does not let a namespace be made.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
modules=${AGENTS:-$here/node_modules}
pi=${PI:-$here/../../packages/pi/test/node_modules}
own=--net
[ "$(id -u)" = 0 ] || own="--user --map-root-user --net"
# shellcheck disable=SC2086
unshare $own true 2>/dev/null || { echo "agents: no network namespace can be made here" >&2; exit 77; }
# shellcheck disable=SC2086
exec unshare $own sh -c 'ip link set lo up && modules=$1 pi=$2 here=$3 && shift 3 &&
  exec env -i PATH=/usr/bin:/bin AGENTS="$modules" PI="$pi" "$modules/node-26/bin/node" "$here/run.mjs" "$@"' \
  sh "$modules" "$pi" "$here" "$@"
