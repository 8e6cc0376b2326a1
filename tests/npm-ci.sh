#!/bin/sh
# Installs what the lock file of a folder asks for, checked and without running scripts:
# npm-ci.sh FOLDER MODULES. MODULES is the node_modules folder to fill, and nothing outside of it is
# touched; one that already holds that is left alone.
set -eu
folder=$1 modules=$2
command -v npm >/dev/null || { echo "$folder: npm is not installed" >&2; exit 2; }
case $modules in */node_modules) ;; *) echo "$modules must be named node_modules" >&2; exit 2 ;; esac
stamp=$modules/.installed-lock
if ! cmp -s "$folder/package-lock.json" "$stamp"; then
  place=$(dirname -- "$modules")
  mkdir -p "$place"
  [ "$place" -ef "$folder" ] || cp "$folder/package.json" "$folder/package-lock.json" "$place/"
  # Some want a newer Node than may run here: they are run with one that is installed beside them.
  (cd "$place" && npm ci --ignore-scripts --omit=optional --no-audit --no-fund \
    --engine-strict=false --loglevel=error >&2)
  cp "$folder/package-lock.json" "$stamp"
fi
