"""The ports of the core: time, turns of the event loop, randomness, and how a handler is run.

Nothing in the core calls ``time``, ``datetime.now`` or ``random`` directly; each collaborator receives one of
these by keyword and the tests hand in fakes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    import asyncio
    import concurrent.futures

T = TypeVar("T")


class TimerHandle(Protocol):
    """A call scheduled by :meth:`Clock.call_later`."""

    def cancel(self) -> None:
        """Forget the call. Does nothing when it has run or was cancelled before."""


class Clock(Protocol):
    """Time as the registry sees it. One port drives policies, time-outs and times to live."""

    def now_ms(self) -> int:
        """Wall-clock time in milliseconds since the Unix epoch (UTC); may jump."""
        ...

    def monotonic_ms(self) -> int:
        """Milliseconds on a clock that never goes back; only differences mean anything."""
        ...

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> TimerHandle:
        """Run ``callback`` on the owner thread once ``delay_ms`` milliseconds have passed."""
        ...


class HostLoop(Protocol):
    """The event loop the registry lives beside. It need not be running while the registry is used."""

    def call_soon(self, callback: Callable[[], None]) -> bool:
        """Run ``callback`` in the next turn; ``False`` when there is no loop to run it."""
        ...

    def call_soon_threadsafe(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` on the owner thread, from any thread.

        Raises:
            RuntimeError: There is no loop, or it will not run the callback.
        """

    def create_task(self, coroutine: Coroutine[object, object, T]) -> asyncio.Task[T]:
        """Start ``coroutine`` as a task of this loop. A coroutine that was already begun is continued."""
        ...

    def create_future(self) -> asyncio.Future[object]:
        """A future of this loop."""
        ...


class HandlerRunner(Protocol):
    """How a synchronous handler is run: inline in the core, from a zero-delay timer with no current task in Qt."""

    def run(self, handler: Callable[[], T]) -> T | Awaitable[T]:
        """Run ``handler`` now and return its result, or return an awaitable of it.

        The final checks before a handler starts are part of ``handler``, so they happen in the turn in which
        the runner calls it.
        """
        ...


class WorkerThreads(Protocol):
    """Where plain functions run that must not hold the owner thread; any ``concurrent.futures.Executor`` is one.

    A handler that never returns must not keep the interpreter from ending, so its threads should be daemons.
    """

    def submit(self, function: Callable[[], T], /) -> concurrent.futures.Future[T]:
        """Run ``function`` on a thread, at once or when one is free."""
        ...

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more functions; with ``wait=False`` without waiting for those that run."""
        ...


class IdSource(Protocol):
    """Unguessable, URL-safe random text for surface, registration, confirmation and invocation ids."""

    def token(self, length: int) -> str:
        """``length`` random characters from ``[0-9A-Za-z]``."""
        ...
