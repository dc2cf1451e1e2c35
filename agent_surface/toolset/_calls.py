"""How a tool's call goes through the registry, and who waits for the person meanwhile."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from agent_surface import _failures
from agent_surface._base._canonical import canonical_json
from agent_surface._base._json import JsonValue, NotJsonError
from agent_surface.confirmations._values import ConfirmationOutcome, ConfirmationResolution
from agent_surface.errors import (
    AgentCapabilityError,
    AgentSurfaceDefectError,
    ErrorCode,
    RegistryClosedError,
)
from agent_surface.invocation import (
    AgentConsumer,
    AgentInvocation,
    AgentInvocationResult,
    InvocationError,
    InvocationOk,
)
from agent_surface.toolset._surface import InvokableSurface
from agent_surface.toolset._values import ConfirmationMode, ConfirmationWait, ToolCallCancelledError, WaitListener

_log = logging.getLogger(__name__)

MAX_REMEMBERED = 64
"""Requests of a person whose id is kept for the next equal call. A registry holds half as many pending ones."""

MAX_ROUNDS = 4
"""How often one call may be sent back to the person: the capability's own demand, the back end's, and a margin."""

MAX_ID_CHARACTERS = 128

RequestKey: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remembered:
    """A request of a person that an equal call goes on with."""

    confirmation_id: str
    release: Callable[[], None] | None


class CallRunner:
    """Runs calls of one consumer and never raises, except that cancellation goes through.

    In ``wait`` mode a call that needs a person waits and goes on with the answer. In both modes the id of a request is
    remembered for an equal repeated call as long as presenting it can still help: while it is pending, and when an
    approved call was ended before it was dispatched. Waiting and remembering both hold the request; it is withdrawn
    when nobody does any more.
    """

    def __init__(self, surface: InvokableSurface, *, consumer: AgentConsumer, confirmations: ConfirmationMode) -> None:
        self._surface = surface
        self._consumer = consumer
        self._confirmations = confirmations
        self._closed = False
        self._remembered: OrderedDict[RequestKey, _Remembered] = OrderedDict()
        self._waiting: set[asyncio.Future[ConfirmationResolution | None]] = set()

    async def run(self, invocation: AgentInvocation, *, on_wait: WaitListener | None) -> AgentInvocationResult:
        """Send ``invocation`` and, where it takes a person, what follows.

        Args:
            invocation: What is asked for. Evidence it carries is presented as it is; else what is remembered for an
                equal request.
            on_wait: Hears when waiting begins and ends.
        """
        key = _request_key(invocation)
        if self._closed:
            return local_error(invocation, _failures.cancelled(closed=True))
        presented = invocation.confirmation_id
        known = self._remembered.get(key) if key is not None and presented is None else None
        remembered = known.confirmation_id if known is not None else None
        evidence = presented if presented is not None else remembered
        result = await self._send(replace(invocation, confirmation_id=evidence))
        if self._confirmations is ConfirmationMode.TWO_PHASE:
            self._remember(key, _pending_id(result) or (evidence if _may_present_again(result) else None))
            return result
        if remembered is not None and _used_up(result):
            # Nobody said no to this call: it begins anew.
            self._remember(key, None)
            result = await self._send(invocation)
        return await self._settle_with_person(invocation, key, result, on_wait)

    def close(self) -> None:
        """End every wait, withdraw what was waited for or remembered, and refuse what comes later."""
        self._closed = True
        for answer in self._waiting:
            if not answer.done():
                answer.set_result(None)
        remembered, self._remembered = self._remembered, OrderedDict()
        for known in remembered.values():
            _end_hold(known.release)

    async def _settle_with_person(
        self,
        invocation: AgentInvocation,
        key: RequestKey | None,
        result: AgentInvocationResult,
        on_wait: WaitListener | None,
    ) -> AgentInvocationResult:
        for _ in range(MAX_ROUNDS):
            confirmation_id = _pending_id(result)
            if confirmation_id is None:
                return result
            # The first answer's invocation id is kept: one call, one identity, whoever made the id.
            invocation = replace(invocation, invocation_id=result.invocation_id)
            release = self._surface.confirmation_waiter.hold(confirmation_id)
            resolution = await self._wait(confirmation_id, release, on_wait)
            if resolution is None:
                return local_error(invocation, _failures.cancelled(closed=True))
            if release is None and resolution.actor == "withdrawn":
                # Who shared the request gave it up before this call had hold of it: nobody said no, so ask anew.
                result = await self._send(invocation)
                continue
            result = await self._send(replace(invocation, confirmation_id=confirmation_id))
            if resolution.outcome is ConfirmationOutcome.DENIED and not _is_denied(result):
                # Whatever else is wrong by now, the person's no and their words must reach the model.
                return local_error(invocation, _failures.confirmation_invalid("denied", resolution.note))
            self._remember(key, confirmation_id if _may_present_again(result) else None)
        left = _pending_id(result)
        if left is not None:
            self._surface.confirmation_waiter.withdraw(left)
        return result

    async def _wait(
        self, confirmation_id: str, release: Callable[[], None] | None, on_wait: WaitListener | None
    ) -> ConfirmationResolution | None:
        """How the request ended; ``None`` when this toolset was closed first."""
        if self._closed:
            _end_hold(release)
            return None
        answer: asyncio.Future[ConfirmationResolution | None] = asyncio.get_running_loop().create_future()
        watch = asyncio.ensure_future(self._surface.confirmation_waiter.wait_for(confirmation_id))

        def pass_on(done: asyncio.Future[ConfirmationResolution]) -> None:
            if not answer.done():
                answer.set_result(None if done.cancelled() or done.exception() is not None else done.result())

        watch.add_done_callback(pass_on)
        self._waiting.add(answer)
        _tell(on_wait, ConfirmationWait(confirmation_id=confirmation_id))
        outcome = ConfirmationOutcome.EXPIRED
        try:
            resolution = await answer
            if resolution is not None:
                outcome = resolution.outcome
            return resolution
        finally:
            watch.cancel()
            self._waiting.discard(answer)
            _end_hold(release)
            _tell(on_wait, ConfirmationWait(confirmation_id=confirmation_id, outcome=outcome))

    async def _send(self, invocation: AgentInvocation) -> AgentInvocationResult:
        try:
            call = asyncio.ensure_future(self._surface.invoke(invocation, consumer=self._consumer))
            try:
                return await call
            except asyncio.CancelledError:
                self._cancelled_after_settlement(call)
                raise
        except RegistryClosedError:
            return local_error(invocation, _failures.cancelled(closed=True))
        except AgentSurfaceDefectError as defect:
            # The registry has logged it, settled the call and told its author; the model gets the settled form.
            settled = defect.result
            if isinstance(settled, InvocationOk | InvocationError):
                return settled
            return local_error(invocation, _failures.execution_failed("output-invalid"))
        except Exception:  # noqa: BLE001  execute never raises; logged with its traceback
            _log.exception("invoking %s failed outside the pipeline", invocation.capability_id)
            return local_error(invocation, _failures.execution_failed("handler-error"))

    def _cancelled_after_settlement(self, call: asyncio.Future[AgentInvocationResult]) -> None:
        """A result that nobody would see: end its request of a person, or hand it on with the cancellation."""
        if not call.done() or call.cancelled() or call.exception() is not None:
            return
        result = call.result()
        confirmation_id = _pending_id(result)
        if confirmation_id is None:
            raise ToolCallCancelledError(result)
        if self._confirmations is ConfirmationMode.WAIT:
            self._surface.confirmation_waiter.withdraw(confirmation_id)

    def _remember(self, key: RequestKey | None, confirmation_id: str | None) -> None:
        if key is None:
            return
        before = self._remembered.pop(key, None)
        if confirmation_id is not None:
            # Held anew before the old hold ends: it may be the same request.
            release = self._surface.confirmation_waiter.hold(confirmation_id)
            if self._closed:
                _end_hold(release)
            else:
                self._remembered[key] = _Remembered(confirmation_id=confirmation_id, release=release)
        if before is not None:
            _end_hold(before.release)
        while len(self._remembered) > MAX_REMEMBERED:
            _, forgotten = self._remembered.popitem(last=False)
            _end_hold(forgotten.release)


def invocation_id_of(tool_call_id: str | None) -> str | None:
    """The idempotency key for a provider's call id: itself, or a digest of one that is too long for a registry."""
    if not tool_call_id:
        return None
    if len(tool_call_id) <= MAX_ID_CHARACTERS:
        return tool_call_id
    return "tcl_" + hashlib.blake2b(tool_call_id.encode("utf-8", "surrogatepass"), digest_size=24).hexdigest()


