"""Phase 9: the handler, with its last checks, its cancel token and its time-out."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._ports import Clock, HandlerRunner
from agent_surface._failures import not_available, unmounted
from agent_surface._pipeline._call import Call
from agent_surface._pipeline._interruption import Interruption
from agent_surface._pipeline._policy_context import PolicyContexts
from agent_surface._registrations._live import DEFAULT_REASON
from agent_surface.contracts import ActionBinding, ObservationBinding
from agent_surface.contracts._handlers import Handler
from agent_surface.errors import AgentSurfaceError
from agent_surface.procedures import ProcedureExecutor, ProcedureInfo

logger = logging.getLogger("agent_surface.pipeline")

MAX_WORKER_THREADS = 4


class Execution:
    """Starts handlers. What is checked in the turn of the start is part of the start itself (AS-INVOKE-009)."""

    def __init__(
        self,
        *,
        clock: Clock,
        limits: AgentSurfaceLimits,
        runner: HandlerRunner,
        contexts: PolicyContexts,
        interruption: Interruption,
        executor: Callable[[], ProcedureExecutor | None],
        check_precondition: Callable[[Call], None],
        version: Callable[[], str],
    ) -> None:
        self._clock = clock
        self._limits = limits
        self._runner = runner
        self._contexts = contexts
        self._interruption = interruption
        self._executor = executor
        self._check_precondition = check_precondition
        self._version = version
        self._threads: ThreadPoolExecutor | None = None

    def execute(self, call: Call) -> object:
        """Start the handler.

        Returns:
            Its value, or an awaitable of it that has to be awaited in the call's own task.

        Raises:
            AgentCapabilityError: A last check failed; no handler was started and no evidence consumed.
            Exception: What a plain handler raised.
        """
        binding = call.capability.binding
        if isinstance(binding, ObservationBinding | ActionBinding):
            if isinstance(binding, ActionBinding) and binding.thread:
                return self._in_own_task(call, lambda: self._on_thread(call, binding.handler))
            if binding.handler.is_coroutine:
                return self._in_own_task(call, lambda: self._handle(call, binding))
            return self._runner.run(lambda: self._timed(call, binding))
        return self._in_own_task(call, lambda: self._procedure(call))

    def close(self) -> None:
        """Let worker threads end; what runs on them is not waited for."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    async def _in_own_task(self, call: Call, start: Callable[[], object]) -> object:
        self.arm(call)
        outcome = start()
        return await outcome if inspect.isawaitable(outcome) else outcome

    def arm(self, call: Call) -> None:
        """Start the time-out: the caller's, else the capability's, else the limit's (AS-TIME-001)."""
        if call.timer is None:
            timeout_ms = call.requested_timeout_ms or call.capability.timeout_ms
            call.timer = self._clock.call_later(timeout_ms, lambda: self._interruption.timed_out(call, timeout_ms))

    def _begin(self, call: Call) -> None:
        """The last checks and the point of no return, all in one turn."""
        call.require_open()
        registration = call.registration
        if registration.status != "active":
            raise unmounted("queued")
        availability = call.capability.availability()
        if not availability.available:
            raise not_available(availability.reason or DEFAULT_REASON)
        if call.suspended:
            self._check_precondition(call)
        if call.claim is not None:
            call.claim.consume()
        call.version_before = self._version()
        call.dispatched = True

    def _timed(self, call: Call, binding: ObservationBinding | ActionBinding) -> object:
        started_ms = self._clock.monotonic_ms()
        call.on_stack = True
        try:
            return self._handle(call, binding)
        finally:
            call.on_stack = False
            held_ms = self._clock.monotonic_ms() - started_ms
            call.execution_ms = held_ms
            if held_ms > self._limits.slow_handler_ms:
                logger.warning(
                    "the handler of %s held the owner thread for %d ms; make it asynchronous or run it on a thread",
                    call.capability.capability_id,
                    held_ms,
                )

    def _handle(self, call: Call, binding: ObservationBinding | ActionBinding) -> object:
        self._begin(call)
        handler = binding.handler
        if isinstance(binding, ObservationBinding):
            return handler.function(call.read_context(self._contexts.host())) if handler.takes else handler.function()
        return self._call_action(call, handler)

    def _call_action(self, call: Call, handler: Handler) -> object:
        if not handler.takes:
            return handler.function()
        if handler.takes == 1:
            return handler.function(call.parsed)
        return handler.function(call.parsed, call.action_context(self._contexts.host()))

    def _on_thread(self, call: Call, handler: Handler) -> Awaitable[object]:
        self._begin(call)
        if self._threads is None:
            self._threads = ThreadPoolExecutor(MAX_WORKER_THREADS, thread_name_prefix="agent-surface")
        # The token and the context are made here: the worker gets values, nothing it could make on the wrong thread.
        context = call.action_context(self._contexts.host())
        arguments = (call.parsed, context)[: handler.takes]
        work = self._threads.submit(handler.function, *arguments)
        return to_the_end(asyncio.wrap_future(work, loop=call.create_future().get_loop()))

    def _procedure(self, call: Call) -> object:
        self._begin(call)
        executor = self._executor()
        path = call.capability.capability_id.partition(":")[2]
        if executor is None or path not in executor.paths:
            raise AgentSurfaceError(f"no executor runs {path} any more")
        return executor.execute(
            path,
            call.input_object(),
            ProcedureInfo(
                invocation_id=call.invocation_id,
                capability_id=call.capability.capability_id,
                registration_id=call.registration.registration_id,
                consumer=call.consumer,
                host=self._contexts.host(),
                cancel=call.token,
                confirmation=call.evidence,
            ),
        )


async def to_the_end(future: asyncio.Future[object]) -> object:
    """Await something that cannot be interrupted, also when the awaiting task is cancelled meanwhile.

    The call has settled by then; what must not happen is that its admission is given away while it still runs.
    """
    asked = False
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            asked = True
    if asked:
        if not future.cancelled():
            future.exception()  # looked at, so that nobody is warned of an outcome that no longer matters
        raise asyncio.CancelledError
    return future.result()
