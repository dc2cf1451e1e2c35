"""A fleet on disk, a clock that stands, and a window on both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from pytestqt.qtbot import QtBot

from agent_surface import AgentConsumer, AgentInvocation, AgentInvocationResult, JsonValue
from demo_app.composition import Console, create_console
from demo_app.domain import Fleet, open_fleet
from demo_app.views import MainWindow

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

ROBOT = AgentConsumer(id="robot")
"""Who calls in these tests."""


class Invoke(Protocol):
    """Calls a capability and waits for the result."""

    def __call__(
        self, capability_id: str, input: JsonValue = None, *, confirmation_id: str | None = None
    ) -> AgentInvocationResult:
        """The result."""
        ...


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
    end_console(qtbot, opened)


def end_console(qtbot: QtBot, console: Console) -> None:
    """Quit the program."""
    console.close()
    qtbot.waitUntil(lambda: not console.window.session.busy_with)
    console.window.close()
    console.window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def window(console: Console) -> MainWindow:
    """The main window of the program."""
    return console.window


@pytest.fixture
def invoke(qtbot: QtBot, console: Console) -> Invoke:
    """Calls a capability of the shown window as an assistant would, and waits for the result."""

    def call(
        capability_id: str, input: JsonValue = None, *, confirmation_id: str | None = None
    ) -> AgentInvocationResult:
        future = console.registry.invoke_threadsafe(
            AgentInvocation(capability_id=capability_id, input=input, confirmation_id=confirmation_id),
            consumer=ROBOT,
        )
        qtbot.waitUntil(future.done, timeout=20_000)
        return future.result()

    return call
