"""The words of the inspector."""

from __future__ import annotations

import html

from PySide6.QtCore import QCoreApplication

from qt_binding._text import visible_text

_MAX_CELL = 300


def tr(text: str) -> str:
    """The text in the language of the application."""
    return QCoreApplication.translate("SurfaceInspector", text)


def cell(text: str) -> str:
    """Text of an application or a model for a place with one line: nothing in it is invisible, and it ends."""
    shown = visible_text(text[: _MAX_CELL + 1], keep_newlines=False)
    return shown if len(shown) <= _MAX_CELL else shown[: _MAX_CELL - 1] + "\u2026"


def tool_tip(text: str) -> str:
    """Text for a tool tip. Qt guesses the format of one, so the guess is made for it."""
    return f"<qt>{html.escape(visible_text(text[:2_000]))}</qt>" if text else ""
