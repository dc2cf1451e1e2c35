"""A frame around a widget, for a moment: "here"."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QWidget
from typing_extensions import override

_SHOWN_MS = 1_500
_WIDTH = 3


class Outline(QWidget):
    """Frames a widget in the highlight colour and goes by itself; clicks go through it.

    Args:
        target: What to frame; the frame is its child and goes with it.
    """

    def __init__(self, target: QWidget) -> None:
        super().__init__(target)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setGeometry(target.rect())
        QTimer.singleShot(_SHOWN_MS, self, self.deleteLater)
        self.show()
        self.raise_()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame, inside the edge."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), _WIDTH))
        painter.drawRect(self.rect().adjusted(1, 1, -2, -2))
