"""A fleet on disk, a clock that stands, and a window on both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from pytestqt.qtbot import QtBot

from demo_app.composition import Console, create_console
from demo_app.domain import Fleet, open_fleet
from demo_app.views import MainWindow

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class FixedClock:
    """A clock that shows noon of the first of March 2026."""

    def now(self) -> datetime:
        """Noon."""
        return NOW


@pytest.fixture
def clock() -> FixedClock:
    """The clock of every fleet in these tests."""
    return FixedClock()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where the test's database will be."""
    return tmp_path / "fleet.sqlite"


@pytest.fixture
def fleet(database: Path, clock: FixedClock) -> Iterator[Fleet]:
    """A new fleet with the sample stations."""
    opened = open_fleet(database, clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def write_csv(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a CSV file and returns its path."""

    def write(text: str) -> Path:
        path = tmp_path / "stations.csv"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return path

    return write


@pytest.fixture
def console(qtbot: QtBot, database: Path, clock: FixedClock) -> Iterator[Console]:
    """The whole program, shown, on a new fleet with the sample stations."""
    opened = create_console(database, clock=clock, person="giulia")
    opened.window.show()
    qtbot.waitExposed(opened.window)
    yield opened
    opened.close()
    qtbot.waitUntil(lambda: not opened.window.session.busy_with)
    opened.window.close()
    opened.window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def window(console: Console) -> MainWindow:
    """The main window of the program."""
    return console.window
