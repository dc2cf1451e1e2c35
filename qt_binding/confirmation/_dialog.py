"""The question on the screen. It shows and collects; what it means is decided elsewhere."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QFontMetrics, QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from agent_surface import TimerHandle
from agent_surface.confirmations import PendingConfirmation
from qt_binding._availability import exempt_from_blocking
from qt_binding._looks import EffectBadge, PlainLabel, effect_word
from qt_binding.confirmation._button import DecisionButton
from qt_binding.confirmation._form import InputView
from qt_binding.confirmation._ports import HostClock
from qt_binding.confirmation._rows import input_rows
from qt_binding.confirmation._text import one_line, time_left_text

MAX_NOTE: Final = 500
_MAX_TITLE: Final = 80
_MAX_WAITING_LINES: Final = 3
# The layout puts a label of its own size at the side a window reads from; a label as wide as the window would put its
# text where the text reads from.
_LABEL: Final = Qt.AlignmentFlag.AlignLeading


class Choice(StrEnum):
    """What a person can answer."""

    APPROVE = "approve"
    DENY = "deny"
    STOP = "stop"
    TAKE_OVER = "take-over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a person answered to which request; closing the dialog in any way is :attr:`Choice.DENY`."""

    confirmation_id: str
    choice: Choice
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingLine:
    """A request that waits behind the shown one: its title and the milliseconds it has left."""

    title: str
    left_ms: int


