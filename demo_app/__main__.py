"""``python -m demo_app``: starts the fleet console, or plays its tour."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QMessageBox

from demo_app.composition import assistant_folder, create_application, create_console, default_database
from demo_app.domain import FleetDatabaseError
from demo_app.tour import Tour
from qt_binding import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the console until its window is closed, or the tour until its end, and return the exit code."""
    options = _parser().parse_args(arguments)
    application = create_application(sys.argv[:1])
    database: Path | None = options.database
    try:
        if not options.tour:
            return _run_console(application, database or default_database())
        if database is not None:
            return _run_tour(application, database, options.tour_dir)
        # Nobody's own fleet is a stage.
        with TemporaryDirectory(prefix="fleet-tour-") as folder:
            return _run_tour(application, Path(folder) / "fleet.sqlite", options.tour_dir)
    except FleetDatabaseError as error:
        sys.stderr.write(f"{error}\n")
        # Started from a desktop there is no terminal to read; this is before any window, so blocking is right.
        if not options.tour and application.platformName() not in ("offscreen", "minimal"):
            QMessageBox.critical(None, application.applicationDisplayName(), str(error))
        return 1


def _run_console(application: QApplication, database: Path) -> int:
    console = create_console(database, settings=QSettings(), assistant_folder=assistant_folder())
    return run(lambda: console.window, registry=console.registry, application=application)


def _run_tour(application: QApplication, database: Path, folder: Path) -> int:
    console = create_console(database)
    tour = Tour(console, database=database, folder=folder)
    tour.start()
    code = run(lambda: console.window, registry=console.registry, application=application)
    if tour.problem is not None:
        sys.stderr.write(f"The tour failed. {tour.problem}\n")
        return code or 1
    return code


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
    parser.add_argument(
        "--tour",
        action="store_true",
        help=(
            "let the assistant do a whole task by itself, with a confirmation clicked by mouse, check it in the"
            " database, and end; on a throw-away fleet unless --database names one, in which it disables devices"
        ),
    )
    parser.add_argument(
        "--tour-dir",
        type=Path,
        default=Path("build") / "tour",
        metavar="FOLDER",
        help="where the tour puts a picture of each step (default: %(default)s)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
