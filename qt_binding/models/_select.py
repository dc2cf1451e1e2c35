"""Rows of a view, selected by their keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from PySide6.QtCore import QAbstractItemModel, QItemSelection, QItemSelectionModel, QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView

from agent_surface import AgentPolicy, PreconditionFailure
from qt_binding._text import visible_text
from qt_binding.mixin import Role, performing
from qt_binding.models._source import ModelSource, input_field
from qt_binding.models._values import row_key

NAMED = 5
"""Keys that a refusal names in its sentence; its details name more."""

LISTED = 100
"""Keys that the details of a refusal name."""

LONGEST_KEY = 30
"""Characters of a key in the sentence of a refusal."""

_Mode = QAbstractItemView.SelectionMode
_Flag = QItemSelectionModel.SelectionFlag
_COMMANDS = {"replace": _Flag.ClearAndSelect, "extend": _Flag.Select, "reduce": _Flag.Deselect}


def select_rows(view: QAbstractItemView, key_role: int, *, policies: Iterable[AgentPolicy] = ()) -> Role:
    """The performer of an action for ``attach_agent_component``: it selects whole rows of ``view``.

    Its input is ``{"keys": […]}``, the keys that an observation of the same model returned, and, where the contract
    declares it, ``"mode"``: ``replace`` (the default), ``extend`` or ``reduce``. Unknown keys are refused by name with
    ``PRECONDITION_FAILED`` and details ``{"unknownKeys": […]}``, and nothing is selected then; so are rows that cannot
    be selected, and more rows than the view lets a person select. The first of the rows is scrolled into view.

    The rows are found by one pass over the keys of column 0, up to the last row asked for; the model and the selection
    model are those of the moment.

    Args:
        view: The application's view, with its own selection mode.
        key_role: The role of column 0 in which the model tells a row's stable key, as for ``observe_model``.
        policies: Guards of this capability alone.
    """
    selection = _RowSelection(view, int(key_role))
    return performing(
        selection.select,
        when=selection.is_possible,
        reason="No row can be selected here.",
        precondition=selection.judge,
        policies=policies,
    )


class _RowSelection:
    def __init__(self, view: QAbstractItemView, key_role: int) -> None:
        self._view = view
        self._source = ModelSource(view)
        self._key_role = key_role
        self._found: dict[str | int, int] = {}

    def is_possible(self) -> bool:
        return self._source.find() is not None and self._view.selectionMode() != _Mode.NoSelection

    def judge(self, request: object) -> PreconditionFailure | None:
        model, parent = self._source.require()
        keys, mode = _keys(request), _mode(request)
        if mode not in _COMMANDS:
            return PreconditionFailure("The mode is one of replace, extend and reduce.")
        rows = self._rows(model, parent, keys)
        unknown = [key for key in keys if key not in rows]
        if unknown:
            return PreconditionFailure(
                f"No rows have these keys: {_listed(unknown)}. Nothing was selected.",
                {"unknownKeys": list(unknown[:LISTED])},
            )
        if mode == "reduce":
            return None
        fixed = [key for key in keys if not _is_selectable(model.index(rows[key], 0, parent))]
        if fixed:
            return PreconditionFailure(f"These rows cannot be selected: {_listed(fixed)}. Nothing was selected.")
        return self._judge_extent({rows[key] for key in keys}, extend=mode == "extend")

    def select(self, request: object) -> None:
        model, parent = self._source.require()
        keys = _keys(request)
        rows = self._rows(model, parent, keys)
        wanted = sorted({rows[key] for key in keys if key in rows})
        last_column = model.columnCount(parent) - 1
        selection = QItemSelection()
        for first, last in _runs(wanted):
            selection.select(model.index(first, 0, parent), model.index(last, last_column, parent))
        command = _COMMANDS[_mode(request)] | _Flag.Rows
        self._view.selectionModel().select(selection, command)
        if wanted:
            self._view.scrollTo(model.index(wanted[0], 0, parent))

    def _judge_extent(self, rows: set[int], *, extend: bool) -> PreconditionFailure | None:
        """Qt's selection model obeys anything; the view's mode is what it lets a person do."""
        mode = self._view.selectionMode()
        if mode not in (_Mode.SingleSelection, _Mode.ContiguousSelection):
            return None
        if extend:
            rows = rows | {index.row() for index in self._view.selectionModel().selectedRows()}
        if mode == _Mode.SingleSelection and len(rows) > 1:
            return PreconditionFailure("Only one row can be selected here.")
        if len(_runs(sorted(rows))) > 1:
            return PreconditionFailure("Only rows that follow each other can be selected here.")
        return None

    def _rows(self, model: QAbstractItemModel, parent: QModelIndex, keys: Sequence[str | int]) -> dict[str | int, int]:
        """The row of each key, as far as there is one. What was found for the last call only has to be checked."""
        total = model.rowCount(parent)
        rows: dict[str | int, int] = {}
        for key in keys:
            row = self._found.get(key)
            if row is not None and row < total and self._key(model, parent, row) == key:
                rows[key] = row
        missing = set(keys) - rows.keys()
        row = 0
        while missing and row < total:
            key = self._key(model, parent, row)
            if key in missing:
                missing.discard(key)
                rows[key] = row
            row += 1
        self._found = dict(rows)
        return rows

    def _key(self, model: QAbstractItemModel, parent: QModelIndex, row: int) -> str | int:
        return row_key(model.index(row, 0, parent), self._key_role)


def _keys(request: object) -> list[str | int]:
    keys = input_field(request, "keys")
    return list(cast("Iterable[str | int]", keys)) if isinstance(keys, list | tuple | set | frozenset) else []


def _mode(request: object) -> str:
    mode = input_field(request, "mode")
    return "replace" if mode is None else str(mode)


def _is_selectable(index: QModelIndex) -> bool:
    flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled
    return index.flags() & flags == flags


def _runs(rows: Sequence[int]) -> list[tuple[int, int]]:
    """The stretches of rows that follow each other; one range each, so that a big selection stays small."""
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and row == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs


def _listed(keys: Sequence[str | int]) -> str:
    """Keys for a sentence; they came from a model, so nothing invisible stays in them."""
    named = ", ".join(visible_text(str(key)[:LONGEST_KEY], keep_newlines=False) for key in keys[:NAMED])
    return named if len(keys) <= NAMED else f"{named} and {len(keys) - NAMED} more"
