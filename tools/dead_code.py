"""Name what nobody names: ``python tools/dead_code.py``.

vulture finds it. Its own command cannot be told to leave out variables, attributes and arguments, and most of those it
reports are fields of values and parameters of protocols, which are part of an interface; ruff judges arguments.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

KINDS = frozenset({"class", "function", "import", "method", "property"})


class Finding(Protocol):
    """What vulture reports; it has no types of its own."""

    typ: str
    name: str
    filename: str
    first_lineno: int


class Finder(Protocol):
    """The part of vulture used here."""

    def scavenge(self, paths: Sequence[str]) -> None:
        """Read the files under these paths."""

    def get_unused_code(self, *, min_confidence: int) -> Sequence[Finding]:
        """What none of the files read so far uses, sorted by place."""
        ...


def main() -> int:
    """Print each finding on a line; 1 when there is any."""
    checkout = Path(__file__).resolve().parent.parent
    settings = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["vulture"]
    vulture: Finder = import_module("vulture.core").Vulture(
        ignore_names=settings["ignore_names"], ignore_decorators=settings["ignore_decorators"]
    )
    vulture.scavenge([str(checkout / path) for path in settings["paths"]])
    unused = [item for item in vulture.get_unused_code(min_confidence=60) if item.typ in KINDS]
    # Tests use things; what they define for themselves is called by what they test.
    findings = [item for item in unused if not Path(item.filename).resolve().is_relative_to(checkout / "tests")]
    for item in findings:
        place = Path(item.filename).resolve().relative_to(checkout).as_posix()
        sys.stdout.write(f"{place}:{item.first_lineno}: nothing uses the {item.typ} {item.name}\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