class ConfirmationDialog(QDialog):
    """One pending request.

    During the arming time only Esc and Deny by mouse answer; a key that arrives meanwhile was meant for something else
    and starts the time again. Afterwards Deny is the default and focused. Approve also waits until the end of the input
    has been on the screen.

    Signals:
        answered(object): The :class:`Answer`; once, and not at all when the request ended by itself before.
        gone(): It is off the screen.
    """

    answered = Signal(object)
    gone = Signal()

    def __init__(
        self,
        pending: PendingConfirmation,
        *,
        window_title: str,
        clock: HostClock,
        arming_ms: int,
        can_stop: bool,
        can_take_over: bool,
        parent: QWidget | None,
    ) -> None:
        # Before Qt's part: it calls the overrides below while it is being made.
        self.confirmation_id = pending.confirmation_id
        self._clock = clock
        self._arming_ms = arming_ms
        self._arming: TimerHandle | None = None
        self._armed = False
        self._is_over = False
        self._is_answered = False
        self._is_shown = False
        self._is_gone = False
        self._was_active = False
        super().__init__(parent)
        # Not a dialog in somebody's way: the approved call has to find its target usable behind it.
        exempt_from_blocking(self)
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self.setWindowTitle(self.tr("Confirmation requested"))
        self.setSizeGripEnabled(True)
        self._make_widgets(can_stop=can_stop, can_take_over=can_take_over)
        self._lay_out()
        self._fill(pending, window_title)

    @property
    def is_gone(self) -> bool:
        """Whether it has been on the screen and is no longer."""
        return self._is_gone

    @property
    def was_active(self) -> bool:
        """Whether the person was working in it when it left the screen."""
        return self._was_active

    # What the host tells.

    def show_time_left(self, left_ms: int) -> None:
        """Show how long the request can still be answered."""
        if not self._is_over:
            self._time.setText(self.tr("%1 left").replace("%1", time_left_text(left_ms)))

    def show_waiting(self, waiting: Sequence[WaitingLine]) -> None:
        """Show which requests wait behind this one, oldest first, and how long each has left."""
        lines = [
            self.tr("“%1”: %2 left").replace("%2", time_left_text(one.left_ms)).replace("%1", _short(one.title))
            for one in waiting[:_MAX_WAITING_LINES]
        ]
        if len(waiting) > _MAX_WAITING_LINES:
            lines.append(self.tr("… and %n more", "", len(waiting) - _MAX_WAITING_LINES))
        if waiting:
            lines.insert(0, self.tr("%n more waiting for an answer:", "", len(waiting)))
        self._waiting.set_lines(*lines)
        self._waiting.setVisible(bool(waiting))

    def end(self, text: str) -> None:
        """The request ended by itself: say so, and take no answer any more."""
        self._is_over = True
        self._disarm()
        for widget in (*self._decisions, self._note, self._note_label, self._hint, self._time):
            widget.hide()
        self._notice.set_lines(text)
        self._notice.show()
        self._close_button.show()
        self._close_button.arm()
        self._close_button.setDefault(True)
        self._close_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_over_window(self) -> None:
        """Open it over its window, or over everything when it has none. It never runs a loop of its own."""
        self.resize(self._wanted_size())
        if self.parentWidget() is not None:
            self.open()
        else:
            self.setWindowModality(Qt.WindowModality.ApplicationModal)
            self.show()

    # Qt.

    @override
    def setVisible(self, visible: bool) -> None:
        if not visible and self.isVisible():
            # When the hide event comes it is no longer active.
            self._was_active = self.isActiveWindow()
        super().setVisible(visible)

    @override
    def showEvent(self, arg__1: QShowEvent) -> None:
        super().showEvent(arg__1)
        if not self._is_shown:
            self._is_shown = True
            self._input.setFocus(Qt.FocusReason.OtherFocusReason)
            self._start_arming()

    @override
    def hideEvent(self, arg__1: QHideEvent) -> None:
        super().hideEvent(arg__1)
        # A minimised dialog is hidden by the window system alone, and comes back.
        if self._is_shown and not arg__1.spontaneous():
            self._answer(Choice.DENY)
            self._disarm()
            self._is_gone = True
            self.gone.emit()

    @override
    def keyPressEvent(self, arg__1: QKeyEvent) -> None:
        if arg__1.isAutoRepeat():
            # Held since before the question was there.
            arg__1.accept()
        elif self._armed or self._is_over or arg__1.key() == Qt.Key.Key_Escape:
            super().keyPressEvent(arg__1)
        else:
            arg__1.accept()
            self._start_arming()

    @override
    def closeEvent(self, arg__1: QCloseEvent) -> None:
        # QDialog's own asks `reject()`, which a subclass may veto; there is nothing to veto here.
        arg__1.accept()
        self.reject()

    # Inside.

    def _make_widgets(self, *, can_stop: bool, can_take_over: bool) -> None:
        self._badge = EffectBadge(self)
        self._time = QLabel(self)
        self._time.setTextFormat(Qt.TextFormat.PlainText)
        self._title = PlainLabel(self)
        font = self._title.font()
        font.setBold(True)
        font.setPointSizeF(font.pointSizeF() * 1.25)
        self._title.setFont(font)
        self._summary = PlainLabel(self)
        self._asker = PlainLabel(self)
        self._component = PlainLabel(self)
        self._input_label = QLabel(self.tr("What will be passed along:"), self)
        self._input = InputView(self)
        self._input_label.setBuddy(self._input)
        self._input.end_seen.connect(self._offer_approval)
        self._hint = PlainLabel(self)
        self._marks = PlainLabel(self)
        self._notice = PlainLabel(self)
        bold = self._notice.font()
        bold.setBold(True)
        self._notice.setFont(bold)
        self._notice.hide()
        self._note_label = QLabel(self.tr("&Note to the assistant (optional):"), self)
        self._note = QPlainTextEdit(self)
        self._note.setTabChangesFocus(True)
        self._note.setFixedHeight(QFontMetrics(self._note.font()).lineSpacing() * 2 + 14)
        self._note.setAccessibleName(self.tr("Note to the assistant"))
        self._note.textChanged.connect(self._limit_note)
        self._note_label.setBuddy(self._note)
        self._waiting = PlainLabel(self)
        self._waiting.hide()
        self._approve = DecisionButton(self.tr("&Approve"), choice=Choice.APPROVE, parent=self)
        self._deny = DecisionButton(self.tr("&Deny"), choice=Choice.DENY, parent=self)
        self._decisions = [self._deny, self._approve]
        if can_take_over:
            self._decisions.insert(0, DecisionButton(self.tr("&Take over"), choice=Choice.TAKE_OVER, parent=self))
        if can_stop:
            self._decisions.insert(0, DecisionButton(self.tr("Deny and &stop"), choice=Choice.STOP, parent=self))
        for button in self._decisions:
            button.setEnabled(button is self._deny)
            button.chosen.connect(self._choose)
        self._close_button = DecisionButton(self.tr("&Close"), choice=Choice.DENY, parent=self)
        self._close_button.hide()
        self._close_button.clicked.connect(self.reject)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self._badge)
        head.addStretch(1)
        head.addWidget(self._time)
        facts = QGridLayout()
        facts.setColumnStretch(1, 1)
        for row, (name, value) in enumerate(((self.tr("Asked by"), self._asker), (self.tr("In"), self._component))):
            facts.addWidget(QLabel(name, self), row, 0, _LABEL | Qt.AlignmentFlag.AlignTop)
            facts.addWidget(value, row, 1)
        buttons = QHBoxLayout()
        for button in self._decisions:
            if button is self._deny:
                buttons.addStretch(1)
            buttons.addWidget(button)
        buttons.addWidget(self._close_button)
        layout = QVBoxLayout(self)
        layout.addLayout(head)
        layout.addWidget(self._title)
        layout.addWidget(self._summary)
        layout.addLayout(facts)
        layout.addWidget(self._input_label, 0, _LABEL)
        layout.addWidget(self._input, 1)
        layout.addWidget(self._marks)
        layout.addWidget(self._hint)
        layout.addWidget(self._note_label, 0, _LABEL)
        for widget in (self._note, self._notice, self._waiting):
            layout.addWidget(widget)
        layout.addLayout(buttons)

    def _fill(self, pending: PendingConfirmation, window_title: str) -> None:
        title = pending.description or pending.capability_id
        component = pending.component_type
        if pending.instance_id != "default":
            component += f" · {pending.instance_id}"
        if window_title:
            component += " — " + self.tr("“%1”").replace("%1", _short(window_title))
        asker = f"{pending.consumer.id} ({pending.consumer.kind.value})"
        if pending.origin == "server":
            asker = self.tr("%1; the server demands a confirmation").replace("%1", asker)
        self._badge.show_effect(pending.effect)
        self._title.set_lines(title)
        summary = _beyond(title, pending.summary)
        self._summary.set_lines(summary)
        self._summary.setVisible(bool(summary))
        self._asker.set_lines(asker)
        self._component.set_lines(component)
        rows = input_rows(pending.input, pending.bound_fields)
        self._input.show_rows(rows)
        marked = any(part.escaped for row in rows for part in (*row.name, *row.value))
        self._marks.set_lines(self.tr("Marked codes stand for characters that cannot be seen."))
        self._marks.setVisible(marked)
        self._hint.set_lines(self.tr("Approve becomes available when you have scrolled to the end."))
        self._hint.hide()
        self.setAccessibleName(f"{effect_word(pending.effect)}: {one_line(title)}; {one_line(component)}")
        self.setAccessibleDescription(one_line(f"{pending.summary} {self.tr('Asked by')} {asker}"))

    def _wanted_size(self) -> QSize:
        # Qt itself would take no more than two thirds of the screen, which cuts the input before anything else.
        available = self.screen().availableSize() * 0.9
        width = min(self.sizeHint().width(), available.width())
        layout = self.layout()
        height = self.sizeHint().height() if layout is None else layout.totalHeightForWidth(width)
        return QSize(width, min(height, available.height()))

    def _start_arming(self) -> None:
        self._disarm()
        self._arming = self._clock.call_later(self._arming_ms, self._arm)

    def _disarm(self) -> None:
        if self._arming is not None:
            self._arming.cancel()
            self._arming = None

    def _arm(self) -> None:
        self._arming = None
        self._armed = True
        for button in self._decisions:
            button.arm()
            button.setEnabled(button is not self._approve)
        # Not earlier: Qt leaves out of the order what does not take the focus yet.
        for before, after in itertools.pairwise((self._input, self._note, *self._decisions)):
            QWidget.setTabOrder(before, after)
        self._deny.setDefault(True)
        # A person who has begun a note keeps the field.
        if not self._note.hasFocus():
            self._deny.setFocus(Qt.FocusReason.OtherFocusReason)
        self._offer_approval()

    def _offer_approval(self) -> None:
        self._hint.setVisible(not self._input.is_end_seen and not self._is_over)
        self._approve.setEnabled(self._armed and self._input.is_end_seen and not self._is_over)

    def _limit_note(self) -> None:
        text = self._note.toPlainText()
        if len(text) > MAX_NOTE:
            position = min(self._note.textCursor().position(), MAX_NOTE)
            self._note.setPlainText(text[:MAX_NOTE])
            cursor = self._note.textCursor()
            cursor.setPosition(position)
            self._note.setTextCursor(cursor)

    def _choose(self, choice: Choice) -> None:
        self._answer(choice)
        self.done(QDialog.DialogCode.Accepted if choice is Choice.APPROVE else QDialog.DialogCode.Rejected)

    def _answer(self, choice: Choice) -> None:
        if not self._is_answered and not self._is_over:
            self._is_answered = True
            self.answered.emit(
                Answer(confirmation_id=self.confirmation_id, choice=choice, note=self._note.toPlainText())
            )


def _beyond(title: str, summary: str) -> str:
    """What a summary adds to the title above it; most summaries begin with it."""
    rest = summary.removeprefix(title)
    return summary if rest[:1].isalnum() else rest.strip()


def _short(text: str) -> str:
    """A text of unknown length, where it only has to be recognised."""
    return text if len(text) <= _MAX_TITLE else text[: _MAX_TITLE - 1] + "…"
