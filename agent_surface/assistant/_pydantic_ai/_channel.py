"""From the worker's thread to the session's: pieces of text joined on the way, and errands with their answers."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from agent_surface.assistant._backend import BackendEvent, BackendText

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """Something to await in the session's thread; it answers whoever sent it."""

    run: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Nothing follows; ``problem`` is a sentence for the person when it went wrong."""

    problem: str | None = None


Item: TypeAlias = BackendEvent | Errand | Ended


FLUSH_S = 0.02
"""Pieces of text that come within this time are shown together."""


class Channel:
    """Items in order. The receiver is woken once, however much has come until it looks: a fast model cannot flood it.

    Args:
        loop: Of the receiver.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._items: list[Item] = []
        self._text: list[str] = []
        self._waiting: asyncio.Future[None] | None = None
        self._woken = False
        self._flush: asyncio.TimerHandle | None = None

    # The worker's side.

    def put_text(self, text: str) -> None:
        """The answer goes on; joined to what has not been taken yet, and shown soon."""
        with self._lock:
            self._text.append(text)
        if self._flush is None:
            self._flush = asyncio.get_running_loop().call_later(FLUSH_S, self._flush_text)

    def put(self, item: Item) -> None:
        """Anything else, at once, after the text before it."""
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        with self._lock:
            self._join()
            self._items.append(item)
        self._wake()

    async def ask(self, run: Callable[[], Awaitable[T]]) -> T:
        """Have ``run`` awaited in the session's thread and wait for what it returns or raises."""
        answer: concurrent.futures.Future[T] = concurrent.futures.Future()

        async def relay() -> None:
            if not answer.set_running_or_notify_cancel():
                return
            try:
                answer.set_result(await run())
            except asyncio.CancelledError as error:
                answer.set_exception(error)
                raise
            except Exception as error:  # noqa: BLE001  handed on to who asked
                answer.set_exception(error)

        self.put(Errand(run=relay))
        return await asyncio.wrap_future(answer)

    # The session's side.

    async def take(self) -> list[Item]:
        """What has come since; waits until something has."""
        while True:
            with self._lock:
                self._join()
                items, self._items = self._items, []
                self._woken = False
                if items:
                    return items
                self._waiting = waiting = self._loop.create_future()
            await waiting

    def _join(self) -> None:
        if self._text:
            self._items.append(BackendText(text="".join(self._text)))
            self._text.clear()

    def _flush_text(self) -> None:
        self._flush = None
        # Without a loop to wake there is nobody to show it to; what is put next ends the answer.
        with suppress(asyncio.CancelledError):
            self._wake()

    def _wake(self) -> None:
        with self._lock:
            if self._woken:
                return
            self._woken = True
        try:
            self._loop.call_soon_threadsafe(self._look)
        except RuntimeError:
            # The application's loop is closed: there is nobody to answer to.
            raise asyncio.CancelledError from None

    def _look(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
