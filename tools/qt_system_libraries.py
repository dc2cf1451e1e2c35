"""Find the system libraries that the installed Qt needs and this Linux lacks; install them where that is possible.

``python tools/qt_system_libraries.py [--install]`` asks the dynamic linker about Qt's own files instead of keeping a
list of what ought to be there. Exit 0 when Qt can be imported, 1 when it cannot.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

# What must load for the toolkit and its tests, and what a window on an X11 screen needs on top.
NEEDED_ALWAYS = (
    "QtCore.abi3.so",
    "QtGui.abi3.so",
    "QtWidgets.abi3.so",
    "Qt/plugins/platforms/libqoffscreen.so",
)
NEEDED_ON_A_SCREEN = ("Qt/plugins/platforms/libqxcb.so",)

# The names are those of Debian 12 and newer and Ubuntu 22.04 and newer.
PACKAGE_OF_LIBRARY: Mapping[str, str] = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLX.so.0": "libglx0",
    "libOpenGL.so.0": "libopengl0",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libzstd.so.1": "libzstd1",
}
FONT_PACKAGE = "fonts-dejavu-core"
FONT_SUFFIXES = (".ttf", ".ttc", ".otf", ".pfb")


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What is missing: shared libraries by their file names, and whether any font is installed."""

    always: frozenset[str]
    on_a_screen: frozenset[str]
    fonts: bool

    @property
    def complete(self) -> bool:
        """Whether nothing at all is missing."""
        return not self.always and not self.on_a_screen and self.fonts

    def packages(self) -> list[str]:
        """The Debian packages that bring what is missing and has a known package, sorted."""
        libraries = self.always | self.on_a_screen
        found = {PACKAGE_OF_LIBRARY[library] for library in libraries if library in PACKAGE_OF_LIBRARY}
        return sorted(found | (set() if self.fonts else {FONT_PACKAGE}))

    def unknown(self) -> list[str]:
        """The missing libraries nobody told this program the package of, sorted."""
        return sorted((self.always | self.on_a_screen) - PACKAGE_OF_LIBRARY.keys())


def missing_libraries(files: Iterable[Path]) -> frozenset[str]:
    """The shared libraries that the dynamic linker does not find for these files."""
    missing: set[str] = set()
    for file in files:
        if not file.exists():
            continue
        listing = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=False).stdout
        missing.update(line.split()[0] for line in listing.splitlines() if line.endswith("not found"))
    return frozenset(missing)


def has_fonts() -> bool:
    """Whether any font file lies where fontconfig looks by default; without one Qt draws no text."""
    home = Path.home()
    folders = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), home / ".fonts", home / ".local/share/fonts")
    return any(
        name.lower().endswith(FONT_SUFFIXES) for folder in folders for _, _, names in os.walk(folder) for name in names
    )


def examine(pyside6: Path) -> Findings:
    """Look at the PySide6 installed in the folder ``pyside6``."""
    return Findings(
        always=missing_libraries(pyside6 / name for name in NEEDED_ALWAYS),
        on_a_screen=missing_libraries(pyside6 / name for name in NEEDED_ON_A_SCREEN),
        fonts=has_fonts(),
    )


def install(packages: list[str]) -> None:
    """Install Debian packages without asking anything."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages],
    ):
        subprocess.run(command, stdin=subprocess.DEVNULL, env=environment, check=False)


def describe(findings: Findings) -> str:
    """What is missing and how to get it, as text for a person."""
    lines = [
        f"Qt needs libraries this system lacks: {', '.join(sorted(findings.always | findings.on_a_screen)) or '-'}"
    ]
    if not findings.fonts:
        lines.append("No font is installed, so windows would show no text.")
    if findings.packages():
        lines.append(f"On Debian or Ubuntu: sudo apt-get install {' '.join(findings.packages())}")
    if findings.unknown():
        lines.append(f"No Debian package is known here for: {', '.join(findings.unknown())}")
    if not findings.always:
        lines.append("The tests and everything without a screen work all the same.")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Examine, install where asked to and possible, and say what is left."""
    spec = importlib.util.find_spec("PySide6")
    if spec is None or spec.origin is None:
        sys.stderr.write("PySide6 is not installed in this environment.\n")
        return 1
    if sys.platform != "linux" or shutil.which("ldd") is None:
        return 0
    pyside6 = Path(spec.origin).parent
    findings = examine(pyside6)
    can_install = os.geteuid() == 0 and shutil.which("apt-get") is not None
    if "--install" in arguments and can_install and findings.packages():
        sys.stderr.write(f"Installing what Qt needs: {' '.join(findings.packages())}\n")
        install(findings.packages())
        findings = examine(pyside6)
    if not findings.complete:
        sys.stderr.write(describe(findings) + "\n")
    return 1 if findings.always else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
