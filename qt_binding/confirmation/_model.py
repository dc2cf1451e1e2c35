"""Pending requests as an item model with signals: all that a host needs, ours or an application's own."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Final

import shiboken6
from PySide6.QtCore import QAbstractListModel, QByteArray, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from typing_extensions import override

from agent_surface import TimerHandle, thaw_json
from agent_surface.confirmations import ConfirmationController, ConfirmationResolution, PendingConfirmation
from qt_binding._alive import while_alive
from qt_binding._looks import effect_word
from qt_binding.confirmation._ports import HostClock, QtHostClock
from qt_binding.confirmation._text import one_line

_TICK_MS: Final = 1_000


class PendingRole(IntEnum):
    """What the model says of a request; ``DisplayRole`` is its summary, or its description where that is empty.

    Texts are as the model, the contract and the application wrote them: a view that shows one sets a plain text format
    and writes out invisible characters, as ``DisplayRole`` has them already.
    """

    PENDING = Qt.ItemDataRole.UserRole + 1
    CONFIRMATION_ID = Qt.ItemDataRole.UserRole + 2
    CAPABILITY_ID = Qt.ItemDataRole.UserRole + 3
    DESCRIPTION = Qt.ItemDataRole.UserRole + 4
    SUMMARY = Qt.ItemDataRole.UserRole + 5
    EFFECT = Qt.ItemDataRole.UserRole + 6
    EFFECT_WORD = Qt.ItemDataRole.UserRole + 7
    CONSUMER = Qt.ItemDataRole.UserRole + 8
    COMPONENT_TYPE = Qt.ItemDataRole.UserRole + 9
    INSTANCE_ID = Qt.ItemDataRole.UserRole + 10
    INPUT = Qt.ItemDataRole.UserRole + 11
    BOUND_FIELDS = Qt.ItemDataRole.UserRole + 12
    ORIGIN = Qt.ItemDataRole.UserRole + 13
    TIME_LEFT_MS = Qt.ItemDataRole.UserRole + 14


_Index = QModelIndex | QPersistentModelIndex
_ROOT: Final = QModelIndex()

_VALUES: Final[dict[int, Callable[[PendingConfirmation], object]]] = {
    Qt.ItemDataRole.DisplayRole: lambda one: one_line(one.summary or one.description),
    PendingRole.PENDING: lambda one: one,
    PendingRole.CONFIRMATION_ID: lambda one: one.confirmation_id,
    PendingRole.CAPABILITY_ID: lambda one: one.capability_id,
    PendingRole.DESCRIPTION: lambda one: one.description,
    PendingRole.SUMMARY: lambda one: one.summary,
    PendingRole.EFFECT: lambda one: one.effect.value,
    PendingRole.EFFECT_WORD: lambda one: effect_word(one.effect),
    PendingRole.CONSUMER: lambda one: one.consumer_key,
    PendingRole.COMPONENT_TYPE: lambda one: one.component_type,
    PendingRole.INSTANCE_ID: lambda one: one.instance_id,
    PendingRole.INPUT: lambda one: thaw_json(one.input),
    PendingRole.BOUND_FIELDS: lambda one: list(one.bound_fields),
    PendingRole.ORIGIN: lambda one: one.origin,
}


class PendingConfirmationsModel(QAbstractListModel):
    """The pending requests of one controller, oldest first; see :class:`PendingRole`.

    Reading needs no more than the roles; answering is :meth:`approve` and :meth:`deny`. The time left of every request
    is announced by ``dataChanged`` once a second.

    Signals:
        confirmation_requested(str): A request was added; its row exists.
        confirmation_ended(str, object): A request ended; its row is gone. The second argument is the
            ``ConfirmationResolution``, or ``None`` when the controller no longer knows.
        time_passed(): A second of the time left has passed.
    """

    confirmation_requested = Signal(str)
    confirmation_ended = Signal(str, object)
    time_passed = Signal()

    def __init__(
        self, controller: ConfirmationController, *, clock: HostClock | None = None, parent: QObject | None = None
    ) -> None:
        """Follow a controller until :meth:`close` or destruction.

        Args:
            controller: ``registry.confirmations``.
            clock: Counts the time left; Qt's own when absent.
            parent: Qt owner.
        """
        super().__init__(parent)
        self._controller = controller
        self._clock: HostClock = QtHostClock(self) if clock is None else clock
        self._rows: list[PendingConfirmation] = []
        self._deadlines_ms: dict[str, int] = {}
        self._tick: TimerHandle | None = None
        self._unsubscribe = controller.subscribe(while_alive(self, self._follow))
        self.destroyed.connect(_calling(self._unsubscribe))
        self._follow(controller.pending())

    # Reading.

    @override
    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    @override
    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        pending = self._rows[index.row()]
        if role == PendingRole.TIME_LEFT_MS:
            return self.time_left_ms(pending.confirmation_id)
        value = _VALUES.get(role)
        return None if value is None else value(pending)

    @override
    def roleNames(self) -> dict[int, QByteArray]:
        names = dict(super().roleNames())
        for role in PendingRole:
            head, *tail = role.name.lower().split("_")
            names[role.value] = QByteArray((head + "".join(part.capitalize() for part in tail)).encode())
        return names

    def pending(self) -> tuple[PendingConfirmation, ...]:
        """All requests, oldest first."""
        return tuple(self._rows)

    def find(self, confirmation_id: str) -> PendingConfirmation | None:
        """The request of that id, if it is pending."""
        return next((one for one in self._rows if one.confirmation_id == confirmation_id), None)

    def time_left_ms(self, confirmation_id: str) -> int:
        """Milliseconds until a request expires; 0 when it is not pending."""
        deadline_ms = self._deadlines_ms.get(confirmation_id)
        return 0 if deadline_ms is None else max(0, deadline_ms - self._clock.monotonic_ms())

    # Answering.

    def approve(self, confirmation_id: str, note: str = "") -> bool:
        """Approve exactly the shown input; ``False`` when the request is no longer pending."""
        return self._controller.resolve(confirmation_id, approved=True, note=note or None)

    def deny(self, confirmation_id: str, note: str = "") -> bool:
        """Deny; the note reaches the model. ``False`` when the request is no longer pending."""
        return self._controller.resolve(confirmation_id, approved=False, note=note or None)

    def close(self) -> None:
        """Stop following. The rows go; the requests stay as they are."""
        self._unsubscribe()
        self.beginResetModel()
        self._rows = []
        self._deadlines_ms = {}
        self.endResetModel()
        self._keep_ticking()

    # Following.

    def _follow(self, pending: Sequence[PendingConfirmation]) -> None:
        now_ms = self._clock.monotonic_ms()
        live = {one.confirmation_id for one in pending}
        ended = [one.confirmation_id for one in self._rows if one.confirmation_id not in live]
        for row in reversed(range(len(self._rows))):
            if self._rows[row].confirmation_id not in live:
                self.beginRemoveRows(_ROOT, row, row)
                one = self._rows.pop(row)
                self._deadlines_ms.pop(one.confirmation_id, None)
                self.endRemoveRows()
        # Controllers list the oldest first, so what is new stands at the end.
        new = [one for one in pending if one.confirmation_id not in self._deadlines_ms]
        if new:
            self.beginInsertRows(_ROOT, len(self._rows), len(self._rows) + len(new) - 1)
            self._rows.extend(new)
            # Not `expires_at_monotonic_ms`: the controller's clock and this one need not have the same zero.
            self._deadlines_ms.update({one.confirmation_id: now_ms + one.expires_in_ms for one in new})
            self.endInsertRows()
        self._keep_ticking()
        for confirmation_id in ended:
            resolution: ConfirmationResolution | None = self._controller.resolution(confirmation_id)
            self.confirmation_ended.emit(confirmation_id, resolution)
        for one in new:
            self.confirmation_requested.emit(one.confirmation_id)

    def _keep_ticking(self) -> None:
        if self._rows and self._tick is None:
            this = weakref.ref(self)

            def tick() -> None:
                model = this()
                if model is not None and shiboken6.isValid(model):
                    model._ticked()  # noqa: SLF001 - the model's own timer

            self._tick = self._clock.call_later(_TICK_MS, tick)
        elif not self._rows and self._tick is not None:
            self._tick.cancel()
            self._tick = None

    def _ticked(self) -> None:
        self._tick = None
        if self._rows:
            last = self.index(len(self._rows) - 1)
            self.dataChanged.emit(self.index(0), last, [PendingRole.TIME_LEFT_MS.value])
        self._keep_ticking()
        self.time_passed.emit()


def _calling(unsubscribe: Callable[[], None]) -> Callable[[], None]:
    """A function that holds nothing of the model; a bound method of a dying object is never called by Qt."""

    def gone() -> None:
        unsubscribe()

    return gone
