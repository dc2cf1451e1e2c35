"""A tool call as a card: what is done, where, how far it came, and why not."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPainter, QPaintEvent, QPalette, QPen, QTextOption
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget
from typing_extensions import override

from agent_surface.assistant import ToolCall, ToolCallStatus
from qt_binding._looks import Colors, Glyph, GlyphView, PlainLabel
from qt_binding._text import visible_text
from qt_binding.assistant._pill import PillButton, PillStyle
from qt_binding.assistant._rows import GAP, MARGIN, TranscriptRow
from qt_binding.assistant._wording import CallWords, arguments_text, tr, words_of

_RADIUS = 10.0
_MAX_ARGUMENT_LINES = 12


class ArgumentsView(QPlainTextEdit):
    """What the assistant sent, in a fixed-width font, as high as its text up to a bound."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.setAccessibleName(tr("Values the assistant sent"))

    def show_json(self, text: str) -> None:
        """Show other text; hidden characters are written out."""
        self.setPlainText(visible_text(text))

    def height_within(self, width: int) -> int:
        """Height of the text when it is ``width`` pixels wide, at most a dozen lines."""
        metrics = self.fontMetrics()
        columns = max(1, (width - 24) // max(1, metrics.horizontalAdvance("0")))
        lines = 0
        block = self.document().begin()
        while block.isValid() and lines < _MAX_ARGUMENT_LINES:
            rows = max(1, -(-(block.length() - 1) // columns))
            # A long word begins on a line of its own.
            lines += rows + (rows > 1)
            block = block.next()
        return min(lines, _MAX_ARGUMENT_LINES) * metrics.lineSpacing() + 10

    def apply_colors(self, colors: Colors) -> None:
        """Stand on the ground of code."""
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Base, colors.code)
        palette.setColor(QPalette.ColorRole.Text, colors.text)
        self.setPalette(palette)


class ToolCard(TranscriptRow):
    """One use of one tool.

    Signals:
        answer_requested: The person wants to see the question; with the confirmation id.
        show_requested: The person wants to see the component; with type and instance id.
        details_toggled: The arguments were opened or closed.
    """

    answer_requested = Signal(str)
    show_requested = Signal(str, str)
    details_toggled = Signal(bool)

    def __init__(
        self, call: ToolCall, *, colors: Colors, details_open: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._call = call
        self._colors = colors
        self.glyph = GlyphView(self)
        self.title = PlainLabel(self)
        self.facts = PlainLabel(self)
        self.reason = PlainLabel(self)
        self.answer_button = PillButton(tr("Answer\u2026"), style=PillStyle.FILLED, parent=self)
        self.show_button = PillButton(tr("Show in window"), parent=self)
        self.details_button = PillButton(parent=self)
        self.details_button.setCheckable(True)
        self.arguments = ArgumentsView(self)
        self._column = self._laid_out()
        self.answer_button.clicked.connect(self._answer)
        self.show_button.clicked.connect(self._show_component)
        self.details_button.toggled.connect(self._toggle_details)
        self._apply_fonts()
        self.set_call(call)
        self.details_button.setChecked(details_open)
        self._show_details(details_open)

    @property
    def call(self) -> ToolCall:
        """The call as it is shown."""
        return self._call

    def set_call(self, call: ToolCall) -> None:
        """Show the call as it stands now."""
        self._call = call
        words = words_of(call)
        self.title.set_text(visible_text(words.title, keep_newlines=False))
        self.facts.set_text(visible_text("  \u00b7  ".join(words.facts), keep_newlines=False))
        self.reason.set_text(words.reason)
        self.reason.setVisible(bool(words.reason))
        self.answer_button.setVisible(call.status is ToolCallStatus.WAITING and bool(call.confirmation_id))
        self.show_button.setVisible(bool(call.component_type))
        arguments = arguments_text(call)
        self.arguments.show_json(arguments)
        self.details_button.setVisible(bool(arguments))
        self._speak(words)
        self.apply_colors(self._colors)
        self._align_buttons()

    @override
    def row_height(self, width: int) -> int:
        inner = width - 2 * MARGIN
        if self.arguments.isVisibleTo(self):
            self.arguments.setFixedHeight(self.arguments.height_within(inner - 24))
        self._column.invalidate()
        return max(self._column.totalHeightForWidth(width), self._column.minimumSize().height())

    @override
    def apply_colors(self, colors: Colors) -> None:
        self._colors = colors
        glyph, color = _sign(self._call, colors)
        self.glyph.set_glyph(glyph, color)
        self.title.set_color(colors.text)
        waiting = self._call.status is ToolCallStatus.WAITING
        self.facts.set_color(colors.waiting if waiting else colors.muted)
        self.reason.set_color(colors.failed if self._call.status is ToolCallStatus.FAILED else colors.muted)
        self.arguments.apply_colors(colors)
        self.update()

    @override
    def tab_stops(self) -> list[QWidget]:
        stops: list[QWidget] = [self.answer_button, self.show_button, self.details_button, self.arguments]
        return [stop for stop in stops if stop.isVisibleTo(self)]

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._apply_fonts()
            self.height_changed.emit()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRectF(self.rect()).adjusted(MARGIN + 0.5, 0.5, -MARGIN - 0.5, -GAP - 0.5)
        waiting = self._call.status is ToolCallStatus.WAITING
        painter.setBrush(self._colors.waiting_panel if waiting else self._colors.panel)
        painter.setPen(QPen(self._colors.waiting if waiting else self._colors.border, 1.0))
        painter.drawRoundedRect(rect, _RADIUS, _RADIUS)
        painter.end()

    @override
    def sizeHint(self) -> QSize:
        return QSize(320, self.row_height(320))

    def _laid_out(self) -> QVBoxLayout:
        words = QVBoxLayout()
        words.setSpacing(3)
        words.addWidget(self.title)
        words.addWidget(self.facts)
        words.addWidget(self.reason)
        head = QHBoxLayout()
        head.setSpacing(9)
        head.addWidget(self.glyph, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(words, 1)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(4)
        for button in (self.answer_button, self.show_button, self.details_button):
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN + 12, 10, MARGIN + 12, GAP + 8)
        column.setSpacing(5)
        column.addLayout(head)
        column.addLayout(self._buttons)
        column.addWidget(self.arguments)
        column.addStretch(1)
        return column

    def _align_buttons(self) -> None:
        # The text of a quiet button stands under the title, although its round ends reach further out.
        indent = self.glyph.width() + 9
        quiet = not self.answer_button.isVisibleTo(self)
        start = indent - (self.fontMetrics().height() // 2 if quiet else 0)
        # Qt mirrors layouts, but not their margins.
        left, right = (0, start) if self.isRightToLeft() else (start, 0)
        self._buttons.setContentsMargins(left, 0, right, 0)

    def _apply_fonts(self) -> None:
        strong = QFont(self.font())
        strong.setWeight(QFont.Weight.DemiBold)
        self.title.setFont(strong)

    def _speak(self, words: CallWords) -> None:
        parts = [self.title.shown_text, self.facts.shown_text, self.reason.shown_text]
        self.setAccessibleName(tr("Tool call: %1").replace("%1", ". ".join(part for part in parts if part)))
        for button in (self.answer_button, self.show_button, self.details_button):
            button.setAccessibleDescription(visible_text(words.title, keep_newlines=False))

    def _toggle_details(self, opened: bool) -> None:
        self._show_details(opened)
        self.details_toggled.emit(opened)
        self.height_changed.emit()

    def _show_details(self, opened: bool) -> None:
        self.arguments.setVisible(opened and bool(arguments_text(self._call)))
        self.details_button.set_label(tr("Hide details") if opened else tr("Details"))

    def _answer(self) -> None:
        if self._call.confirmation_id:
            self.answer_requested.emit(self._call.confirmation_id)

    def _show_component(self) -> None:
        if self._call.component_type:
            self.show_requested.emit(self._call.component_type, self._call.instance_id or "default")


def _sign(call: ToolCall, colors: Colors) -> tuple[Glyph, QColor]:
    return {
        ToolCallStatus.RUNNING: (Glyph.RUNNING, colors.accent),
        ToolCallStatus.WAITING: (Glyph.WAITING, colors.waiting),
        ToolCallStatus.DONE: (Glyph.DONE, colors.done),
        ToolCallStatus.REFUSED: (Glyph.REFUSED, colors.refused),
        ToolCallStatus.FAILED: (Glyph.FAILED, colors.failed),
        ToolCallStatus.ABANDONED: (Glyph.REFUSED, colors.refused),
    }[call.status]
