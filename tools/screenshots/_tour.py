"""The demo's tour, played for its pictures: what they show has really happened."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtWidgets import QApplication

from demo_app.composition import create_console
from demo_app.tour import Tour
from qt_binding import run


def play_tour(application: QApplication, folder: Path) -> int:
    """Play the tour and put a picture of each step into ``folder``; the exit code of the program."""
    with TemporaryDirectory() as place:
        database = Path(place) / "fleet.sqlite"
        console = create_console(database, person="alex")
        tour = Tour(console, database=database, folder=folder)
        tour.start()
        code = run(lambda: console.window, registry=console.registry, application=application)
    if tour.problem is not None:
        sys.stderr.write(f"The tour failed. {tour.problem}\n")
        return code or 1
    return code
