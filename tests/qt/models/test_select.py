from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QTableView

from agent_surface import InvocationError, JsonValue
from qt_binding import attach_agent_component, select_rows
from qt_binding._runtime import runtime_of_application
from qt_binding.models._rows import KnownRows
from tests.qt.mixin.parts import Surface, code_of, delete
from tests.qt.models.conftest import DEVICES, KEY_ROLE, SELECT_ID, Many, devices, page

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


@pytest.mark.requirement("QT-MODEL-001")
def test_rows_that_a_page_has_shown_are_found_at_once_among_a_million(surface: Surface, table: QTableView) -> None:
    """An agent selects what it has read, and a search would take longer than a call has time."""
    model = Many()
    table.setModel(model)
    page(surface)
    model.asked = 0
    assert select(surface, "d2", "d0") == "ok"
    assert selected(table) == [0, 2]
    assert model.asked < 200
    model.turn_round()
    model.asked = 0
    assert select(surface, "d1") == "ok"
    assert selected(table) == [999_998]
    assert model.asked < 200


@pytest.mark.requirement("QT-MODEL-001")
def test_any_other_row_is_looked_for_a_piece_at_a_time(
    surface: Surface, table: QTableView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window lives on meanwhile; what has no row is refused by name, as ever."""
    monkeypatch.setattr("qt_binding.models._rows.AT_ONCE", 100)
    model = Many(1_000)
    table.setModel(model)
    most, last = [0], [0]

    def tick() -> None:
        most[0] = max(most[0], model.asked - last[0])
        last[0] = model.asked

    timer = QTimer(table)
    timer.timeout.connect(tick)
    timer.start(0)
    assert select(surface, "d990", "d5") == "ok"
    tick()
    assert selected(table) == [5, 990]
    assert 100 <= most[0] < 500
    table.clearSelection()
    result = surface.invoke(SELECT_ID, {"keys": ["d5", "d1000"]})
    assert isinstance(result, InvocationError)
    assert (code_of(result), result.error.details["unknownKeys"]) == ("PRECONDITION_FAILED", ("d1000",))
    assert selected(table) == []


@pytest.mark.requirement("QT-MODEL-001")
@pytest.mark.parametrize(
    ("key", "times", "told"),
    [("d950", 1, "ok"), ("d1000", 1_000, "The rows keep changing. Try again later.")],
    ids=["once", "all the time"],
)
def test_a_search_begins_again_when_the_rows_change(
    surface: Surface, table: QTableView, monkeypatch: pytest.MonkeyPatch, key: str, times: int, told: str
) -> None:
    """A row that moved behind the search would be missed; rows that never rest are no reason to search for ever."""
    monkeypatch.setattr("qt_binding.models._rows.AT_ONCE", 100)
    model = Many(1_000)
    table.setModel(model)
    left = [times]

    def change() -> None:
        if model.asked > 350 and left[0]:  # some pieces have been looked through
            left[0] -= 1
            model.turn_round()

    timer = QTimer(table)
    timer.timeout.connect(change)
    timer.start(0)
    result = surface.invoke(SELECT_ID, {"keys": [key]})
    timer.stop()
    assert (result.error.message if isinstance(result, InvocationError) else "ok") == told
    assert selected(table) == ([49] if told == "ok" else [])  # turned round, d950 is at 49


@pytest.mark.requirement("QT-MODEL-001")
def test_an_application_may_look_rows_up_itself(surface: Surface, table: QTableView) -> None:
    """Its answer is checked, and nothing is looked through."""
    model = Many()
    table.setModel(model)
    attach_agent_component(
        table,
        DEVICES,
        observations={"read": dict},
        actions={
            "showPage": lambda: None,
            "select": select_rows(table, KEY_ROLE, find_row=lambda key: {"d700000": 700_000, "wrong": 3}.get(str(key))),
        },
    )
    assert select(surface, "d700000") == "ok"
    assert selected(table) == [700_000]
    assert select(surface, "wrong") == "PRECONDITION_FAILED"
    assert select(surface, "d4") == "PRECONDITION_FAILED"
    assert model.asked < 300


def test_what_is_remembered_of_rows_is_bounded(
    surface: Surface, table: QTableView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those shown last are kept; a model moves each of them along."""
    monkeypatch.setattr("qt_binding.models._rows.MOST_REMEMBERED", 4)
    known = KnownRows(runtime_of_application("test"))
    model = devices(7)
    for row in range(7):
        known.remember(model.index(row, 0), KEY_ROLE, f"d{row}")
    assert len(known) == 4
    assert [known.find(model, KEY_ROLE, f"d{row}") is not None for row in range(7)] == [False] * 3 + [True] * 4
    delete(model)
    other = devices(7)
    assert known.find(other, KEY_ROLE, "d6") is None
