"""Results that other threads wait for."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import threading
from collections.abc import Callable, Coroutine
from typing import TypeVar, cast

from typing_extensions import override

from agent_surface._base._ports import HostLoop
from agent_surface._pipeline._call import Call
from agent_surface.errors import RegistryClosedError
from agent_surface.invocation import AgentInvocationResult
from agent_surface.registry._owner import Owner

logger = logging.getLogger("agent_surface.registry")

T = TypeVar("T")

PATIENCE_S = 60.0
"""A call that nobody has ended after this time is most likely one of a loop that has stopped turning."""


class ThreadsafeResult(concurrent.futures.Future[AgentInvocationResult]):
    """The future of a call that runs on the owner thread.

    Cancelling it cancels the call. Asking for a result that is not there yet raises on the owner thread, where
    waiting could never end; elsewhere a wait without an end of its own says in the log when it takes very long.

    Attributes:
        begun: The call was begun.
        call: What it is the result of, once it waits; before, what was begun is still on the stack.
    """

    def __init__(self, owner_thread: int) -> None:
        super().__init__()
        self._owner_thread = owner_thread
        self._task: asyncio.Task[AgentInvocationResult] | None = None
        self._host_loop: HostLoop | None = None
        self._telling = threading.Lock()
        self.begun = False
        self.call: Call | None = None

    @override
    def cancel(self) -> bool:
        """Cancel the call; ``False`` when it has ended."""
        cancelled = super().cancel()
        if cancelled and self._telling.acquire(blocking=False):
            # Nothing of the call runs in this future, so whoever waits for it can be told at once, and once.
            self.set_running_or_notify_cancel()
        task, host_loop = self._task, self._host_loop
        if cancelled and task is not None and host_loop is not None:
            # The loop may be gone already; then there is no call left to cancel.
            with contextlib.suppress(RuntimeError):
                host_loop.call_soon_threadsafe(lambda: _cancel(task))
        return cancelled

    @override
    def result(self, timeout: float | None = None) -> AgentInvocationResult:
        """The result; waits ``timeout`` seconds at most.

        Raises:
            RuntimeError: There is none yet and this is the owner thread.
        """
        return self._ask(super().result, timeout)

    @override
    def exception(self, timeout: float | None = None) -> BaseException | None:
        """The exception, or ``None``; waits ``timeout`` seconds at most.

        Raises:
            RuntimeError: The call has not ended and this is the owner thread.
        """
        return self._ask(super().exception, timeout)

    def run_as(self, task: asyncio.Task[AgentInvocationResult], host_loop: HostLoop) -> None:
        """Take over what ``task`` ends with. Called on the owner thread."""
        self._host_loop = host_loop
        self._task = task
        task.add_done_callback(self._take_over)
        if self.cancelled():
            task.cancel()

    def registry_closed(self) -> None:
        """Settle with what became of the call; its task may never have another turn."""
        # Somebody may cancel the future in this very moment; then nobody wants the result.
        with contextlib.suppress(concurrent.futures.InvalidStateError):
            if not self.begun:
                self.set_exception(RegistryClosedError("the registry was closed before the call began"))
            elif self.call is not None and self.call.result is not None:
                self.set_result(self.call.result)

    def _take_over(self, task: asyncio.Task[AgentInvocationResult]) -> None:
        if task.cancelled():
            self.cancel()
            return
        error = task.exception()
        # As above; and a registry that was closed meanwhile has told what became of the call.
        with contextlib.suppress(concurrent.futures.InvalidStateError):
            if error is not None:
                self.set_exception(error)
            else:
                self.set_result(task.result())

    def _ask(self, ask: Callable[[float | None], T], timeout: float | None) -> T:
        if not self.done() and threading.get_ident() == self._owner_thread:
            raise RuntimeError("the owner thread cannot wait for a call that runs on it; await registry.invoke(...)")
        if timeout is not None:
            return ask(timeout)
        with contextlib.suppress(TimeoutError):
            return ask(PATIENCE_S)
        logger.warning("another thread has waited for a call for %d s; does the event loop still run?", PATIENCE_S)
        return ask(None)


class CallsFromElsewhere:
    """The calls of other threads that have not ended.

    Each of their results is there at the latest when the registry is closed, whether its loop still turns or not.

    Attributes:
        reachable: Whether the loop was seen running, so that another thread can reach it.
    """

    __slots__ = ("_host_loop", "_owner", "_waiting", "reachable")

    def __init__(self, *, owner: Owner, host_loop: HostLoop) -> None:
        self._owner = owner
        self._host_loop = host_loop
        self._waiting: set[ThreadsafeResult] = set()
        self.reachable = False

    def notice_loop(self) -> None:
        """Let the loop be remembered that runs now; a registry can be older than its loop."""
        self.reachable = self._host_loop.call_soon(_nothing)

    def hand_over(
        self, run: Callable[[ThreadsafeResult], Coroutine[object, object, AgentInvocationResult]]
    ) -> ThreadsafeResult:
        """Run a call on the owner thread; may be called on any.

        Raises:
            RegistryClosedError: The registry was closed, or its loop does not run.
        """
        if self._owner.closed:
            raise RegistryClosedError("the registry was closed")
        future = ThreadsafeResult(self._owner.thread)

        def start() -> None:
            if not future.cancelled():
                future.run_as(self._host_loop.create_task(run(future)), self._host_loop)

        self._waiting.add(future)
        future.add_done_callback(self._ended)
        try:
            self._host_loop.call_soon_threadsafe(start)
        except RuntimeError as error:
            self._waiting.discard(future)
            raise RegistryClosedError(
                "the registry's event loop does not run; make the registry inside the loop, or first use it there"
            ) from error
        if self._owner.closed:
            # Closed between the question and the hand-over: closing may not have seen it.
            future.registry_closed()
        return future

    def close(self) -> None:
        """Settle what is left, now that the registry has settled its calls."""
        for future in tuple(self._waiting):
            future.registry_closed()

    def _ended(self, future: concurrent.futures.Future[AgentInvocationResult]) -> None:
        self._waiting.discard(cast("ThreadsafeResult", future))


def _nothing() -> None:
    """What the loop is given so that it is noticed."""


def _cancel(task: asyncio.Task[AgentInvocationResult]) -> None:
    task.cancel()
