"""The conversation: only the rows near the visible part exist, and the reader's place is never lost."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import assert_never

from PySide6.QtCore import QEvent, QRect, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QWidget
from typing_extensions import override

from agent_surface.assistant import AssistantMessage, Notice, PersonMessage, ToolCall, TranscriptEntry
from qt_binding._looks import Colors
from qt_binding.assistant._card import ToolCard
from qt_binding.assistant._markdown import MarkdownRenderer
from qt_binding.assistant._pill import PillButton, PillStyle
from qt_binding.assistant._rows import GAP, MARGIN, MAX_SHOWN_CHARACTERS, MessageRow, NoticeRow, TranscriptRow
from qt_binding.assistant._wording import tr

FLUSH_MS = 50
_TOP_SPACE = 12
_AT_END_PIXELS = 4
_MAX_PASSES = 6


class _Item:
    """An entry with what is known of its height; ``row`` only exists near the visible part."""

    __slots__ = ("added", "details_open", "entry", "height", "measured_for", "row", "text")

    def __init__(self, entry: TranscriptEntry) -> None:
        self.entry = entry
        self.text = "" if isinstance(entry, ToolCall) else entry.text
        self.added: list[str] = []
        self.details_open = False
        self.height = 0
        self.measured_for = -1
        self.row: TranscriptRow | None = None


class TranscriptView(QAbstractScrollArea):
    """Shows entries of a transcript, oldest first.

    It follows the end while the person is at the end. Otherwise the row at the top stays where it is, whatever grows
    above or below it.

    Signals:
        link_clicked: A person chose a link in a message.
        answer_requested: With the confirmation id of a waiting call.
        show_requested: With type and instance id of a component.
        following_changed: Whether the view follows the end.
    """

    link_clicked = Signal(QUrl)
    answer_requested = Signal(str)
    show_requested = Signal(str, str)
    following_changed = Signal(bool)

    def __init__(self, *, renderer: MarkdownRenderer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._renderer = renderer
        self._items: list[_Item] = []
        self._by_id: dict[str, _Item] = {}
        self._live: set[int] = set()
        self._tops_cache: list[int] | None = None
        self._colors = Colors.of(self.palette())
        self._following = True
        self._anchor = 0
        self._anchor_offset = 0
        self._settling = False
        self._stops_dirty = False
        self._pending: dict[str, _Item] = {}
        self._flush_timer = QTimer(self)
        self._flush_timer.setSingleShot(True)
        self._flush_timer.setInterval(FLUSH_MS)
        self._flush_timer.timeout.connect(self.flush)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Conversation"))
        self.viewport().setAutoFillBackground(False)
        self._to_end = PillButton(tr("\u2193 Newest"), style=PillStyle.OUTLINED, parent=self)
        self._to_end.setAccessibleName(tr("Go to the newest message"))
        self._to_end.clicked.connect(self.follow_end)
        self._to_end.hide()
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus_changed)

    @property
    def following(self) -> bool:
        """Whether the view follows the end."""
        return self._following

    @property
    def count(self) -> int:
        """How many entries there are."""
        return len(self._items)

    def row_of(self, message_id: str) -> TranscriptRow | None:
        """The row of an entry, while there is one on or near the screen."""
        item = self._by_id.get(message_id)
        return None if item is None else item.row

    def rows(self) -> list[TranscriptRow]:
        """The rows that exist, in the order of the transcript."""
        rows = (self._items[index].row for index in sorted(self._live))
        return [row for row in rows if row is not None]

    def set_entries(self, entries: Sequence[TranscriptEntry]) -> None:
        """Show another conversation, from its end."""
        self._release_all()
        self._items = [_Item(entry) for entry in entries]
        self._by_id = {item.entry.message_id: item for item in self._items}
        self._pending.clear()
        self._following = True
        self._settle()

    def put(self, entry: TranscriptEntry) -> None:
        """Add an entry, or show the newer state of one that is there already."""
        item = self._by_id.get(entry.message_id)
        if item is None:
            item = _Item(entry)
            self._items.append(item)
            self._by_id[entry.message_id] = item
            self._tops_cache = None
        else:
            item.entry = entry
            if not isinstance(entry, ToolCall):
                item.text = entry.text
                item.added.clear()
                self._pending.pop(entry.message_id, None)
            self._show_in_row(item)
        self._settle()

    def append_text(self, message_id: str, text: str) -> None:
        """Add text to a message that streams. It is shown at the next flush, at most 50 ms later."""
        item = self._by_id.get(message_id)
        if item is None or isinstance(item.entry, ToolCall):
            return
        item.added.append(text)
        self._pending[message_id] = item
        if not self._flush_timer.isActive():
            self._flush_timer.start()

    def flush(self) -> None:
        """Show the text that has arrived."""
        for item in self._pending.values():
            item.text += "".join(item.added)
            item.added.clear()
            self._show_in_row(item)
        self._pending.clear()
        self._settle()

    def follow_end(self) -> None:
        """Go to the end and stay there."""
        self._set_following(True)
        self._settle()

    def focus_last(self) -> None:
        """Give the keyboard to the newest row that takes it."""
        for row in reversed(self.rows()):
            stops = row.tab_stops()
            if stops:
                stops[0].setFocus(Qt.FocusReason.ShortcutFocusReason)
                return
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._settle()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            colors = Colors.of(self.palette())
            if colors != self._colors:
                self._colors = colors
                for row in self.rows():
                    row.apply_colors(colors)
        elif event.type() in (QEvent.Type.FontChange, QEvent.Type.LayoutDirectionChange):
            self._release_all()
            self._settle()

    @override
    def scrollContentsBy(self, dx: int, dy: int) -> None:
        # Rows are placed by _settle, which the same change of the scroll bar causes.
        return

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        if event.key() == Qt.Key.Key_Home:
            bar.setValue(bar.minimum())
        elif event.key() == Qt.Key.Key_End:
            self.follow_end()
        else:
            super().keyPressEvent(event)

    def _on_scrolled(self, value: int) -> None:
        if self._settling:
            return
        bar = self.verticalScrollBar()
        tops = self._tops()
        self._set_following(value >= bar.maximum() - _AT_END_PIXELS)
        self._remember(tops, value)
        self._settle()

    def _on_focus_changed(self, _old: QWidget | None, now: QWidget | None) -> None:
        if now is None or self._settling or not self.viewport().isAncestorOf(now):
            return
        place = QRect(now.mapTo(self.viewport(), now.rect().topLeft()), now.size())
        view = self.viewport().rect()
        unseen = not place.intersects(view)
        cut = place.height() <= view.height() and not view.contains(place)
        if unseen or cut:
            bar = self.verticalScrollBar()
            delta = place.top() - GAP if place.top() < 0 else place.bottom() + GAP - view.height()
            bar.setValue(bar.value() + delta)

    def _set_following(self, following: bool) -> None:
        if following != self._following:
            self._following = following
            self._to_end.setVisible(not following)
            self._to_end.raise_()
            self.following_changed.emit(following)

    def _remember(self, tops: list[int], value: int) -> None:
        self._anchor = max(0, min(len(self._items) - 1, bisect_right(tops, value) - 1))
        self._anchor_offset = value - tops[self._anchor] if self._items else 0

    def _tops(self) -> list[int]:
        """Where each row begins, and at last where the conversation ends, in pixels from its beginning."""
        if self._tops_cache is None:
            width = self.viewport().width()
            for item in self._items:
                if item.height == 0:
                    item.height = self._guessed_height(item, width)
            self._tops_cache = list(accumulate((item.height for item in self._items), initial=_TOP_SPACE))
        return self._tops_cache

    def _guessed_height(self, item: _Item, width: int) -> int:
        metrics = self.fontMetrics()
        if isinstance(item.entry, ToolCall):
            return metrics.lineSpacing() * 4 + GAP + 24
        columns = max(10, (width - 2 * MARGIN - 24) // max(1, metrics.averageCharWidth()))
        shown = item.text[:MAX_SHOWN_CHARACTERS]
        lines = shown.count("\n") + len(shown) // columns + 1
        return lines * metrics.lineSpacing() + 16 + GAP

    def _settle(self) -> None:
        """Make and measure the rows near the visible part until nothing moves any more, then place them."""
        if self._settling:
            return
        self._settling = True
        try:
            for _ in range(_MAX_PASSES):
                width = self.viewport().width()
                self._place(*self._measured())
                # The scroll bar may have come or gone with the new height, and the width with it.
                if self.viewport().width() == width:
                    break
        finally:
            self._settling = False

    def _measured(self) -> tuple[list[int], int]:
        width, height = self.viewport().width(), self.viewport().height()
        tops: list[int] = []
        value = 0
        for _ in range(_MAX_PASSES):
            tops = self._tops()
            limit = max(0, tops[-1] - height)
            wanted = limit if self._following or not self._items else tops[self._anchor] + self._anchor_offset
            value = max(0, min(limit, wanted))
            near = self._between(tops, value - height // 2, value + height + height // 2)
            if not self._measure(near, width):
                break
        return tops, value

    def _between(self, tops: list[int], upper: int, lower: int) -> range:
        return range(max(0, bisect_right(tops, upper) - 1), min(len(self._items), bisect_right(tops, lower)))

    def _measure(self, near: range, width: int) -> bool:
        changed = False
        for index in near:
            item = self._items[index]
            if item.row is None:
                item.row = self._made_row(item)
                self._live.add(index)
                item.measured_for = -1
            if item.measured_for != width:
                item.measured_for = width
                measured = item.row.row_height(width)
                changed = changed or measured != item.height
                item.height = measured
        if changed:
            self._tops_cache = None
        return changed

    def _place(self, tops: list[int], value: int) -> None:
        width, height = self.viewport().width(), self.viewport().height()
        # Rows live longer than they must, so that reading up and down in one place makes none anew.
        kept = self._between(tops, value - 2 * height, value + 3 * height)
        for index in sorted(self._live):
            item = self._items[index]
            row = item.row
            if row is None or (index not in kept and not row.in_use):
                self._release(item)
                self._live.discard(index)
                continue
            place = QRect(0, tops[index] - value, width, item.height)
            if row.geometry() != place:
                row.setGeometry(place)
            if row.isHidden():
                row.show()
                self._stops_dirty = True
        if self._stops_dirty:
            self._order_tab_stops()
        bar = self.verticalScrollBar()
        bar.setSingleStep(self.fontMetrics().lineSpacing())
        bar.setPageStep(height)
        bar.setRange(0, max(0, tops[-1] - height))
        bar.setValue(value)
        pill = self._to_end.sizeHint()
        self._to_end.setGeometry((width - pill.width()) // 2, height - pill.height() - 8, pill.width(), pill.height())

    def _order_tab_stops(self) -> None:
        self._stops_dirty = False
        previous: QWidget = self
        for row in self.rows():
            for stop in row.tab_stops():
                QWidget.setTabOrder(previous, stop)
                previous = stop
        QWidget.setTabOrder(previous, self._to_end)

    def _made_row(self, item: _Item) -> TranscriptRow:
        entry = item.entry
        parent = self.viewport()
        row: TranscriptRow
        match entry:
            case PersonMessage() | AssistantMessage():
                row = MessageRow(entry, renderer=self._renderer, colors=self._colors, parent=parent)
                if row.text != item.text:
                    row.show_text(item.text, streaming=_streams(entry))
            case ToolCall():
                card = ToolCard(entry, colors=self._colors, details_open=item.details_open, parent=parent)
                card.answer_requested.connect(self.answer_requested)
                card.show_requested.connect(self.show_requested)
                row = card
            case Notice():
                row = NoticeRow(entry, colors=self._colors, parent=parent)
            case _:
                assert_never(entry)
        row.hide()
        row.link_clicked.connect(self.link_clicked)
        row.height_changed.connect(self._on_row_changed)
        return row

    def _on_row_changed(self) -> None:
        row = self.sender()
        for item in (self._items[index] for index in self._live):
            if item.row is row:
                if isinstance(item.row, ToolCard):
                    item.details_open = item.row.details_button.isChecked()
                    self._stops_dirty = True
                item.measured_for = -1
        self._settle()

    def _show_in_row(self, item: _Item) -> None:
        item.measured_for = -1
        if isinstance(item.row, MessageRow):
            item.row.show_text(item.text, streaming=_streams(item.entry))
        elif isinstance(item.row, ToolCard) and isinstance(item.entry, ToolCall):
            item.row.set_call(item.entry)
            self._stops_dirty = True
        elif item.row is None:
            item.height = 0
            self._tops_cache = None

    def _release_all(self) -> None:
        for item in self._items:
            self._release(item)
            item.measured_for = -1
        self._live.clear()
        self._tops_cache = None

    def _release(self, item: _Item) -> None:
        if item.row is not None:
            item.row.hide()
            item.row.deleteLater()
            item.row = None


def _streams(entry: TranscriptEntry) -> bool:
    return isinstance(entry, AssistantMessage) and entry.streaming
