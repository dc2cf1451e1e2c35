"""``python -m demo_app``: starts the fleet console."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QMessageBox

from demo_app.composition import create_application, create_console, default_database
from demo_app.domain import FleetDatabaseError
from qt_binding import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the console until its window is closed and return the exit code."""
    options = _parser().parse_args(arguments)
    application = create_application(sys.argv[:1])
    database: Path = options.database or default_database()
    try:
        console = create_console(database, settings=QSettings())
    except FleetDatabaseError as error:
        sys.stderr.write(f"{error}\n")
        # Started from a desktop there is no terminal to read; this is before any window, so blocking is right.
        if application.platformName() not in ("offscreen", "minimal"):
            QMessageBox.critical(None, application.applicationDisplayName(), str(error))
        return 1
    return run(lambda: console.window, registry=console.registry, application=application)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="demo_app", description="A console for a fleet of measuring stations.")
    parser.add_argument(
        "--database",
        type=Path,
        metavar="PATH",
        help=(
            "SQLite file with the fleet; made and filled with sample stations if it is missing"
            " (default: in the user's data folder)"
        ),
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
