"""The list of devices as a table model: all ids in order, values only of the rows that are looked at."""

from __future__ import annotations

import logging
from collections import OrderedDict

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionRange,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtGui import QIcon, QPalette
from typing_extensions import override

from demo_app.domain import Device, DeviceFilter, DeviceOrder, DeviceStatus, FleetError, FleetRepository, SortColumn
from demo_app.views._appearance import status_icon, status_label, time_text

_LOGGER = logging.getLogger(__name__)

_PAGE_ROWS = 128
_MAX_PAGES = 64

COLUMNS: tuple[SortColumn, ...] = ("name", "status", "city", "country", "model", "firmware", "last_seen", "id")
"""The columns of the table, left to right."""


class DevicesModel(QAbstractTableModel):
    """Devices that match a filter, in an order.

    The ids of all rows are known, so the number of rows is exact, "select all" is one range, and a device is found
    by id without searching; the devices themselves are read in pages when a row is first asked for. A change of the
    filter, of the order, or of which devices match resets the model; a change of values only does not.

    Args:
        repository: Reads the fleet.
        parent: Owner.
    """

    DEVICE_ID_ROLE = int(Qt.ItemDataRole.UserRole) + 1

    def __init__(self, repository: FleetRepository, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._repository = repository
        self._filter = DeviceFilter()
        self._order = DeviceOrder()
        self._ids: list[str] = []
        self._row_by_id: dict[str, int] | None = None
        self._pages: OrderedDict[int, dict[str, Device]] = OrderedDict()
        self._icons: dict[DeviceStatus, QIcon] = {}
        self._palette = QPalette()
        self._headers: dict[SortColumn, str] = {
            "name": self.tr("Name"),
            "status": self.tr("Status"),
            "city": self.tr("City"),
            "country": self.tr("Country"),
            "model": self.tr("Model"),
            "firmware": self.tr("Firmware"),
            "last_seen": self.tr("Last seen"),
            "id": self.tr("ID"),
        }
        self._load()

    @property
    def filters(self) -> DeviceFilter:
        """Which devices are listed."""
        return self._filter

    @property
    def order(self) -> DeviceOrder:
        """In which order."""
        return self._order

    def set_filters(self, device_filter: DeviceFilter) -> None:
        """List the devices that match ``device_filter``.

        Raises:
            FleetDatabaseError: The file cannot be read; the list is as it was.
        """
        if device_filter != self._filter:
            self._apply(device_filter, self._order)

    def set_order(self, order: DeviceOrder) -> None:
        """List the devices in another order.

        Raises:
            FleetDatabaseError: The file cannot be read; the list is as it was.
        """
        if order != self._order:
            self._apply(self._filter, order)

    def reload(self) -> None:
        """Read again after the fleet changed.

        Raises:
            FleetDatabaseError: The file cannot be read; the list is as it was.
        """
        ids = self._repository.list_ids(self._filter, self._order)
        if ids != self._ids:
            self._reset(ids)
            return
        self._pages.clear()
        if ids:
            self.dataChanged.emit(self.index(0, 0), self.index(len(ids) - 1, len(COLUMNS) - 1))

    def set_palette(self, palette: QPalette) -> None:
        """Draw the signs for a view with these colours."""
        self._palette = QPalette(palette)
        self._icons.clear()
        if self._ids:
            status_column = COLUMNS.index("status")
            self.dataChanged.emit(self.index(0, status_column), self.index(len(self._ids) - 1, status_column))

    def ids(self) -> tuple[str, ...]:
        """Ids of all rows, top to bottom."""
        return tuple(self._ids)

    def id_at(self, row: int) -> str:
        """The id of the device in ``row``."""
        return self._ids[row]

    def ids_between(self, top: int, bottom: int) -> list[str]:
        """Ids of the rows from ``top`` to ``bottom``."""
        return self._ids[top : bottom + 1]

    def rows_between(self, top: int, bottom: int) -> QItemSelectionRange:
        """The rows from ``top`` to ``bottom``, which must exist, as something to select.

        Made without ``index``, which Qt has ask for the number of rows and columns each time.
        """
        return QItemSelectionRange(self.createIndex(top, 0), self.createIndex(bottom, len(COLUMNS) - 1))

    def find_row(self, device_id: str) -> int | None:
        """The row of a device, or ``None`` when it is not listed."""
        if self._row_by_id is None:
            self._row_by_id = {listed: row for row, listed in enumerate(self._ids)}
        return self._row_by_id.get(device_id)

    def find_device(self, row: int) -> Device | None:
        """The device in ``row``; ``None`` when it was removed since the list was read, or cannot be read."""
        if not 0 <= row < len(self._ids):
            return None
        number = row // _PAGE_ROWS
        page = self._pages.get(number)
        if page is None:
            start = number * _PAGE_ROWS
            try:
                devices = self._repository.read_devices(self._ids[start : start + _PAGE_ROWS])
            except FleetError:
                # Called while painting: the row stays empty, and the log says why.
                _LOGGER.exception("The devices of page %d cannot be read", number)
                return None
            page = self._pages[number] = {device.id: device for device in devices}
            if len(self._pages) > _MAX_PAGES:
                self._pages.popitem(last=False)
        else:
            self._pages.move_to_end(number)
        return page.get(self._ids[row])

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """How many devices are listed."""
        return 0 if parent is not None and parent.isValid() else len(self._ids)

    @override
    def columnCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """How many columns there are."""
        return 0 if parent is not None and parent.isValid() else len(COLUMNS)

    @override
    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What a cell shows."""
        if not index.isValid() or index.row() >= len(self._ids):
            return None
        if role == self.DEVICE_ID_ROLE:
            return self._ids[index.row()]
        if role not in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.DecorationRole,
            Qt.ItemDataRole.ToolTipRole,
        ):
            return None
        device = self.find_device(index.row())
        if device is None:
            return None
        column = COLUMNS[index.column()]
        if role == Qt.ItemDataRole.DecorationRole:
            return self._icon(device.status) if column == "status" else None
        return _text(device, column, long=role == Qt.ItemDataRole.ToolTipRole)

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The title of a column."""
        if role != Qt.ItemDataRole.DisplayRole or orientation != Qt.Orientation.Horizontal:
            return None
        return self._headers[COLUMNS[section]] if 0 <= section < len(COLUMNS) else None

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order by a column, as a click on its header asks for."""
        if not 0 <= column < len(COLUMNS):
            return
        try:
            self.set_order(DeviceOrder(column=COLUMNS[column], descending=order == Qt.SortOrder.DescendingOrder))
        except FleetError:
            _LOGGER.exception("The devices cannot be sorted")

    def _icon(self, status: DeviceStatus) -> QIcon:
        if status not in self._icons:
            self._icons[status] = status_icon(status, self._palette)
        return self._icons[status]

    def _load(self) -> None:
        self._ids = self._repository.list_ids(self._filter, self._order)

    def _apply(self, device_filter: DeviceFilter, order: DeviceOrder) -> None:
        ids = self._repository.list_ids(device_filter, order)
        self._filter = device_filter
        self._order = order
        self._reset(ids)

    def _reset(self, ids: list[str]) -> None:
        self.beginResetModel()
        self._ids = ids
        self._row_by_id = None
        self._pages.clear()
        self.endResetModel()


def _text(device: Device, column: SortColumn, *, long: bool) -> str:
    match column:
        case "status":
            return status_label(device.status)
        case "last_seen":
            return time_text(device.last_seen, long=long)
        case "id" | "name" | "city" | "country" | "model" | "firmware":
            return str(getattr(device, column))
