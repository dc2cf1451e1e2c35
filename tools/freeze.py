"""Build the demo with PyInstaller and play its tour frozen: ``python tools/freeze.py FOLDER``.

Run by ``make freeze`` in an environment that has the distribution installed, and not the checkout. Nothing about the
contract is said here: the hook that the distribution brings has to find it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

START = "import sys\nfrom demo_app.__main__ import main\nsys.exit(main())\n"
TOUR_SECONDS = 300


def build(folder: Path) -> Path:
    """Freeze the demo and return its program."""
    folder.mkdir(parents=True, exist_ok=True)
    start = folder / "start.py"
    start.write_text(START, encoding="utf-8")
    options = ["--noconfirm", "--log-level", "WARN", "--name", "fleet"]
    places = ["--distpath", "frozen", "--workpath", "work", "--specpath", "."]
    # From the folder, so that the checkout is on no path.
    subprocess.run([sys.executable, "-P", "-m", "PyInstaller", *options, *places, start.name], cwd=folder, check=True)
    return folder / "frozen" / "fleet" / "fleet"


def play(program: Path) -> int:
    """Play the tour in an empty folder, without any variable that Python reads, and return the exit code."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            [program.resolve(), "--tour", "--tour-dir", "steps"],
            cwd=empty,
            env=environment,
            timeout=TOUR_SECONDS,
            check=False,
        )
    return done.returncode


def main(folder: Path) -> int:
    """Build, then play."""
    return play(build(folder))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
