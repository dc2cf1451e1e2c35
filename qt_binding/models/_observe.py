"""An item model as an observation: one bounded page of rows at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView

from agent_surface import AgentSurfaceDefinitionError, DefinitionErrorCode, JsonValue, PreconditionFailure
from qt_binding.mixin import Role, observing, performing
from qt_binding.models._rows import KnownRows, known_rows
from qt_binding.models._source import ModelSource, input_field
from qt_binding.models._values import cell_value, row_key

KEY = "key"
DEFAULT_PAGE = 50
LARGEST_PAGE = 500

MOST_CELLS = 1_000
"""Cells of a page, keys included. With a model written in Python a cell costs some 20 to 40 µs of the GUI thread."""

_STALE = "The rows have changed since that cursor was given. Read again, or show the first page."
_NO_MODEL = "There are no rows: no model is set."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelObservation:
    """The two halves of a paged observation, for ``attach_agent_component``.

    Attributes:
        read: The reader of an observation: the page that is shown now.
        show_page: The performer of an action that moves to another page. A model of one page can do without.
    """

    read: Role
    show_page: Role


def observe_model(
    view_or_model: QAbstractItemView | QAbstractItemModel,
    *,
    key_role: int,
    columns: Mapping[str, int] | None = None,
    roles: Mapping[str, int] | None = None,
    page: int = DEFAULT_PAGE,
) -> ModelObservation:
    """Offer the rows of an item model, one page at a time.

    The observation returns ``{"rows", "start", "total", "cursor", "truncated"}``: each row has its ``key`` and the
    fields named here; ``start`` is the place of its first row; ``total`` counts the rows the model has by now;
    ``cursor`` leads to the next page and is ``null`` on the last; ``truncated`` says that there are rows beside this
    page. It is held to the schema you declare. Only the cells of the page are read, however many rows there are.

    An observation takes no input, so the page is a state of the component, like the scroll bar of a view, and one for
    all consumers: the action takes ``{"cursor": …}``, and ``null`` or no cursor shows the first page. A page keeps its
    first row when rows come and go before it. When the model is reset or replaced, the first page is shown and older
    cursors are refused with ``PRECONDITION_FAILED``.

    Args:
        view_or_model: A view, whose model and root index of that moment count, or a model.
        key_role: The role of column 0 in which the model tells a row's stable key: text or a whole number, one for
            each row. Never a row number or a label.
        columns: For each field the column it is read from.
        roles: For each field the role it is read in, the displayed text by default. A field that is not in
            ``columns`` is read from column 0.
        page: Most rows of a page, 1 to 500. Fewer when a row has many fields: a page has at most 1,000 cells.

    Raises:
        AgentSurfaceDefinitionError: No field is named, one is called ``key``, or ``page`` is out of range.
    """
    places = {name: (column, int(Qt.ItemDataRole.DisplayRole)) for name, column in (columns or {}).items()}
    for name, role in (roles or {}).items():
        places[name] = (places[name][0] if name in places else 0, int(role))
    if not places or KEY in places:
        raise _error(f"name the fields of a row, and none of them {KEY!r}", "columns")
    if not 1 <= page <= LARGEST_PAGE:
        raise _error(f"a page has 1 to {LARGEST_PAGE} rows, not {page}", "page")
    pages = _Pages(ModelSource(view_or_model), places, int(key_role), page)
    return ModelObservation(
        read=observing(pages.read, when=pages.has_model, reason=_NO_MODEL),
        show_page=performing(pages.turn, when=pages.has_model, reason=_NO_MODEL, precondition=pages.judge),
    )


class _Pages:
    """Which page is shown, and what is on it.

    The first row of the page is kept as a persistent index: it moves with its row, and turns invalid with its model.
    """

    def __init__(self, source: ModelSource, places: Mapping[str, tuple[int, int]], key_role: int, size: int) -> None:
        self._source = source
        self._places = places
        self._key_role = key_role
        self._columns = {0, *(column for column, _ in places.values())}
        self._size = max(1, min(size, MOST_CELLS // (len(places) + 1)))
        self._first: QPersistentModelIndex | None = None
        self._generation = 1

    def has_model(self) -> bool:
        return self._source.find() is not None

    def read(self) -> dict[str, JsonValue]:
        model, parent = self._source.require()
        start = self._start(model, parent)
        total = model.rowCount(parent)
        end = min(start + self._size, total)
        known = known_rows()
        rows: list[JsonValue] = [self._row(model, parent, row, known) for row in range(start, end)]
        more = end < total or model.canFetchMore(parent)
        return {
            "rows": rows,
            "start": start,
            "total": total,
            "cursor": f"{self._generation}.{end}" if more else None,
            "truncated": start > 0 or more,
        }

    def judge(self, request: object) -> PreconditionFailure | None:
        model, parent = self._source.require()
        self._start(model, parent)
        row = self._row_of(request)
        if row is None or row > model.rowCount(parent):
            return PreconditionFailure(_STALE)
        if row and row == model.rowCount(parent) and not model.canFetchMore(parent):
            return PreconditionFailure("There is no page after the last.")
        return None

    def turn(self, request: object) -> None:
        model, parent = self._source.require()
        row = self._row_of(request) or 0
        if row >= model.rowCount(parent) and model.canFetchMore(parent):
            model.fetchMore(parent)
        self._keep(model, parent, row)

    def _row_of(self, request: object) -> int | None:
        """The row a cursor leads to; ``None`` for one that was not given for these rows."""
        cursor = input_field(request, "cursor")
        if cursor is None:
            return 0
        generation, _, row = str(cursor).partition(".")
        if generation != str(self._generation) or not (row.isascii() and row.isdigit() and len(row) < 12):
            return None
        return int(row)

    def _start(self, model: QAbstractItemModel, parent: QModelIndex) -> int:
        """Where the page begins: at its first row, or from the top again when the rows are others."""
        first = self._first
        if first is not None and first.isValid() and first.model() is model and first.parent() == parent:
            return first.row()
        if first is not None:
            self._generation += 1
        self._keep(model, parent, 0)
        return 0

    def _keep(self, model: QAbstractItemModel, parent: QModelIndex, row: int) -> None:
        index = model.index(row, 0, parent)
        self._first = QPersistentModelIndex(index) if index.isValid() else None

    def _row(self, model: QAbstractItemModel, parent: QModelIndex, row: int, known: KnownRows) -> dict[str, JsonValue]:
        # Making an index asks a model written in Python for its size twice, so each is made once.
        cells = {column: model.index(row, column, parent) for column in self._columns}
        key = row_key(cells[0], self._key_role)
        known.remember(cells[0], self._key_role, key)
        fields: dict[str, JsonValue] = {KEY: key}
        for name, (column, role) in self._places.items():
            fields[name] = cell_value(cells[column], role, name)
        return fields


def _error(message: str, path: str) -> AgentSurfaceDefinitionError:
    return AgentSurfaceDefinitionError(
        DefinitionErrorCode.INVALID_DEFINITION, message, subject="observe_model", path=path
    )
