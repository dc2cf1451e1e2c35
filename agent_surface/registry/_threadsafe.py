"""A result that another thread waits for."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading

from typing_extensions import override

from agent_surface._base._ports import HostLoop
from agent_surface.invocation import AgentInvocationResult


class ThreadsafeResult(concurrent.futures.Future[AgentInvocationResult]):
    """The future of a call that runs on the owner thread.

    Cancelling it cancels the call. Asking for a result that is not there yet raises on the owner thread, where
    waiting could never end.
    """

    def __init__(self, owner_thread: int) -> None:
        super().__init__()
        self._owner_thread = owner_thread
        self._task: asyncio.Task[AgentInvocationResult] | None = None
        self._host_loop: HostLoop | None = None

    @override
    def cancel(self) -> bool:
        """Cancel the call; ``False`` when it has ended."""
        cancelled = super().cancel()
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
        self._require_elsewhere()
        return super().result(timeout)

    @override
    def exception(self, timeout: float | None = None) -> BaseException | None:
        """The exception, or ``None``; waits ``timeout`` seconds at most.

        Raises:
            RuntimeError: The call has not ended and this is the owner thread.
        """
        self._require_elsewhere()
        return super().exception(timeout)

    def drop_if_cancelled(self) -> bool:
        """Whether the future was cancelled; then whoever waits for it is told. Called on the owner thread."""
        if not self.cancelled():
            return False
        # Raises when they were told before.
        with contextlib.suppress(concurrent.futures.InvalidStateError, RuntimeError):
            self.set_running_or_notify_cancel()
        return True

    def run_as(self, task: asyncio.Task[AgentInvocationResult], host_loop: HostLoop) -> None:
        """Take over what ``task`` ends with. Called on the owner thread."""
        self._host_loop = host_loop
        self._task = task
        task.add_done_callback(self._take_over)
        if self.cancelled():
            task.cancel()

    def _take_over(self, task: asyncio.Task[AgentInvocationResult]) -> None:
        if task.cancelled():
            super().cancel()
        error = task.exception() if not task.cancelled() else None
        if self.drop_if_cancelled():
            return
        # Somebody may have cancelled the future in this very moment; then nobody wants the result.
        with contextlib.suppress(concurrent.futures.InvalidStateError):
            if error is not None:
                self.set_exception(error)
            else:
                self.set_result(task.result())

    def _require_elsewhere(self) -> None:
        if not self.done() and threading.get_ident() == self._owner_thread:
            raise RuntimeError("the owner thread cannot wait for a call that runs on it; await registry.invoke(...)")


def _cancel(task: asyncio.Task[AgentInvocationResult]) -> None:
    task.cancel()
