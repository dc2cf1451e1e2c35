"""What many components cost, in numbers that do not depend on the machine."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from PySide6.QtCore import QAbstractEventDispatcher, QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget
from typing_extensions import override

from agent_surface import AvailabilityChanged
from qt_binding._runtime import runtime_of_application
from tests.qt.mixin.parts import COUNTER, CounterHandlers, Surface, delete, shown, turn


class Numbered(CounterHandlers, QWidget):
    """One of many."""

    def __init__(self, number: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._number = number

    def agent_instance_id(self) -> str:
        """Its number."""
        return str(self._number)


class Busy(QObject):
    """Counts what keeps some objects of an application awake."""

    KINDS = frozenset({QEvent.Type.Timer, QEvent.Type.Paint, QEvent.Type.UpdateRequest, QEvent.Type.LayoutRequest})

    def __init__(self, objects: Iterable[QObject]) -> None:
        super().__init__()
        self._objects = set(objects)
        self.seen = 0

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.seen += event.type() in self.KINDS and watched in self._objects
        return False


@pytest.mark.requirement("QT-AVAIL-001")
def test_turning_a_page_of_a_thousand_components_is_one_version_and_one_event(surface: Surface) -> None:
    """And each component is announced once; the milliseconds are in the benchmark."""
    window = QWidget()
    page = QWidget(window)
    for number in range(1_000):
        Numbered(number, page)
    shown(window)
    capabilities = 1_000 * (len(COUNTER.observations) + len(COUNTER.actions))
    # RESET is unavailable by its own word already, and gets another reason.
    for visible in (False, True):
        version, announced = int(surface.registry.version), surface.announcements
        surface.events.clear()
        announced = surface.announcements
        page.setVisible(visible)
        turn()
        assert int(surface.registry.version) == version + 1
        assert surface.announcements == announced + 1
        assert sum(isinstance(event, AvailabilityChanged) for event in surface.events) == capabilities
    delete(window)


@pytest.mark.requirement("QT-AVAIL-001")
def test_an_idle_surface_wakes_nobody(surface: Surface, qapp: QApplication) -> None:
    """Nothing is polled: no timer of the binding runs, and an idle window is neither painted nor woken."""
    runtime = runtime_of_application("test")
    dispatcher = QAbstractEventDispatcher.instance()
    assert dispatcher is not None

    def ticking() -> set[QObject]:
        owners = (runtime, *runtime.findChildren(QObject))
        return {owner for owner in owners if dispatcher.registeredTimers(owner)}

    runtime.loop.deadlines.clear()  # of calls that other tests made; a cancelled one is kept until it is due
    turn(5)
    others = ticking()  # what earlier tests left to the loop of the application
    window = QWidget()
    for number in range(100):
        Numbered(number, window)
    shown(window)
    surface.components()
    turn(5)
    assert ticking() <= others
    busy = Busy({window, *window.findChildren(QObject), runtime, *runtime.findChildren(QObject)} - others)
    qapp.installEventFilter(busy)
    for _ in range(100):
        QCoreApplication.processEvents()
    qapp.removeEventFilter(busy)
    assert busy.seen == 0
    delete(window)
