"""A read-only table of records that grows as it is scrolled: notes and the activity log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from demo_app.domain import FleetError

_LOGGER = logging.getLogger(__name__)

PAGE_RECORDS = 200
"""How many records are read at a time."""

RecordT = TypeVar("RecordT")


class RecordsModel(QAbstractTableModel, Generic[RecordT]):
    """Records, newest first, read page by page.

    Args:
        columns: Title of each column and what it shows of a record.
        read_page: Returns the next records, at most :data:`PAGE_RECORDS`, after the given one or from the start.
        parent: Owner.
    """

    def __init__(
        self,
        columns: Sequence[tuple[str, Callable[[RecordT], str]]],
        read_page: Callable[[RecordT | None], list[RecordT]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._read_page = read_page
        self._records: list[RecordT] = []
        self._has_more = False

    def reload(self) -> None:
        """Read again from the start."""
        self.beginResetModel()
        self._records = self._read(None)
        self.endResetModel()

    def find_record(self, row: int) -> RecordT | None:
        """The record in ``row``, or ``None``."""
        return self._records[row] if 0 <= row < len(self._records) else None

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """How many records have been read."""
        return 0 if parent is not None and parent.isValid() else len(self._records)

    @override
    def columnCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """How many columns there are."""
        return 0 if parent is not None and parent.isValid() else len(self._columns)

    @override
    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What a cell shows; the tool tip has the same text in full."""
        record = self.find_record(index.row()) if index.isValid() else None
        if record is None or role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        text = self._columns[index.column()][1](record)
        return text.replace("\n", " ") if role == Qt.ItemDataRole.DisplayRole else text

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The title of a column."""
        if role != Qt.ItemDataRole.DisplayRole or orientation != Qt.Orientation.Horizontal:
            return None
        return self._columns[section][0] if 0 <= section < len(self._columns) else None

    @override
    def canFetchMore(self, parent: QModelIndex | QPersistentModelIndex) -> bool:
        """Whether there are older records."""
        return self._has_more and not parent.isValid()

    @override
    def fetchMore(self, parent: QModelIndex | QPersistentModelIndex) -> None:
        """Read the next page."""
        if not self._records or parent.isValid():
            return
        records = self._read(self._records[-1])
        if records:
            start = len(self._records)
            self.beginInsertRows(QModelIndex(), start, start + len(records) - 1)
            self._records.extend(records)
            self.endInsertRows()

    def _read(self, after: RecordT | None) -> list[RecordT]:
        try:
            records = self._read_page(after)
        except FleetError:
            # Reached from Qt's own scrolling, where nothing can be raised.
            _LOGGER.exception("The records cannot be read")
            records = []
        self._has_more = len(records) >= PAGE_RECORDS
        return records
