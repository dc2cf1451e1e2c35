"""Phase 1: one request, one execution. Join, replay or refuse by consumer and invocation id."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from agent_surface._base._canonical import write_canonical
from agent_surface._base._json import FrozenJson, NotJsonError, freeze_json, json_bytes
from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._ports import Clock, IdSource
from agent_surface._failures import conflict, invalid_input
from agent_surface._pipeline._call import Call
from agent_surface.errors import SchemaIssue
from agent_surface.invocation import AgentConsumer, AgentInvocation, AgentInvocationResult

MAX_ID_CHARACTERS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A terminal result that is still remembered for exactly this request."""

    result: AgentInvocationResult


@dataclass(slots=True, kw_only=True)
class _Settled:
    fingerprint: bytes
    result: AgentInvocationResult
    expires_at_ms: int


class Identity:
    """The window in which an invocation id stands for one request of one consumer (AS-IDENT-001 to 006).

    It is bounded by size and time and least recently used goes first. A call in flight is never forgotten.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        ids: IdSource,
        limits: AgentSurfaceLimits,
        create_future: Callable[[], asyncio.Future[object]],
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._create_future = create_future
        self._in_flight: dict[tuple[str, str], Call] = {}
        self._settled: OrderedDict[tuple[str, str], _Settled] = OrderedDict()

    @property
    def remembered(self) -> int:
        """How many terminal results are remembered."""
        return len(self._settled)

    @property
    def in_flight(self) -> tuple[Call, ...]:
        """Calls that have not settled."""
        return tuple(self._in_flight.values())

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
        known = self._in_flight.get(key) or self._find_settled(key)
        if known is not None:
            if known.fingerprint != fingerprint:
                raise conflict({"known": known.fingerprint.hex(), "presented": fingerprint.hex()})
            return Replay(result=known.result) if isinstance(known, _Settled) else (known, False)
        call = self._in_flight[key] = Call(
            request=request,
            consumer=consumer,
            key=key,
            fingerprint=fingerprint,
            agent_input=agent_input,
            requested_timeout_ms=requested_timeout_ms,
            started_ms=self._clock.monotonic_ms(),
            create_future=self._create_future,
        )
        return call, True

    def settle(self, call: Call, result: AgentInvocationResult, now_ms: int, *, cached: bool) -> None:
        """Remember a terminal outcome, or leave the key free for the retry that is expected.

        Args:
            call: Which is over.
            result: How it ended.
            now_ms: The moment it ended, on the monotonic clock.
            cached: Whether the outcome is remembered.
        """
        del self._in_flight[call.key]
        if not cached:
            return
        self._settled[call.key] = _Settled(
            fingerprint=call.fingerprint,
            result=result,
            expires_at_ms=now_ms + self._limits.dedupe_cache_ttl_ms,
        )
        if len(self._settled) > self._limits.dedupe_cache_size:
            self._settled.popitem(last=False)

    def clear(self) -> None:
        """Forget every terminal result."""
        self._settled.clear()

    def _find_settled(self, key: tuple[str, str]) -> _Settled | None:
        entry = self._settled.get(key)
        if entry is None:
            return None
        if entry.expires_at_ms <= self._clock.monotonic_ms():
            del self._settled[key]
            return None
        self._settled.move_to_end(key)
        return entry

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
