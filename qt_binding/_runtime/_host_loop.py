"""The event loop a registry lives beside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

from qt_binding.errors import NoApplicationError

T = TypeVar("T")


class QtHostLoop:
    """The ``HostLoop`` port over the guest loop, or over a qasync loop the application runs itself.

    Tasks are held until they end: asyncio keeps only weak references, and a task that waits for something nobody else
    holds would be collected.
    """

    def __init__(self, loop: Callable[[str], asyncio.AbstractEventLoop]) -> None:
        """Make the port.

        Args:
            loop: Finds the loop, given the name of the operation; called at first need, because a registry may be
                made before the application. Raises ``NoApplicationError`` when there is none yet.
        """
        self._loop = loop
        self._tasks: set[asyncio.Task[object]] = set()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The asyncio loop behind the port.

        Raises:
            NoApplicationError: There is no ``QApplication`` yet.
        """
        return self._loop("HostLoop.loop")

    def call_soon(self, callback: Callable[[], None]) -> bool:
        """Run ``callback`` in the next turn with no current task; ``False`` when there is no loop to run it."""
        try:
            loop = self._loop("HostLoop.call_soon")
        except NoApplicationError:
            return False
        if loop.is_closed():
            return False
        loop.call_soon(callback)
        return True

    def call_soon_threadsafe(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` on the GUI thread, from any thread.

        Raises:
            NoApplicationError: There is no ``QApplication`` yet.
            RuntimeError: The loop was closed.
        """
        loop = self._loop("HostLoop.call_soon_threadsafe")
        if loop.is_closed():
            raise RuntimeError("the event loop was closed")  # qasync would drop the callback without a word
        loop.call_soon_threadsafe(callback)

    def create_task(self, coroutine: Coroutine[object, object, T]) -> asyncio.Task[T]:
        """Start ``coroutine`` as a task of the loop and hold it until it ends."""
        task = self._loop("HostLoop.create_task").create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def create_future(self) -> asyncio.Future[object]:
        """A future of the loop."""
        return self._loop("HostLoop.create_future").create_future()
