"""A button that cannot be pressed by accident."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QPushButton, QWidget
from typing_extensions import override

_BY_KEYBOARD = frozenset(
    {QEvent.Type.KeyPress, QEvent.Type.KeyRelease, QEvent.Type.Shortcut, QEvent.Type.ShortcutOverride}
)


class DecisionButton(QPushButton):
    """A button of a question. Until it is armed only the mouse works on it, and a held key never does.

    Whatever else can click a button (a mnemonic, assistive technology, ``click()`` from code) is not the mouse.

    Signals:
        chosen(object): A person pressed it on purpose; the argument is its ``choice``.
    """

    chosen = Signal(object)

    def __init__(self, text: str, *, choice: object, parent: QWidget | None = None) -> None:
        # Before Qt's part: it calls the overrides below while it is being made.
        self._choice = choice
        self._armed = False
        self._by_mouse = False
        super().__init__(text, parent)
        # Not even a candidate for Return before it is armed: the first one would become the default by itself.
        self.setAutoDefault(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.clicked.connect(self._clicked)

    def arm(self) -> None:
        """From now on the keyboard works too."""
        self._armed = True
        self.setAutoDefault(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @override
    def event(self, e: QEvent) -> bool:
        if e.type() in _BY_KEYBOARD:
            if not self._armed:
                e.ignore()
                return e.type() is QEvent.Type.Shortcut
            if isinstance(e, QKeyEvent) and e.isAutoRepeat():
                return True
        return super().event(e)

    @override
    def mouseReleaseEvent(self, e: QMouseEvent) -> None:
        self._by_mouse = True
        try:
            super().mouseReleaseEvent(e)
        finally:
            self._by_mouse = False

    def _clicked(self) -> None:
        if self._armed or self._by_mouse:
            self.chosen.emit(self._choice)
