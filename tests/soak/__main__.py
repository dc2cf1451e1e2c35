"""``python -m tests.soak [machine] [memory]``: the core under more than a test run has time for.

The budget is taken from the environment:

    SOAK_EXAMPLES      lives of the state machine (1,000)
    SOAK_STEPS         steps of each at most (100)
    SOAK_INVOCATIONS   calls of the memory soak (1,000,000)
"""

from __future__ import annotations

import argparse
import os
import sys

from tests.soak import machine, memory

_PARTS = ("machine", "memory")


def main() -> int:
    """Run what was named, or both; 0 when nothing was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    # Not `choices` of one list: with "*", argparse before 3.12 holds the empty list against them.
    parser.add_argument("parts", nargs="*", type=_part, metavar="machine|memory", help="both when none is named")
    parser.add_argument("--trace", action="store_true", help="print where memory was allocated that stayed; slow")
    options = parser.parse_args()
    parts: list[str] = options.parts or list(_PARTS)
    if "machine" in parts:
        machine.soak(_budget("SOAK_EXAMPLES", 1_000), _budget("SOAK_STEPS", 100))
    if "memory" in parts and not memory.soak(_budget("SOAK_INVOCATIONS", 1_000_000), trace=options.trace):
        return 1
    return 0


def _part(name: str) -> str:
    if name not in _PARTS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(_PARTS)}")
    return name


def _budget(name: str, default: int) -> int:
    return int(os.environ.get(name) or default)


if __name__ == "__main__":
    sys.exit(main())
