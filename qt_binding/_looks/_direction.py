"""Text that keeps its own direction in a window of the other one."""

from __future__ import annotations

import unicodedata

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

_MARKS = {Qt.LayoutDirection.LeftToRight: "\u200e", Qt.LayoutDirection.RightToLeft: "\u200f"}


def direction_of(text: str) -> Qt.LayoutDirection:
    """The direction of the first letter that has one; left to right when none has."""
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind in {"R", "AL"}:
            return Qt.LayoutDirection.RightToLeft
        if kind == "L":
            break
    return Qt.LayoutDirection.LeftToRight


def in_own_direction(text: str, around: Qt.LayoutDirection | None = None) -> str:
    """``text`` for a place that Qt draws in the direction of the window, for example a placeholder.

    Where the two directions differ, Qt would put a full stop at the wrong end of the sentence. Marks that are drawn as
    nothing keep it in place.

    Args:
        text: What is shown.
        around: The direction of the place; that of the application if not given.
    """
    own = direction_of(text)
    if not text or own is (QGuiApplication.layoutDirection() if around is None else around):
        return text
    return f"{_MARKS[own]}{text}{_MARKS[own]}"
