"""Phase 10: one call, one result. The only place where results are made."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType

from agent_surface._base._json import FrozenJson, NotJsonError, freeze_json, json_bytes
from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._ports import Clock
from agent_surface._base._user_errors import USER_ERRORS
from agent_surface._failures import execution_failed, is_cacheable
from agent_surface._pipeline._call import Call
from agent_surface._pipeline._window import InvocationWindow
from agent_surface._registrations import SurfaceVersion
from agent_surface.audit import AuditRecord
from agent_surface.errors import (
    AgentCapabilityError,
    AgentSchemaError,
    AgentSurfaceDefectError,
    CapabilityErrorPayload,
)
from agent_surface.events import InvocationSettled
from agent_surface.events._dispatcher import EventDispatcher
from agent_surface.invocation import (
    AgentConsumer,
    AgentInvocation,
    AgentInvocationResult,
    AuditLevel,
    InvocationError,
    InvocationOk,
)

NO_FACTS: Mapping[str, object] = MappingProxyType({})

logger = logging.getLogger("agent_surface.pipeline")

MAX_SHOWN = 128
"""How much of an id that is none is kept."""


class Settlement:
    """Checks outputs, makes results, and tells everybody who has to know."""

    def __init__(
        self,
        *,
        clock: Clock,
        limits: AgentSurfaceLimits,
        version: SurfaceVersion,
        events: EventDispatcher,
        record: Callable[[AuditRecord], None],
        window: InvocationWindow,
        before_settlement: Callable[[], None] | None,
    ) -> None:
        self._clock = clock
        self._limits = limits
        self._version = version
        self._events = events
        self._record = record
        self._window = window
        self._before_settlement = before_settlement

    def check_output(self, call: Call, value: object) -> tuple[FrozenJson, bool]:
        """The handler's value as frozen JSON, and whether there is any.

        Raises:
            AgentCapabilityError: ``EXECUTION_FAILED``: the value breaks its schema, is too large, or is no JSON (then
                the call also has a defect that ``invoke`` raises outside production).
        """
        live = call.capability
        schema = live.output
        if schema is None:
            if value is None:
                return None, False
            call.defect = AgentSurfaceDefectError(
                f"{live.capability_id} returned a {type(value).__name__} but declares no output"
            )
            raise execution_failed("output-invalid", log_facts={"cause": str(call.defect)})
        try:
            frozen = freeze_json(schema.dump(value))
        except NotJsonError as error:
            call.defect = AgentSurfaceDefectError(f"the output of {live.capability_id} is no JSON: {error}")
            raise execution_failed("output-invalid", log_facts={"cause": str(error)}) from error
        except AgentSchemaError as error:
            logger.exception("the output of %s breaks its schema", live.capability_id)
            raise execution_failed("output-invalid", log_facts={"cause": str(error)}) from error
        size_bytes = json_bytes(frozen)
        if size_bytes > self._limits.max_output_bytes:
            logger.error(
                "the output of %s has %d bytes; the limit is %d",
                live.capability_id,
                size_bytes,
                self._limits.max_output_bytes,
            )
            raise execution_failed("output-too-large", log_facts={"size_bytes": size_bytes})
        return frozen, True

    def succeed(self, call: Call, output: FrozenJson, *, has_output: bool) -> None:
        """Settle with a value, unless somebody is settling the call already."""
        self._conclude(call, output=output, has_output=has_output)

    def fail(self, call: Call, error: AgentCapabilityError) -> None:
        """Settle with a refusal, unless somebody is settling the call already."""
        self._conclude(call, error=error)

    def refuse(self, request: AgentInvocation, consumer: AgentConsumer, error: AgentCapabilityError) -> InvocationError:
        """Answer a request that never became a call; it is in the audit and nowhere else."""
        invocation_id = request.invocation_id[:MAX_SHOWN] if isinstance(request.invocation_id, str) else ""
        result = _error_result(invocation_id, request.capability_id, error.payload, self._version.text, False)
        logger.info("refused before resolution: %s %s", error.payload.code, dict(error.log_facts))
        self._record(
            AuditRecord(
                kind="invocation",
                at_ms=self._clock.now_ms(),
                capability_id=result.capability_id[:MAX_SHOWN],
                consumer_key=consumer.key,
                invocation_id=invocation_id,
                status=result.status,
                code=error.payload.code,
                phase=1,
                facts=error.log_facts,
            )
        )
        return result

    def late(self, call: Call, status: str) -> None:
        """A handler ended after its call had settled; nothing changes any more (AS-CONC-011)."""
        if not call.dispatched:
            return
        self._record(
            AuditRecord(
                kind="late-settlement",
                at_ms=self._clock.now_ms(),
                capability_id=call.capability.capability_id,
                consumer_key=call.consumer_key,
                registration_id=call.registration.registration_id,
                invocation_id=call.invocation_id,
                status=status,
            )
        )

    def _conclude(
        self,
        call: Call,
        *,
        output: FrozenJson = None,
        has_output: bool = False,
        error: AgentCapabilityError | None = None,
    ) -> None:
        if call.settling:
            return
        call.settling = True
        if not call.dispatched or self._before_settlement is None:
            self._settle(call, output, has_output, error)
            return
        # What the hook does is heard of together with the settlement, also by listeners that it drops.
        self._events.hold()
        try:
            self._before_settlement()
        except USER_ERRORS:
            logger.exception("pushing availability before a settlement raised")
        finally:
            # Whatever it raises, the call has its result.
            try:
                self._settle(call, output, has_output, error)
            finally:
                self._events.release()

    def _settle(self, call: Call, output: FrozenJson, has_output: bool, error: AgentCapabilityError | None) -> None:
        version = self._version.text
        # Whether the surface moved while the handler ran (AS-RESULT-001).
        changed = call.version_before is not None and call.version_before != version
        result: AgentInvocationResult
        if error is None:
            payload, cached, facts = None, True, NO_FACTS
            result = InvocationOk(
                invocation_id=call.invocation_id,
                capability_id=call.request.capability_id,
                surface_version=version,
                output=output,
                has_output=has_output,
                surface_changed=changed,
            )
        else:
            payload, facts = error.payload, error.log_facts
            cached = is_cacheable(payload)
            result = _error_result(call.invocation_id, call.request.capability_id, payload, version, changed)
        if call.timer is not None:
            call.timer.cancel()
            call.timer = None
        call.result = result
        if call.leave_queue is not None:
            call.leave_queue()
        if call.claim is not None:
            # Consumed evidence stays consumed; what the call held in vain works again (AS-INVOKE-007).
            call.claim.release()
        live = call.live
        if live is not None:
            live.registration.active_calls.pop(call, None)
        now_ms = self._clock.monotonic_ms()
        self._window.settle(call, result, now_ms, cached=cached)
        future = call.future
        if future is not None and not future.done():
            # Those who wait are woken in a later turn, after everybody below was told.
            future.set_result(None)
        if call.dispatched:
            call.execution_ms = now_ms - call.dispatched_ms
        if self._events.has_listeners:
            self._events.emit(
                InvocationSettled(
                    invocation_id=call.invocation_id,
                    capability_id=result.capability_id,
                    status=result.status,
                    duration_ms=now_ms - call.started_ms,
                    code=payload.code if payload is not None else None,
                )
            )
        self._write(call, result, facts, payload)

    def _write(
        self,
        call: Call,
        result: AgentInvocationResult,
        facts: Mapping[str, object],
        payload: CapabilityErrorPayload | None,
    ) -> None:
        live = call.live
        level = live.audit if live is not None else AuditLevel.METADATA
        if level is AuditLevel.NONE:
            return
        self._record(
            AuditRecord(
                kind="invocation",
                at_ms=self._clock.now_ms(),
                capability_id=result.capability_id,
                consumer_key=call.consumer_key,
                registration_id=live.registration.registration_id if live is not None else None,
                invocation_id=call.invocation_id,
                status=result.status,
                code=payload.code if payload is not None else None,
                phase=call.phase,
                queue_wait_ms=call.queue_wait_ms,
                execution_ms=call.execution_ms,
                input=call.effective_input if level is AuditLevel.FULL else None,
                confirmation_id=call.evidence.id if call.evidence is not None else None,
                facts=facts,
            )
        )


def _error_result(
    invocation_id: str, capability_id: object, payload: CapabilityErrorPayload, version: str, changed: bool
) -> InvocationError:
    return InvocationError(
        invocation_id=invocation_id,
        capability_id=capability_id if isinstance(capability_id, str) else "",
        surface_version=version,
        error=payload,
        surface_changed=changed,
    )
