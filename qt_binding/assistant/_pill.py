"""A small round-ended button for chips and for what a card offers."""

from __future__ import annotations

import html
from enum import Enum, auto

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QEnterEvent, QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QToolTip, QWidget
from typing_extensions import override

from qt_binding._looks import Colors, blend, readable
from qt_binding._text import visible_text


class PillStyle(Enum):
    """How much a button asks for attention."""

    QUIET = auto()
    OUTLINED = auto()
    FILLED = auto()


class PillButton(QAbstractButton):
    """A button with a plain text, elided when there is no room; its colours follow the palette."""

    def __init__(self, text: str = "", *, style: PillStyle = PillStyle.QUIET, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._style = style
        self._label = ""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.set_label(text)

    def set_label(self, text: str) -> None:
        """Show and speak another text. No character of it becomes a mnemonic."""
        self._label = visible_text(text, keep_newlines=False)
        self.setText(self._label.replace("&", "&&"))
        self.setAccessibleName(self._label)
        self.updateGeometry()
        self.update()

    @property
    def label(self) -> str:
        """What is shown."""
        return self._label

    @override
    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        padding = self._padding(metrics)
        return QSize(metrics.horizontalAdvance(self._label) + 2 * padding, metrics.height() + metrics.height() // 2)

    @override
    def minimumSizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        hint = self.sizeHint()
        if self._style is PillStyle.FILLED:
            # What a person is waited for is read in full.
            return hint
        return QSize(min(hint.width(), metrics.averageCharWidth() * 5), hint.height())

    @override
    def event(self, e: QEvent) -> bool:
        if isinstance(e, QHelpEvent) and not self.toolTip() and self.width() < self.sizeHint().width():
            QToolTip.showText(e.globalPos(), f"<qt>{html.escape(self._label)}</qt>", self)
            return True
        return super().event(e)

    @override
    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.update()

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = Colors.of(self.palette())
        ground, ink, line = self._colors(colors)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        radius = rect.height() / 2
        painter.setBrush(ground)
        painter.setPen(QPen(line, 1.0))
        painter.drawRoundedRect(rect, radius, radius)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colors.accent if self._style is not PillStyle.FILLED else colors.text, 1.6))
            painter.drawRoundedRect(rect, radius, radius)
        metrics = self.fontMetrics()
        padding = self._padding(metrics)
        inner = self.rect().adjusted(padding, 0, -padding, 0)
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        painter.setPen(ink)
        shown = metrics.elidedText(self._label, Qt.TextElideMode.ElideRight, inner.width() + 1)
        painter.drawText(inner.adjusted(-1, 0, 1, 0), int(Qt.AlignmentFlag.AlignCenter), shown)
        painter.end()

    def _padding(self, metrics: QFontMetrics) -> int:
        return metrics.height() // 2 if self._style is PillStyle.QUIET else metrics.height() * 3 // 4

    def _colors(self, colors: Colors) -> tuple[QColor, QColor, QColor]:
        clear = QColor(0, 0, 0, 0)
        raised = self.isDown() or self.underMouse()
        if self._style is PillStyle.FILLED:
            ground = blend(colors.text, colors.waiting, 0.12) if raised else colors.waiting
            return ground, readable(colors.panel, ground), ground
        ground = blend(colors.text, colors.panel, 0.14 if self.isDown() else 0.08) if raised else clear
        on = colors.panel if ground is clear else ground
        if self._style is PillStyle.OUTLINED:
            ground = ground if raised else colors.panel
            return ground, colors.text, colors.border
        worst = colors.waiting_panel if ground is clear else on
        return ground, readable(readable(colors.accent, on), worst), clear
