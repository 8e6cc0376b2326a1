#!/bin/sh
# Installs the Python package indusagi into `venv` beside this script: python.sh
# A `venv` that already holds what requirements.txt asks for is left alone.
# Runs indusagi.py with it: python.sh HOME ARGS... HOME is all it sees of a machine.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
venv=$here/venv
if [ $# -gt 0 ]; then
  home=$1
  shift
  cd "$home"
  exec env -i HOME="$home" PATH=/usr/bin:/bin TZ=UTC "$venv/bin/python" -IB -X utf8 "$here/indusagi.py" "$@"
fi
command -v python3 >/dev/null || { echo "oracle: python3 is not installed" >&2; exit 2; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "oracle: indusagi needs Python 3.11 or newer" >&2; exit 2; }
if ! cmp -s "$here/requirements.txt" "$venv/.oracle-lock"; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --requirement "$here/requirements.txt" >&2
  cp "$here/requirements.txt" "$venv/.oracle-lock"
fi
"$venv/bin/python" -c 'from importlib.metadata import version; print("indusagi " + version("indusagi"))'
