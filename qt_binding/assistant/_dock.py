"""The dock: hears the session, shows what it hears, and passes on what the person does."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QDesktopServices, QKeySequence, QShowEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QStackedWidget, QVBoxLayout, QWidget
from typing_extensions import override

from agent_surface import TakeOver
from agent_surface.assistant import (
    AssistantMessage,
    ConfirmationSettled,
    ConfirmationWaiting,
    MessageAdded,
    MessageCompleted,
    Notice,
    NoticeKind,
    PersonMessage,
    SessionError,
    SessionEvent,
    SessionState,
    StateChanged,
    TextDelta,
    ToolCall,
    ToolCallSettled,
    ToolCallStarted,
    ToolCallStatus,
    ToolsChanged,
    TranscriptReset,
    TurnFinished,
)
from agent_surface.events import AgentSurfaceEvent, AvailabilityChanged, SurfaceChanged
from agent_surface.toolset import InvokableSurface
from qt_binding._alive import while_alive
from qt_binding.assistant._announcer import Announcer, QtAnnouncer
from qt_binding.assistant._composer import Composer
from qt_binding.assistant._conversation import Conversation
from qt_binding.assistant._export import ConversationExport
from qt_binding.assistant._header import ControlBanner, DockHeader
from qt_binding.assistant._links import LinkQuestion, OpenUrl
from qt_binding.assistant._markdown import create_markdown_renderer
from qt_binding.assistant._palette import CommandPalette
from qt_binding.assistant._status import StatusLine
from qt_binding.assistant._suggestions import SuggestionRow
from qt_binding.assistant._transcript import TranscriptView
from qt_binding.assistant._welcome import Welcome
from qt_binding.assistant._wording import idle_text, tr, words_of

_SUGGESTION_DELAY_MS = 150
_SPOKEN_CHARACTERS = 1_000


class AssistantDock(QDockWidget):
    """A conversation with the assistant, in a dock.

    It shows what the session says and decides nothing: the session runs the calls, the confirmation host asks.
    ``toggleViewAction()`` opens it with Ctrl+Shift+A unless the application gives the action another shortcut, and
    puts the keyboard into the message field.

    Args:
        session: The conversation. The dock neither closes nor owns it.
        registry: Told by it that the surface moved, the dock renews its suggestions; without it, after each turn.
        take_over: The switch that guards the registry; with it, the dock offers to take control and to hand it back.
        has_settings: Whether the menu offers settings, which the application shows.
        announcer: Who speaks to a person who does not see the screen.
        open_url: Opens an address in the browser, after the person was asked.
        parent: Usually the main window.

    Signals:
        confirmation_requested_focus: The person wants to answer a question; with its confirmation id.
        show_requested: The person wants to see a component; with its type and instance id.
        settings_requested: The person wants the settings.
    """

    confirmation_requested_focus = Signal(str)
    show_requested = Signal(str, str)
    settings_requested = Signal()

    def __init__(
        self,
        session: Conversation,
        *,
        registry: InvokableSurface | None = None,
        take_over: TakeOver | None = None,
        has_settings: bool = False,
        announcer: Announcer | None = None,
        open_url: OpenUrl = QDesktopServices.openUrl,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Assistant"), parent)
        self.setObjectName("agentAssistantDock")
        self.setAllowedAreas(Qt.DockWidgetArea.AllDockWidgetAreas)
        self._session = session
        self._take_over = take_over
        self._announcer: Announcer = QtAnnouncer() if announcer is None else announcer
        self._open_calls: dict[str, ToolCall] = {}
        self.transcript = TranscriptView(renderer=create_markdown_renderer())
        self.welcome = Welcome()
        self.header = DockHeader()
        self.banner = ControlBanner()
        self.status = StatusLine()
        self.suggestions = SuggestionRow()
        self.composer = Composer()
        self._links = LinkQuestion(self, open_url=open_url)
        self.export = ConversationExport(session, window=self, say=self._say)
        self.command_palette: CommandPalette | None = None
        self._pages = QStackedWidget()
        self._suggestion_timer = QTimer(self)
        self._suggestion_timer.setSingleShot(True)
        self._suggestion_timer.setInterval(_SUGGESTION_DELAY_MS)
        self.header.settings_action.setVisible(has_settings)
        self._build()
        self._connect()
        self._connect_header()
        self._read_transcript()
        self._show_state()
        self._show_control()
        self._subscribe(registry)
        self._offer_shortcut()

    @property
    def session(self) -> Conversation:
        """The conversation shown."""
        return self._session

    def compose(self, text: str) -> None:
        """Open the dock with ``text`` in the message field, for the person to edit and send."""
        self.show()
        self.raise_()
        self.composer.set_text(text)

    def open_palette(self) -> None:
        """Open the list of what the assistant can be asked for now."""
        if self.command_palette is not None:
            return
        palette = CommandPalette(self._session.tools(), self)
        palette.chosen.connect(self.compose)
        palette.destroyed.connect(self._forget_palette)
        self.command_palette = palette
        palette.open()

    @override
    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.averageCharWidth() * 58, metrics.lineSpacing() * 36)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._suggestion_timer.start()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ParentChange:
            self._offer_shortcut()

    def _build(self) -> None:
        body = QWidget(self)
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(self.transcript)
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.header)
        column.addWidget(self.banner)
        column.addWidget(self._pages, 1)
        column.addWidget(self.status)
        foot = QVBoxLayout()
        foot.setContentsMargins(12, 0, 12, 12)
        foot.setSpacing(8)
        foot.addWidget(self.suggestions)
        foot.addWidget(self.composer)
        column.addLayout(foot)
        self.setWidget(body)
        self._order_tab_stops()

    def _order_tab_stops(self) -> None:
        stops = (
            self.header.take_over,
            self.header.more,
            self.banner.hand_back,
            self.transcript,
            self.status.answer_button,
            *self.suggestions.chips,
            self.composer.edit,
            self.composer.button,
        )
        for before, after in pairwise(stops):
            QWidget.setTabOrder(before, after)

    def _connect(self) -> None:
        self.composer.send_requested.connect(self._send)
        self.composer.stop_requested.connect(self._stop)
        self.composer.refused.connect(self._on_refused)
        self.suggestions.chosen.connect(self.composer.set_text)
        self.suggestions.renewed.connect(self._order_tab_stops)
        self.status.answer_requested.connect(self._answer_oldest)
        self.transcript.answer_requested.connect(self.confirmation_requested_focus)
        self.transcript.show_requested.connect(self.show_requested)
        self.transcript.link_clicked.connect(self._links.ask)
        self._suggestion_timer.timeout.connect(self._renew_suggestions)
        toggle = self.toggleViewAction()
        toggle.setShortcut(QKeySequence("Ctrl+Shift+A"))
        toggle.triggered.connect(self._on_toggled)

    def _connect_header(self) -> None:
        header = self.header
        header.take_over_requested.connect(self._engage)
        header.palette_action.triggered.connect(self.open_palette)
        header.clear_action.triggered.connect(self._clear)
        header.markdown_action.triggered.connect(self.export.ask_markdown)
        header.json_action.triggered.connect(self.export.ask_json)
        header.settings_action.triggered.connect(self.settings_requested)
        header.menu.aboutToShow.connect(self._allow_commands)
        self.banner.hand_back_requested.connect(self._hand_back)

    def _subscribe(self, registry: InvokableSurface | None) -> None:
        disposers = [self._session.subscribe(while_alive(self, self._hear))]
        if registry is not None:
            disposers.append(registry.subscribe(while_alive(self, self._on_surface_event)))
        if self._take_over is not None:
            disposers.append(self._take_over.subscribe(while_alive(self, self._on_control)))

        def leave() -> None:
            for dispose in disposers:
                dispose()

        self.destroyed.connect(leave)

    def _offer_shortcut(self) -> None:
        # A shortcut works only while its action belongs to a widget that is shown, which the closed dock is not.
        window = self.parentWidget()
        for action in (self.toggleViewAction(), self.header.palette_action):
            if isinstance(window, QMainWindow) and action not in window.actions():
                window.addAction(action)

    def _on_toggled(self, shown: bool) -> None:
        if shown:
            self.raise_()
            self.composer.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _on_surface_event(self, event: AgentSurfaceEvent) -> None:
        if isinstance(event, SurfaceChanged | AvailabilityChanged):
            self._suggestion_timer.start()

    def _hear(self, event: SessionEvent) -> None:
        match event:
            case StateChanged():
                self._show_state()
            case MessageAdded(message=message) | MessageCompleted(message=message):
                self._put(message)
                self._speak_of(message)
            case TextDelta(message_id=message_id, text=text):
                self.transcript.append_text(message_id, text)
            case ToolCallStarted(call=call) | ToolCallSettled(call=call):
                self._put(call)
                self._show_state()
                self._speak_of(call)
            case ConfirmationWaiting(call_id=call_id) | ConfirmationSettled(call_id=call_id):
                self._renew_call(call_id)
                self._show_state()
            case TurnFinished():
                self._suggestion_timer.start()
                self._show_state()
            case ToolsChanged():
                self._suggestion_timer.start()
            case SessionError():
                # Its sentence is also a notice in the transcript, which is shown and spoken.
                pass
            case TranscriptReset():
                self._read_transcript()
                self._show_state()

    def _read_transcript(self) -> None:
        entries = self._session.transcript
        self._open_calls = {e.call_id: e for e in entries if isinstance(e, ToolCall) and e.status.open}
        self.transcript.set_entries(entries)
        self.composer.edit.set_history([e.text for e in entries if isinstance(e, PersonMessage)])
        self._choose_page()
        self._suggestion_timer.start()

    def _put(self, entry: PersonMessage | AssistantMessage | ToolCall | Notice) -> None:
        if isinstance(entry, ToolCall):
            if entry.status.open:
                self._open_calls[entry.call_id] = entry
            else:
                self._open_calls.pop(entry.call_id, None)
        self.transcript.put(entry)
        self._choose_page()

    def _renew_call(self, call_id: str) -> None:
        for entry in reversed(self._session.transcript):
            if isinstance(entry, ToolCall) and entry.call_id == call_id:
                self._put(entry)
                if entry.status is ToolCallStatus.WAITING:
                    asked = tr("The assistant needs your decision: %1").replace("%1", entry.title)
                    self._announcer.announce(self, asked, urgent=True)
                return

    def _choose_page(self) -> None:
        page = self.transcript if self.transcript.count else self.welcome
        if self._pages.currentWidget() is not page:
            self._pages.setCurrentWidget(page)

    def _show_state(self) -> None:
        state = self._session.state
        waiting = [call for call in self._open_calls.values() if call.status is ToolCallStatus.WAITING]
        running = [call for call in self._open_calls.values() if call.status is ToolCallStatus.RUNNING]
        text = ""
        if state is SessionState.ACTING and len(running) == 1:
            text = tr("Working: %1").replace("%1", running[0].title)
        elif state is SessionState.WAITING_FOR_PERSON and len(waiting) > 1:
            text = tr("Waiting for %1 decisions of yours").replace("%1", str(len(waiting)))
        elif self._session.closed:
            text = tr("This conversation is closed.")
        elif state is SessionState.IDLE:
            text = tr("You have control") if self._person_has_control else idle_text(self._session.usage)
        self.status.show_state(state, text=text, answerable=any(call.confirmation_id for call in waiting))
        self.composer.set_state(state, closed=self._session.closed)
        if state is not SessionState.IDLE:
            self.suggestions.set_texts(())

    def _renew_suggestions(self) -> None:
        if not self.isVisible() or self._session.closed or self._session.state is not SessionState.IDLE:
            return
        texts = self._session.suggestions()
        if not texts:
            texts = tuple(tool.definition.summary for tool in self._session.tools() if tool.state.available)
        self.suggestions.set_texts(texts)

    def _send(self, text: str) -> None:
        self.transcript.follow_end()
        if self._session.send(text):
            self.composer.accept_sent(text)
        else:
            self._on_refused(tr("The assistant cannot take a message right now."))

    def _stop(self) -> None:
        self._session.stop()

    # Control.

    def _engage(self) -> None:
        if self._take_over is not None:
            self._take_over.engage()

    def _hand_back(self) -> None:
        if self._take_over is not None:
            self._take_over.hand_back()

    def _on_control(self, engaged: bool) -> None:
        pressed = self.header.take_over if engaged else self.banner.hand_back
        had_focus = pressed.hasFocus()
        self._show_control()
        self._show_state()
        self._suggestion_timer.start()
        if had_focus:
            # Whoever pressed the one button finds the other in its place.
            (self.banner.hand_back if engaged else self.header.take_over).setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def _person_has_control(self) -> bool:
        return self._take_over is not None and self._take_over.engaged

    def _show_control(self) -> None:
        engaged = self._person_has_control
        self.header.take_over.setVisible(self._take_over is not None and not engaged)
        self.banner.setVisible(engaged)

    # The menu.

    def _allow_commands(self) -> None:
        begun = bool(self.transcript.count)
        idle = self._session.state is SessionState.IDLE
        self.header.clear_action.setEnabled(begun and idle and not self._session.closed)
        self.header.markdown_action.setEnabled(begun)
        self.header.json_action.setEnabled(begun)

    def _clear(self) -> None:
        self._session.clear()

    def _forget_palette(self) -> None:
        self.command_palette = None

    def _say(self, text: str) -> None:
        self.status.show_hint(text)
        self._announcer.announce(self, text)

    def _on_refused(self, reason: str) -> None:
        self.status.show_hint(reason)
        self._announcer.announce(self.composer, reason)

    def _answer_oldest(self) -> None:
        for call in self._open_calls.values():
            if call.status is ToolCallStatus.WAITING and call.confirmation_id:
                self.confirmation_requested_focus.emit(call.confirmation_id)
                return

    def _speak_of(self, entry: PersonMessage | AssistantMessage | ToolCall | Notice) -> None:
        match entry:
            case AssistantMessage(streaming=False, text=text) if text.strip():
                said = text[:_SPOKEN_CHARACTERS]
                self._announcer.announce(self.transcript, f"{tr('Assistant')}: {said}")
            case Notice(text=text, kind=kind):
                self._announcer.announce(self.transcript, text, urgent=kind is NoticeKind.ERROR)
            case ToolCall(status=ToolCallStatus.REFUSED | ToolCallStatus.FAILED):
                words = words_of(entry)
                self._announcer.announce(self.transcript, f"{words.title}: {words.state}. {words.reason}")
            case _:
                pass
