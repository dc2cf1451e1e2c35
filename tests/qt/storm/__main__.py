"""``python -m tests.qt.storm``: the storm for longer than a test run has time for.

The budget is taken from the environment:

    STORM_STEPS   steps in all (100,000), in lives of at most 5,000
    STORM_SEED    the first life's seed (1)
"""

from __future__ import annotations

import faulthandler
import gc
import os
import sys
import time
from pathlib import Path

from PySide6.QtWidgets import QApplication

from tests.qt.storm.entry import StormError
from tests.qt.storm.storm import Storm

STEPS_OF_A_LIFE = 5_000
STEPS_A_ROUND = 100


def main() -> int:
    """Run life after life until something is found; 0 when nothing was."""
    faulthandler.enable()
    application = QApplication([])
    application.setQuitOnLastWindowClosed(False)
    left, seed = int(os.environ.get("STORM_STEPS") or 100_000), int(os.environ.get("STORM_SEED") or 1)
    gc.freeze()  # what was imported stays, and is looked through by no collection
    while left > 0:
        storm, began = Storm(application, seed, round_of=STEPS_A_ROUND), time.process_time()
        try:
            storm.run(min(left, STEPS_OF_A_LIFE))
            storm.close()
        except StormError as error:
            print(error)  # noqa: T201 - its output
            return 1
        print(  # noqa: T201 - its output
            f"seed {seed}: {storm.done:,} steps, {storm.checks:,} comparisons, {dict(storm.callers.outcomes)}, "
            f"{time.process_time() - began:.0f} s of processor time, {_resident_mib():.1f} MiB",
            flush=True,
        )
        left -= storm.done
        seed += 1
    return 0


def _resident_mib() -> float:
    statm = Path("/proc/self/statm")
    return (
        int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20 if statm.exists() else 0
    )


if __name__ == "__main__":
    sys.exit(main())
