"""One line that always says what the assistant does, and leads to the question when it waits."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget
from typing_extensions import override

from agent_surface.assistant import SessionState
from qt_binding._looks import Colors, Glyph, GlyphView, PlainLabel
from qt_binding.assistant._pill import PillButton, PillStyle
from qt_binding.assistant._wording import session_state_text, tr

_GLYPHS = {
    SessionState.IDLE: Glyph.IDLE,
    SessionState.THINKING: Glyph.RUNNING,
    SessionState.ACTING: Glyph.RUNNING,
    SessionState.WAITING_FOR_PERSON: Glyph.WAITING,
    SessionState.STOPPING: Glyph.RUNNING,
}
_MAX_CHARACTERS: Final = 160


class StatusLine(QWidget):
    """State of the session in words.

    Signals:
        answer_requested: The person wants to see the question.
    """

    answer_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = SessionState.IDLE
        self._text = ""
        self._glyph = GlyphView(self)
        self.label = PlainLabel(self)
        self.answer_button = PillButton(tr("Answer\u2026"), style=PillStyle.FILLED, parent=self)
        self.answer_button.setAccessibleDescription(tr("Shows the question the assistant waits for."))
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 2, 12, 2)
        row.setSpacing(7)
        row.addWidget(self._glyph)
        row.addWidget(self.label, 1, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.answer_button)
        self.answer_button.clicked.connect(self.answer_requested)
        self.show_state(SessionState.IDLE)

    def show_state(self, state: SessionState, *, text: str = "", answerable: bool = False) -> None:
        """Say what goes on.

        Args:
            state: What the session does.
            text: Words that say more than the state's own.
            answerable: Whether there is a question to lead to.
        """
        self._state = state
        # The name of what runs is a model's or an application's: it may be long, and written over many lines.
        said = text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}\u2026"
        self.label.set_lines(said or session_state_text(state))
        self.answer_button.setVisible(answerable)
        self._apply_colors()

    def show_hint(self, text: str) -> None:
        """Say something until the state changes."""
        self.label.set_text(text)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._apply_colors()

    def _apply_colors(self) -> None:
        colors = Colors.of(self.palette())
        waiting = self._state is SessionState.WAITING_FOR_PERSON
        busy = colors.waiting if waiting else colors.accent
        sign = colors.done if self._state is SessionState.IDLE else busy
        self._glyph.set_glyph(_GLYPHS[self._state], sign)
        self.label.set_color(colors.waiting if waiting else colors.muted)
