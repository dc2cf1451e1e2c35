"""Whether a slot raised: Qt tells ``sys.excepthook`` and never the one who emitted."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Self

from PySide6.QtCore import QThread


class SlotFailures:
    """Hears, while it is entered, what slots raise, and hands everything on to the hook that was there before.

    Only what is raised on the same thread and at the same loop level counts: a slot that opens a dialog with
    ``exec()`` lets the whole application run inside it, and what fails there is not its failure (QT-AVAIL-008).

    Attributes:
        first: What was raised first; ``None`` as long as nothing was.
    """

    def __init__(self) -> None:
        self.first: BaseException | None = None
        self._previous = sys.excepthook
        self._hook = self._hear  # each access makes another bound method, and this one is recognised again
        self._place: tuple[int, int] | None = None

    def __enter__(self) -> Self:
        """Begin to hear."""
        self._previous = sys.excepthook
        self._place = _place()
        sys.excepthook = self._hook
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Hear no more, and put back the hook that was there unless a slot has installed another one."""
        self._place = None
        if sys.excepthook is self._hook:
            sys.excepthook = self._previous

    def _hear(self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if self.first is None and self._place == _place():
            self.first = error
        self._previous(kind, error, traceback)


def _place() -> tuple[int, int]:
    return threading.get_ident(), QThread.currentThread().loopLevel()
