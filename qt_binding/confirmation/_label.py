"""Labels for text that others wrote, and the badge that says what a request would do."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget
from typing_extensions import override

from agent_surface.invocation import Effect
from qt_binding.confirmation._colors import badge_colors, is_dark
from qt_binding.confirmation._text import effect_word, one_line

_LONG_RUN: Final = re.compile(r"\S{25,}")
_PIECE: Final = re.compile(r"\S{8}(?=\S)")
_BREAK_HERE: Final = "\u200b"


class WrappedLabel(QLabel):
    """Plain text that wraps, in a long word too, so that nobody's text can widen the window or leave it.

    Attributes:
        shown_text: What a person reads: invisible characters are written out.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown_text = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignTop)
        # Ignored: a label takes the width there is and asks for none.
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_text(self, *lines: str) -> None:
        """Show other text, each argument on a line of its own."""
        shown = [one_line(line) for line in lines]
        self.shown_text = "\n".join(shown)
        self.setText("\n".join(_LONG_RUN.sub(_breakable, line) for line in shown))
        # Without the break marks: they are for the layout, not for ears.
        self.setAccessibleName(self.shown_text)


def _breakable(run: re.Match[str]) -> str:
    return _PIECE.sub(lambda piece: piece.group() + _BREAK_HERE, run.group())


class EffectBadge(QLabel):
    """The effect of a request as word and colour. The colours follow the palette at the moment of painting."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._effect = Effect.NONE
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        font = self.font()
        font.setBold(True)
        self.setFont(font)

    def show_effect(self, effect: Effect) -> None:
        """Show another effect."""
        self._effect = effect
        self.setText(effect_word(effect))
        self.updateGeometry()

    @override
    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        width = metrics.horizontalAdvance(self.text()) + 2 * metrics.averageCharWidth()
        return QSize(width, metrics.height() + metrics.height() // 2)

    @override
    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = badge_colors(self._effect, dark=is_dark(self.palette()))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.ground))
        radius = self.height() / 4
        painter.drawRoundedRect(QRectF(self.rect()), radius, radius)
        painter.setPen(QColor(colors.ink))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())
        painter.end()
