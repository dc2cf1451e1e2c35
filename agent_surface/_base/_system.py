"""The real adapters of the ports, for a program whose loop is asyncio's."""

from __future__ import annotations

import asyncio
import contextlib
import os
import string
import time
from collections.abc import Callable, Coroutine
from typing import TypeVar

T = TypeVar("T")

_ALPHABET = string.digits + string.ascii_letters


class SystemClock:
    """The machine's clocks; ``call_later`` runs on the asyncio loop that is running when it is called."""

    __slots__ = ()

    def now_ms(self) -> int:
        """Wall-clock time in milliseconds since the Unix epoch (UTC); may jump."""
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        """Milliseconds on a clock that never goes back."""
        return time.monotonic_ns() // 1_000_000

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> asyncio.TimerHandle | _NoTimer:
        """Run ``callback`` once ``delay_ms`` milliseconds have passed; never when there is no running loop."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            # Whatever has a time to live is also checked when it is used, so a missing timer makes nothing wrong.
            return _NoTimer()
        return loop.call_later(delay_ms / 1_000, callback)


class _NoTimer:
    __slots__ = ()

    def cancel(self) -> None:
        """Nothing to cancel."""


class AsyncioHostLoop:
    """The asyncio loop that runs when the registry is made or first used."""

    __slots__ = ("_loop",)

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        with contextlib.suppress(RuntimeError):
            self._running()

    def call_soon(self, callback: Callable[[], None]) -> bool:
        """Run ``callback`` in the next turn; ``False`` when there is no loop to run it."""
        try:
            self._running().call_soon(callback)
        except RuntimeError:
            return False
        return True

    def call_soon_threadsafe(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` on the owner thread, from any thread.

        Raises:
            RuntimeError: There is no loop, or it does not run.
        """
        loop = self._loop
        if loop is None or not loop.is_running():
            # A stopped loop would take the callback and keep it for ever.
            raise RuntimeError("no event loop runs this registry")
        loop.call_soon_threadsafe(callback)

    def create_task(self, coroutine: Coroutine[object, object, T]) -> asyncio.Task[T]:
        """Start ``coroutine`` as a task of the running loop."""
        return self._running().create_task(coroutine)

    def create_future(self) -> asyncio.Future[object]:
        """A future of the running loop."""
        return self._running().create_future()

    def _running(self) -> asyncio.AbstractEventLoop:
        """The running loop, remembered for calls from other threads."""
        self._loop = asyncio.get_running_loop()
        return self._loop


class InlineHandlerRunner:
    """Runs a handler where it stands."""

    __slots__ = ()

    def run(self, handler: Callable[[], T]) -> T:
        """Run ``handler`` now and return its result."""
        return handler()


class RandomIdSource:
    """Random text from the operating system's generator, fetched for a hundred ids at a time."""

    __slots__ = ("_ready",)

    def __init__(self) -> None:
        self._ready = ""

    def token(self, length: int) -> str:
        """``length`` random characters from ``[0-9A-Za-z]``."""
        while len(self._ready) < length:
            # Only values below the largest multiple of 62 count, so that no character is likelier than another.
            self._ready += os.urandom(_FETCHED_BYTES).translate(_TO_ALPHABET, _REJECTED).decode("ascii")
        token, self._ready = self._ready[:length], self._ready[length:]
        return token


_FETCHED_BYTES = 2_048
_FAIR = 256 - 256 % len(_ALPHABET)
_REJECTED = bytes(range(_FAIR, 256))
_TO_ALPHABET = bytes(ord(_ALPHABET[value % len(_ALPHABET)]) for value in range(256))
