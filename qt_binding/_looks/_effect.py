"""What a capability would do, as a word and a colour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, assert_never

from PySide6.QtCore import QCoreApplication, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget
from typing_extensions import override

from agent_surface.invocation import Effect
from qt_binding._looks._colors import is_dark


def effect_word(effect: Effect) -> str:
    """What an effect is called, in the person's language."""
    match effect:
        case Effect.NONE:
            return _tr("Only reads")
        case Effect.LOCAL_STATE:
            return _tr("Changes this window")
        case Effect.NAVIGATION:
            return _tr("Navigates")
        case Effect.SERVER_QUERY:
            return _tr("Reads from the server")
        case Effect.SERVER_MUTATION:
            return _tr("Changes data")
        case Effect.EXTERNAL_SIDE_EFFECT:
            return _tr("Acts outside this application")
        case Effect.DESTRUCTIVE:
            return _tr("Destructive")
    assert_never(effect)


@dataclass(frozen=True, slots=True, kw_only=True)
class BadgeColors:
    """Ground and text of a badge, as ``#rrggbb``."""

    ground: str
    ink: str


_DANGER: Final = (BadgeColors(ground="#b3261e", ink="#ffffff"), BadgeColors(ground="#f2b8b5", ink="#5c1310"))
_OUTSIDE: Final = (BadgeColors(ground="#8a4b00", ink="#ffffff"), BadgeColors(ground="#ffcc80", ink="#3e2700"))
_DATA: Final = (BadgeColors(ground="#0b57d0", ink="#ffffff"), BadgeColors(ground="#a8c7fa", ink="#062e6f"))
_CALM: Final = (BadgeColors(ground="#5f6368", ink="#ffffff"), BadgeColors(ground="#c4c7c5", ink="#303030"))

_TONES: Final[Mapping[Effect, tuple[BadgeColors, BadgeColors]]] = MappingProxyType(
    {
        Effect.NONE: _CALM,
        Effect.LOCAL_STATE: _CALM,
        Effect.NAVIGATION: _CALM,
        Effect.SERVER_QUERY: _CALM,
        Effect.SERVER_MUTATION: _DATA,
        Effect.EXTERNAL_SIDE_EFFECT: _OUTSIDE,
        Effect.DESTRUCTIVE: _DANGER,
    }
)


def badge_colors(effect: Effect, *, dark: bool) -> BadgeColors:
    """The colours of an effect in a light or a dark palette."""
    return _TONES[effect][1 if dark else 0]


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


def _tr(text: str) -> str:
    return QCoreApplication.translate("ConfirmationDialog", text)
