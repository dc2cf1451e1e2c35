"""What the binding keeps for one application: a loop, a context for timers, and the parts built on them."""

from __future__ import annotations

import asyncio
import atexit
import weakref
from collections.abc import Callable
from typing import Protocol, TypeVar, cast

from PySide6.QtCore import SIGNAL, QEvent, QObject, Qt, QThread
from PySide6.QtWidgets import QApplication, QWidget
from typing_extensions import override

from agent_surface import ErrorCode, capability_error
from qt_binding._runtime._clock import Deadlines
from qt_binding._runtime._deadlines import DeadlineTimer
from qt_binding._runtime._loop import GuestLoop
from qt_binding.errors import NoApplicationError

OBJECT_NAME = "agent-surface-runtime"

T = TypeVar("T")


class _Waiting(Protocol):
    """The part of a future that the runtime needs when its context dies."""

    def done(self) -> bool: ...

    def set_exception(self, exception: BaseException, /) -> None: ...


class QtRuntime(QObject):
    """The binding's only root. It is a child of the application, so it is found through it and dies with it.

    Attributes:
        context: Context object of every zero-delay timer; replaced should somebody delete it.
    """

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        self.setObjectName(OBJECT_NAME)
        self._application = application
        self._loop: GuestLoop | None = None
        self._deadlines: DeadlineTimer | None = None
        self._parts: dict[object, object] = {}
        self._before_settlement: list[Callable[[], None]] = []
        self._waiting: set[_Waiting] = set()
        self.context = QObject()
        self._renew_context()
        _load_event_types()

    @property
    def application(self) -> QApplication:
        """The application this is the runtime of."""
        return self._application

    @property
    def loop(self) -> GuestLoop:
        """The application's guest loop; a new one when the last was closed."""
        if self._loop is None or self._loop.is_closed():
            self._loop = GuestLoop(self._application, self)
            # PySide deletes every Qt object when the interpreter ends, and a loop cannot be closed after that.
            atexit.register(_close_at_exit, weakref.ref(self._loop))
        return self._loop

    @property
    def deadlines(self) -> DeadlineTimer:
        """Deadlines beside a loop of the application's own, which would keep a timer for each."""
        if self._deadlines is None:
            self._deadlines = DeadlineTimer(self)
        return self._deadlines

    def call_before_settlement(self, push: Callable[[], None]) -> None:
        """Call ``push`` whenever a handler has ended and its call is about to settle."""
        self._before_settlement.append(push)

    def push_before_settlement(self) -> None:
        """A handler has ended: push what it changed, so that its result can say so."""
        for push in self._before_settlement:
            push()

    def part(self, kind: Callable[[QtRuntime], T]) -> T:
        """The one ``kind`` of this application, made when first asked for."""
        part = self._parts.get(kind)
        if part is None:
            part = self._parts[kind] = kind(self)
        return cast("T", part)

    def hold_waiting(self, future: _Waiting) -> None:
        """Settle ``future`` as unmounted should the context die before ``waiting_started`` names it."""
        self._waiting.add(future)

    def waiting_started(self, future: _Waiting) -> None:
        """The timer behind ``future`` has fired."""
        self._waiting.discard(future)

    def _renew_context(self) -> None:
        self.context = QObject(self)
        QObject.connect(self.context, SIGNAL("destroyed()"), self, self._on_context_destroyed)

    def _on_context_destroyed(self) -> None:
        waiting, self._waiting = self._waiting, set()
        self._renew_context()
        for future in waiting:
            if not future.done():
                future.set_exception(capability_error(ErrorCode.COMPONENT_UNMOUNTED, details={"phase": "mid-flight"}))


class _SeesAll(QObject):
    """An event filter that sees every event and stops none."""

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        return False


def _load_event_types() -> None:
    """Let PySide meet a plain ``QEvent`` here, where it is safe.

    It loads its classes lazily, and to wrap the first plain event it loads every class of event there is. Seen on
    6.11.3: if that first event is the one a widget sends from its destructor, the process can crash.
    """
    sees_all, widget = _SeesAll(), QWidget()
    widget.installEventFilter(sees_all)
    widget.setEnabled(False)
    widget.removeEventFilter(sees_all)


def find_application() -> QApplication | None:
    """The running application, or ``None`` when there is none or it has no widgets."""
    application = QApplication.instance()
    return application if isinstance(application, QApplication) else None


def runtime_of_application(operation: str) -> QtRuntime:
    """The runtime of the current application, made when first asked for.

    Args:
        operation: Named in the error.

    Raises:
        NoApplicationError: There is no ``QApplication``, or the first use comes from another thread than its own.
    """
    application = find_application()
    if application is None or QThread.currentThread() != application.thread():
        raise NoApplicationError(operation)
    found = application.findChild(QtRuntime, OBJECT_NAME, Qt.FindChildOption.FindDirectChildrenOnly)
    return found if found is not None else QtRuntime(application)


def _close_at_exit(reference: weakref.ref[GuestLoop]) -> None:
    loop = reference()
    if loop is not None and not loop.is_closed() and not loop.is_running():
        loop.close()


class Runtimes:
    """Finds the runtime and the loop of one registry at first need and stays with them.

    A registry may be made before the application, so neither can be had when its ports are made.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Make a finder.

        Args:
            loop: A qasync loop that the application runs itself; the guest loop when absent.
        """
        self._runtime: QtRuntime | None = None
        self._loop = loop

    def runtime(self, operation: str) -> QtRuntime:
        """The application's runtime.

        Raises:
            NoApplicationError: There is no ``QApplication`` yet.
        """
        if self._runtime is None:
            self._runtime = runtime_of_application(operation)
        return self._runtime

    def loop(self, operation: str) -> asyncio.AbstractEventLoop:
        """The loop of the registry; stays the same after it was closed.

        Raises:
            NoApplicationError: There is no ``QApplication`` yet.
        """
        if self._loop is None:
            self._loop = self.runtime(operation).loop
        return self._loop

    def deadlines(self, operation: str) -> Deadlines:
        """Where the registry's deadlines are kept.

        Raises:
            NoApplicationError: There is no ``QApplication`` yet.
        """
        loop = self.loop(operation)
        return loop if isinstance(loop, GuestLoop) else self.runtime(operation).deadlines

    def push_before_settlement(self) -> None:
        """Push what a handler changed; nothing to push while there is no application."""
        if self._runtime is not None:
            self._runtime.push_before_settlement()
