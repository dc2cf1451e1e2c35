"""The Qt binding: a page of a thousand components, their making and their end, and the way from another thread.

Processor time of this process, because a page that is turned holds the window for that long; Qt's own share is in it.
"""

from __future__ import annotations

import gc
import threading
import time

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from agent_surface import AgentInvocation, AgentSurfaceRegistry
from qt_binding import AgentComponentMixin, create_qt_registry, observes, performs, provide_surface
from tests.benchmarks.core import Figure
from tests.benchmarks.surfaces import COUNT_OF_TABLE, READ, SELECT, TABLE, authority

ROUNDS = 11
COMPONENTS = 1_000
CALLS = 200


class _Row(AgentComponentMixin, QWidget):
    agent_contract = TABLE

    def __init__(self, number: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._number = number

    def agent_instance_id(self) -> str:
        return str(self._number)

    @observes(READ)
    def read(self) -> int:
        return self._number

    @performs(SELECT)
    def select(self) -> None: ...


def measure() -> list[Figure]:
    """Every figure of the binding."""
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    registry = create_qt_registry(authority=authority())
    withdraw = provide_surface(application, registry)
    try:
        return [*_flips(), *_lives(), _hop(registry)]
    finally:
        withdraw()
        registry.close()


def _turn() -> None:
    for _ in range(2):
        loop = QEventLoop()
        QTimer.singleShot(0, loop.quit)
        loop.exec()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _page(window: QWidget, kind: type[QWidget | _Row]) -> QWidget:
    page = QWidget(window)
    for number in range(COMPONENTS):
        _Row(number, page) if kind is _Row else QWidget(page)
    window.show()
    _turn()
    return page


def _flip(page: QWidget) -> float:
    gc.collect()
    began = time.process_time()
    page.setVisible(not page.isVisible())
    _turn()
    return (time.process_time() - began) * 1_000


def _flips() -> list[Figure]:
    """Hiding and showing in turn, beside the same page of plain widgets."""
    window, plain_window = QWidget(), QWidget()
    page, plain = _page(window, _Row), _page(plain_window, QWidget)
    names = ("Hide a page of 1,000 components", "Show a page of 1,000 components")
    taken: dict[str, list[float]] = {name: [] for name in (*names, *(f"{name}, Qt alone" for name in names))}
    for _ in range(ROUNDS):
        for name in names:
            taken[name].append(_flip(page))
            taken[f"{name}, Qt alone"].append(_flip(plain))
    for made in (window, plain_window):
        shiboken6.delete(made)
    _turn()
    return [
        Figure(name=name, unit="ms of processor", rounds=tuple(sorted(figures)), goal=25 if name in names else None)
        for name, figures in taken.items()
    ]


def _lives() -> list[Figure]:
    made, ended = list[float](), list[float]()
    for _ in range(ROUNDS):
        gc.collect()
        window = QWidget()
        began = time.process_time()
        _page(window, _Row)
        made.append((time.process_time() - began) * 1_000)
        began = time.process_time()
        shiboken6.delete(window)
        _turn()
        ended.append((time.process_time() - began) * 1_000)
    return [
        Figure(name="Make, show and register 1,000 components", unit="ms of processor", rounds=tuple(sorted(made))),
        Figure(name="Destroy and unregister 1,000 components", unit="ms of processor", rounds=tuple(sorted(ended))),
    ]


def _hop(registry: AgentSurfaceRegistry) -> Figure:
    """From another thread to the GUI thread and back with a result."""
    window = QWidget()
    _Row(0, window)
    window.show()
    _turn()
    hops = list[float]()

    def call_often() -> None:
        for _ in range(ROUNDS):
            began = time.perf_counter()
            for _ in range(CALLS):
                registry.invoke_threadsafe(AgentInvocation(capability_id=COUNT_OF_TABLE)).result(60)
            hops.append((time.perf_counter() - began) / CALLS * 1_000)

    caller = threading.Thread(target=call_often)
    caller.start()
    while caller.is_alive():
        loop = QEventLoop()
        QTimer.singleShot(10, loop.quit)
        loop.exec()
    shiboken6.delete(window)
    _turn()
    return Figure(name="Call from another thread and back", unit="ms", rounds=tuple(sorted(hops)))
