"""The table of devices: sorting, and a selection that belongs to devices and not to rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Literal

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QRegion
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget
from typing_extensions import override

from agent_surface import JsonValue, PreconditionFailure
from demo_app.contracts import (
    CLEAR_SELECTION,
    DEVICES_TABLE,
    MAX_REPORTED_IDS,
    MAX_REPORTED_ROWS,
    READ_TABLE,
    SCROLL_TO_ROW,
    SELECT_ALL,
    SELECT_ROWS,
    SORT_ROWS,
    DeviceRow,
    ScrollToRow,
    SelectRows,
    SortRows,
    TableState,
)
from demo_app.domain import Device, DeviceOrder, FleetError
from demo_app.views._devices_model import COLUMNS, DevicesModel
from qt_binding import AgentComponentMixin, observes, performs

SelectionMode = Literal["replace", "add", "remove"]
"""What naming devices does to the selection."""

_SAMPLED_ROWS = 60
_NAMED_IN_MESSAGE = 5


class DevicesNotListedError(FleetError):
    """Raised when devices are to be selected that the table does not list; the selection is as it was.

    Attributes:
        device_ids: Those that are not listed, in the given order.
    """

    def __init__(self, device_ids: Sequence[str]) -> None:
        self.device_ids = tuple(device_ids)
        named = ", ".join(self.device_ids[:_NAMED_IN_MESSAGE])
        more = len(self.device_ids) - _NAMED_IN_MESSAGE
        super().__init__(f"The table does not list {named}" + (f" (and {more} more)." if more > 0 else "."))


class DevicesTable(AgentComponentMixin, QTableView):
    """The devices that match the filter.

    The selection follows its devices through sorting, filtering and refreshing. A device that is no longer listed is
    no longer selected: what a command acts on is what a person can see.

    Signals:
        selection_changed: Other devices are selected.
        lead_changed: Another device is the one to show in detail, as id; empty when none is selected.
        text_typed: Somebody types into the table; meant for the search field.
    """

    agent_contract = DEVICES_TABLE

    selection_changed = Signal()
    lead_changed = Signal(str)
    text_typed = Signal(str)

    def __init__(self, model: DevicesModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._kept_selection: tuple[str, ...] = ()
        self._kept_current = ""
        self._lead_id = ""
        self._is_replacing = False
        self._spans: list[tuple[int, int]] | None = None
        self.setAccessibleName(self.tr("Devices"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        # One height for all rows, or the header would ask each of fifty thousand.
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + self.fontMetrics().height() // 2)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        header.setResizeContentsPrecision(_SAMPLED_ROWS)
        header.setSortIndicator(COLUMNS.index(model.order.column), Qt.SortOrder.AscendingOrder)
        model.set_palette(self.palette())
        self.setModel(model)
        # A header asks whether all rows of a column are selected, one by one. It gets a selection that is always empty.
        header.setSelectionModel(QItemSelectionModel(model, header))
        self.setSortingEnabled(True)
        self.resizeColumnsToContents()
        model.modelAboutToBeReset.connect(self._keep_selection)
        model.modelReset.connect(self._restore_selection)
        self.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self.selectionModel().currentRowChanged.connect(self._announce_lead)

    def listed_ids(self) -> tuple[str, ...]:
        """Ids of all listed devices, top to bottom."""
        return self._model.ids()

    def selected_ids(self) -> tuple[str, ...]:
        """Ids of the selected devices, top to bottom."""
        return tuple(self._selected())

    def selected_count(self) -> int:
        """How many devices are selected."""
        return sum(bottom - top + 1 for top, bottom in self._selected_spans())

    def selection_obstacle(self) -> str:
        """Why a command on the selected devices is not possible, as a sentence; empty when it is."""
        return "" if self.selectionModel().hasSelection() else self.tr("No device is selected.")

    def lead_id(self) -> str:
        """The selected device to show in detail: the one with the focus, else the first; empty when there is none."""
        row = self.currentIndex().row()
        if row >= 0 and self.selectionModel().isRowSelected(row):
            return self._model.id_at(row)
        first = next(self._selected_rows(), None)
        return "" if first is None else self._model.id_at(first)

    def visible_rows(self, *, offset: int = 0, limit: int = 50) -> list[Device]:
        """The listed devices, ``limit`` of them from row ``offset`` on, whether scrolled into view or not."""
        rows = range(max(offset, 0), min(max(offset, 0) + limit, self._model.rowCount()))
        return [device for row in rows if (device := self._model.find_device(row)) is not None]

    def order(self) -> DeviceOrder:
        """How the table is sorted."""
        return self._model.order

    def sort_by(self, order: DeviceOrder) -> None:
        """Sort the table; the header shows it."""
        direction = Qt.SortOrder.DescendingOrder if order.descending else Qt.SortOrder.AscendingOrder
        self.sortByColumn(COLUMNS.index(order.column), direction)

    def select_ids(self, device_ids: Iterable[str], mode: SelectionMode = "replace") -> None:
        """Select devices by id.

        Args:
            device_ids: Which.
            mode: Whether they replace, extend or reduce the selection.

        Raises:
            DevicesNotListedError: Some are not in the table; nothing has been selected.
        """
        wanted = list(dict.fromkeys(device_ids))
        rows = [self._model.find_row(device_id) for device_id in wanted]
        if None in rows:
            raise DevicesNotListedError([id_ for id_, row in zip(wanted, rows, strict=True) if row is None])
        named = {row for row in rows if row is not None}
        if mode == "add":
            named.update(self._selected_rows())
        elif mode == "remove":
            named = set(self._selected_rows()) - named
        self._replace_selection(named)
        self._announce_selection()
        if mode != "remove" and wanted and rows[0] is not None:
            self._set_current(rows[0])

    def show_device(self, device_id: str) -> None:
        """Scroll to a device and give it the focus, without changing the selection.

        Raises:
            DevicesNotListedError: It is not in the table.
        """
        row = self._model.find_row(device_id)
        if row is None:
            raise DevicesNotListedError([device_id])
        self._set_current(row)

    # ---------------------------------------------------------------------------------------------------- for agents

    @observes(READ_TABLE)
    def read_state(self) -> TableState:
        """The rows from the first one in view on, the selection, and the order."""
        first_row = max(self.rowAt(0), 0)
        order = self.order()
        return TableState(
            rows=[
                DeviceRow(id=device.id, name=device.name, status=device.status.value, city=device.city)
                for device in self.visible_rows(offset=first_row, limit=MAX_REPORTED_ROWS)
            ],
            first_row=first_row,
            listed=self._model.rowCount(),
            selected_ids=list(islice(self._selected(), MAX_REPORTED_IDS)),
            selected_count=self.selected_count(),
            sorted_by=order.column,
            descending=order.descending,
        )

    def refuse_rows(self, request: SelectRows) -> PreconditionFailure | None:
        """Why the rows cannot be selected: some are not in the table."""
        missing = [device_id for device_id in request.ids if self._model.find_row(device_id) is None]
        if not missing:
            return None
        named: list[JsonValue] = list(missing[:MAX_REPORTED_ROWS])
        return PreconditionFailure(str(DevicesNotListedError(missing)), {"notListed": named, "count": len(missing)})

    @performs(SELECT_ROWS, precondition=refuse_rows)
    def select_rows(self, request: SelectRows) -> None:
        """Select by id."""
        self.select_ids(request.ids, request.mode)

    @performs(
        SELECT_ALL,
        when=lambda table: table.model().rowCount() > 0,
        reason="No device is listed. Change the filters first.",
        follows=lambda table: table.model().modelReset,
    )
    def select_all(self) -> None:
        """Select every listed device."""
        self.selectAll()

    @performs(
        CLEAR_SELECTION,
        when=lambda table: not table.selection_obstacle(),
        reason=lambda table: table.selection_obstacle(),
        follows=lambda table: table.selection_changed,
    )
    def clear_selection(self) -> None:
        """Select no device."""
        self.clearSelection()

    @performs(SORT_ROWS)
    def sort_rows(self, request: SortRows) -> None:
        """Order the table by a column."""
        self.sort_by(DeviceOrder(column=request.column, descending=request.descending))

    def refuse_row(self, request: ScrollToRow) -> PreconditionFailure | None:
        """Why the row cannot be scrolled to: the table is not that long."""
        listed = self._model.rowCount()
        if request.row < listed:
            return None
        return PreconditionFailure(self.tr("The table lists {count} devices.").format(count=listed), {"listed": listed})

    @performs(SCROLL_TO_ROW, precondition=refuse_row)
    def scroll_to_row(self, request: ScrollToRow) -> None:
        """Bring a row to the top."""
        self.scrollTo(self._model.index(request.row, 0), QAbstractItemView.ScrollHint.PositionAtTop)

    @override
    def keyboardSearch(self, search: str) -> None:
        """Typing filters; Qt's own search would read every row."""
        if search.strip():
            self.text_typed.emit(search)

    @override
    def changeEvent(self, event: QEvent) -> None:
        """Redraw the signs when light turns dark."""
        super().changeEvent(event)
        # The first palette change comes from the base class's own __init__.
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_model"):
            self._model.set_palette(self.palette())

    @override
    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        """All of it: with thousands of ranges Qt would ask the model about every cell to repaint a little less."""
        return QRegion(self.viewport().rect())

    def _selected(self) -> Iterator[str]:
        return chain.from_iterable(self._model.ids_between(*span) for span in self._selected_spans())

    def _selected_rows(self) -> Iterator[int]:
        for top, bottom in self._selected_spans():
            yield from range(top, bottom + 1)

    def _selected_spans(self) -> list[tuple[int, int]]:
        """First and last row of each selected stretch, top to bottom, without overlap."""
        if self._spans is None:
            ranges = self.selectionModel().selection()
            parts = {(part.top(), part.bottom()) for part in ranges.toList() if part.isValid()}
            self._spans = []
            end = -1
            for top, bottom in sorted(parts):
                start = max(top, end + 1)
                if start <= bottom:
                    self._spans.append((start, bottom))
                    end = bottom
        return self._spans

    def _replace_selection(self, rows: Iterable[int]) -> None:
        """Select exactly these rows, without a word."""
        spans = _spans_of(rows)
        selection = QItemSelection()
        for top, bottom in spans:
            selection.append(self._model.rows_between(top, bottom))
        self._is_replacing = True
        # Cleared first: Qt compares every old range with every new one, and with thousands of each that takes minutes.
        self.selectionModel().clearSelection()
        self.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.Select)
        self._is_replacing = False
        self._spans = spans

    def _set_current(self, row: int) -> None:
        index = self._model.index(row, 0)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
        self.scrollTo(index)

    def _keep_selection(self) -> None:
        self._kept_selection = self.selected_ids()
        row = self.currentIndex().row()
        self._kept_current = self._model.id_at(row) if row >= 0 else ""

    def _restore_selection(self) -> None:
        kept, current = self._kept_selection, self._kept_current
        self._kept_selection, self._kept_current = (), ""
        rows = [row for row in map(self._model.find_row, kept) if row is not None]
        self._replace_selection(rows)
        row = self._model.find_row(current) if current else None
        if row is not None:
            self._set_current(row)
        # Qt has cleared the selection model without a signal.
        if kept:
            self._announce_selection()

    def _on_selection_changed(self) -> None:
        self._spans = None
        if not self._is_replacing:
            self._announce_selection()

    def _announce_selection(self) -> None:
        self.selection_changed.emit()
        self._announce_lead()

    def _announce_lead(self) -> None:
        lead_id = self.lead_id()
        if lead_id != self._lead_id:
            self._lead_id = lead_id
            self.lead_changed.emit(lead_id)


def _spans_of(rows: Iterable[int]) -> list[tuple[int, int]]:
    """The rows as few stretches: fifty thousand single ranges would take Qt minutes to merge."""
    spans: list[tuple[int, int]] = []
    start = previous = -2
    for row in sorted(rows):
        if row != previous + 1:
            if start >= 0:
                spans.append((start, previous))
            start = row
        previous = row
    if start >= 0:
        spans.append((start, previous))
    return spans
