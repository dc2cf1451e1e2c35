"""Noticing that the window under a question goes away."""

from __future__ import annotations

import logging

import shiboken6
from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget
from typing_extensions import override

_log = logging.getLogger(__name__)


class WindowWatch(QObject):
    """Watches one window at a time.

    A dialog stays up when its parent is hidden or closed, and Qt says nothing of it to the dialog. A minimised window
    is not hidden: that Hide comes from the window system and is spontaneous.

    Signals:
        window_hidden(): The application hid or closed the window.
    """

    window_hidden = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._window: QWidget | None = None

    @property
    def window(self) -> QWidget | None:
        """The watched window, while it lives."""
        return self._window if self._window is not None and shiboken6.isValid(self._window) else None

    def watch(self, window: QWidget | None) -> None:
        """Watch another window, or none."""
        previous = self.window
        if previous is not None:
            previous.removeEventFilter(self)
        self._window = window
        if window is not None:
            window.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Nothing may leave a filter: an exception here can crash PySide6 and switches off the window's own overrides.
        try:
            if event.type() is QEvent.Type.Hide and not event.spontaneous():
                self.window_hidden.emit()
        except BaseException:  # noqa: BLE001 - see above
            _log.exception("watching the window of a confirmation failed")
        return False