def local_error(invocation: AgentInvocation, failure: AgentCapabilityError) -> InvocationError:
    """A result for what the registry can no longer answer."""
    return InvocationError(
        invocation_id=invocation.invocation_id or "",
        capability_id=invocation.capability_id,
        surface_version=invocation.surface_version or "",
        error=failure.payload,
    )


_NOT_DISPATCHED = frozenset(
    {
        ErrorCode.CAPABILITY_NOT_AVAILABLE,
        ErrorCode.PRECONDITION_FAILED,
        ErrorCode.RATE_LIMITED,
        ErrorCode.CANCELLED,
        ErrorCode.NOT_AUTHENTICATED,
    }
)


def _request_key(invocation: AgentInvocation) -> RequestKey | None:
    """What makes two calls equal; ``None`` for input that is no JSON, which is refused anyway."""
    value: JsonValue = {} if invocation.input is None else invocation.input
    try:
        return (f"{invocation.registration_id}#{invocation.capability_id}", canonical_json(value))
    except NotJsonError:
        return None


def _pending_id(result: AgentInvocationResult) -> str | None:
    if isinstance(result, InvocationError) and result.error.code is ErrorCode.CONFIRMATION_REQUIRED:
        found = result.error.details.get("confirmationId")
        return found if isinstance(found, str) else None
    return None


def _may_present_again(result: AgentInvocationResult) -> bool:
    """Whether evidence that went along was released: the call ended before it was dispatched."""
    return isinstance(result, InvocationError) and result.error.code in _NOT_DISPATCHED


def _refusal_reason(result: AgentInvocationResult) -> object:
    if isinstance(result, InvocationError) and result.error.code is ErrorCode.CONFIRMATION_INVALID:
        return result.error.details.get("reason")
    return None


def _used_up(result: AgentInvocationResult) -> bool:
    return _refusal_reason(result) in ("expired", "consumed", "mismatch")


def _is_denied(result: AgentInvocationResult) -> bool:
    return _refusal_reason(result) == "denied"


def _end_hold(release: Callable[[], None] | None) -> None:
    if release is not None:
        release()


def _tell(listener: WaitListener | None, wait: ConfirmationWait) -> None:
    if listener is None:
        return
    try:
        listener(wait)
    except Exception:  # noqa: BLE001  user code; logged with its traceback
        _log.exception("a listener of a waiting call failed")
