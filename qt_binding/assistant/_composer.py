"""Where the person writes: several lines, a history, and one button that sends or stops."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPalette, QPen, QTextCursor, QTextOption
from PySide6.QtWidgets import QAbstractButton, QFrame, QHBoxLayout, QPlainTextEdit, QSizePolicy, QWidget
from typing_extensions import override

from agent_surface.assistant import SessionState
from qt_binding._looks import Colors, arrow_path, blend, in_own_direction, readable
from qt_binding.assistant._wording import tr

_MAX_LINES = 8
_MAX_HISTORY = 100


class MessageEdit(QPlainTextEdit):
    """The text field. Enter sends, Shift+Enter begins a line, Escape stops, Up and Down recall what was sent.

    Signals:
        submitted: Enter, or Ctrl/Cmd+Enter.
        stop_requested: Escape while something runs.
        focus_changed: It got or lost the keyboard.
    """

    submitted = Signal()
    stop_requested = Signal()
    focus_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.stoppable = False
        self._history: list[str] = []
        self._recalled: int | None = None
        self._draft = ""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setPlaceholderText(in_own_direction(tr("Ask the assistant\u2026")))
        self.setAccessibleName(tr("Message to the assistant"))
        self.setAccessibleDescription(tr("Enter sends, Shift and Enter begins a new line, Escape stops."))
        self.viewport().setAutoFillBackground(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self.fit_height)
        self.document().setDocumentMargin(2)

    def remember(self, text: str) -> None:
        """Put a sent message into the history."""
        if not self._history or self._history[-1] != text:
            self._history.append(text)
        del self._history[:-_MAX_HISTORY]
        self._recalled = None
        self._draft = ""

    def set_history(self, texts: list[str]) -> None:
        """Replace the history, oldest first."""
        self._history = texts[-_MAX_HISTORY:]
        self._recalled = None

    def fit_height(self) -> None:
        """Be as high as the text, between one line and eight."""
        lines = 0
        block = self.document().begin()
        while block.isValid():
            lines += max(1, block.layout().lineCount())
            block = block.next()
        margin = int(self.document().documentMargin()) * 2
        height = min(max(1, lines), _MAX_LINES) * self.fontMetrics().lineSpacing() + margin + 2
        if height != self.height() or height != self.minimumHeight():
            self.setFixedHeight(height)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if modifiers & Qt.KeyboardModifier.ShiftModifier:
                self.insertPlainText("\n")
                self.ensureCursorVisible()
            else:
                self.submitted.emit()
            event.accept()
        elif key == Qt.Key.Key_Escape and self.stoppable:
            self.stop_requested.emit()
            event.accept()
        elif modifiers & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif (key == Qt.Key.Key_Up and self._recall(-1)) or (key == Qt.Key.Key_Down and self._recall(1)):
            event.accept()
        else:
            super().keyPressEvent(event)

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()

    def _recall(self, step: int) -> bool:
        if self._recalled is not None and self.toPlainText() != self._history[self._recalled]:
            self._recalled = None
        if self._recalled is None:
            # A text that is being written is never replaced: the arrow keys move in it as everywhere.
            if step > 0 or not self._history or self.toPlainText():
                return False
            self._draft = self.toPlainText()
            self._recalled = len(self._history)
        place = self._recalled + step
        if place < 0:
            self._recalled = 0
            return True
        if place >= len(self._history):
            self._recalled = None
            self._show(self._draft)
            return True
        self._recalled = place
        self._show(self._history[place])
        return True

    def _show(self, text: str) -> None:
        self.setPlainText(text)
        self.moveCursor(QTextCursor.MoveOperation.End)


class SendButton(QAbstractButton):
    """A round button with an arrow, or a square while there is something to stop."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stops = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def stops(self) -> bool:
        """Whether a click stops instead of sending."""
        return self._stops

    def set_role(self, *, stops: bool, enabled: bool, why: str) -> None:
        """Say what a click does, or why it does nothing.

        Args:
            stops: Stop, not send.
            enabled: Whether it can be pressed.
            why: Tooltip and spoken description.
        """
        self._stops = stops
        self.setEnabled(enabled)
        self.setAccessibleName(tr("Stop") if stops else tr("Send"))
        self.setText(tr("Stop") if stops else tr("Send"))
        self.setToolTip(why)
        self.setAccessibleDescription(why)
        self.update()

    @override
    def sizeHint(self) -> QSize:
        side = self.fontMetrics().height() * 2 - 2
        return QSize(side, side)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = Colors.of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side = min(self.width(), self.height())
        rect = QRectF((self.width() - side) / 2, (self.height() - side) / 2, side, side).adjusted(1, 1, -1, -1)
        ground = colors.accent if self.isEnabled() else blend(colors.text, colors.panel, 0.16)
        if self.isEnabled() and (self.isDown() or self.underMouse()):
            ground = blend(colors.text, ground, 0.15)
        painter.setPen(QPen(colors.text, 1.6) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawEllipse(rect)
        ink = readable(colors.panel, ground) if self.isEnabled() else blend(colors.text, ground, 0.45)
        inner = rect.adjusted(rect.width() * 0.2, rect.height() * 0.2, -rect.width() * 0.2, -rect.height() * 0.2)
        if self._stops:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink)
            inset = inner.width() * 0.18
            painter.drawRoundedRect(inner.adjusted(inset, inset, -inset, -inset), 2, 2)
        else:
            width = inner.width() * 0.125
            painter.setPen(QPen(ink, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(arrow_path(inner))
        painter.end()


class Composer(QWidget):
    """Text field and button in one frame.

    Signals:
        send_requested: With the text, which stays until :meth:`accept_sent`.
        stop_requested: The person wants it to stop.
        refused: The person tried to send and cannot; with the reason.
    """

    send_requested = Signal(str)
    stop_requested = Signal()
    refused = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = SessionState.IDLE
        self._closed = False
        self.edit = MessageEdit(self)
        self.button = SendButton(self)
        self._row = QHBoxLayout(self)
        self._row.setSpacing(6)
        self._row.addWidget(self.edit, 1, Qt.AlignmentFlag.AlignVCenter)
        self._row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignBottom)
        self._mirror_margins()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.setFocusProxy(self.edit)
        self.edit.submitted.connect(self._submit)
        self.edit.stop_requested.connect(self.stop_requested)
        self.edit.textChanged.connect(self._refresh)
        self.edit.focus_changed.connect(self.update)
        self.button.clicked.connect(self._on_clicked)
        self._apply_colors()
        self._refresh()

    def set_state(self, state: SessionState, *, closed: bool = False) -> None:
        """Follow the session."""
        self._state = state
        self._closed = closed
        self._refresh()

    def set_text(self, text: str) -> None:
        """Put a text into the field, ready to be edited and sent."""
        self.edit.setPlainText(text)
        self.edit.moveCursor(QTextCursor.MoveOperation.End)
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def accept_sent(self, text: str) -> None:
        """The text was sent: remember it and empty the field."""
        self.edit.remember(text)
        self.edit.clear()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._apply_colors()
        elif event.type() == QEvent.Type.FontChange:
            self.edit.fit_height()
        elif event.type() == QEvent.Type.LayoutDirectionChange:
            self._mirror_margins()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = Colors.of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused = self.edit.hasFocus()
        painter.setPen(QPen(colors.accent, 1.6) if focused else QPen(blend(colors.text, colors.panel, 0.3), 1.0))
        painter.setBrush(colors.panel)
        radius = min(self.height() / 2, self.button.sizeHint().height() / 2 + 7)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), radius, radius)
        painter.end()

    def _submit(self) -> None:
        text = self.edit.toPlainText()
        if self._state is SessionState.IDLE and not self._closed and text.strip():
            self.send_requested.emit(text)
        elif text.strip():
            self.refused.emit(self._why_not())

    def _on_clicked(self) -> None:
        if self.button.stops:
            self.stop_requested.emit()
        else:
            self._submit()

    def _refresh(self) -> None:
        busy = self._state is not SessionState.IDLE
        stopping = self._state is SessionState.STOPPING
        self.edit.stoppable = busy and not stopping
        if busy:
            why = tr("It is already stopping.") if stopping else tr("Stop the assistant (Esc)")
            self.button.set_role(stops=True, enabled=not stopping, why=why)
            return
        why_not = self._why_not()
        self.button.set_role(stops=False, enabled=not why_not, why=why_not or tr("Send the message (Enter)"))

    def _why_not(self) -> str:
        if self._closed:
            return tr("This conversation is closed.")
        if self._state is SessionState.STOPPING:
            return tr("The assistant is stopping. Send your message in a moment.")
        if self._state is SessionState.WAITING_FOR_PERSON:
            return tr("The assistant waits for your decision. Answer it or press Esc to stop, then send.")
        if self._state is not SessionState.IDLE:
            return tr("The assistant is still at work. Press Esc to stop it, then send.")
        return "" if self.edit.toPlainText().strip() else tr("Write a message first.")

    def _mirror_margins(self) -> None:
        # Qt mirrors layouts, but not their margins.
        left, right = (7, 11) if self.isRightToLeft() else (11, 7)
        self._row.setContentsMargins(left, 7, right, 7)

    def _apply_colors(self) -> None:
        colors = Colors.of(self.palette())
        palette = self.edit.palette()
        palette.setColor(QPalette.ColorRole.Text, colors.text)
        palette.setColor(QPalette.ColorRole.PlaceholderText, colors.muted)
        palette.setColor(QPalette.ColorRole.Base, colors.panel)
        self.edit.setPalette(palette)
        self.update()
