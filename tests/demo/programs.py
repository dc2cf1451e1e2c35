"""Runs the demo as a program of its own, and judges what it wrote to the terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE_S = 55

# What the offscreen plugin says of itself.
_PLATFORM = "This plugin does not support"


def run_python(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run the interpreter in the source tree, without a screen, and return how it ended."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)},
    )


def complaints(ended: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines of standard error that are not the platform's."""
    return [line for line in ended.stderr.splitlines() if line and not line.startswith(_PLATFORM)]
