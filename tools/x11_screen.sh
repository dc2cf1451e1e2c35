#!/usr/bin/env bash
# x11_screen.sh COMMAND...
#
# Run a command on an X11 screen of its own, drawn into memory, with a window manager. The X server picks a free
# display; server and window manager end with the command, however it ends.
set -euo pipefail

for program in Xvfb openbox xprop; do
    command -v "$program" >/dev/null || { echo "$program is missing: apt-get install xvfb openbox x11-utils" >&2; exit 1; }
done

directory=$(mktemp -d)
children=()
cleanup() {
    for child in "${children[@]}"; do
        kill "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    done
    rm -rf "$directory"
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

await() {
    for _ in $(seq 200); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.05
    done
    echo "x11_screen.sh: gave up waiting for: $*" >&2
    cat "$directory"/*.log >&2
    exit 1
}

Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp 3>"$directory/display" 2>"$directory/xvfb.log" &
children+=($!)
await test -s "$directory/display"
DISPLAY=:$(cat "$directory/display")
export DISPLAY QT_QPA_PLATFORM=xcb
unset WAYLAND_DISPLAY XDG_SESSION_TYPE

# Without a configuration of the person's own, and without a session to save.
HOME=$directory openbox --sm-disable 2>"$directory/openbox.log" &
children=("$!" "${children[@]}")
await sh -c 'xprop -root _NET_SUPPORTING_WM_CHECK | grep -q "window id"'

"$@"
