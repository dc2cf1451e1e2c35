"""A thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


class Worker:
    """Runs coroutines elsewhere. The thread starts with the first of them and ends with ``close``, or with the worker.

    Args:
        name: Of the thread.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._closed = False
        self._thread: _ThreadState | None = None

    def submit(self, coroutine: Coroutine[object, object, T]) -> concurrent.futures.Future[T]:
        """Run ``coroutine`` there; cancelling the future cancels it.

        Raises:
            RuntimeError: The worker was closed.
        """
        if self._closed:
            coroutine.close()
            raise RuntimeError("this back end was closed")
        if self._thread is None:
            self._thread = _ThreadState()
            weakref.finalize(self, self._thread.end)
            threading.Thread(target=self._thread.serve, name=self._name, daemon=True).start()
        return asyncio.run_coroutine_threadsafe(coroutine, self._thread.loop)

    def at_end(self, cleanup: Callable[[], Awaitable[object]]) -> None:
        """Await ``cleanup()`` in the thread before it ends; called there."""
        if self._thread is not None:
            self._thread.cleanups.append(cleanup)

    def close(self, *, wait_ms: int) -> None:
        """Cancel what runs and end the thread; idempotent.

        Args:
            wait_ms: How long to wait for its end, in milliseconds.
        """
        self._closed = True
        if self._thread is not None:
            self._thread.end()
            self._thread.ended.wait(wait_ms / 1_000)


class _ThreadState:
    """What the thread holds. It must not lead to the worker, or that would never be collected."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.cleanups: list[Callable[[], Awaitable[object]]] = []
        self.ended = threading.Event()
        # Taken out once, by whoever comes first: a second stop would meet the loop while it winds up.
        self._stop = [self.loop.stop]

    def serve(self) -> None:
        """The thread."""
        try:
            self.loop.run_forever()
            self.loop.run_until_complete(self._wind_up())
        finally:
            self.loop.close()
            self.ended.set()

    def end(self) -> None:
        """Let the thread end, from any thread and any number of times."""
        with suppress(IndexError, RuntimeError):
            self.loop.call_soon_threadsafe(self._stop.pop())

    async def _wind_up(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for cleanup in self.cleanups:
            await asyncio.wait([asyncio.ensure_future(_quietly(cleanup))], timeout=2)
        await self.loop.shutdown_asyncgens()


async def _quietly(cleanup: Callable[[], Awaitable[object]]) -> None:
    """What a library fails at while it is put away helps nobody."""
    with suppress(Exception):
        await cleanup()
