"""The effective input on the screen: one table of all fields, and the knowledge of whether its end was seen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontMetrics,
    QKeyEvent,
    QPaintEvent,
    QPalette,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFrameFormat,
    QTextLength,
    QTextOption,
    QTextTable,
    QTextTableCellFormat,
    QTextTableFormat,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QWidget
from typing_extensions import override

from qt_binding._looks import blend
from qt_binding._text import broken_runs
from qt_binding.confirmation._rows import InputRow
from qt_binding.confirmation._text import Segment

_NAME_PERCENT: Final = 30
_VALUE_PERCENT: Final = 70
_MAX_HINT_LINES: Final = 16
_MIN_LINES: Final = 3
_MAX_HINT_CHARACTERS: Final = 20_000
_MAX_INDENT: Final = 8
_LINE_FEED: Final = "\\n"
# What is marked as a whole has other letters in it as well; it is not broken into lines.
_CODES: Final = re.compile(r"(?:\\(?:[ntr]|x..|u.{4}|U.{8}))+")
_LINES: Final = re.compile(r"(?<=\\n)")
_MAX_MARK: Final = 1_000
_MAX_BREAKS: Final = 2_000
_MARK: Final = QColor("#c79100")


class InputView(QTextEdit):
    """A read-only table of :class:`InputRow`. Plain text goes in; nothing in it is ever taken for markup.

    Signals:
        end_seen(): The end of the table has been drawn on the screen; once per :meth:`show_rows`.
    """

    end_seen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        # Before Qt's part: it calls the overrides below while it is being made.
        self._rows: tuple[InputRow, ...] = ()
        self._seen = False
        self._breaks_lines = True
        super().__init__(parent)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("What will be passed along"))

    @property
    def is_end_seen(self) -> bool:
        """Whether the end of the present rows has been on the screen."""
        return self._seen

    def show_rows(self, rows: Sequence[InputRow]) -> None:
        """Show other rows, from their beginning."""
        self._rows = tuple(rows)
        self._seen = False
        self._build()
        self.updateGeometry()

    @override
    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        width = metrics.averageCharWidth() * 76
        highest = metrics.lineSpacing() * _MAX_HINT_LINES
        height = highest
        if self.document().characterCount() <= _MAX_HINT_CHARACTERS:
            copy = self.document().clone()
            copy.setTextWidth(max(width, self.viewport().width()))
            height = min(highest, int(copy.size().height()) + 2 * self.frameWidth() + 2)
            copy.deleteLater()
        return QSize(width, max(height, self.minimumSizeHint().height()))

    @override
    def minimumSizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        lines = min(_MIN_LINES, max(1, len(self._rows)))
        return QSize(metrics.averageCharWidth() * 24, (metrics.lineSpacing() + 8) * lines + 2 * self.frameWidth())

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in {QEvent.Type.PaletteChange, QEvent.Type.FontChange} and self._rows:
            position = self.verticalScrollBar().value()
            self._build()
            self.verticalScrollBar().setValue(position)

    @override
    def keyPressEvent(self, e: QKeyEvent) -> None:
        super().keyPressEvent(e)
        # Qt scrolls just far enough for the caret, which leaves the edge of the last row below the screen.
        if self.textCursor().atEnd():
            self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    @override
    def paintEvent(self, e: QPaintEvent) -> None:
        super().paintEvent(e)
        # Judged by what was drawn, not by events that promise to draw it.
        if not self._seen and self._is_end_drawn():
            self._seen = True
            QTimer.singleShot(0, self, self.end_seen.emit)

    def _is_end_drawn(self) -> bool:
        if self.viewport().height() < QFontMetrics(self.font()).height():
            return False
        # Asking for the size finishes a layout that Qt does piece by piece; until then the end seems nearer than it is.
        height = self.document().documentLayout().documentSize().height()
        below = height - self.document().documentMargin() - self.verticalScrollBar().value()
        return below <= self.viewport().height()

    # Building.

    def _build(self) -> None:
        document = self.document()
        document.clear()
        breaks = sum(part.text.count(_LINE_FEED) for row in self._rows for part in (*row.name, *row.value))
        self._breaks_lines = breaks <= _MAX_BREAKS
        cursor = QTextCursor(document)
        if not self._rows:
            cursor.insertText(self.tr("Nothing is passed along."))
            return
        table = cursor.insertTable(len(self._rows), 2, self._table_format())
        for position, row in enumerate(self._rows):
            self._fill_name(table, position, row)
            self._fill_value(table, position, row)
        # The empty paragraph Qt keeps behind a table would look like a field without a value.
        last = document.rootFrame().lastCursorPosition()
        thin = QTextBlockFormat()
        thin.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        last.setBlockFormat(thin)
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self.document().size()

    def _table_format(self) -> QTextTableFormat:
        result = QTextTableFormat()
        result.setBorder(0)
        result.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_None)
        result.setCellSpacing(0)
        result.setCellPadding(0)
        result.setMargin(0)
        percent = QTextLength.Type.PercentageLength
        result.setWidth(QTextLength(percent, 100))
        result.setColumnWidthConstraints([QTextLength(percent, _NAME_PERCENT), QTextLength(percent, _VALUE_PERCENT)])
        return result

    def _cell_cursor(self, table: QTextTable, row: int, column: int, *, level: int = 0) -> QTextCursor:
        metrics = QFontMetrics(self.font())
        cell_format = QTextTableCellFormat()
        cell_format.setPadding(metrics.height() / 4)
        if not column:
            # The value's font is higher above the line; its name stands on the same line.
            lower = QFontMetrics(self._value_font()).ascent() - metrics.ascent()
            cell_format.setTopPadding(metrics.height() / 4 + max(0, lower))
        if row:
            cell_format.setTopBorder(1)
            cell_format.setTopBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
            text, base = self._text_and_base()
            cell_format.setTopBorderBrush(blend(text, base, 0.15))
        cell = table.cellAt(row, column)
        cell.setFormat(cell_format)
        cursor = cell.firstCursorPosition()
        block = QTextBlockFormat()
        block.setLeftMargin(min(level, _MAX_INDENT) * metrics.averageCharWidth() * 2)
        cursor.setBlockFormat(block)
        return cursor

    def _fill_name(self, table: QTextTable, position: int, row: InputRow) -> None:
        cursor = self._cell_cursor(table, position, 0, level=row.level)
        # A field that lies deeper than the eye can follow says how deep.
        if row.level > _MAX_INDENT:
            cursor.insertText("\u203a" * (row.level - _MAX_INDENT) + " ", QTextCharFormat())
        self._insert(cursor, row.name, QTextCharFormat())
        if row.bound:
            tag = QTextCharFormat()
            tag.setFontItalic(True)
            text, base = self._text_and_base()
            tag.setBackground(blend(self.palette().color(QPalette.ColorRole.Highlight), base, 0.18))
            tag.setForeground(text)
            if row.name:
                cursor.insertBlock()
            cursor.insertText(self.tr("from the screen"), tag)

    def _fill_value(self, table: QTextTable, position: int, row: InputRow) -> None:
        cursor = self._cell_cursor(table, position, 1)
        value = QTextCharFormat()
        value.setFontFamilies(self._value_font().families())
        value.setFontStyleHint(QFont.StyleHint.Monospace)
        self._insert(cursor, row.value, value)

    def _insert(self, cursor: QTextCursor, parts: Sequence[Segment], plain: QTextCharFormat) -> None:
        text, base = self._text_and_base()
        marked = QTextCharFormat(plain)
        marked.setBackground(blend(_MARK, base, 0.35))
        marked.setForeground(text)
        for part in parts:
            # A line break is written out and made, so that many lines are read as lines and none is added unseen.
            made = self._breaks_lines and part.escaped and len(part.text) <= _MAX_MARK and _CODES.fullmatch(part.text)
            for piece in _LINES.split(part.text) if made else [part.text]:
                for number, run in enumerate(broken_runs(piece).split("\n")):
                    if number:
                        cursor.insertBlock()
                    cursor.insertText(run, marked if part.escaped else plain)
                if made and piece.endswith(_LINE_FEED):
                    cursor.insertBlock()

    def _value_font(self) -> QFont:
        font = QFont(self.font())
        font.setFamilies([QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()])
        font.setStyleHint(QFont.StyleHint.Monospace)
        return font

    def _text_and_base(self) -> tuple[QColor, QColor]:
        palette = self.palette()
        return palette.color(QPalette.ColorRole.Text), palette.color(QPalette.ColorRole.Base)
