"""What the host needs from outside: time, assistive technology, and which window a request is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent
from PySide6.QtWidgets import QWidget

from agent_surface import TimerHandle
from agent_surface.confirmations import PendingConfirmation

WindowFor: TypeAlias = Callable[[PendingConfirmation], QWidget | None]
"""The widget a request is about, or any widget of its window; ``None`` when there is none."""


class HostClock(Protocol):
    """Time as the host sees it. The registry's clock fits, and so does a test's."""

    def monotonic_ms(self) -> int:
        """Milliseconds on a clock that never goes back."""
        ...

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> TimerHandle:
        """Run ``callback`` on the GUI thread once ``delay_ms`` milliseconds have passed."""
        ...


class Announcer(Protocol):
    """The way to assistive technology."""

    def alert(self, dialog: QWidget) -> None:
        """A dialog that needs an answer has opened."""

    def say(self, widget: QWidget, text: str) -> None:
        """Something in ``widget`` changed that a person who does not see it should hear."""


class QtAnnouncer:
    """The :class:`Announcer` of Qt's accessibility."""

    def alert(self, dialog: QWidget) -> None:
        """Send an alert event for ``dialog``."""
        QAccessible.updateAccessibility(QAccessibleEvent(dialog, QAccessible.Event.Alert))

    def say(self, widget: QWidget, text: str) -> None:
        """Have ``text`` read out."""
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))


class _QtTimer:
    """One pending call of :class:`QtHostClock`."""

    def __init__(self, timer: QTimer) -> None:
        self._timer: QTimer | None = timer

    def cancel(self) -> None:
        """Forget the call."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.stop()
            timer.deleteLater()


class QtHostClock:
    """The :class:`HostClock` of Qt.

    Args:
        owner: The timers die with it.
    """

    def __init__(self, owner: QObject) -> None:
        self._owner = owner
        self._elapsed = QElapsedTimer()
        self._elapsed.start()

    def monotonic_ms(self) -> int:
        """Milliseconds since this clock was made."""
        return self._elapsed.elapsed()

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> TimerHandle:
        """Run ``callback`` once ``delay_ms`` milliseconds have passed."""
        timer = QTimer(self._owner)
        timer.setSingleShot(True)
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        handle = _QtTimer(timer)

        def fire() -> None:
            handle.cancel()
            callback()

        timer.timeout.connect(fire)
        timer.start(max(0, delay_ms))
        return handle
