#!/usr/bin/env bash
# other_python.sh PYTHON: print an interpreter on the other side of 3.12 from PYTHON; fail where there is none.
#
# Below 3.12 the newest PySide6 is another than from 3.12 on, so the two sides are two sets of packages.
set -euo pipefail

is_below() { "$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info >= (3, 12))' >/dev/null 2>&1; }
is_from() { "$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; }

# Version switchers keep interpreters where no command on the path leads to.
kept=${PYENV_ROOT:-$HOME/.pyenv}/versions
if is_below "$1"; then
    wanted=is_from
    names=(python3.12 python3.13 "$kept"/3.12.*/bin/python3 "$kept"/3.13.*/bin/python3)
else
    wanted=is_below
    names=(python3.11 "$kept"/3.11.*/bin/python3)
fi
for name in "${names[@]}"; do
    if "$wanted" "$name"; then
        printf '%s\n' "$name"
        exit
    fi
done
exit 1
