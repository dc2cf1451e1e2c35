"""One invocation on its way through the phases."""

from __future__ import annotations

import asyncio
import logging
import types
from collections.abc import Callable, Generator, Mapping
from typing import Protocol

from agent_surface._base._json import FrozenJson, JsonValue, thaw_json
from agent_surface._base._ports import TimerHandle
from agent_surface._base._user_errors import USER_ERRORS
from agent_surface._registrations import LiveCapability, Registration
from agent_surface.confirmations import ClaimedEvidence
from agent_surface.errors import AgentSurfaceDefectError, AgentSurfaceError
from agent_surface.invocation import (
    AgentActionContext,
    AgentConsumer,
    AgentInvocation,
    AgentInvocationResult,
    AgentReadContext,
    ApprovedConfirmation,
)
from agent_surface.policies._policy import ConfirmationDemand

logger = logging.getLogger("agent_surface.pipeline")


class CallEndedError(AgentSurfaceError):
    """The call was settled from outside while a phase was awaiting; its coroutine has nothing more to decide."""


class CallEnder(Protocol):
    """What ends a call from outside, as far as the call itself has to know it."""

    def owner_gone(self, call: Call) -> None:
        """The registration of the call was taken away."""


class CallToken:
    """A :class:`~agent_surface.invocation.CancelToken` of one call."""

    __slots__ = ("_callbacks", "_create_future", "_waiters", "reason")

    def __init__(self, create_future: Callable[[], asyncio.Future[object]]) -> None:
        self.reason: str | None = None
        self._callbacks: dict[object, Callable[[], None]] = {}
        self._create_future = create_future
        self._waiters: list[asyncio.Future[object]] = []

    @property
    def cancelled(self) -> bool:
        """Whether the call was asked to end."""
        return self.reason is not None

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` once when cancelled (at once if it is already); returns a disposer."""
        if self.cancelled:
            _contained(callback)
            return lambda: None
        key = object()
        self._callbacks[key] = callback

        def dispose() -> None:
            self._callbacks.pop(key, None)

        return dispose

    async def wait(self) -> None:
        """Return when the call was asked to end."""
        if self.cancelled:
            return
        future = self._create_future()
        self._waiters.append(future)
        try:
            await future
        finally:
            self._waiters.remove(future)

    def cancel(self, reason: str) -> None:
        """Ask the call to end; the first reason stays."""
        if self.cancelled:
            return
        self.reason = reason
        callbacks, self._callbacks = list(self._callbacks.values()), {}
        for callback in callbacks:
            _contained(callback)
        for future in self._waiters:
            if not future.done():
                future.set_result(None)


def _contained(callback: Callable[[], None]) -> None:
    try:
        callback()
    except USER_ERRORS:
        logger.exception("a cancel callback raised")


class Call:
    """The value every phase reads and adds to.

    Attributes:
        request: As issued.
        consumer: Who asks.
        consumer_key: The consumer's key, made once.
        invocation_id: Given or generated.
        key: Consumer key and invocation id.
        fingerprint: Of the request, as issued.
        agent_input: What the agent sent, frozen.
        requested_timeout_ms: The caller's own time-out.
        phase: The phase the call is in, 1 to 10.
        live: The capability, once resolved.
        capability: The same, for the phases after resolution, which need not ask.
        registration: The capability's.
        parsed: What the handler receives.
        effective_input: The same as frozen JSON; what policies, confirmation and audit see.
        bound_fields: Root fields that came from the screen.
        demands: Policies that want a person asked.
        claim: Evidence this call holds.
        evidence: The approval the handler is told of.
        dispatched: The handler was started.
        dispatched_ms: When, on the monotonic clock.
        on_stack: A plain handler is running right now, further up the stack.
        owned: The call runs in a task of its own.
        suspended: Something was awaited since the last check of live state.
        leave_queue: Gives up the place in a queue; only there while the call waits for its admission.
        slot: Gives back the admission.
        settling: Its result is being made; whatever happens meanwhile comes too late.
        result: The one result, once settled.
        defect: What ``invoke`` raises outside production.
        fatal: What asks the interpreter to stop; ``invoke`` raises it once the call has settled.
        future: Resolves with the result; only there when the call did not finish inline.
        task: The task that runs the rest.
        waiters: Tasks that await the result.
        version_before: Surface version when the handler was started.
    """

    __slots__ = (
        "_token",
        "agent_input",
        "bound_fields",
        "capability",
        "claim",
        "consumer",
        "consumer_key",
        "create_future",
        "defect",
        "demands",
        "dispatched",
        "dispatched_ms",
        "effective_input",
        "evidence",
        "execution_ms",
        "fatal",
        "fingerprint",
        "future",
        "host",
        "interruption",
        "invocation_id",
        "key",
        "leave_queue",
        "live",
        "on_stack",
        "owned",
        "parsed",
        "phase",
        "queue_wait_ms",
        "registration",
        "request",
        "requested_timeout_ms",
        "result",
        "settling",
        "slot",
        "started_ms",
        "suspended",
        "task",
        "timer",
        "version_before",
        "waiters",
    )

    def __init__(
        self,
        *,
        request: AgentInvocation,
        consumer: AgentConsumer,
        key: tuple[str, str],
        fingerprint: bytes,
        agent_input: FrozenJson,
        requested_timeout_ms: int | None,
        started_ms: int,
        create_future: Callable[[], asyncio.Future[object]],
    ) -> None:
        self.request = request
        self.consumer = consumer
        self.key = key
        self.consumer_key, self.invocation_id = key
        self.fingerprint = fingerprint
        self.agent_input = agent_input
        self.requested_timeout_ms = requested_timeout_ms
        self.started_ms = started_ms
        self.create_future = create_future
        self.phase = 1
        self.live: LiveCapability | None = None
        self.capability: LiveCapability
        self.registration: Registration
        self.host: Mapping[str, object] | None = None
        self.parsed: object = None
        self.effective_input: FrozenJson = None
        self.bound_fields: tuple[str, ...] = ()
        self.demands: list[ConfirmationDemand] = []
        self.claim: ClaimedEvidence | None = None
        self.evidence: ApprovedConfirmation | None = None
        self.dispatched = False
        self.dispatched_ms = 0
        self.on_stack = False
        self.owned = False
        self.suspended = False
        self.leave_queue: Callable[[], None] | None = None
        self.slot: Callable[[], None] | None = None
        self.settling = False
        self.result: AgentInvocationResult | None = None
        self.defect: AgentSurfaceDefectError | None = None
        self.fatal: BaseException | None = None
        self.future: asyncio.Future[object] | None = None
        self.task: asyncio.Task[None] | None = None
        self.timer: TimerHandle | None = None
        self.interruption: CallEnder
        self.waiters = 0
        self.queue_wait_ms = 0
        self.execution_ms = 0
        self.version_before: str | None = None
        self._token: CallToken | None = None

    def resolved_to(self, live: LiveCapability) -> None:
        """It is known which capability is meant."""
        self.live = self.capability = live
        self.registration = live.registration
        self.registration.active_calls[self] = None

    @property
    def token(self) -> CallToken:
        """Tells the handler when to end; made when somebody first asks for it."""
        if self._token is None:
            self._token = CallToken(self.create_future)
        return self._token

    def cancel_token(self, reason: str) -> None:
        """Ask the handler to end, if anybody holds the token."""
        if self._token is not None or self.dispatched:
            self.token.cancel(reason)

    def owner_gone(self) -> None:
        """The registration was taken away."""
        self.interruption.owner_gone(self)

    def require_open(self) -> None:
        """Go on only if nobody settled the call meanwhile.

        Raises:
            CallEndedError: Somebody did.
        """
        if self.result is not None:
            raise CallEndedError

    def read_context(self, host: Mapping[str, object]) -> AgentReadContext:
        """What an observation or a precondition may know."""
        return AgentReadContext(
            capability_id=self.capability.capability_id,
            registration_id=self.registration.registration_id,
            consumer=self.consumer,
            host=host,
            cancel=self.token,
        )

    def action_context(self, host: Mapping[str, object]) -> AgentActionContext:
        """What an action may know."""
        return AgentActionContext(
            capability_id=self.capability.capability_id,
            registration_id=self.registration.registration_id,
            consumer=self.consumer,
            host=host,
            cancel=self.token,
            invocation_id=self.invocation_id,
            confirmation=self.evidence,
        )

    def fresh_input(self) -> object:
        """The effective input parsed anew, for code that must not reach the handler's own copy."""
        schema = self.capability.input
        return schema.parse(thaw_json(self.effective_input)) if schema is not None else None

    def input_object(self) -> dict[str, JsonValue]:
        """The effective input as a fresh JSON object, for a procedure's executor."""
        value = thaw_json(self.effective_input)
        return value if isinstance(value, dict) else {}

    async def own_task(self) -> None:
        """Leave the caller's task: what follows runs in one that belongs to the registry.

        User coroutines must never start in the caller's task: a time-out scope there would bind to the wrong task,
        and cancelling one awaiter would kill a call that others have joined.
        """
        self.suspended = True
        if not self.owned:
            self.owned = True
            await _leave_caller()


@types.coroutine
def _leave_caller() -> Generator[None, None, None]:
    # Whoever drives the coroutine inline sees this yield, stops driving, and gives the coroutine to a task, which
    # goes on behind it. It happens once in a call, so the task itself never sees it.
    yield
