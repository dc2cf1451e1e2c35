"""Phase 1: one request, one execution. Join, replay or refuse by consumer and invocation id."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from agent_surface._base._canonical import write_canonical
from agent_surface._base._json import FrozenJson, NotJsonError, freeze_json, json_bytes
from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._ports import Clock, IdSource
from agent_surface._failures import conflict, invalid_input
from agent_surface._pipeline._call import Call
from agent_surface._pipeline._window import InvocationWindow, Settled
from agent_surface.errors import SchemaIssue
from agent_surface.invocation import AgentConsumer, AgentInvocation, AgentInvocationResult

MAX_ID_CHARACTERS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A terminal result that is still remembered for exactly this request."""

    result: AgentInvocationResult


class Identity:
    """Opens calls: gives each an id and a fingerprint, and finds the one that is meant by a repetition."""

    def __init__(
        self,
        *,
        clock: Clock,
        ids: IdSource,
        limits: AgentSurfaceLimits,
        window: InvocationWindow,
        create_future: Callable[[], asyncio.Future[object]],
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._window = window
        self._create_future = create_future

    def open(
        self, request: AgentInvocation, consumer: AgentConsumer, requested_timeout_ms: int | None
    ) -> tuple[Call, bool] | Replay:
        """A new call, or the one in flight to join (``False``), or the result to replay.

        Raises:
            AgentCapabilityError: ``INVALID_INPUT`` for input that is no JSON or too large, or an id that is none;
                ``INVOCATION_CONFLICT`` for an id that stands for another request. Neither is remembered.
        """
        agent_input = _frozen_input(request)
        input_text = write_canonical(agent_input)
        self._check_size(agent_input, input_text)
        invocation_id = request.invocation_id
        if invocation_id is None:
            invocation_id = f"inv_{self._ids.token(22)}"
        elif not isinstance(invocation_id, str) or not 0 < len(invocation_id) <= MAX_ID_CHARACTERS:
            raise invalid_input([SchemaIssue(path="/invocationId", message="must have 1 to 128 characters")])
        fingerprint = _fingerprint(request, input_text)
        key = (consumer.key, invocation_id)
        known = self._window.find(key)
        if known is not None:
            if known.fingerprint != fingerprint:
                raise conflict({"known": known.fingerprint.hex(), "presented": fingerprint.hex()})
            return Replay(result=known.result) if isinstance(known, Settled) else (known, False)
        call = Call(
            request=request,
            consumer=consumer,
            key=key,
            fingerprint=fingerprint,
            agent_input=agent_input,
            requested_timeout_ms=requested_timeout_ms,
            started_ms=self._clock.monotonic_ms(),
            create_future=self._create_future,
        )
        self._window.add(call)
        return call, True

    def _check_size(self, agent_input: FrozenJson, canonical: str) -> None:
        most = self._limits.max_input_bytes
        # No number is written more than four times as long as in canonical form (-0.0 is), and no character in more
        # bytes: what is small by that measure need not be written once more to be measured.
        if len(canonical) * _MOST_BYTES_A_CHARACTER > most and json_bytes(agent_input) > most:
            raise invalid_input([SchemaIssue(path="", message=f"must not be larger than {most} bytes")])


_MOST_BYTES_A_CHARACTER = 4


def _frozen_input(request: AgentInvocation) -> FrozenJson:
    if request.input is None:
        return None
    try:
        return freeze_json(request.input)
    except NotJsonError as error:
        raise invalid_input([SchemaIssue(path=error.path, message=error.reason)]) from error


def _fingerprint(request: AgentInvocation, input_text: str) -> bytes:
    """A digest of everything the caller said, as issued; the order of keys in its input says nothing."""
    named: tuple[object, ...] = (
        request.capability_id,
        request.confirmation_id,
        request.instance_id,
        request.registration_id,
        request.surface_version,
    )
    if not _TEXT_OR_NONE.issuperset(map(type, named)):
        named = tuple(map(_stand_in, named))
    return hashlib.blake2b(f"{named!r}{input_text}".encode(), digest_size=32).digest()


_TEXT_OR_NONE = frozenset({str, type(None)})


def _stand_in(value: object) -> str | None:
    """A caller in the same process may hand in anything; this keeps the digest total, and resolution refuses it."""
    if value is None:
        return None
    return str.__str__(value) if isinstance(value, str) else f"<{type(value).__name__}>"
