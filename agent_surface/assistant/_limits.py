"""What one turn may do: how many calls, how often the same failing one, and nothing a person has refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from agent_surface import _failures
from agent_surface.assistant._replies import DENIED_GUIDANCE, LIMIT_GUIDANCE, REPEATED_GUIDANCE, is_denial
from agent_surface.errors import CapabilityErrorPayload, ErrorCode, Retry
from agent_surface.invocation import AgentInvocationResult, InvocationError, InvocationOk

CallKey: TypeAlias = tuple[str, str]
"""Tool name and canonical input: what makes two calls the same."""

MAX_FAILURES = 3
"""Attempts of one failing call: the first and two repetitions."""

MAX_EXCESS = 8
"""Calls beyond the limit that still get a polite answer before the turn is ended by force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A call the session does not make: what the model is told instead."""

    error: CapabilityErrorPayload
    guidance: str


class TurnLimits:
    """Counts the calls of one turn.

    Args:
        max_steps: Most calls in the turn.
    """

    def __init__(self, *, max_steps: int) -> None:
        self._max_steps = max_steps
        self._steps = 0
        self._failures: dict[CallKey, tuple[int, CapabilityErrorPayload]] = {}
        self._denied: dict[CallKey, CapabilityErrorPayload] = {}

    @property
    def exhausted(self) -> bool:
        """Whether a call was refused because there were too many."""
        return self._steps > self._max_steps

    @property
    def overrun(self) -> bool:
        """Whether the back end keeps calling although it was told to stop."""
        return self._steps > self._max_steps + MAX_EXCESS

    def admit(self, key: CallKey) -> Refusal | None:
        """Count a call; the reason why it is not made, or ``None`` when it may be."""
        self._steps += 1
        if self._steps > self._max_steps:
            error = _failures.capability_error(
                ErrorCode.RATE_LIMITED,
                message=f"The limit of {self._max_steps} calls for one turn is reached.",
                retry=Retry.NO,
            )
            return Refusal(error=error.payload, guidance=LIMIT_GUIDANCE)
        denied = self._denied.get(key)
        if denied is not None:
            return Refusal(error=denied, guidance=DENIED_GUIDANCE)
        count, last = self._failures.get(key, (0, None))
        if last is not None and count >= MAX_FAILURES:
            return Refusal(error=last, guidance=REPEATED_GUIDANCE)
        return None

    def record(self, key: CallKey, result: AgentInvocationResult) -> None:
        """Learn how a call ended."""
        if isinstance(result, InvocationOk):
            self._failures.pop(key, None)
            return
        if is_denial(result):
            self._denied[key] = result.error
        count, _ = self._failures.get(key, (0, None))
        self._failures[key] = (count + 1, result.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryHint:
    """What to do mechanically before the same call is made again; ``delay_ms`` of zero means at once."""

    delay_ms: int


MAX_RETRY_DELAY_MS = 5_000
MAX_DELAYED_RETRIES = 2
DEFAULT_RETRY_DELAY_MS = 250


def plan_retry(
    result: AgentInvocationResult, *, attempt: int, repeatable: bool, refreshed: Callable[[], bool]
) -> RetryHint | None:
    """Whether the session repeats a call by itself, as the result's retry hint says.

    Only what cannot happen twice is repeated: calls that were not dispatched, and those that may be repeated. A call
    with an effect whose component or surface moved is never repeated on the successor: it may show something else,
    and only the model, having seen the new catalogue, can tell whether the call still makes sense.

    Args:
        result: How the call ended.
        attempt: Repetitions made so far.
        repeatable: Whether the capability only reads, so that it may be repeated on whatever is there now.
        refreshed: Reads the catalogue again; whether the same tool is there and available.
    """
    if not isinstance(result, InvocationError):
        return None
    error = result.error
    if error.retry is Retry.AFTER_DELAY:
        undispatched = error.code is ErrorCode.RATE_LIMITED
        asked = error.details.get("retryAfterMs")
        delay_ms = int(asked) if isinstance(asked, int | float) and asked > 0 else DEFAULT_RETRY_DELAY_MS
        if attempt >= MAX_DELAYED_RETRIES or delay_ms > MAX_RETRY_DELAY_MS or not (undispatched or repeatable):
            return None
        return RetryHint(delay_ms=delay_ms)
    if error.retry is Retry.AFTER_REFRESH and refreshed() and repeatable and attempt == 0:
        return RetryHint(delay_ms=0)
    return None
