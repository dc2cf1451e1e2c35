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
        self._state = _State()
        self._started = False
        self._end = weakref.finalize(self, self._state.end)

    def submit(self, coroutine: Coroutine[object, object, T]) -> concurrent.futures.Future[T]:
        """Run ``coroutine`` there; cancelling the future cancels it.

        Raises:
            RuntimeError: The worker was closed.
        """
        if not self._end.alive:
            coroutine.close()
            raise RuntimeError("this back end was closed")
        if not self._started:
            self._started = True
            threading.Thread(target=self._state.serve, name=self._name, daemon=True).start()
        return asyncio.run_coroutine_threadsafe(coroutine, self._state.loop)

    def at_end(self, cleanup: Callable[[], Awaitable[object]]) -> None:
        """Await ``cleanup()`` in the thread before it ends; called there."""
        self._state.cleanups.append(cleanup)

    def close(self, *, wait_ms: int) -> None:
        """Cancel what runs and end the thread; idempotent.

        Args:
            wait_ms: How long to wait for its end, in milliseconds.
        """
        self._end()
        if self._started:
            self._state.ended.wait(wait_ms / 1_000)


class _State:
    """What the thread holds. It must not lead to the worker, or that would never be collected."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.cleanups: list[Callable[[], Awaitable[object]]] = []
        self.ended = threading.Event()
        self._serving = False
        self._lock = threading.Lock()

    def serve(self) -> None:
        """The thread."""
        with self._lock:
            if self.loop.is_closed():
                self.ended.set()
                return
            self._serving = True
        try:
            self.loop.run_forever()
            self.loop.run_until_complete(self._wind_up())
        finally:
            self.loop.close()
            self.ended.set()

    def end(self) -> None:
        """Let the thread end, from any thread; a loop that never served is closed here."""
        with self._lock:
            if not self._serving:
                self.loop.close()
                return
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.loop.stop)

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
