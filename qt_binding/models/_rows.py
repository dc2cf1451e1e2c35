"""Which rows have given keys, without holding the GUI thread for long."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping

import shiboken6
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex

from qt_binding._availability import Followers
from qt_binding._runtime import QtRuntime, runtime_of_application
from qt_binding.models._source import ModelSource
from qt_binding.models._values import Index, row_key

Key = str | int
FindRow = Callable[[Key], int | None]

MOST_REMEMBERED = 5_000
"""Rows that are remembered in all; a model moves each of them along whenever its rows move."""

AT_ONCE = 500
"""Rows that are looked through in one turn. In a model written in Python each costs some 20 µs of the GUI thread."""

MOST_STARTS = 5
"""How often a search begins again because the rows have changed under it."""


class KnownRows:
    """The rows an agent has been shown, by model, role and key; those shown last, and each wherever it is by now."""

    def __init__(self, runtime: QtRuntime) -> None:
        del runtime
        self._rows: OrderedDict[tuple[int, int, Key], QPersistentModelIndex] = OrderedDict()

    def __len__(self) -> int:
        """How many rows are remembered."""
        return len(self._rows)

    def remember(self, index: Index, key_role: int, key: Key) -> None:
        """An agent is shown the row that ``index`` is in."""
        place = (_address(index.model()), key_role, key)
        self._rows[place] = QPersistentModelIndex(index)
        self._rows.move_to_end(place)
        if len(self._rows) > MOST_REMEMBERED:
            self._rows.popitem(last=False)

    def find(self, model: QAbstractItemModel, key_role: int, key: Key) -> QPersistentModelIndex | None:
        """Where the row of ``key`` was last; it may have another key by now."""
        index = self._rows.get((_address(model), key_role, key))
        return index if index is not None and index.isValid() and index.model() is model else None


def known_rows() -> KnownRows:
    """What the application remembers of the rows agents were shown."""
    return runtime_of_application("known_rows").part(KnownRows)


class RowFinder:
    """Finds rows of one view or model by their keys; no answer is older than the question."""

    def __init__(self, source: ModelSource, key_role: int, find_row: FindRow | None) -> None:
        self._source = source
        self._key_role = key_role
        self._find_row = find_row

    def find_at_once(self, keys: Iterable[Key]) -> tuple[Mapping[Key, int], bool]:
        """The rows that can be found in this turn, and whether the keys that are missing have none."""
        model, parent = self._source.require()
        total = model.rowCount(parent)
        rows: dict[Key, int] = {}
        known = known_rows()
        for key in keys:
            row = self._find_row(key) if self._find_row is not None else None
            if row is None and (index := known.find(model, self._key_role, key)) is not None:
                row = index.row() if index.parent() == parent else None
            if row is not None and 0 <= row < total and self._key(model, parent, row) == key:
                rows[key] = row
        missing = set(keys) - rows.keys()
        if missing and self._find_row is None and total <= AT_ONCE:
            self._look_through(model, parent, range(total), missing, rows)
            return rows, True
        return rows, not missing or self._find_row is not None

    async def find(self, keys: Collection[Key]) -> Mapping[Key, int] | None:
        """The row of each key that has one, by passing over the rows a piece at a time.

        Returns:
            ``None`` when the rows changed during every pass.
        """
        changes = list[bool]()
        followers = Followers(runtime_of_application("select_rows").context, lambda: changes.append(True))
        try:
            for _ in range(MOST_STARTS):
                changes.clear()
                rows = await self._pass(set(keys), followers, changes)
                if rows is not None:
                    return rows
        finally:
            followers.clear()
        return None

    async def _pass(self, missing: set[Key], followers: Followers, changes: list[bool]) -> Mapping[Key, int] | None:
        model, parent = self._source.require()
        followers.follow(
            model,
            [model.rowsInserted, model.rowsRemoved, model.rowsMoved, model.modelReset, model.layoutChanged],
        )
        rows: dict[Key, int] = {}
        total = model.rowCount(parent)
        for start in range(0, total, AT_ONCE):
            self._look_through(model, parent, range(start, min(start + AT_ONCE, total)), missing, rows)
            if not missing:
                break
            await asyncio.sleep(0)
            if changes or self._source.find() != (model, parent):
                return None
        return rows

    def _look_through(
        self, model: QAbstractItemModel, parent: QModelIndex, places: range, missing: set[Key], rows: dict[Key, int]
    ) -> None:
        """Move what is found at ``places`` from ``missing`` to ``rows``."""
        for row in places:
            if not missing:
                return
            key = self._key(model, parent, row)
            if key in missing:
                missing.discard(key)
                rows[key] = row

    def _key(self, model: QAbstractItemModel, parent: QModelIndex, row: int) -> Key:
        return row_key(model.index(row, 0, parent), self._key_role)


def _address(model: QAbstractItemModel) -> int:
    address: int = shiboken6.getCppPointer(model)[0]
    return address
