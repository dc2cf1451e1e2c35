from __future__ import annotations

from typing import cast

import pytest
from PySide6.QtCore import QAbstractTableModel, QDateTime, QSortFilterProxyModel, Qt, QTimeZone
from PySide6.QtGui import QFont, QStandardItem
from PySide6.QtWidgets import QTableView
from typing_extensions import override

from agent_surface import AgentSurfaceDefinitionError, JsonValue
from qt_binding import observe_model
from tests.qt.mixin.parts import Surface, code_of, turn
from tests.qt.models.conftest import (
    KEY_ROLE,
    READ_ID,
    ROOT,
    SHOW_ID,
    Index,
    Many,
    attach_devices,
    device,
    devices,
    keys,
    page,
    show_page,
)


def page_of(value: object) -> dict[str, JsonValue]:
    """A page, read from a model that no component stands for."""
    assert isinstance(value, dict)
    return cast("dict[str, JsonValue]", value)


def count(read: dict[str, JsonValue]) -> int:
    """How many rows a page has."""
    rows = read["rows"]
    assert isinstance(rows, list)
    return len(rows)


class Lazy(QAbstractTableModel):
    """Two rows at a time, until there are four."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded = 2

    @override
    def rowCount(self, parent: Index = ROOT) -> int:
        return self.loaded

    @override
    def columnCount(self, parent: Index = ROOT) -> int:
        return 2

    @override
    def canFetchMore(self, parent: Index) -> bool:
        return self.loaded < 4

    @override
    def fetchMore(self, parent: Index) -> None:
        self.beginInsertRows(ROOT, self.loaded, self.loaded + 1)
        self.loaded += 2
        self.endInsertRows()

    @override
    def data(self, index: Index, role: int = 0) -> object:
        return index.row()


@pytest.mark.requirement("QT-MODEL-001")
def test_a_page_has_keys_fields_total_and_the_way_on(surface: Surface, table: QTableView) -> None:
    """Whole pages, from the first to the last, and back to the first."""
    first = page(surface)
    cursor = first.pop("cursor")
    assert first == {
        "rows": [{"key": f"d{n}", "name": f"Device {n}", "load": n} for n in range(3)],
        "start": 0,
        "total": 7,
        "truncated": True,
    }
    assert keys(surface) == ["d0", "d1", "d2"], "reading moves nothing"
    assert show_page(surface, cursor) == "ok"
    assert keys(surface) == ["d3", "d4", "d5"]
    assert show_page(surface, page(surface)["cursor"]) == "ok"
    last = page(surface)
    assert last == {
        "rows": [{"key": "d6", "name": "Device 6", "load": 6}],
        "start": 6,
        "total": 7,
        "cursor": None,
        "truncated": True,
    }
    assert show_page(surface) == "ok"
    assert keys(surface) == ["d0", "d1", "d2"]


@pytest.mark.requirement("QT-MODEL-001")
def test_a_model_of_one_page_is_not_truncated(surface: Surface, table: QTableView) -> None:
    """Nothing is left out, so there is no cursor."""
    table.setModel(devices(2))
    read = page(surface)
    assert (read["total"], read["cursor"], read["truncated"]) == (2, None, False)


@pytest.mark.requirement("QT-MODEL-001")
def test_a_page_of_a_million_rows_asks_for_its_own_cells_alone(surface: Surface, table: QTableView) -> None:
    """What a page costs does not depend on how many rows there are."""
    model = Many()
    observation = observe_model(model, key_role=KEY_ROLE, columns={"name": 0, "load": 1}, page=50)
    read = page_of(observation.read.find_handler(table)())
    assert (read["total"], count(read), model.asked) == (1_000_000, 50, 150)


@pytest.mark.requirement("QT-MODEL-001")
def test_a_page_through_a_proxy_asks_for_its_own_cells_alone(surface: Surface, table: QTableView) -> None:
    """What the proxy sorts or filters by it has asked for before; reading adds nothing to it."""
    model, proxy = Many(20_000), QSortFilterProxyModel()
    proxy.setSourceModel(model)
    proxy.setFilterFixedString("7")
    total = proxy.rowCount()
    model.asked = 0
    read = page_of(observe_model(proxy, key_role=KEY_ROLE, columns={"name": 0}).read.find_handler(table)())
    assert (read["total"], count(read), model.asked) == (total, 50, 100)
    assert 0 < total < 20_000


@pytest.mark.requirement("QT-MODEL-001")
def test_rows_with_many_fields_make_shorter_pages(surface: Surface, table: QTableView) -> None:
    """A page is bounded in cells, whatever a row is made of."""
    fields = dict.fromkeys((f"field{number}" for number in range(19)), 0)
    observation = observe_model(Many(), key_role=KEY_ROLE, columns=fields, page=500)
    assert count(page_of(observation.read.find_handler(table)())) == 50


@pytest.mark.requirement("QT-MODEL-001")
def test_a_replaced_model_is_read_afresh(surface: Surface, table: QTableView) -> None:
    """``setModel`` emits nothing; the first page of the new model is read, and an old cursor is refused."""
    assert show_page(surface, page(surface)["cursor"]) == "ok"
    old = page(surface)["cursor"]
    model = devices(7, first=100)
    table.setModel(model)
    assert keys(surface) == ["d100", "d101", "d102"]
    assert show_page(surface, old) == "PRECONDITION_FAILED"
    assert keys(surface) == ["d100", "d101", "d102"]


@pytest.mark.requirement("QT-MODEL-001")
def test_a_cursor_from_before_a_reset_is_refused(surface: Surface, table: QTableView) -> None:
    """Even when nothing was read in between: the row it leads to is another one."""
    old = page(surface)["cursor"]
    model = table.model()
    model.beginResetModel()
    model.endResetModel()
    assert show_page(surface, old) == "PRECONDITION_FAILED"


@pytest.mark.requirement("QT-MODEL-001")
def test_a_page_keeps_its_first_row_when_rows_come_before_it(surface: Surface, table: QTableView) -> None:
    """Nothing is read twice or left out because somebody added a row."""
    model = devices(7)
    table.setModel(model)
    assert show_page(surface, page(surface)["cursor"]) == "ok"
    model.insertRow(0, device(99))
    read = page(surface)
    assert (read["start"], read["total"], keys(surface)[0]) == (4, 8, "d3")


@pytest.mark.requirement("QT-MODEL-001")
@pytest.mark.parametrize("cursor", ["", "1", "1.99", "1.-1", "1.7", "2.3", "1.x", "x.3", "1." + "9" * 30])
def test_a_cursor_that_was_never_given_is_refused(surface: Surface, table: QTableView, cursor: str) -> None:
    """The page stays where it is."""
    keys(surface)
    assert show_page(surface, cursor) == "PRECONDITION_FAILED"
    assert keys(surface) == ["d0", "d1", "d2"]


@pytest.mark.requirement("QT-MODEL-001")
def test_a_model_that_loads_on_demand_is_asked_for_more_by_the_action_alone(
    surface: Surface, table: QTableView
) -> None:
    """Reading has no effects; the total counts what is loaded."""
    model = Lazy()
    observation = observe_model(model, key_role=KEY_ROLE, columns={"name": 0}, page=2)
    read, turn_to = observation.read.find_handler(table), observation.show_page.find_handler(table)
    first = page_of(read())
    assert (first["total"], first["truncated"], model.loaded) == (2, True, 2)
    assert observation.show_page.check_precondition(table, ({"cursor": first["cursor"]},)) is None
    turn_to({"cursor": first["cursor"]})
    second = page_of(read())
    assert (second["start"], second["total"], second["cursor"]) == (2, 4, None)


def test_without_a_model_nothing_can_be_read(surface: Surface) -> None:
    """It is unavailable, and says so."""
    view = QTableView()
    attach_devices(view)
    view.show()
    turn()
    assert surface.reason("read") == surface.reason("showPage") == "There are no rows: no model is set."
    assert code_of(surface.invoke(SHOW_ID, {})) == "CAPABILITY_NOT_AVAILABLE"
    view.setModel(devices(1))
    assert keys(surface) == ["d0"]


@pytest.mark.requirement("QT-MODEL-001")
@pytest.mark.allow_logs("agent_surface.pipeline")
def test_what_has_no_json_form_is_refused(surface: Surface, table: QTableView) -> None:
    """Dates have one, fonts have none; a row without a key cannot be told from others."""
    model = devices(1)
    table.setModel(model)
    moment = QDateTime.fromSecsSinceEpoch(0, QTimeZone.utc())
    model.setData(model.index(0, 1), moment, Qt.ItemDataRole.EditRole)
    rows = page(surface)["rows"]
    assert rows == [{"key": "d0", "name": "Device 0", "load": "1970-01-01T00:00:00.000Z"}]
    model.setData(model.index(0, 1), QFont(), Qt.ItemDataRole.EditRole)
    assert code_of(surface.invoke(READ_ID)) == "EXECUTION_FAILED"
    model.removeRow(0)
    model.appendRow([QStandardItem("keyless"), QStandardItem()])
    assert code_of(surface.invoke(READ_ID)) == "EXECUTION_FAILED"


def test_a_definition_names_what_is_wrong(table: QTableView) -> None:
    """When it is made."""
    with pytest.raises(AgentSurfaceDefinitionError, match="name the fields"):
        observe_model(table, key_role=KEY_ROLE)
    with pytest.raises(AgentSurfaceDefinitionError, match="name the fields"):
        observe_model(table, key_role=KEY_ROLE, columns={"key": 0})
    with pytest.raises(AgentSurfaceDefinitionError, match="1 to 500"):
        observe_model(table, key_role=KEY_ROLE, columns={"name": 0}, page=501)
