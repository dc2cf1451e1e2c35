"""A text view for one message: it grows with its text, opens nothing and loads nothing."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import QKeyEvent, QPalette, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget
from typing_extensions import override

from qt_binding._looks import Colors
from qt_binding._text import broken_runs, run_at_end, visible_text
from qt_binding.assistant._markdown import MarkdownRenderer

_SCROLL_KEYS = frozenset(
    {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End}
)


class MessageBrowser(QTextBrowser):
    """Shows text of one message; its owner decides size and place.

    Signals:
        link_clicked: A person chose a link; the address is not opened.
    """

    link_clicked = Signal(QUrl)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tail: int | None = None
        self._tail_run = 0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setUndoRedoEnabled(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(0)
        self.document().setIndentWidth(self.fontMetrics().averageCharWidth() * 3)
        self.viewport().setAutoFillBackground(False)
        self.viewport().setBackgroundRole(QPalette.ColorRole.NoRole)
        self.anchorClicked.connect(self.link_clicked)
        self.horizontalScrollBar().rangeChanged.connect(self._stay)

    def show_plain(self, text: str) -> None:
        """Replace the contents by plain text."""
        self.document().setDefaultStyleSheet("")
        self.setPlainText(broken_runs(visible_text(text)))

    def show_markdown(self, text: str, renderer: MarkdownRenderer, colors: Colors) -> None:
        """Replace the contents by Markdown of a model; what the person has selected stays selected."""
        selected = self.textCursor()
        anchor, position = selected.anchor(), selected.position()
        self._tail = None
        renderer.render(self.document(), text, colors)
        if anchor != position:
            end = self.document().characterCount() - 1
            selected = self.textCursor()
            selected.setPosition(min(anchor, end))
            selected.setPosition(min(position, end), QTextCursor.MoveMode.KeepAnchor)
            self.setTextCursor(selected)

    def append_markdown(self, text: str, renderer: MarkdownRenderer, colors: Colors) -> None:
        """Add whole blocks of Markdown in place of the plain tail."""
        self.drop_tail()
        renderer.append(self.document(), text, colors)

    def append_tail(self, text: str) -> None:
        """Add plain text at the end; the cost does not depend on what is there already."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if self._tail is None:
            self._tail = cursor.position()
            self._tail_run = 0
            if not self.document().isEmpty():
                cursor.insertBlock(QTextBlockFormat(), QTextCharFormat())
        shown = visible_text(text)
        cursor.insertText(broken_runs(shown, self._tail_run))
        self._tail_run = run_at_end(shown, self._tail_run)

    def drop_tail(self) -> None:
        """Take away what was added as plain text."""
        if self._tail is not None:
            cursor = QTextCursor(self.document())
            cursor.setPosition(self._tail)
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            self._tail = None

    def size_within(self, width: int) -> QSize:
        """The size of the text when at most ``width`` pixels are there for it.

        Only plain paragraphs are made narrower than that: the ideal width of a document with tables is too small.
        """
        document = self.document()
        for _ in range(3):
            # A view that was not shown yet answers the first layout by one in its own, still accidental width.
            if document.textWidth() == width:
                break
            document.setTextWidth(width)
        size = document.size()
        natural = width if document.rootFrame().childFrames() else min(width, int(document.idealWidth()) + 1)
        return QSize(natural, int(size.height()) + 1)

    def lay_out(self) -> None:
        """Lay the text out in the width of the view, which Qt does by itself only when that width has changed."""
        width = self.viewport().width()
        if self.document().textWidth() != width:
            self.document().setTextWidth(width)

    def set_text_color(self, colors: Colors) -> None:
        """Write in the colour that was made readable on the bubble."""
        palette = self.palette()
        if palette.color(QPalette.ColorRole.Text) != colors.text:
            palette.setColor(QPalette.ColorRole.Text, colors.text)
            self.setPalette(palette)

    def _stay(self) -> None:
        # Qt takes the width of a layout that is not done yet, and a selection would scroll there.
        self.horizontalScrollBar().setRange(0, 0)

    @override
    def loadResource(self, type: int, name: QUrl | str) -> object:  # Qt's name of the argument
        return None

    @override
    def doSetSource(self, name: QUrl | str, type: object = None) -> None:  # Qt's name of the argument
        return

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        browses = event.modifiers() & Qt.KeyboardModifier.AltModifier or event.key() == Qt.Key.Key_Backspace
        if browses or (event.key() in _SCROLL_KEYS and not shift):
            event.ignore()
            return
        super().keyPressEvent(event)
