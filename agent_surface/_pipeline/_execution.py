"""Phase 9: the handler, with its last checks, its cancel token and its time-out."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._ports import Clock, HandlerRunner, WorkerThreads
from agent_surface._failures import not_available
from agent_surface._pipeline._call import Call
from agent_surface._pipeline._interruption import Interruption
from agent_surface._pipeline._policy_context import PolicyContexts
from agent_surface._pipeline._preconditions import check_precondition
from agent_surface._registrations import SurfaceVersion
from agent_surface._registrations._live import DEFAULT_REASON
from agent_surface.contracts import ActionBinding, ObservationBinding, ProcedureBinding
from agent_surface.errors import AgentSurfaceError
from agent_surface.procedures import ProcedureExecutor, ProcedureInfo

logger = logging.getLogger("agent_surface.pipeline")


class Execution:
    """Starts handlers. What is checked in the turn of the start is part of the start itself (AS-INVOKE-009)."""

    def __init__(
        self,
        *,
        clock: Clock,
        limits: AgentSurfaceLimits,
        runner: HandlerRunner,
        threads: WorkerThreads,
        contexts: PolicyContexts,
        interruption: Interruption,
        executor: Callable[[], ProcedureExecutor | None],
        version: SurfaceVersion,
    ) -> None:
        self._clock = clock
        self._limits = limits
        self._runner = runner
        self._threads = threads
        self._contexts = contexts
        self._interruption = interruption
        self._executor = executor
        self._version = version

    def execute(self, call: Call) -> object:
        """Start the handler.

        Returns:
            Its value, or an awaitable of it that has to be awaited in the call's own task.

        Raises:
            AgentCapabilityError: A last check failed; no handler was started and no evidence consumed.
            Exception: What a plain handler raised.
        """
        binding = call.capability.binding
        if isinstance(binding, ProcedureBinding):
            return self._in_own_task(call, lambda: self._procedure(call))
        if isinstance(binding, ActionBinding) and binding.thread:
            return self._in_own_task(call, lambda: self._on_thread(call, binding))
        if binding.handler.is_coroutine:
            return self._in_own_task(call, lambda: self._handle(call, binding))
        return self._runner.run(lambda: self._timed(call, binding))

    def close(self) -> None:
        """Let worker threads end; what runs on them is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _in_own_task(self, call: Call, start: Callable[[], object]) -> object:
        self.arm(call)
        outcome = start()
        return await outcome if inspect.isawaitable(outcome) else outcome

    def arm(self, call: Call) -> None:
        """Start the time-out: the caller's, else the capability's, else the limit's (AS-TIME-001)."""
        if call.timer is None:
            asked_ms = call.requested_timeout_ms
            timeout_ms = asked_ms if asked_ms is not None else call.capability.timeout_ms
            call.timer = self._clock.call_later(timeout_ms, lambda: self._interruption.timed_out(call, timeout_ms))

    def _begin(self, call: Call) -> None:
        """The last checks and the point of no return, all in one turn."""
        # A component that goes settles its calls at once: a call that is open has a component.
        call.require_open()
        availability = call.capability.availability()
        if not availability.available:
            raise not_available(availability.reason or DEFAULT_REASON)
        if call.suspended:
            check_precondition(call, self._contexts)
        # These checks are the application's code too: the window may be gone by the end of them.
        call.require_open()
        if call.claim is not None:
            call.claim.consume()
        call.version_before = self._version.text
        call.dispatched_ms = self._clock.monotonic_ms()
        call.dispatched = True

    def _timed(self, call: Call, binding: ObservationBinding | ActionBinding) -> object:
        function, arguments = self._prepared(call, binding)
        self._begin(call)
        call.on_stack = True
        try:
            return function(*arguments)
        finally:
            call.on_stack = False
            held_ms = self._clock.monotonic_ms() - call.dispatched_ms
            if held_ms > self._limits.slow_handler_ms:
                logger.warning(
                    "the handler of %s held the owner thread for %d ms; make it asynchronous or run it on a thread",
                    call.capability.capability_id,
                    held_ms,
                )

    def _handle(self, call: Call, binding: ObservationBinding | ActionBinding) -> object:
        function, arguments = self._prepared(call, binding)
        self._begin(call)
        return function(*arguments)

    def _prepared(
        self, call: Call, binding: ObservationBinding | ActionBinding
    ) -> tuple[Callable[..., object], tuple[object, ...]]:
        """The handler of this moment and what it takes, made before the last checks: the host context is user code."""
        handler = binding.handler
        if not handler.takes:
            return handler.function, ()
        if isinstance(binding, ObservationBinding):
            return handler.function, (call.read_context(self._contexts.host()),)
        if handler.takes == 1:
            return handler.function, (call.parsed,)
        return handler.function, (call.parsed, call.action_context(self._contexts.host()))

    def _on_thread(self, call: Call, binding: ActionBinding) -> Awaitable[object]:
        # The token and the context are made here: the worker gets values, nothing it could make on the wrong thread.
        function, arguments = self._prepared(call, binding)
        self._begin(call)
        context = copy_context()
        work: Future[object] = self._threads.submit(lambda: context.run(function, *arguments))
        return _thread_end(call, work)

    def _procedure(self, call: Call) -> object:
        executor = self._executor()
        path = call.capability.capability_id.partition(":")[2]
        if executor is None or path not in executor.paths:
            raise AgentSurfaceError(f"no executor runs {path} any more")
        info = ProcedureInfo(
            invocation_id=call.invocation_id,
            capability_id=call.capability.capability_id,
            registration_id=call.registration.registration_id,
            consumer=call.consumer,
            host=self._contexts.host(),
            cancel=call.token,
            confirmation=call.evidence,
        )
        self._begin(call)
        return executor.execute(path, call.input_object(), info)


async def _thread_end(call: Call, work: Future[object]) -> object:
    """Await what runs on a thread, also when the call has ended meanwhile: its admission is held until then.

    The end of a call cancels its task once. Whoever cancels again, or a call that has not ended, ends everything: the
    registry is being closed, or the loop. That waits for no thread.
    """
    future = asyncio.wrap_future(work, loop=call.create_future().get_loop())
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if call.result is None or task is None or task.cancelling() > 1:
                future.cancel()
                raise
            # What waits for a free thread still never begins.
            work.cancel()
    return future.result()


async def to_the_end(future: asyncio.Future[object]) -> object:
    """Await something that cannot be interrupted, also when the awaiting task is cancelled meanwhile.

    Whoever cancels has settled the call before; what must not happen is that its admission is given away while it
    still runs. Its end is returned, or raised, all the same: it is recorded as late.
    """
    while not future.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([future])
    return future.result()
