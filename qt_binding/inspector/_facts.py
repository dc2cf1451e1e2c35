"""What is known of one thing, as a table of names and values that can be selected and copied."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import (
    QFont,
    QFontDatabase,
    QFontMetricsF,
    QTextCharFormat,
    QTextCursor,
    QTextFrameFormat,
    QTextLength,
    QTextOption,
    QTextTableCellFormat,
    QTextTableFormat,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget
from typing_extensions import override

from agent_surface import FrozenJson
from qt_binding._looks import Colors, shortened
from qt_binding._text import broken_runs, visible_text

_MAX_CHARACTERS = 20_000
_PADDING = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A name and a value. ``code`` values are drawn in a fixed-width font."""

    name: str
    value: str
    code: bool = False


def json_text(value: FrozenJson | object) -> str:
    """A JSON value, indented; frozen objects are mappings, which JSON does not know."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=dict)


def bounded(text: str) -> str:
    """Text of unknown length for a view that is read: honest, and cut where nobody reads on."""
    return broken_runs(visible_text(shortened(text, _MAX_CHARACTERS)))


class FactsView(QTextEdit):
    """A read-only table of facts. Plain text goes in; nothing in it is ever taken for markup."""

    def __init__(self, parent: QWidget | None = None) -> None:
        # Before Qt's part: it calls the overrides below while it is being made.
        self._facts: tuple[Fact, ...] = ()
        super().__init__(parent)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show other facts; the same ones leave selection and place alone."""
        if tuple(facts) != self._facts:
            self._facts = tuple(facts)
            self._build()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in {QEvent.Type.PaletteChange, QEvent.Type.FontChange} and self._facts:
            self._build()

    def _build(self) -> None:
        place = self.verticalScrollBar().value()
        self.clear()
        if self._facts:
            self._fill()
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self.verticalScrollBar().setValue(place)

    def _fill(self) -> None:
        name, value, code = QTextCharFormat(), QTextCharFormat(), QTextCharFormat()
        name.setForeground(Colors.of(self.palette()).muted)
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        fixed.setPointSizeF(self.font().pointSizeF())
        code.setFont(fixed, QTextCharFormat.FontPropertiesInheritanceBehavior.FontPropertiesAll)
        shape = QTextTableFormat()
        shape.setBorder(0)
        shape.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_None)
        shape.setCellPadding(_PADDING)
        shape.setCellSpacing(0)
        shape.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        wide = max(self._name_width(fact.name) for fact in self._facts)
        shape.setColumnWidthConstraints(
            [QTextLength(QTextLength.Type.FixedLength, wide), QTextLength(QTextLength.Type.VariableLength, 1)]
        )
        lower = QTextTableCellFormat()
        # A fixed-width font is higher above the line; its name stands on the same line.
        lower.setTopPadding(_PADDING + max(0.0, QFontMetricsF(fixed).ascent() - QFontMetricsF(self.font()).ascent()))
        cursor = self.textCursor()
        cursor.beginEditBlock()
        table = cursor.insertTable(len(self._facts), 2, shape)
        for row, fact in enumerate(self._facts):
            # Names stay on the left also from right to left: Qt mirrors no table, and read out, a name comes first.
            if fact.code:
                table.cellAt(row, 0).setFormat(lower)
            table.cellAt(row, 0).firstCursorPosition().insertText(fact.name, name)
            table.cellAt(row, 1).firstCursorPosition().insertText(bounded(fact.value), code if fact.code else value)
        cursor.endEditBlock()

    def _name_width(self, name: str) -> float:
        font = QFont(self.font())
        return self.fontMetrics().horizontalAdvance(name) + 14 + font.pointSizeF() / 2
