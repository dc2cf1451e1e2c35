"""Rows of a view, selected by their keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import cast

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView

from agent_surface import AgentPolicy, ErrorCode, PreconditionFailure, capability_error
from qt_binding._text import visible_text
from qt_binding.mixin import Role, performing
from qt_binding.models._rows import RowFinder, known_rows
from qt_binding.models._source import ModelSource, input_field

NAMED = 5
"""Keys that a refusal names in its sentence; its details name more."""

LISTED = 100
"""Keys that the details of a refusal name."""

LONGEST_KEY = 30
"""Characters of a key in the sentence of a refusal."""

_Mode = QAbstractItemView.SelectionMode
_Flag = QItemSelectionModel.SelectionFlag
_COMMANDS = {"replace": _Flag.ClearAndSelect, "extend": _Flag.Select, "reduce": _Flag.Deselect}


def select_rows(
    view: QAbstractItemView,
    key_role: int,
    *,
    find_row: Callable[[str | int], int | None] | None = None,
    policies: Iterable[AgentPolicy] = (),
) -> Role:
    """The performer of an action for ``attach_agent_component``: it selects whole rows of ``view``.

    Its input is ``{"keys": […]}``, the keys that an observation of the same model returned, and, where the contract
    declares it, ``"mode"``: ``replace`` (the default), ``extend`` or ``reduce``. Unknown keys are refused by name with
    ``PRECONDITION_FAILED`` and details ``{"unknownKeys": […]}``, and nothing is selected then; so are rows that cannot
    be selected, and more rows than the view lets a person select. The first of the rows is scrolled into view.

    Rows that ``observe_model`` has shown are found at once, however many rows there are. Any others are looked for in
    column 0, a piece in each turn of the event loop, so the window stays usable; of a million rows in a model written
    in Python that takes longer than a call has time. The model and the selection model are those of the moment.

    Args:
        view: The application's view, with its own selection mode.
        key_role: The role of column 0 in which the model tells a row's stable key, as for ``observe_model``.
        find_row: The application's own look-up of a key's row among the rows of the view, where there is one. Nothing
            is looked through then: a key it does not know has no row. Its answer is checked.
        policies: Guards of this capability alone.
    """
    source = ModelSource(view)
    selection = _RowSelection(view, source, RowFinder(source, int(key_role), find_row), int(key_role))
    return performing(
        selection.select,
        when=selection.is_possible,
        reason="No row can be selected here.",
        precondition=selection.judge,
        policies=policies,
    )


class _RowSelection:
    def __init__(self, view: QAbstractItemView, source: ModelSource, finder: RowFinder, key_role: int) -> None:
        self._view = view
        self._source = source
        self._finder = finder
        self._key_role = key_role

    def is_possible(self) -> bool:
        return self._source.find() is not None and self._view.selectionMode() != _Mode.NoSelection

    def judge(self, request: object) -> PreconditionFailure | None:
        if _mode(request) not in _COMMANDS:
            return PreconditionFailure("The mode is one of replace, extend and reduce.")
        rows, certain = self._finder.find_at_once(_keys(request))
        return self._judge_rows(request, rows) if certain else None

    def select(self, request: object) -> Awaitable[None] | None:
        rows, certain = self._finder.find_at_once(_keys(request))
        if not certain:
            return self._search_and_select(request, rows)
        self._select_rows(request, rows)
        return None

    async def _search_and_select(self, request: object, rows: Mapping[str | int, int]) -> None:
        keys = _keys(request)
        found = await self._finder.find([key for key in keys if key not in rows])
        if found is None:
            raise capability_error(ErrorCode.PRECONDITION_FAILED, message="The rows keep changing. Try again later.")
        rows = {**self._finder.find_at_once(keys)[0], **found}
        failure = self._judge_rows(request, rows)
        if failure is not None:
            raise capability_error(ErrorCode.PRECONDITION_FAILED, message=failure.message, details=failure.details)
        self._select_rows(request, rows)

    def _judge_rows(self, request: object, rows: Mapping[str | int, int]) -> PreconditionFailure | None:
        model, parent = self._source.require()
        keys, mode = _keys(request), _mode(request)
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

    def _select_rows(self, request: object, rows: Mapping[str | int, int]) -> None:
        model, parent = self._source.require()
        known = known_rows()
        for key, row in rows.items():
            known.remember(model.index(row, 0, parent), self._key_role, key)
        wanted = sorted({*rows.values()})
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
