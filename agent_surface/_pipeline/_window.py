"""The window in which an invocation id stands for one request of one consumer (AS-IDENT-001 to 006)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._ports import Clock
from agent_surface._pipeline._call import Call
from agent_surface.invocation import AgentInvocationResult


@dataclass(slots=True, kw_only=True)
class Settled:
    """What is remembered of a call: its request, as a digest, and how it ended."""

    fingerprint: bytes
    result: AgentInvocationResult
    expires_at_ms: int


class InvocationWindow:
    """Calls in flight, which are never forgotten, and terminal results, bounded by size and time.

    Least recently used goes first.
    """

    def __init__(self, *, clock: Clock, limits: AgentSurfaceLimits) -> None:
        self._clock = clock
        self._limits = limits
        self._in_flight: dict[tuple[str, str], Call] = {}
        self._settled: OrderedDict[tuple[str, str], Settled] = OrderedDict()

    @property
    def remembered(self) -> int:
        """How many terminal results are remembered."""
        return len(self._settled)

    @property
    def in_flight(self) -> tuple[Call, ...]:
        """Calls that have not settled."""
        return tuple(self._in_flight.values())

    def find(self, key: tuple[str, str]) -> Call | Settled | None:
        """What stands behind a consumer and an id."""
        return self._in_flight.get(key) or self._find_settled(key)

    def add(self, call: Call) -> None:
        """A call begins."""
        self._in_flight[call.key] = call

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
        self._settled[call.key] = Settled(
            fingerprint=call.fingerprint,
            result=result,
            expires_at_ms=now_ms + self._limits.dedupe_cache_ttl_ms,
        )
        if len(self._settled) > self._limits.dedupe_cache_size:
            self._settled.popitem(last=False)

    def clear(self) -> None:
        """Forget every terminal result."""
        self._settled.clear()

    def _find_settled(self, key: tuple[str, str]) -> Settled | None:
        entry = self._settled.get(key)
        if entry is None:
            return None
        if entry.expires_at_ms <= self._clock.monotonic_ms():
            del self._settled[key]
            return None
        self._settled.move_to_end(key)
        return entry
