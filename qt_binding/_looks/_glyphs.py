"""Small signs painted as vectors, sharp at every scale and in the colour of the moment."""

from __future__ import annotations

from enum import Enum, auto

from PySide6.QtCore import QPointF, QRectF, Qt, QTimerEvent
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPainterPath, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

_TURN_MS = 90


class Glyph(Enum):
    """What a sign says."""

    RUNNING = auto()
    WAITING = auto()
    DONE = auto()
    REFUSED = auto()
    FAILED = auto()
    INFO = auto()
    IDLE = auto()


class GlyphView(QWidget):
    """One sign, as high as a line of text. Only a running one, and only while it is seen, has a timer."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._glyph = Glyph.IDLE
        self._color = QColor(Qt.GlobalColor.gray)
        self._phase = 0
        self._timer_id = 0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        side = self.fontMetrics().height() + 2
        self.setFixedSize(side, side)

    @property
    def glyph(self) -> Glyph:
        """The sign shown."""
        return self._glyph

    def set_glyph(self, glyph: Glyph, color: QColor) -> None:
        """Show another sign."""
        self._glyph = glyph
        self._color = color
        self._animate()
        self.update()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._animate()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._animate()

    @override
    def timerEvent(self, event: QTimerEvent) -> None:
        self._phase = (self._phase + 1) % 12
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side = min(self.width(), self.height())
        paint_glyph(painter, QRectF(0, 0, side, side).adjusted(1, 1, -1, -1), self._glyph, self._color, self._phase)
        painter.end()

    def _animate(self) -> None:
        wanted = self._glyph is Glyph.RUNNING and self.isVisible()
        if wanted and not self._timer_id:
            self._timer_id = self.startTimer(_TURN_MS)
        elif not wanted and self._timer_id:
            self.killTimer(self._timer_id)
            self._timer_id = 0


def paint_glyph(painter: QPainter, rect: QRectF, glyph: Glyph, color: QColor, phase: int = 0) -> None:
    """Paint a sign into a square.

    Args:
        painter: Antialiasing is the caller's choice.
        rect: The square.
        glyph: The sign.
        color: Its one colour.
        phase: Twelfth of a turn, for the running sign.
    """
    unit = rect.width() / 16
    pen = QPen(color, 1.7 * unit, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
    faint = QColor(color)
    faint.setAlphaF(0.25)
    ring = rect.adjusted(1.5 * unit, 1.5 * unit, -1.5 * unit, -1.5 * unit)
    center = rect.center()
    painter.setBrush(Qt.BrushStyle.NoBrush)

    def at(x: float, y: float) -> QPointF:
        return QPointF(rect.x() + x * unit, rect.y() + y * unit)

    if glyph is Glyph.RUNNING:
        painter.setPen(QPen(faint, 1.7 * unit))
        painter.drawEllipse(ring)
        painter.setPen(pen)
        painter.drawArc(ring, -phase * 30 * 16, 100 * 16)
        return
    if glyph is Glyph.IDLE:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(center, 3 * unit, 3 * unit)
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(faint)
    painter.drawEllipse(rect)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen)
    path = QPainterPath()
    if glyph is Glyph.DONE:
        path.moveTo(at(4.6, 8.4))
        path.lineTo(at(7.0, 10.8))
        path.lineTo(at(11.4, 5.6))
    elif glyph is Glyph.REFUSED:
        path.moveTo(at(4.8, 8.0))
        path.lineTo(at(11.2, 8.0))
    elif glyph is Glyph.FAILED:
        path.moveTo(at(5.4, 5.4))
        path.lineTo(at(10.6, 10.6))
        path.moveTo(at(10.6, 5.4))
        path.lineTo(at(5.4, 10.6))
    elif glyph is Glyph.WAITING:
        # Two upright bars: work stands still until somebody answers.
        path.moveTo(at(6.2, 5.2))
        path.lineTo(at(6.2, 10.8))
        path.moveTo(at(9.8, 5.2))
        path.lineTo(at(9.8, 10.8))
    else:
        path.moveTo(at(8.0, 7.4))
        path.lineTo(at(8.0, 11.2))
        dot = 0.9 * unit
        painter.save()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(at(8.0, 4.9), dot, dot)
        painter.restore()
    painter.drawPath(path)


def arrow_path(rect: QRectF) -> QPainterPath:
    """An upward arrow, the sign of sending, within a square."""
    unit = rect.width() / 16
    path = QPainterPath()
    path.moveTo(rect.x() + 8 * unit, rect.y() + 12.5 * unit)
    path.lineTo(rect.x() + 8 * unit, rect.y() + 3.8 * unit)
    for direction in (-1, 1):
        path.moveTo(rect.x() + 8 * unit, rect.y() + 3.8 * unit)
        path.lineTo(rect.x() + (8 + direction * 3.8) * unit, rect.y() + 7.6 * unit)
    return path
