"""Which modal dialog keeps a person from using a widget."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from qt_binding._runtime import QtRuntime, runtime_of_application

EXEMPT_PROPERTY = "agentSurfaceExempt"
"""Dynamic property of a dialog that does not count as blocking; it dies with the dialog."""

SERIAL_PROPERTY = "agentSurfaceModalSerial"
"""Dynamic property of a shown modal window: its place in the order of showing."""


class ModalStack:
    """The modal windows of the application, in the order in which they were shown.

    Qt knows which window is blocked but tells only the windows themselves, and ``isEnabled`` stays true. Which windows
    are modal and shown can be asked at any time; their order cannot, so the stack is renewed whenever the focus moves
    to another window, a watched component hears that it is blocked, or a question is asked.

    An event filter on the application would see every Show and Hide, at a price: PySide wraps every object that gets
    any event, also objects in destruction, which costs time and has been seen to crash 6.11.3.

    The order is written on the windows themselves and dies with them. A reference would keep a closed dialog alive, a
    weak one would lose a dialog that only C++ holds, and an address is soon another dialog's.
    """

    def __init__(self, runtime: QtRuntime) -> None:
        self._last_serial = 0
        runtime.application.focusWindowChanged.connect(self._on_focus_window_changed)
        self.renew()

    def blocking_dialog(self, widget: QWidget) -> QWidget | None:
        """The modal window that keeps a person from using ``widget``; exempt ones do not count."""
        dialogs = self.renew()
        if not dialogs:
            return None
        own = window_chain(widget.window())
        for dialog in reversed(dialogs):
            if dialog in own:
                return None  # the widget is in it or in a window above it, so whatever lies below is irrelevant
            if dialog.property(EXEMPT_PROPERTY):
                continue
            if dialog.windowModality() == Qt.WindowModality.ApplicationModal:
                return dialog
            blocked = window_chain(dialog)[1:]
            if any(window in blocked for window in own):
                return dialog
        return None

    def renew(self) -> list[QWidget]:
        """The modal windows now, oldest first."""
        if QGuiApplication.modalWindow() is None:
            return []
        known, new = list[tuple[int, QWidget]](), list[QWidget]()
        for window in QApplication.topLevelWidgets():
            serial = window.property(SERIAL_PROPERTY)
            shown = window.isModal() and window.isVisible()
            if shown and isinstance(serial, int):
                known.append((serial, window))
            elif shown:
                new.append(window)
            elif serial is not None:
                window.setProperty(SERIAL_PROPERTY, None)  # it goes to the top when it is shown again
        for window in _in_order_of_showing(new):
            self._last_serial += 1
            window.setProperty(SERIAL_PROPERTY, self._last_serial)
            known.append((self._last_serial, window))
        known.sort(key=lambda entry: entry[0])
        return [window for _, window in known]

    def _on_focus_window_changed(self) -> None:
        self.renew()


def _in_order_of_showing(windows: list[QWidget]) -> list[QWidget]:
    """What came since the last look is nearly always one window. Of several, Qt knows the last.

    The order of the others is that in which their native windows were made, which is at their first showing.
    """
    if len(windows) < 2:
        return windows
    top, made = QApplication.activeModalWidget(), QGuiApplication.topLevelWindows()

    def place(window: QWidget) -> tuple[bool, int]:
        handle = window.windowHandle()
        return window is top, made.index(handle) if handle in made else -1

    return sorted(windows, key=place)


def blocking_dialog(widget: QWidget) -> QWidget | None:
    """The modal window that keeps a person from using ``widget``, or ``None``; exempt ones do not count."""
    return runtime_of_application("blocking_dialog").part(ModalStack).blocking_dialog(widget)


def exempt_from_blocking(dialog: QWidget) -> None:
    """Let ``dialog`` not count as blocking: it is part of the surface's own conversation with the person."""
    dialog.setProperty(EXEMPT_PROPERTY, True)


def window_chain(window: QWidget) -> list[QWidget]:
    """``window`` and the windows it belongs to, innermost first."""
    chain = [window]
    while (parent := chain[-1].parentWidget()) is not None:
        chain.append(parent.window())
    return chain
