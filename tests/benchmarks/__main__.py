"""``python -m tests.benchmarks [--output FILE]``: measures; nothing here judges, so a busy machine fails nothing."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from pathlib import Path

from tests.benchmarks import binding, compiler, core, dock, models


def main() -> int:
    """Measure, print one line per figure, and write them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="where the figures go as JSON")
    options = parser.parse_args()
    figures = [*core.measure(), *compiler.measure(), *models.measure(), *binding.measure(), *dock.measure()]
    for figure in figures:
        goal = "" if figure.goal is None else f"   (goal {figure.goal:g})"
        spread = f"{figure.rounds[0]:.2f} to {figure.rounds[-1]:.2f}"
        print(f"{figure.name:<52} {figure.median:10.2f} {figure.unit:<12} {spread}{goal}")  # noqa: T201 - its output
    if options.output is not None:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        report = {"python": platform.python_version(), "figures": [figure.to_json() for figure in figures]}
        options.output.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
