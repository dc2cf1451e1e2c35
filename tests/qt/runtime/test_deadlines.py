from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QEventLoop, QObject, QTimer
from pytestqt.qtbot import QtBot

from qt_binding._runtime import DeadlineTimer


class Watch:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        """Seconds that pass only when a test says so."""
        return self.seconds


@pytest.fixture
def owner(qapp: QObject) -> Iterator[QObject]:
    """Parent of the timer under test."""
    del qapp
    parent = QObject()
    yield parent
    parent.deleteLater()


@pytest.mark.requirement("QT-LOOP-005")
def test_ten_thousand_cancelled_deadlines_leave_a_handful_of_entries_and_one_timer(owner: QObject) -> None:
    """Plain qasync would keep ten thousand Qt timers for an hour."""
    deadlines = DeadlineTimer(owner)
    for _ in range(10_000):
        deadlines.call_at(3_600.0, lambda: None).cancel()
    assert len(deadlines) == 0
    assert deadlines.entries < 50
    assert len(owner.findChildren(QTimer)) == 1


@pytest.mark.requirement("QT-LOOP-005")
def test_ten_thousand_waiting_deadlines_share_one_timer(owner: QObject) -> None:
    """A deadline costs a place in a heap, not a timer."""
    deadlines = DeadlineTimer(owner)
    waiting = [deadlines.call_at(1e9 + number, lambda: None) for number in range(10_000)]
    assert (len(deadlines), len(owner.findChildren(QTimer))) == (10_000, 1)
    for deadline in waiting:
        deadline.cancel()
        deadline.cancel()
    assert len(deadlines) == 0
    deadlines.clear()
    assert not deadlines.armed


def test_deadlines_run_in_the_order_of_their_times_and_never_early(owner: QObject, qtbot: QtBot) -> None:
    """Equal times keep the order in which they were asked for; a Qt timer that fires early is armed again."""
    watch, ran = Watch(), list[str]()
    deadlines = DeadlineTimer(owner, monotonic=watch)

    def note(name: str) -> Callable[[], None]:
        return lambda: ran.append(name)

    deadlines.call_at(100.004, note("second"))
    deadlines.call_at(100.002, note("first"))
    deadlines.call_at(100.004, note("third"))
    deadlines.call_at(200.0, note("much later"))
    deadlines.call_at(100.001, note("cancelled")).cancel()
    turned = QTimer(owner)
    with qtbot.waitSignal(turned.timeout):  # real milliseconds pass, the clock stands still
        turned.start(20)
    assert ran == []
    watch.seconds = 100.004
    qtbot.waitUntil(lambda: len(ran) == 3)
    assert ran == ["first", "second", "third"]
    assert len(deadlines) == 1


def test_a_nested_event_loop_in_a_callback_does_not_hold_up_later_deadlines(owner: QObject, qtbot: QtBot) -> None:
    """An application's dialog may be opened from a time-out."""
    watch, ran = Watch(), list[str]()
    deadlines = DeadlineTimer(owner, monotonic=watch)

    def nest() -> None:
        nested = QEventLoop()
        deadlines.call_at(100.0, nested.quit)
        nested.exec()
        ran.append("outer")

    deadlines.call_at(100.0, nest)
    deadlines.call_at(100.0, lambda: ran.append("inner"))
    qtbot.waitUntil(lambda: "outer" in ran)
    assert ran == ["inner", "outer"]


def test_a_deadline_beyond_the_reach_of_a_qt_timer_is_accepted(owner: QObject) -> None:
    """A Qt timer counts to 2**31 milliseconds, which is less than a month."""
    deadlines = DeadlineTimer(owner, monotonic=Watch())
    deadlines.call_at(1e12, lambda: None)
    assert deadlines.armed
