from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from qt_binding._runtime import QtClock, QtHostLoop, Runtimes
from qt_binding._runtime._runtime import runtime_of_application


@pytest.fixture
def clock(qapp: QApplication) -> QtClock:
    """The port over the application's guest loop."""
    del qapp
    return QtClock(lambda operation: runtime_of_application(operation).loop)


def test_a_callback_runs_once_its_milliseconds_have_passed_on_the_same_clock(clock: QtClock, qtbot: QtBot) -> None:
    """A policy compares ``monotonic_ms``; an early callback would find nothing expired."""
    ran = list[int]()
    due = clock.monotonic_ms() + 5
    clock.call_later(5, lambda: ran.append(clock.monotonic_ms()))
    clock.call_later(1, lambda: ran.append(-1)).cancel()
    qtbot.waitUntil(lambda: bool(ran))
    assert len(ran) == 1
    assert ran[0] >= due


@pytest.mark.requirement("QT-LOOP-005")
def test_ten_thousand_hours_leave_a_handful_of_entries(clock: QtClock) -> None:
    """Every call of a capability takes a deadline and gives it back."""
    deadlines = runtime_of_application("test").loop.deadlines
    before = len(deadlines)
    for _ in range(10_000):
        clock.call_later(3_600_000, lambda: None).cancel()
    assert len(deadlines) == before
    assert deadlines.entries < before * 2 + 50


def test_the_host_loop_runs_callbacks_and_holds_its_tasks(qapp: QApplication, qtbot: QtBot) -> None:
    """A task that nobody else holds would be collected while it waits."""
    del qapp
    host = QtHostLoop(Runtimes().loop)
    ran = list[str]()

    async def work() -> None:
        await host.create_future()

    assert host.call_soon(lambda: ran.append("soon"))
    host.call_soon_threadsafe(lambda: ran.append("threadsafe"))
    task = host.create_task(work())
    qtbot.waitUntil(lambda: len(ran) == 2)
    assert not task.done()
    task.cancel()
    qtbot.waitUntil(task.done)
