"""The ten phases. Read :meth:`Pipeline._through_phases` from top to bottom to see what a call goes through."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import dataclass

from agent_surface._base._awaitables import abandon, is_awaitable
from agent_surface._base._ports import Clock, HostLoop
from agent_surface._failures import cancelled, execution_failed, held_to_table
from agent_surface._pipeline._admission import Admission
from agent_surface._pipeline._approval import Approval
from agent_surface._pipeline._call import Call, CallEndedError
from agent_surface._pipeline._effective_input import make_effective_input
from agent_surface._pipeline._execution import Execution, to_the_end
from agent_surface._pipeline._gates import authorize, check_availability
from agent_surface._pipeline._identity import Identity, Replay
from agent_surface._pipeline._interruption import Interruption
from agent_surface._pipeline._policy_context import PolicyContexts
from agent_surface._pipeline._preconditions import check_precondition
from agent_surface._pipeline._resolution import Resolution
from agent_surface._pipeline._settlement import Settlement
from agent_surface._pipeline._window import InvocationWindow
from agent_surface._registrations import SurfaceVersion
from agent_surface.errors import AgentCapabilityError, ErrorCode
from agent_surface.events import InvocationStarted
from agent_surface.events._dispatcher import EventDispatcher
from agent_surface.invocation import AgentConsumer, AgentInvocation, AgentInvocationResult

logger = logging.getLogger("agent_surface.pipeline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """The collaborators of a pipeline: what the calls share, and one for each step that has state."""

    window: InvocationWindow
    identity: Identity
    resolution: Resolution
    contexts: PolicyContexts
    approval: Approval
    admission: Admission
    execution: Execution
    settlement: Settlement
    interruption: Interruption


class Pipeline:
    """Runs calls. A call that awaits nothing finishes inline; any other goes on in a task of its own."""

    def __init__(
        self,
        *,
        phases: Phases,
        clock: Clock,
        host_loop: HostLoop,
        version: SurfaceVersion,
        events: EventDispatcher,
    ) -> None:
        self._phases = phases
        self._clock = clock
        self._host_loop = host_loop
        self._version = version
        self._events = events
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def tasks(self) -> frozenset[asyncio.Task[None]]:
        """Tasks that run calls or the remains of calls."""
        return frozenset(self._tasks)

    def begin(
        self, request: AgentInvocation, consumer: AgentConsumer, timeout_ms: int | None
    ) -> Call | AgentInvocationResult:
        """Start a call, or join the one in flight, or answer from memory.

        Returns:
            The call, settled or not; or the result of a request that is no call of its own.
        """
        try:
            opened = self._phases.identity.open(request, consumer, timeout_ms)
        except AgentCapabilityError as error:
            return self._phases.settlement.refuse(request, consumer, error)
        if isinstance(opened, Replay):
            return opened.result
        call, new = opened
        if new:
            self._start(call)
        return call

    def cancel(self, call: Call) -> None:
        """End a call that nobody waits for any more."""
        self._phases.interruption.cancelled(call)

    def interrupt(self) -> None:
        """Settle everything in flight as cancelled because a person has taken control."""
        for call in self._phases.window.in_flight:
            self._phases.interruption.taken_over(call)

    def close(self) -> None:
        """Settle everything in flight as cancelled and ask the remains to end."""
        for call in self._phases.window.in_flight:
            self._phases.interruption.closed(call)
        for task in self._tasks:
            task.cancel()
        self._phases.execution.close()

    def _start(self, call: Call) -> None:
        call.interruption = self._phases.interruption
        if self._events.has_listeners:
            self._events.emit(
                InvocationStarted(
                    invocation_id=call.invocation_id,
                    capability_id=call.request.capability_id if isinstance(call.request.capability_id, str) else "",
                    consumer_id=call.consumer.id,
                )
            )
        run = self._run(call)
        try:
            run.send(None)
        except StopIteration:
            if call.fatal is not None:
                raise call.fatal from None
            return
        call.future = self._host_loop.create_future()
        task = self._host_loop.create_task(run)
        call.task = task
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        if call.result is not None:
            # Ended before there was a task that could have been told.
            task.cancel()

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # looked at: what stops the interpreter has gone through the loop already

    async def _run(self, call: Call) -> None:
        try:
            await self._through_phases(call)
        except CallEndedError:
            pass
        except AgentCapabilityError as error:
            self._refused(call, error)
        except asyncio.CancelledError:
            self._cancelled(call)
        except Exception as error:  # noqa: BLE001  # whatever user code raises becomes a result here, and is logged
            self._failed(call, error)
        except BaseException as error:
            # The interpreter is asked to stop: the call gets its result first, then the request goes on.
            self._failed(call, error)
            call.fatal = error
            if call.owned and isinstance(error, KeyboardInterrupt | SystemExit):
                raise
        finally:
            if call.slot is not None:
                call.slot()
                call.slot = None

    async def _through_phases(self, call: Call) -> None:
        phases = self._phases
        # A listener may have closed the registry on hearing that the call started.
        call.require_open()
        call.phase = 2
        call.resolved_to(phases.resolution.resolve(call, self._version))
        call.phase = 3
        check_availability(call)
        call.require_open()
        call.phase = 4
        if (pending := authorize(call, phases.contexts)) is not None:
            await self._agreed(call, pending)
        call.require_open()
        call.phase = 5
        make_effective_input(call)
        call.require_open()
        call.phase = 6
        if (pending := phases.approval.run_policies(call)) is not None:
            await self._agreed(call, pending)
        call.require_open()
        phases.approval.decide(call)
        call.phase = 7
        check_precondition(call, phases.contexts)
        call.require_open()
        call.suspended = False
        call.phase = 8
        if (pending := phases.admission.admit(call)) is not None:
            await self._agreed(call, pending)
        call.require_open()
        call.phase = 9
        value = phases.execution.execute(call)
        if is_awaitable(value):
            value = await self._executed(call, value)
        call.phase = 10
        if call.result is not None:
            phases.settlement.late(call, "ok")
            return
        output, has_output = phases.settlement.check_output(call, value)
        phases.settlement.succeed(call, output, has_output=has_output)

    async def _agreed(self, call: Call, pending: Awaitable[object]) -> None:
        """Await what a phase left to be awaited."""
        try:
            await call.own_task()
        except asyncio.CancelledError:
            abandon(pending)
            raise
        await pending

    async def _executed(self, call: Call, pending: Awaitable[object]) -> object:
        """Await the handler to its end, wherever it runs."""
        outcome: object = pending
        # A future is the runner's while the handler has yet to start; afterwards it is what the handler returned.
        turn: asyncio.Future[object] | None = (
            pending if isinstance(pending, asyncio.Future) and not call.dispatched else None
        )
        try:
            await call.own_task()
        except asyncio.CancelledError:
            # The call ended before its task had its first turn. A handler that runs already is outlived all the same.
            if turn is not None:
                outcome = await to_the_end(turn)
            _give_up(outcome)
            raise
        self._phases.execution.arm(call)
        if turn is not None:
            # A plain handler in a turn of its own cannot be interrupted, only outlived.
            outcome = await to_the_end(turn)
        if is_awaitable(outcome):
            if call.registration.status != "active":
                self._phases.interruption.owner_gone(call)
            if call.result is not None:
                _give_up(outcome)
                raise CallEndedError
        while is_awaitable(outcome):
            outcome = await outcome
        return outcome

    def _refused(self, call: Call, error: AgentCapabilityError) -> None:
        if call.result is not None:
            self._phases.settlement.late(call, "error")
            return
        error = held_to_table(error, call.phase)
        if call.dispatched and error.payload.code is ErrorCode.CONFIRMATION_REQUIRED:
            error = self._phases.approval.server_demand(call, error)
        self._phases.settlement.fail(call, error)

    def _cancelled(self, call: Call) -> None:
        if call.result is not None:
            return
        task = asyncio.current_task() if call.owned else None
        if task is not None and task.cancelling():
            # Somebody cancels every task of the loop; the call ends with the rest.
            self._phases.settlement.fail(call, cancelled())
            return
        logger.error("the handler of %s cancelled itself", _name(call))
        self._phases.settlement.fail(call, execution_failed("handler-error", log_facts={"cause": "CancelledError"}))

    def _failed(self, call: Call, error: BaseException) -> None:
        logger.error("%s failed", _name(call), exc_info=error)
        if call.result is not None:
            self._phases.settlement.late(call, "error")
            return
        self._phases.settlement.fail(call, execution_failed("handler-error", log_facts={"cause": type(error).__name__}))


def _give_up(outcome: object) -> None:
    """End what a handler handed out to be awaited, now that nobody will."""
    if isinstance(outcome, asyncio.Future):
        outcome.cancel()
    else:
        abandon(outcome)


def _name(call: Call) -> str:
    return call.live.capability_id if call.live is not None else "a call"
