"""How a synchronous handler is run under Qt."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from PySide6.QtCore import QTimer

from qt_binding._runtime._loop import GuestLoop, outside_tasks
from qt_binding._runtime._runtime import QtRuntime

T = TypeVar("T")


class QtHandlerRunner:
    """The ``HandlerRunner`` port: from a zero-delay timer, with no current task, the outcome through a future.

    A handler that is called inside a task and opens a dialog with ``exec()`` would, under qasync, take the wake-ups of
    all other tasks with it. Called from a timer there is no task to be in the way, whatever loop the application runs
    (QT-LOOP-004). The handler sees the context variables of its caller.
    """

    def __init__(self, runtime: Callable[[str], QtRuntime], loop: Callable[[str], asyncio.AbstractEventLoop]) -> None:
        """Make the port.

        Args:
            runtime: Finds the application's runtime at first need; it owns the timer's context object.
            loop: Finds the loop whose futures carry the outcome.
        """
        self._runtime = runtime
        self._loop = loop

    def run(self, handler: Callable[[], T]) -> Awaitable[T]:
        """Run ``handler`` in the next turn of Qt and return a future of its result.

        The future carries whatever the handler raises, ``KeyboardInterrupt`` and ``SystemExit`` included. It settles
        as unmounted if the timer's context object dies before the handler could start.

        Raises:
            NoApplicationError: There is no ``QApplication``.
        """
        runtime = self._runtime("HandlerRunner.run")
        loop = self._loop("HandlerRunner.run")
        future = cast("asyncio.Future[T]", loop.create_future())
        context = contextvars.copy_context()

        def start() -> None:
            runtime.waiting_started(future)
            if not future.done():
                with loop.turn() if isinstance(loop, GuestLoop) else outside_tasks(loop):
                    context.run(_settle, future, handler)

        runtime.hold_waiting(future)
        QTimer.singleShot(0, runtime.context, start)
        return future


def _settle(future: asyncio.Future[T], handler: Callable[[], T]) -> None:
    try:
        result = handler()
    except StopIteration as error:  # a future refuses it, because a generator would take it for its end
        wrapped = RuntimeError("the handler raised StopIteration")
        wrapped.__cause__ = error
        _set_exception(future, wrapped)
    except BaseException as error:  # noqa: BLE001 - the future carries it to whoever settles the call
        _set_exception(future, error)
    else:
        if not future.done():
            future.set_result(result)


def _set_exception(future: asyncio.Future[T], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
    elif not isinstance(error, Exception):
        raise error  # nobody waits any more, but a request to end the process is never swallowed
