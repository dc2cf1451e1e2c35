#!/usr/bin/env bash
# make_venv.sh DIRECTORY PIP-ARGUMENT...
#
# Make (or complete) the virtual environment DIRECTORY and install what the pip arguments name into it.
# The interpreter is $PYTHON where set, else the first of the usual names that is 3.11 or newer and can make one.
set -euo pipefail

directory=$1
shift

say() { printf '%s\n' "$*" >&2; }

# Run it instead of asking whether it exists: version switchers leave commands on the path that only print an error.
is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

has_venv() {
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1
}

find_python() {
    local name found=""
    for name in ${PYTHON:-python3 python3.13 python3.12 python3.11 python /usr/bin/python3}; do
        is_new_enough "$name" || continue
        if has_venv "$name"; then
            printf '%s\n' "$name"
            return
        fi
        found=$name
    done
    # Debian and Ubuntu ship Python without the module; the package has it.
    if [ -n "$found" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "Installing the venv module of $found."
        local package
        package=$("$found" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
        apt-get update -qq >&2 </dev/null
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >&2 </dev/null
        if has_venv "$found"; then
            printf '%s\n' "$found"
            return
        fi
    fi
    if [ -n "$found" ]; then
        say "$found has no venv module. On Debian or Ubuntu: sudo apt-get install python3-venv"
    else
        say "No Python 3.11 or newer found (tried: ${PYTHON:-python3, python3.13, python3.12, python3.11, python})."
        say "Install one, or name it: make PYTHON=/path/to/python3.12"
    fi
    return 1
}

if ! { [ -x "$directory/bin/python" ] && is_new_enough "$directory/bin/python"; }; then
    python=$(find_python)
    say "Making $directory with $("$python" --version)."
    "$python" -m venv --clear "$directory"
fi

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
pip() { "$directory/bin/python" -m pip "$@"; }

# Dependency groups need pip 25.1.
pip install --quiet 'pip>=25.1'
say "Installing into $directory: $*"
pip install --quiet "$@"
