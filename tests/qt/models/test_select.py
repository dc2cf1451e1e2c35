from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QTableView

from agent_surface import InvocationError, JsonValue
from tests.qt.mixin.parts import Surface, code_of
from tests.qt.models.conftest import SELECT_ID, devices

Mode = QAbstractItemView.SelectionMode


def selected(table: QTableView) -> list[int]:
    """The selected rows."""
    return sorted(index.row() for index in table.selectionModel().selectedRows())


def select(surface: Surface, *keys: JsonValue, mode: str | None = None) -> str:
    """Ask for a selection; how it ended."""
    value: dict[str, JsonValue] = {"keys": list(keys)}
    if mode is not None:
        value["mode"] = mode
    return code_of(surface.invoke(SELECT_ID, value))


@pytest.mark.requirement("QT-MODEL-001")
def test_rows_are_selected_by_key(surface: Surface, table: QTableView) -> None:
    """Whole rows; replaced, extended and reduced."""
    assert select(surface, "d5", "d1", "d2") == "ok"
    assert selected(table) == [1, 2, 5]
    assert select(surface, "d0", mode="extend") == "ok"
    assert selected(table) == [0, 1, 2, 5]
    assert select(surface, "d1", "d5", mode="reduce") == "ok"
    assert selected(table) == [0, 2]
    assert select(surface, "d6") == "ok"
    assert selected(table) == [6]
    assert select(surface) == "ok"
    assert selected(table) == []


@pytest.mark.requirement("QT-MODEL-001")
def test_unknown_keys_are_reported_by_name_and_nothing_is_selected(surface: Surface, table: QTableView) -> None:
    """Half of what was asked for would be neither the old nor the wanted selection."""
    table.selectRow(3)
    result = surface.invoke(SELECT_ID, {"keys": ["d1", "gone", "away"]})
    assert isinstance(result, InvocationError)
    assert (code_of(result), result.error.details["unknownKeys"]) == ("PRECONDITION_FAILED", ("gone", "away"))
    assert result.error.message == "No rows have these keys: gone, away. Nothing was selected."
    assert selected(table) == [3]


@pytest.mark.requirement("QT-MODEL-001")
def test_a_key_is_looked_up_in_the_rows_of_the_moment(surface: Surface, table: QTableView) -> None:
    """Where it was found the last time may be another row by now."""
    assert select(surface, "d4") == "ok"
    table.model().removeRow(0)
    assert select(surface, "d4") == "ok"
    assert selected(table) == [3]
    table.setModel(devices(3, first=100))
    assert select(surface, "d4") == "PRECONDITION_FAILED"
    assert select(surface, "d102") == "ok"
    assert selected(table) == [2]


@pytest.mark.parametrize(
    ("mode", "keys", "code"),
    [
        (Mode.SingleSelection, ["d1"], "ok"),
        (Mode.SingleSelection, ["d1", "d2"], "PRECONDITION_FAILED"),
        (Mode.ContiguousSelection, ["d1", "d2"], "ok"),
        (Mode.ContiguousSelection, ["d1", "d3"], "PRECONDITION_FAILED"),
        (Mode.NoSelection, ["d1"], "CAPABILITY_NOT_AVAILABLE"),
    ],
)
def test_the_views_selection_mode_holds_for_an_agent_too(
    surface: Surface, table: QTableView, mode: Mode, keys: list[str], code: str
) -> None:
    """Qt's selection model itself would select anything."""
    table.setSelectionMode(mode)
    assert select(surface, *keys) == code
    assert len(selected(table)) == (len(keys) if code == "ok" else 0)


def test_a_row_that_a_person_cannot_select_is_refused(surface: Surface, table: QTableView) -> None:
    """By name, as with unknown keys."""
    model = devices(3)
    table.setModel(model)
    model.item(1, 0).setFlags(Qt.ItemFlag.ItemIsEnabled)
    assert select(surface, "d1") == "PRECONDITION_FAILED"
    assert selected(table) == []


def test_an_unknown_mode_is_refused(surface: Surface, table: QTableView) -> None:
    """A contract should name the modes; if it does not, none is guessed."""
    assert select(surface, "d1", mode="toggle") == "PRECONDITION_FAILED"


def test_a_view_without_a_model_has_nothing_to_select(surface: Surface, table: QTableView) -> None:
    """The model may go while the view stays."""
    model = table.model()
    assert isinstance(model, QStandardItemModel)
    table.setModel(None)
    assert surface.reason("select") == "No row can be selected here."
