"""The few colours the host chooses itself, for light and dark palettes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from PySide6.QtGui import QColor, QPalette

from agent_surface.invocation import Effect


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


def is_dark(palette: QPalette) -> bool:
    """Whether a palette is a dark one, judged by its lightness; platforms do not reliably say."""
    return palette.color(QPalette.ColorRole.Window).lightnessF() < 0.5


def badge_colors(effect: Effect, *, dark: bool) -> BadgeColors:
    """The colours of an effect in a light or a dark palette."""
    return _TONES[effect][1 if dark else 0]


def mixed(color: QColor, ground: QColor, share: float) -> QColor:
    """``share`` (0 to 1) of ``color`` in ``ground``: a tint that text of the ground's own colour can be read on."""
    return QColor.fromRgbF(
        color.redF() * share + ground.redF() * (1 - share),
        color.greenF() * share + ground.greenF() * (1 - share),
        color.blueF() * share + ground.blueF() * (1 - share),
    )
