"""What item models of a million rows cost the GUI thread: each figure is the longest time it is held, in ms."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    QStringListModel,
    Qt,
    QTimer,
)
from PySide6.QtWidgets import QApplication, QTableView
from typing_extensions import override

from agent_surface import AgentInvocation, action_contract, define_agent_component_contract, from_json_schema
from agent_surface.testing import contract_authority
from qt_binding import attach_agent_component, create_qt_registry, observe_model, provide_surface, select_rows
from qt_binding._runtime import runtime_of_application
from tests.benchmarks.core import Figure

ROWS = 1_000_000
ROUNDS = 9
GOAL_MS = 50
KEY_ROLE = int(Qt.ItemDataRole.UserRole)

SELECT = action_contract(
    description="Select rows",
    input=from_json_schema({"type": "object", "properties": {"keys": {"type": "array", "items": {"type": "string"}}}}),
    effect="local-state",
)
TABLE = define_agent_component_contract(type="bench.table", description="A table", actions={"select": SELECT})

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()


class Rows(QAbstractTableModel):
    """A model written in Python, as applications have it: every cell is a call."""

    def __init__(self, rows: int = ROWS) -> None:
        super().__init__()
        self._rows = rows

    @override
    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else self._rows

    @override
    def columnCount(self, parent: Index = ROOT) -> int:
        return 5

    @override
    def data(self, index: Index, role: int = 0) -> object:
        return f"device-{index.row()}" if role == KEY_ROLE else f"{index.row()}/{index.column()}"


def measure() -> list[Figure]:
    """Every figure of this module."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    words = QStringListModel([f"device-{row}" for row in range(ROWS)])
    proxy = QSortFilterProxyModel()
    proxy.setSourceModel(words)
    proxy.setFilterFixedString("7")
    proxy.sort(0)
    return [
        _figure("Page of a million rows, model in Python", _page(Rows(), KEY_ROLE)),
        _figure("Page of a million rows, sorted and filtered", _page(proxy, int(Qt.ItemDataRole.DisplayRole))),
        _figure(
            "Select 5 rows that a page has shown, of a million", lambda: _selection(application, [0, 10, 20, 30, 40])
        ),
        _figure("Select 5 other rows, of 10,000", lambda: _selection(application, [9_000] * 4 + [9_999], rows=10_000)),
    ]


def _figure(name: str, held: Callable[[], float]) -> Figure:
    return Figure(name=name, unit="ms", rounds=tuple(sorted(held() for _ in range(ROUNDS))), goal=GOAL_MS)


def _page(model: QAbstractItemModel, key_role: int) -> Callable[[], float]:
    fields = {f"field{column}": min(column, model.columnCount() - 1) for column in range(5)}
    read = observe_model(model, key_role=key_role, columns=fields).read.find_handler(model)

    def held() -> float:
        before = time.perf_counter()
        read()
        return (time.perf_counter() - before) * 1_000

    return held


def _selection(application: QApplication, places: list[int], *, rows: int = ROWS) -> float:
    """The longest time between two turns of a zero-delay timer, while a call selects rows from first to last."""
    view, model = QTableView(), Rows(rows)
    view.setModel(model)
    registry = create_qt_registry(authority=contract_authority(TABLE), environment="test")
    provide_surface(view, registry)
    attach_agent_component(view, TABLE, actions={"select": select_rows(view, KEY_ROLE)})
    observe_model(view, key_role=KEY_ROLE, columns={"name": 0}).read.find_handler(view)()
    view.show()
    application.processEvents()
    longest, last, timer = 0.0, time.perf_counter(), QTimer()

    def tick() -> None:
        nonlocal longest, last
        now = time.perf_counter()
        longest, last = max(longest, now - last), now

    timer.timeout.connect(tick)
    keys = [f"device-{place}" for place in places]
    call = runtime_of_application("benchmark").loop.create_task(
        registry.invoke(AgentInvocation(capability_id="view:bench.table.select", input={"keys": [*keys]}))
    )
    call.add_done_callback(lambda _: application.exit())
    timer.start(0)
    last = time.perf_counter()
    application.exec()
    tick()
    assert call.result().to_json()["status"] == "ok", call.result()
    registry.close()
    view.close()
    return longest * 1_000
