"""What the transcript is made of: a row for each message or notice."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt, QUrl, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QApplication, QWidget
from typing_extensions import override

from agent_surface.assistant import AssistantMessage, Notice, NoticeKind, PersonMessage
from qt_binding._looks import Colors, Glyph, GlyphView, PlainLabel, more_characters
from qt_binding._text import visible_text
from qt_binding.assistant._browser import MessageBrowser
from qt_binding.assistant._markdown import MarkdownRenderer, closed_length
from qt_binding.assistant._wording import tr

MARGIN = 12
GAP = 10
_RADIUS = 10.0
# Up to here a growing message is rendered as a whole at each flush, which takes a few milliseconds.
_MAX_WHOLE_CHARACTERS = 1_500
# Beyond this a complete message keeps its blocks as they were rendered one by one.
_MAX_REDONE_CHARACTERS = 4_000
MAX_SHOWN_CHARACTERS = 40_000
"""Of a longer message the beginning is shown: a model writes a book in a minute, and laying one out takes longer."""
_SPOKEN_CHARACTERS = 300


class TranscriptRow(QWidget):
    """One entry on the screen. The transcript gives it a width and asks for the height.

    Abstract by its two methods that raise: Qt's metaclass cannot be combined with that of ``ABC`` to any effect.

    Signals:
        height_changed: The row asks to be measured again.
        link_clicked: A person chose a link in it.
    """

    height_changed = Signal()
    link_clicked = Signal(QUrl)

    def row_height(self, width: int) -> int:
        """The height in pixels, with the gap below, for a width."""
        raise NotImplementedError

    def apply_colors(self, colors: Colors) -> None:
        """Paint in these colours from now on."""
        raise NotImplementedError

    def tab_stops(self) -> list[QWidget]:
        """What the Tab key reaches in this row, in order."""
        return []

    @property
    def in_use(self) -> bool:
        """Whether the person is in it (focus, selection), so that it must stay although it is out of sight."""
        focus = QApplication.focusWidget()
        return isinstance(focus, QWidget) and self.isAncestorOf(focus)


class MessageRow(TranscriptRow):
    """A bubble with what the person or the assistant said."""

    def __init__(
        self,
        message: PersonMessage | AssistantMessage,
        *,
        renderer: MarkdownRenderer,
        colors: Colors,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._renderer = renderer
        self._colors = colors
        self._by_person = isinstance(message, PersonMessage)
        self._text = ""
        self._shown = ""
        self._closed: int | None = None
        self._bubble = QRect()
        self._placed_for = -1
        self.browser = MessageBrowser(self)
        self.browser.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.browser.link_clicked.connect(self.link_clicked)
        self.browser.selectionChanged.connect(self.update)
        self.browser.set_text_color(colors)
        self.rest = PlainLabel(self)
        self.rest.set_color(colors.muted)
        self.show_text(message.text, streaming=isinstance(message, AssistantMessage) and message.streaming)

    @property
    def text(self) -> str:
        """The text as it was sent, before anything was made visible."""
        return self._text

    def show_text(self, text: str, *, streaming: bool) -> None:
        """Show the text of the message as it stands: its first :data:`MAX_SHOWN_CHARACTERS`, and how much more it has.

        While it streams, a short one is rendered each time. A longer one is rendered block by block, with what is not
        complete yet as plain text, so that a flush costs as much at the end as at the beginning. A person's selection
        is not taken away while it streams.
        """
        self._placed_for = -1
        self._text = text
        self._show(text[:MAX_SHOWN_CHARACTERS], streaming=streaming)
        self._say_rest(len(text) - len(self._shown))
        speaker = tr("You") if self._by_person else tr("Assistant")
        spoken = f"{speaker}: {visible_text(text[:_SPOKEN_CHARACTERS])}"
        self.setAccessibleName(spoken)
        self.browser.setAccessibleName(spoken)

    @override
    def row_height(self, width: int) -> int:
        return self._place(width).height() + GAP

    @override
    def apply_colors(self, colors: Colors) -> None:
        self._colors = colors
        self.browser.set_text_color(colors)
        if self._closed is not None:
            self._render_by_blocks(self._shown)
        elif not self._by_person:
            self._render(self._shown)
        self.rest.set_color(colors.muted)
        self.update()

    @override
    def tab_stops(self) -> list[QWidget]:
        return [self.browser]

    @property
    @override
    def in_use(self) -> bool:
        return super().in_use or self.browser.textCursor().hasSelection()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place(self.width())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRectF(self._bubble).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setBrush(self._colors.person if self._by_person else self._colors.panel)
        painter.setPen(Qt.PenStyle.NoPen if self._by_person else QPen(self._colors.border, 1.0))
        painter.drawRoundedRect(rect, _RADIUS, _RADIUS)
        if self.browser.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._colors.accent, 1.6))
            painter.drawRoundedRect(rect, _RADIUS, _RADIUS)
        painter.end()

    def _show(self, text: str, *, streaming: bool) -> None:
        before, self._shown = self._shown, text
        grown = text[len(before) :] if text.startswith(before) else None
        if self._by_person:
            self.browser.show_plain(text)
        elif not streaming and self._closed is not None and grown is not None and len(text) > _MAX_REDONE_CHARACTERS:
            self.browser.append_markdown(text[self._closed :], self._renderer, self._colors)
            self._closed = None
        elif not streaming or len(text) <= _MAX_WHOLE_CHARACTERS:
            self._closed = None
            self._render(text)
        elif self._closed is None or grown is None:
            self._render_by_blocks(text)
        elif grown:
            self._grow(text, grown, self._closed)

    def _say_rest(self, left_out: int) -> None:
        self.rest.setVisible(left_out > 0)
        if left_out > 0:
            said = tr("\u2026 %1. Export the conversation to read all of it.")
            self.rest.set_text(said.replace("%1", more_characters(left_out)))

    def _render(self, text: str) -> None:
        self.browser.show_markdown(text, self._renderer, self._colors)

    def _render_by_blocks(self, text: str) -> None:
        self._closed = closed_length(text)
        self._render(text[: self._closed])
        self.browser.append_tail(text[self._closed :])

    def _grow(self, text: str, grown: str, closed: int) -> None:
        more = closed_length(text[closed:])
        if not more:
            self.browser.append_tail(grown)
            return
        self._closed = closed + more
        self.browser.append_markdown(text[closed : self._closed], self._renderer, self._colors)
        self.browser.append_tail(text[self._closed :])

    def _place(self, width: int) -> QRect:
        """Size the bubble for a row of ``width`` pixels and put it at its side."""
        if width == self._placed_for:
            return self._bubble
        self._placed_for = width
        pad_x, pad_y = 12, 8
        room = max(60, width - 2 * MARGIN)
        widest = room - min(room // 8, 60)
        inner = max(40, (widest if self._by_person else room) - 2 * pad_x)
        size = self.browser.size_within(inner)
        # Nearly as wide as the cards looks like a mistake, and a long text would be laid out again in each new width.
        if not self._by_person and (size.width() > inner * 0.8 or len(self._shown) > _MAX_WHOLE_CHARACTERS):
            size.setWidth(inner)
        rest = self.rest.heightForWidth(size.width()) + pad_y if self.rest.isVisibleTo(self) else 0
        bubble_width = size.width() + 2 * pad_x
        at_end = self._by_person == (self.layoutDirection() == Qt.LayoutDirection.LeftToRight)
        left = width - MARGIN - bubble_width if at_end else MARGIN
        self._bubble = QRect(left, 0, bubble_width, size.height() + rest + 2 * pad_y)
        # The view lays its text out in its own width, so it must be the width the text was measured in.
        self.browser.setGeometry(left + pad_x, pad_y, size.width(), size.height())
        self.browser.lay_out()
        self.rest.setGeometry(left + pad_x, size.height() + 2 * pad_y, size.width(), max(0, rest - pad_y))
        return self._bubble


class NoticeRow(TranscriptRow):
    """A remark of the application between the messages."""

    def __init__(self, notice: Notice, *, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._notice = notice
        self._glyph = GlyphView(self)
        self._label = PlainLabel(self)
        self._label.set_text(notice.text)
        self.setAccessibleName(self._label.shown_text)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.apply_colors(colors)

    @override
    def row_height(self, width: int) -> int:
        return self._place(width) + GAP

    @override
    def apply_colors(self, colors: Colors) -> None:
        error = self._notice.kind is NoticeKind.ERROR
        color = colors.failed if error else colors.muted
        self._glyph.set_glyph(Glyph.FAILED if error else Glyph.INFO, color)
        self._label.set_color(color)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place(self.width())

    def _place(self, width: int) -> int:
        side = self._glyph.width()
        indent = MARGIN + side + 8
        room = max(40, width - indent - MARGIN)
        height = max(side, self._label.heightForWidth(room))
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        self._glyph.move(width - MARGIN - side if mirrored else MARGIN, 2)
        self._label.setGeometry(MARGIN if mirrored else indent, 3, room, height)
        return height + 6
