"""An asyncio event loop that lives as a guest in whatever Qt event loop happens to run."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading

# Private by name only: asyncio documents these four for authors of event loops.
from asyncio import _enter_task as enter_task  # pyright: ignore[reportPrivateUsage]
from asyncio import _get_running_loop as get_running_loop  # pyright: ignore[reportPrivateUsage]
from asyncio import _leave_task as leave_task  # pyright: ignore[reportPrivateUsage]
from asyncio import _set_running_loop as set_running_loop  # pyright: ignore[reportPrivateUsage]
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, TypeVar, TypeVarTuple

import shiboken6
from PySide6.QtCore import QObject, Qt, QThread, QTimer, Signal
from PySide6.QtWidgets import QApplication
from typing_extensions import override

from agent_surface import DaemonThreadPool
from qt_binding._runtime._deadlines import Deadline, DeadlineTimer
from qt_binding._runtime._qasync import QasyncEventLoop

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


@contextmanager
def outside_tasks(loop: asyncio.AbstractEventLoop) -> Generator[None]:
    """Make ``loop`` the running one and step out of its current task for the body of the ``with`` statement.

    For code that Qt calls: what Qt calls may be inside a nested event loop that a task has started, and asyncio would
    take it for a part of that task.
    """
    outer_loop = get_running_loop()
    outer_task = asyncio.current_task(loop)
    if outer_task is not None:
        leave_task(loop, outer_task)
    set_running_loop(loop)
    try:
        yield
    finally:
        set_running_loop(outer_loop)
        if outer_task is not None:
            enter_task(loop, outer_task)


class GuestTimerHandle(asyncio.TimerHandle):
    """A delayed callback that leaves the deadline timer as soon as it is cancelled."""

    __slots__ = ("deadline",)

    deadline: Deadline

    @override
    def cancel(self) -> None:
        """Forget the callback and its deadline."""
        self.deadline.cancel()
        super().cancel()


class _Waker(QObject):
    """Carries a wake-up from any thread to the GUI thread.

    Signals:
        woken: Callbacks wait in the inbox; no arguments.
    """

    woken = Signal()

    def __init__(self, parent: QObject, deliver: Callable[[], None]) -> None:
        super().__init__(parent)
        self._deliver = deliver
        self.woken.connect(self.on_woken, Qt.ConnectionType.QueuedConnection)

    def on_woken(self) -> None:
        self._deliver()


class GuestLoop(QasyncEventLoop):
    """qasync's loop, without the need to run it.

    A callback of this loop is an event of Qt, so the same loop serves ``run()``, an application's own ``app.exec()``,
    nested ``exec()`` dialogs and pytest-qt's waits (QT-LOOP-006). For asyncio the loop "runs" only while one of its
    callbacks executes.

    What qasync gets wrong and this loop does not (QT-LOOP-004): when an ``exec()`` runs inside a task, be it called
    by the coroutine or by a slot of a signal the coroutine emits, asyncio refuses to enter another task until it
    returns, and the refused wake-up is lost for good. Here every turn first steps out of the task that is current,
    and steps back in when it ends::

        task A: dialog.exec()
            turn of the nested Qt loop:  leave A, run B and C, enter A
        task A goes on

    Ready callbacks run in the order they were added, at most one batch for each turn of Qt. Delayed callbacks share
    one Qt timer.
    """

    def __init__(self, application: QApplication, owner: QObject) -> None:
        """Make a loop for the current thread.

        Args:
            application: The application whose event loop hosts this one.
            owner: Parent of the loop's Qt objects; the loop is of no use after its death.
        """
        self._turn_queue: deque[asyncio.Handle] = deque()
        self._inbox: deque[asyncio.Handle] = deque()
        self._inbox_lock = threading.RLock()
        self._owner_thread = threading.get_ident()
        self._depth = 0
        self._armed = False
        self._pump = QTimer(owner)
        self._pump.setSingleShot(True)
        self._pump.setInterval(0)
        self._pump.timeout.connect(self._run_turn)
        self._waker = _Waker(owner, self._deliver_inbox)
        self._deadlines = DeadlineTimer(owner)
        self._pool: DaemonThreadPool | None = None
        self._exit_requests: list[BaseException] = []
        self.on_exit_request: Callable[[BaseException], None] | None = None
        """Receives a ``SystemExit`` or ``KeyboardInterrupt`` that a callback raised, in place of Qt."""
        super().__init__(application)

    # -- turns ---------------------------------------------------------------------------------------------------

    @contextmanager
    def turn(self) -> Generator[None]:
        """Make this loop the running one, with no current task, for the body of the ``with`` statement."""
        hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(firstiter=self._asyncgen_firstiter_hook, finalizer=self._asyncgen_finalizer_hook)
        self._depth += 1
        try:
            with outside_tasks(self):
                yield
        finally:
            self._depth -= 1
            sys.set_asyncgen_hooks(*hooks)

    def _run_turn(self) -> None:
        self._armed = False
        queue = self._turn_queue
        try:
            with self.turn():
                for _ in range(len(queue)):
                    if not queue:
                        break  # a nested Qt loop has run the rest of the batch
                    handle = queue.popleft()
                    if handle.cancelled():
                        continue
                    if queue and not self._armed:
                        self._arm()  # if this callback nests a Qt loop, the rest must not wait for its end
                    handle._run()  # noqa: SLF001 - running handles is what an event loop does
        except (SystemExit, KeyboardInterrupt) as request:
            # Out of a slot, PySide would end the process here and now for a SystemExit.
            if self.on_exit_request is None:
                raise
            self._exit_requests.append(request)
            self.on_exit_request(request)
        finally:
            if queue and not self._armed:
                self._arm()

    def _arm(self) -> None:
        if shiboken6.isValid(self._pump):
            self._armed = True
            self._pump.start()

    def _append(self, handle: asyncio.Handle) -> None:
        self._turn_queue.append(handle)
        if not self._armed:
            self._arm()

    @property
    def idle(self) -> bool:
        """Whether no callback is ready to run."""
        return not self._turn_queue and not self._inbox

    @property
    def deadlines(self) -> DeadlineTimer:
        """The one timer behind every delayed callback."""
        return self._deadlines

    # -- asyncio: callbacks --------------------------------------------------------------------------------------

    @override
    def call_soon(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        """Run ``callback`` in the next turn; first come, first served."""
        self._check_usable("call_soon")
        handle = asyncio.Handle(callback, args, self, context)
        self._append(handle)
        return handle

    @override
    def call_later(
        self,
        delay: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run ``callback`` after ``delay`` seconds."""
        return self.call_at(self.time() + delay, callback, *args, context=context)

    @override
    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run ``callback`` when the loop's clock reads ``when`` seconds, never before."""
        self._check_usable("call_at")
        handle = GuestTimerHandle(when, callback, args, self, context)
        handle.deadline = self._deadlines.call_at(when, lambda: self._append(handle))
        return handle

    @override
    def call_soon_threadsafe(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        """Run ``callback`` in a turn of the GUI thread, from any thread.

        Raises:
            RuntimeError: The loop was closed. (qasync's drops the callback and says nothing.)
        """
        handle = asyncio.Handle(callback, args, self, context)
        with self._inbox_lock:
            self._check_closed()
            asleep = not self._inbox
            self._inbox.append(handle)
            if asleep:
                self._waker.woken.emit()
        return handle

    def _deliver_inbox(self) -> None:
        with self._inbox_lock:
            handles = list(self._inbox)
            self._inbox.clear()
        for handle in handles:
            self._append(handle)

    def _check_usable(self, operation: str) -> None:
        self._check_closed()
        if threading.get_ident() != self._owner_thread:
            raise RuntimeError(f"{operation} was called from another thread than the loop's; use call_soon_threadsafe")

    # -- asyncio: threads ----------------------------------------------------------------------------------------

    @override
    def run_in_executor(self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Run ``func`` on a worker thread; without an executor, on daemon threads that never hold up the exit."""
        self._check_closed()
        if executor is None:
            if self._pool is None:
                self._pool = DaemonThreadPool()
            executor = self._pool
        return asyncio.wrap_future(executor.submit(func, *args), loop=self)

    # -- asyncio: life -------------------------------------------------------------------------------------------

    @override
    def is_running(self) -> bool:
        """Whether one of the loop's callbacks executes right now."""
        return self._depth > 0 or super().is_running()

    @override
    def run_forever(self) -> None:
        """Run the application's event loop until ``stop``.

        Raises:
            RuntimeError: A Qt event loop already runs in this thread, so the loop is served without being run.
        """
        if self.is_running() or QThread.currentThread().loopLevel() > 0:
            raise RuntimeError("the Qt event loop already runs and serves this loop; schedule the work instead")
        super().run_forever()

    @override
    def close(self) -> None:
        """Drop what is scheduled and refuse everything from now on. Does nothing the second time.

        Raises:
            RuntimeError: Called from one of the loop's own callbacks.
        """
        with self._inbox_lock:
            super().close()
            self._inbox.clear()
        self._turn_queue.clear()
        self._deadlines.clear()
        if shiboken6.isValid(self._pump):
            self._pump.stop()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    # qasync keeps a handler of its own that nobody can read back; asyncio's does all that is needed.
    set_exception_handler = asyncio.BaseEventLoop.set_exception_handler
    get_exception_handler = asyncio.BaseEventLoop.get_exception_handler
    default_exception_handler = asyncio.BaseEventLoop.default_exception_handler

    @override
    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Report an exception that nobody else did; not a request to end the process, which is being obeyed."""
        if context.get("exception") not in self._exit_requests:
            asyncio.BaseEventLoop.call_exception_handler(self, context)
