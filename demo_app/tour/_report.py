"""What the tour leaves behind: lines for the terminal and pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TextIO

from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from agent_surface import InvocationOk
from agent_surface.assistant import ToolCall

_INPUT_CHARACTERS = 100
_DIM = QColor(0, 0, 0, 60)


class Report:
    """Writes lines and pictures.

    Args:
        stream: For the lines.
        folder: For the pictures; made if it is missing.
    """

    def __init__(self, stream: TextIO, folder: Path) -> None:
        self._stream = stream
        self._folder = folder
        self._pictures = 0
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("[0-9][0-9]-*.png"):
            old.unlink()

    def say(self, text: str) -> None:
        """One line."""
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def call(self, call: ToolCall, sent: object) -> None:
        """One line for a call of the assistant: name, input, status or code, duration."""
        text = json.dumps(sent, ensure_ascii=False, default=str)
        if len(text) > _INPUT_CHARACTERS:
            text = text[: _INPUT_CHARACTERS - 1] + "…"
        result = call.result
        outcome = (
            call.status.value
            if result is None
            else "ok"
            if isinstance(result, InvocationOk)
            else result.error.code.value
        )
        self.say(f"  call {call.capability_id or call.tool_name} {text} -> {outcome} ({call.duration_ms} ms)")

    def picture(self, name: str, window: QWidget, dialog: QWidget | None = None) -> None:
        """The window as a person sees it, with the dialog over it."""
        picture = window.grab()
        if dialog is not None:
            painter = QPainter(picture)
            painter.fillRect(picture.rect(), _DIM)
            painter.drawPixmap(_place(window, dialog), _framed(dialog))
            painter.end()
        self._pictures += 1
        path = self._folder / f"{self._pictures:02}-{name}.png"
        if not picture.save(str(path)):
            raise OSError(f"The picture {path} cannot be written.")


def _place(window: QWidget, dialog: QWidget) -> QPoint:
    middle = window.rect().center() - dialog.rect().center()
    return QPoint(max(middle.x(), 0), max(middle.y(), 0))


def _framed(dialog: QWidget) -> QPixmap:
    picture = dialog.grab()
    painter = QPainter(picture)
    painter.setPen(QColor("#606060"))
    painter.drawRect(dialog.rect().adjusted(0, 0, -1, -1))
    painter.end()
    return picture
