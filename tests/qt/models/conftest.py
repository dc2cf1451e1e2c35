"""A table of devices, offered to an agent."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest
from pydantic import BaseModel
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QApplication, QTableView
from pytestqt.qtbot import QtBot
from typing_extensions import override

from agent_surface import (
    JsonValue,
    action_contract,
    define_agent_component_contract,
    from_json_schema,
    from_model,
    observation_contract,
)
from agent_surface.testing import contract_authority
from qt_binding import attach_agent_component, create_qt_registry, observe_model, provide_surface, select_rows
from tests.qt.mixin.parts import Surface, code_of, delete, shown, turn

KEY_ROLE = Qt.ItemDataRole.UserRole + 1


class ShowPage(BaseModel):
    """Where to go on reading."""

    cursor: str | None = None


READ = observation_contract(description="A page of devices", output=from_json_schema({"type": "object"}))
SHOW = action_contract(description="Show another page", input=from_model(ShowPage), effect="local-state")
SELECT = action_contract(
    description="Select rows",
    input=from_json_schema(
        {
            "type": "object",
            "properties": {
                "keys": {"type": "array", "items": {"type": "string"}},
                "mode": {"type": "string"},
            },
            "required": ["keys"],
        }
    ),
    effect="local-state",
)
DEVICES = define_agent_component_contract(
    type="test.devices",
    description="Devices",
    observations={"read": READ},
    actions={"showPage": SHOW, "select": SELECT},
)
READ_ID, SHOW_ID, SELECT_ID = (f"view:test.devices.{name}" for name in ("read", "showPage", "select"))

ROOT = QModelIndex()
Index = QModelIndex | QPersistentModelIndex

Offer = Callable[[QAbstractItemView], None]


class Many(QAbstractTableModel):
    """Very many rows that count how often a cell is asked for, and can be turned round."""

    def __init__(self, rows: int = 1_000_000) -> None:
        super().__init__()
        self.rows = rows
        self.asked = 0
        self.turned = False

    @override
    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else self.rows

    @override
    def columnCount(self, parent: Index = ROOT) -> int:
        return 2

    @override
    def data(self, index: Index, role: int = 0) -> object:
        self.asked += 1
        row = self.rows - 1 - index.row() if self.turned else index.row()
        return f"d{row}" if role == KEY_ROLE else str(row)

    def turn_round(self) -> None:
        """The last row first, as a sort would do it."""
        self.layoutAboutToBeChanged.emit()
        self.turned = not self.turned
        before = self.persistentIndexList()
        after = [self.index(self.rows - 1 - index.row(), index.column()) for index in before]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()


@pytest.fixture
def surface(qapp: QApplication, qtbot: QtBot) -> Iterator[Surface]:
    """A registry that the application provides; the test leaves nothing in it."""
    made = Surface(create_qt_registry(authority=contract_authority(DEVICES), environment="test"), qtbot)
    withdraw = provide_surface(qapp, made.registry)
    yield made
    withdraw()
    gc.collect()
    turn()
    assert made.registry.statistics().registrations == 0
    made.registry.close()


@pytest.fixture
def table(surface: Surface) -> Iterator[QTableView]:
    """A shown table of seven devices, three on a page."""
    del surface
    made = QTableView()
    made.setModel(devices(7))
    attach_devices(made)
    shown(made)
    yield made
    delete(made)
    turn()


def attach_devices(view: QAbstractItemView) -> None:
    """Offer the rows of a view."""
    rows = observe_model(
        view, key_role=KEY_ROLE, columns={"name": 0, "load": 1}, roles={"load": Qt.ItemDataRole.EditRole}, page=3
    )
    attach_agent_component(
        view,
        DEVICES,
        observations={"read": rows.read},
        actions={"showPage": rows.show_page, "select": select_rows(view, KEY_ROLE)},
    )


def devices(count: int, first: int = 0) -> QStandardItemModel:
    """A model whose rows have keys of their own."""
    model = QStandardItemModel(0, 2)
    for number in range(first, first + count):
        model.appendRow(device(number))
    return model


def device(number: int) -> list[QStandardItem]:
    """One row."""
    name, load = QStandardItem(f"Device {number}"), QStandardItem()
    name.setData(f"d{number}", KEY_ROLE)
    load.setData(number, Qt.ItemDataRole.EditRole)
    return [name, load]


def page(surface: Surface) -> dict[str, JsonValue]:
    """What an agent reads."""
    result = surface.invoke(READ_ID).to_json()
    output = result["output"]
    assert isinstance(output, dict)
    return output


def keys(surface: Surface) -> list[object]:
    """The keys of the rows an agent reads."""
    rows = page(surface)["rows"]
    assert isinstance(rows, list)
    return [row["key"] for row in rows if isinstance(row, dict)]


def show_page(surface: Surface, cursor: JsonValue = None) -> str:
    """Go on to another page; how it ended."""
    return code_of(surface.invoke(SHOW_ID, {"cursor": cursor}))
