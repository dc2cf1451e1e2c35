"""The host: asks the person what is pending, one question at a time, and hands the answers over."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, TypeAlias

import shiboken6
from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QWidget

from agent_surface import TimerHandle
from agent_surface.confirmations import ConfirmationController, ConfirmationResolution, PendingConfirmation
from qt_binding.confirmation._dialog import Answer, Choice, ConfirmationDialog, WaitingLine
from qt_binding.confirmation._model import PendingConfirmationsModel
from qt_binding.confirmation._ports import Announcer, HostClock, QtAnnouncer, QtHostClock, WindowFor
from qt_binding.confirmation._queue import ConfirmationQueue
from qt_binding.confirmation._text import ended_text
from qt_binding.confirmation._watch import WindowWatch

_log = logging.getLogger(__name__)

ARMING_MS: Final = 700
NOTICE_MS: Final = 2_500

Offer: TypeAlias = Callable[[PendingConfirmation], bool]
"""Whether a button is offered for a request."""


class ConfirmationHost(QObject):
    """Shows pending requests in dialogs: one at a time, the oldest first, over the window each is about.

    It uses nothing but :class:`PendingConfirmationsModel` and its signals, so an application can have a host of its own
    on the same ground. Everything happens a turn of the event loop later than its cause, because requests and answers
    reach into code of the application. Nothing here nests an event loop.

    Signals:
        dialog_opened(str): The question of this confirmation id is on the screen.
        dialog_closed(str): It is off the screen.
        stop_requested(str): The person denied it and wants the assistant to stop. The denial has been handed over.
        take_over_requested(str): The person denied it and wants to go on alone. The denial has been handed over.
    """

    dialog_opened = Signal(str)
    dialog_closed = Signal(str)
    stop_requested = Signal(str)
    take_over_requested = Signal(str)

    def __init__(
        self,
        controller: ConfirmationController,
        *,
        window_for: WindowFor | None = None,
        can_stop: Offer | None = None,
        can_take_over: Offer | None = None,
        clock: HostClock | None = None,
        announcer: Announcer | None = None,
        arming_ms: int = ARMING_MS,
        notice_ms: int = NOTICE_MS,
        parent: QObject | None = None,
    ) -> None:
        """Show what is pending now and from now on, until :meth:`close`, destruction or the application's end.

        Args:
            controller: ``registry.confirmations``.
            window_for: Finds the widget a request is about. Without one, or where it finds none that is shown, the
                dialog stands alone and blocks the whole application.
            can_stop: Whether "Deny and stop" is offered for a request; never when absent.
            can_take_over: Whether "Take over" is offered for a request; never when absent.
            clock: Arming time, notices and time left run on it; Qt's own when absent.
            announcer: Way to assistive technology; Qt's own when absent.
            arming_ms: Milliseconds after a dialog appears in which only Esc and Deny by mouse answer.
            notice_ms: Milliseconds for which a dialog says why it closes when its request ended by itself.
            parent: Qt owner.
        """
        super().__init__(parent)
        self._clock: HostClock = QtHostClock(self) if clock is None else clock
        self._announcer: Announcer = QtAnnouncer() if announcer is None else announcer
        self._window_for: WindowFor = _no_window if window_for is None else window_for
        self._can_stop: Offer = _never if can_stop is None else can_stop
        self._can_take_over: Offer = _never if can_take_over is None else can_take_over
        self._arming_ms = arming_ms
        self._notice_ms = notice_ms
        self._queue = ConfirmationQueue()
        self._watch = WindowWatch(self)
        self._watch.window_hidden.connect(self._schedule)
        self._screen = _Screen()
        self._notice: TimerHandle | None = None
        self._ending: ConfirmationResolution | None = None
        self._answers: list[Answer] = []
        self._focus_before: QWidget | None = None
        self._closed = False
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self._update)
        self._model = PendingConfirmationsModel(controller, clock=self._clock, parent=self)
        self._model.confirmation_requested.connect(self._schedule)
        self._model.confirmation_ended.connect(self._remember_ending)
        self._model.time_passed.connect(self._show_times)
        self.destroyed.connect(_clearing(self._screen))
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.close)
        self._schedule()

    @property
    def model(self) -> PendingConfirmationsModel:
        """The pending requests this host shows."""
        return self._model

    @property
    def dialog(self) -> ConfirmationDialog | None:
        """The dialog on the screen."""
        return self._screen.alive()

    def close(self) -> None:
        """Stop asking. The question on the screen is denied; what waits behind it stays pending for others.

        Called when the application quits. May be called any number of times.
        """
        if self._closed:
            return
        self._closed = True
        self._later.stop()
        dialog = self.dialog
        if dialog is not None:
            dialog.reject()
        self._hand_over()
        self._clear_screen()
        self._model.close()

    # A turn later than its cause.

    def _schedule(self) -> None:
        if not self._closed and not self._later.isActive():
            self._later.start()

    def _update(self) -> None:
        self._leave_hidden_window()
        self._hand_over()
        self._clear_screen()
        if self._closed:
            return
        step = self._queue.update(self._model.pending())
        if step.ended is not None:
            self._say_it_ended()
        elif step.show is not None:
            self._open(step.show)
        self._show_times()

    def _leave_hidden_window(self) -> None:
        """Hiding or closing a window denies what is asked over it, and what would be asked over it next."""
        window = self._watch.window
        dialog = self.dialog
        if window is None or dialog is None or window.isVisible():
            return
        dialog.reject()
        for pending in self._model.pending():
            if pending.confirmation_id != dialog.confirmation_id and self._window_of(pending) is window:
                self._answers.append(Answer(confirmation_id=pending.confirmation_id, choice=Choice.DENY))

    def _hand_over(self) -> None:
        while self._answers:
            answer = self._answers.pop(0)
            match answer.choice:
                case Choice.APPROVE:
                    self._model.approve(answer.confirmation_id, answer.note)
                case Choice.DENY:
                    self._model.deny(answer.confirmation_id, answer.note)
                case Choice.STOP:
                    self._model.deny(answer.confirmation_id, answer.note)
                    self.stop_requested.emit(answer.confirmation_id)
                case Choice.TAKE_OVER:
                    self._model.deny(answer.confirmation_id, answer.note)
                    self.take_over_requested.emit(answer.confirmation_id)

    def _clear_screen(self) -> None:
        dialog = self._screen.dialog
        if dialog is None or not self._screen.is_clear():
            return
        confirmation_id = dialog.confirmation_id
        self._screen.dialog = None
        self._watch.watch(None)
        if self._notice is not None:
            self._notice.cancel()
            self._notice = None
        self._queue.closed(confirmation_id)
        was_active = dialog.was_active
        if shiboken6.isValid(dialog):
            dialog.deleteLater()
        self._return_focus(activate=was_active)
        self.dialog_closed.emit(confirmation_id)

    def _say_it_ended(self) -> None:
        resolution = self._ending
        dialog = self.dialog
        if dialog is None:
            return
        if resolution is not None and resolution.actor == "closed":
            dialog.reject()
            return
        text = ended_text(resolution)
        dialog.end(text)
        self._announcer.say(dialog, text)
        self._notice = self._clock.call_later(self._notice_ms, self._notice_read)

    def _notice_read(self) -> None:
        self._notice = None
        dialog = self.dialog
        if dialog is not None:
            dialog.reject()

    def _open(self, pending: PendingConfirmation) -> None:
        window = self._window_of(pending)
        over = window if window is not None and window.isVisible() else None
        if self._focus_before is None:
            self._focus_before = QApplication.focusWidget()
        self._ending = None
        dialog = ConfirmationDialog(
            pending,
            window_title="" if window is None else window.windowTitle().replace("[*]", "").strip(),
            clock=self._clock,
            arming_ms=self._arming_ms,
            can_stop=_is_offered(self._can_stop, pending),
            can_take_over=_is_offered(self._can_take_over, pending),
            parent=over,
        )
        self._screen.dialog = dialog
        dialog.answered.connect(self._answers.append)
        dialog.gone.connect(self._schedule)
        dialog.destroyed.connect(self._dialog_destroyed)
        self._watch.watch(over)
        self._show_times()
        dialog.show_over_window()
        self._announcer.alert(dialog)
        QApplication.alert(dialog)
        self.dialog_opened.emit(pending.confirmation_id)

    def _dialog_destroyed(self) -> None:
        """Its window died, and the dialog with it, without a word of its own."""
        dialog = self._screen.dialog
        # An earlier dialog that is only now deleted has left the screen before.
        if dialog is not None and not shiboken6.isValid(dialog):
            self._answers.append(Answer(confirmation_id=dialog.confirmation_id, choice=Choice.DENY))
            self._schedule()

    def _remember_ending(self, confirmation_id: str, resolution: ConfirmationResolution | None) -> None:
        if confirmation_id == self._queue.current:
            self._ending = resolution
        self._schedule()

    def _show_times(self) -> None:
        dialog = self.dialog
        if dialog is None:
            return
        dialog.show_time_left(self._model.time_left_ms(dialog.confirmation_id))
        dialog.show_waiting(
            [
                WaitingLine(
                    title=one.description or one.capability_id, left_ms=self._model.time_left_ms(one.confirmation_id)
                )
                for one in self._queue.waiting(self._model.pending())
            ]
        )

    def _window_of(self, pending: PendingConfirmation) -> QWidget | None:
        try:
            widget = self._window_for(pending)
            return widget.window() if widget is not None and shiboken6.isValid(widget) else None
        except Exception:  # noqa: BLE001 - the application's code
            _log.exception("finding the window of %s failed; its question stands alone", pending.confirmation_id)
            return None

    def _return_focus(self, *, activate: bool) -> None:
        """Give the focus back where it was, unless the next question follows at once.

        The window is activated only when the person was in the dialog: another application's window is not pushed away.
        """
        widget = self._focus_before
        if widget is None or (self._model.pending() and not self._closed):
            return
        self._focus_before = None
        if shiboken6.isValid(widget) and widget.isVisible():
            if activate:
                widget.window().activateWindow()
            widget.setFocus(Qt.FocusReason.OtherFocusReason)


class _Screen:
    """The one dialog on the screen. It outlives the host long enough to take the dialog away."""

    __slots__ = ("dialog",)

    def __init__(self) -> None:
        self.dialog: ConfirmationDialog | None = None

    def alive(self) -> ConfirmationDialog | None:
        """The dialog, while its C++ side lives."""
        return self.dialog if self.dialog is not None and shiboken6.isValid(self.dialog) else None

    def is_clear(self) -> bool:
        """Whether nothing of the dialog is to be seen any more."""
        dialog = self.alive()
        return dialog is None or dialog.is_gone


def _clearing(screen: _Screen) -> Callable[[], None]:
    """For ``destroyed`` of the host: it holds nothing of the host, whose own methods Qt would not call."""

    def clear() -> None:
        dialog = screen.alive()
        if dialog is not None:
            dialog.deleteLater()

    return clear


def _is_offered(offer: Offer, pending: PendingConfirmation) -> bool:
    try:
        return offer(pending)
    except Exception:  # noqa: BLE001 - the application's code
        _log.exception("asking whether to offer a button for %s failed; it is not offered", pending.confirmation_id)
        return False


def _no_window(_pending: PendingConfirmation) -> None:
    return None


def _never(_pending: PendingConfirmation) -> bool:
    return False
