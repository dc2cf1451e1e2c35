"""Every text and shape of an error an agent can be told, in one place (AS-ERR-001, AS-ERR-002).

The table says which details belong to a code, what a caller should do before it tries again, and whether the
outcome is remembered under its invocation id. Messages are imperative, at most 300 characters, and name no
internals; what only the log may say travels in ``AgentCapabilityError.log_facts``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

from agent_surface._base._json import FrozenJson, JsonValue, find_json_problem, freeze_json, thaw_json
from agent_surface.errors import AgentCapabilityError, CapabilityErrorPayload, ErrorCode, Retry, SchemaIssue

logger = logging.getLogger("agent_surface.pipeline")

MAX_MESSAGE_CHARACTERS = 300
MAX_ISSUES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSpec:
    """What the table says of one code: its phases, default retry hint, cacheability and detail keys."""

    phases: frozenset[int]
    retry: Retry
    cached: bool
    details: frozenset[str]


def _spec(phases: str, retry: Retry, cached: bool, details: str = "") -> ErrorSpec:
    return ErrorSpec(
        phases=frozenset(int(phase) for phase in phases.split()),
        retry=retry,
        cached=cached,
        details=frozenset(details.split()),
    )


ERROR_TABLE: Mapping[ErrorCode, ErrorSpec] = MappingProxyType(
    {
        ErrorCode.CAPABILITY_NOT_FOUND: _spec("2 4", Retry.AFTER_REFRESH, True),
        ErrorCode.CAPABILITY_NOT_AVAILABLE: _spec("3 4 9", Retry.AFTER_REFRESH, True, "reason"),
        ErrorCode.AMBIGUOUS_INSTANCE: _spec("2", Retry.WITH_CHANGES, True, "instances"),
        ErrorCode.COMPONENT_UNMOUNTED: _spec("2 4 6 8 9", Retry.AFTER_REFRESH, True, "phase"),
        ErrorCode.STALE_CAPABILITY: _spec("2", Retry.AFTER_REFRESH, True, "reason liveRegistrationId"),
        ErrorCode.INVOCATION_CONFLICT: _spec("1", Retry.WITH_CHANGES, False, "reason"),
        ErrorCode.INVALID_INPUT: _spec("1 5 9", Retry.WITH_CHANGES, True, "issues lockedFields"),
        ErrorCode.NOT_AUTHENTICATED: _spec("4 6 9", Retry.NO, True),
        ErrorCode.NOT_AUTHORIZED: _spec("4 6 9", Retry.NO, True, "origin"),
        # The author's own details travel with a failed precondition, so its keys are not closed.
        ErrorCode.PRECONDITION_FAILED: _spec("5 7 9", Retry.WITH_CHANGES, True, "*"),
        ErrorCode.CONFIRMATION_REQUIRED: _spec(
            "6 9", Retry.WITH_CONFIRMATION, False, "confirmationId summary expiresAt effect origin"
        ),
        ErrorCode.CONFIRMATION_INVALID: _spec("6", Retry.NO, True, "reason note"),
        ErrorCode.RATE_LIMITED: _spec("4 6 8 9", Retry.AFTER_DELAY, False, "reason retryAfterMs"),
        ErrorCode.TIMEOUT: _spec("9", Retry.NO, True, "timeoutMs idempotent"),
        ErrorCode.CANCELLED: _spec("4 6 8 9", Retry.YES, True),
        ErrorCode.EXECUTION_FAILED: _spec("9 10", Retry.NO, True, "reason transient retryAfterMs"),
    }
)

_MESSAGES: Mapping[ErrorCode, str] = MappingProxyType(
    {
        ErrorCode.CAPABILITY_NOT_FOUND: "No such capability. Read the catalogue again and use a capability it lists.",
        ErrorCode.CAPABILITY_NOT_AVAILABLE: "The capability cannot be used right now.",
        ErrorCode.AMBIGUOUS_INSTANCE: "Several components offer this capability. Name the instance.",
        ErrorCode.COMPONENT_UNMOUNTED: "The component is gone. Read the catalogue again.",
        ErrorCode.STALE_CAPABILITY: "The catalogue has moved on. Read it again, and repeat the call if it still fits.",
        ErrorCode.INVOCATION_CONFLICT: "This invocation id stands for another request. Use a new id for a new one.",
        ErrorCode.INVALID_INPUT: "The input does not satisfy the schema. Correct the listed issues.",
        ErrorCode.NOT_AUTHENTICATED: "Nobody is signed in. Ask the person to sign in.",
        ErrorCode.NOT_AUTHORIZED: "The person or assistant may not do this. Do not try again.",
        ErrorCode.PRECONDITION_FAILED: "The call does not fit the present state.",
        ErrorCode.CONFIRMATION_REQUIRED: "A person must approve this. Repeat the call with the confirmation id then.",
        ErrorCode.CONFIRMATION_INVALID: "The confirmation cannot be used for this call.",
        ErrorCode.RATE_LIMITED: "Too many calls. Wait before trying again.",
        ErrorCode.TIMEOUT: "The call took too long and was given up. It may still have had an effect.",
        ErrorCode.CANCELLED: "The call was cancelled.",
        ErrorCode.EXECUTION_FAILED: "The capability failed.",
    }
)


def usual_message(code: ErrorCode) -> str:
    """What an agent is told of an error about which nobody says anything else."""
    return _MESSAGES[code]


def clip_message(text: str) -> str:
    """``text`` within the length an agent-visible message may have."""
    return text if len(text) <= MAX_MESSAGE_CHARACTERS else text[: MAX_MESSAGE_CHARACTERS - 1] + "…"


def capability_error(
    code: ErrorCode,
    *,
    message: str | None = None,
    retry: Retry | None = None,
    details: Mapping[str, JsonValue] | None = None,
    log_facts: Mapping[str, object] | None = None,
) -> AgentCapabilityError:
    """Make a typed refusal, for policies, preconditions and procedure executors.

    Args:
        code: One of the closed set.
        message: Agent-visible text, cut at 300 characters; the code's own text when absent.
        retry: The code's own hint when absent.
        details: JSON; keys that do not belong to the code are dropped.
        log_facts: What only the log and the audit may say.

    Raises:
        ValueError: ``details`` is no JSON.
    """
    spec = ERROR_TABLE[code]
    frozen: dict[str, FrozenJson] = {}
    for key, value in (details or {}).items():
        if value is not None and ("*" in spec.details or key in spec.details):
            frozen[key] = freeze_json(value)
    return AgentCapabilityError(
        CapabilityErrorPayload(
            code=code,
            message=clip_message(message if message else _MESSAGES[code]),
            retry=retry if retry is not None else spec.retry,
            details=MappingProxyType(frozen),
        ),
        log_facts=log_facts,
    )


def held_to_table(error: AgentCapabilityError, phase: int) -> AgentCapabilityError:
    """``error`` itself when it says no more than the table allows in this phase, else what may be said of it.

    The application's own code raises refusals too and can make their payload by hand; to an agent none of them is more
    than one of the closed set.
    """
    if _is_by_the_table(error.payload, phase):
        return error
    payload = error.payload
    logger.error("%s does not belong to phase %d, or carries more than it may", payload.code, phase)
    facts = {**error.log_facts, "raised": str(payload.code)}
    code = next((known for known in ErrorCode if known == payload.code), None)
    if code is None or phase not in ERROR_TABLE[code].phases or _asks_nobody(payload, phase):
        return _of_phase(phase, facts)
    details: dict[str, JsonValue] = {}
    for key, value in _entries(payload.details):
        if isinstance(key, str) and find_json_problem(value, frozen=True) is None:
            details[key] = thaw_json(value)
    return capability_error(
        code,
        message=payload.message if isinstance(payload.message, str) else None,
        retry=payload.retry if isinstance(payload.retry, Retry) else None,
        details=details,
        log_facts=facts,
    )


def _is_by_the_table(payload: CapabilityErrorPayload, phase: int) -> bool:
    details: Mapping[str, FrozenJson] = payload.details
    if type(payload.code) is not ErrorCode or not _is_frozen(details):
        return False
    spec = ERROR_TABLE[payload.code]
    return (
        phase in spec.phases
        and isinstance(payload.retry, Retry)
        and isinstance(payload.message, str)
        and 0 < len(payload.message) <= MAX_MESSAGE_CHARACTERS
        and ("*" in spec.details or details.keys() <= spec.details)
        and find_json_problem(details, frozen=True) is None
        and not _asks_nobody(payload, phase)
    )


def _asks_nobody(payload: CapabilityErrorPayload, phase: int) -> bool:
    """A demand for a confirmation, before the handler, that no request of a person stands behind."""
    return (
        payload.code == ErrorCode.CONFIRMATION_REQUIRED
        and phase < 9
        and "confirmationId" not in dict(_entries(payload.details))
    )


def _is_frozen(details: object) -> bool:
    return type(details) is MappingProxyType


def _entries(details: object) -> list[tuple[object, FrozenJson]]:
    return list(cast("Mapping[object, FrozenJson]", details).items()) if isinstance(details, Mapping) else []


def _of_phase(phase: int, facts: Mapping[str, object]) -> AgentCapabilityError:
    """What is said in place of an error that does not belong to a phase."""
    if phase <= 6:
        return not_authorized(facts)
    if phase == 7:
        return capability_error(ErrorCode.PRECONDITION_FAILED, log_facts=facts)
    return execution_failed("handler-error", log_facts=facts)


def is_cacheable(payload: CapabilityErrorPayload) -> bool:
    """Whether the outcome is terminal for its invocation id, or leaves the key free for the expected retry."""
    if payload.code is ErrorCode.CONFIRMATION_INVALID and payload.details.get("reason") == "expired":
        return False
    return ERROR_TABLE[payload.code].cached


def not_found() -> AgentCapabilityError:
    """The one answer for an unknown, malformed or hidden capability."""
    return capability_error(ErrorCode.CAPABILITY_NOT_FOUND)


def not_available(reason: str) -> AgentCapabilityError:
    """State forbids the capability right now; ``reason`` is the descriptor's."""
    return capability_error(ErrorCode.CAPABILITY_NOT_AVAILABLE, details={"reason": clip_message(reason)})


def ambiguous_instance(instances: Sequence[str]) -> AgentCapabilityError:
    """Several visible components match; ``instances`` are theirs, sorted."""
    return capability_error(ErrorCode.AMBIGUOUS_INSTANCE, details={"instances": list(instances)})


def unmounted(phase: str) -> AgentCapabilityError:
    """The component went; ``phase`` is ``resolve``, ``queued`` or ``mid-flight``."""
    return capability_error(ErrorCode.COMPONENT_UNMOUNTED, details={"phase": phase})


def stale(reason: str, live_registration_id: str | None = None) -> AgentCapabilityError:
    """The caller's token is older than the surface."""
    return capability_error(
        ErrorCode.STALE_CAPABILITY, details={"reason": reason, "liveRegistrationId": live_registration_id}
    )


def conflict(log_facts: Mapping[str, object]) -> AgentCapabilityError:
    """The invocation id belongs to another request; both fingerprints are for the log alone."""
    return capability_error(
        ErrorCode.INVOCATION_CONFLICT, details={"reason": "id-reused-with-different-request"}, log_facts=log_facts
    )


def invalid_input(issues: Sequence[SchemaIssue], locked_fields: Sequence[str] = ()) -> AgentCapabilityError:
    """The input was refused; at most 20 issues are told."""
    details: dict[str, JsonValue] = {
        "issues": [{"path": issue.path, "message": clip_message(issue.message)} for issue in issues[:MAX_ISSUES]]
    }
    if locked_fields:
        details["lockedFields"] = list(locked_fields)
    return capability_error(ErrorCode.INVALID_INPUT, details=details)


def not_authorized(log_facts: Mapping[str, object] | None = None, *, origin: str = "client") -> AgentCapabilityError:
    """A policy (``client``) or the back end (``server``) said no."""
    return capability_error(ErrorCode.NOT_AUTHORIZED, details={"origin": origin}, log_facts=log_facts)


def precondition_failed(message: str, details: Mapping[str, JsonValue] | None = None) -> AgentCapabilityError:
    """The author's check against live state failed, in the author's words."""
    return capability_error(ErrorCode.PRECONDITION_FAILED, message=message, details=details)


def binding_failed(log_facts: Mapping[str, object] | None = None) -> AgentCapabilityError:
    """What the screen supplies does not make a valid input now."""
    return capability_error(
        ErrorCode.PRECONDITION_FAILED,
        message="What the screen shows does not make a valid input for this. Read the state again.",
        retry=Retry.AFTER_REFRESH,
        details={"reason": "binding-failed"},
        log_facts=log_facts,
    )


def confirmation_required(
    *, confirmation_id: str, summary: str, expires_at: str, effect: str, origin: str
) -> AgentCapabilityError:
    """A person must decide: a step of the protocol, not a failure."""
    return capability_error(
        ErrorCode.CONFIRMATION_REQUIRED,
        details={
            "confirmationId": confirmation_id,
            "summary": clip_message(summary),
            "expiresAt": expires_at,
            "effect": effect,
            "origin": origin,
        },
    )


def confirmation_invalid(reason: str, note: str | None = None) -> AgentCapabilityError:
    """Presented evidence does not count: ``expired``, ``denied``, ``consumed`` or ``mismatch``."""
    messages = {
        "expired": "The confirmation expired before it was used. Ask again if it is still wanted.",
        "denied": "The person said no. Do not ask again.",
        "consumed": "The confirmation was used before.",
        "mismatch": "The confirmation was given for another request.",
    }
    return capability_error(
        ErrorCode.CONFIRMATION_INVALID,
        message=messages[reason],
        retry=Retry.WITH_CONFIRMATION if reason == "expired" else Retry.NO,
        details={"reason": reason, "note": note},
    )


def rate_limited(reason: str, retry_after_ms: int | None = None) -> AgentCapabilityError:
    """A bound was reached: ``rate``, ``queue-full`` or ``confirmations-full``."""
    return capability_error(ErrorCode.RATE_LIMITED, details={"reason": reason, "retryAfterMs": retry_after_ms})


def timed_out(timeout_ms: int, *, idempotent: bool) -> AgentCapabilityError:
    """The handler did not end in time; only an idempotent capability may simply be tried again."""
    return capability_error(
        ErrorCode.TIMEOUT,
        retry=Retry.YES if idempotent else Retry.NO,
        details={"timeoutMs": timeout_ms, "idempotent": idempotent},
    )


TAKEN_OVER = "A person has taken control of the application. Wait until they hand it back."


def taken_over() -> AgentCapabilityError:
    """A person took control while the call ran."""
    return capability_error(ErrorCode.CANCELLED, message=TAKEN_OVER, retry=Retry.NO)


def cancelled(*, closed: bool = False) -> AgentCapabilityError:
    """The caller, or the end of the registry, cancelled the call."""
    return capability_error(
        ErrorCode.CANCELLED,
        message="The application is closing." if closed else None,
        retry=Retry.NO if closed else Retry.YES,
    )


def execution_failed(
    reason: str,
    *,
    transient: bool | None = None,
    retry_after_ms: int | None = None,
    log_facts: Mapping[str, object] | None = None,
) -> AgentCapabilityError:
    """The handler failed: ``handler-error``, ``output-invalid``, ``output-too-large`` or ``transport``."""
    messages = {
        "handler-error": "The capability failed while it ran. It may have had an effect.",
        "output-invalid": "The capability ran but its answer was not usable.",
        "output-too-large": "The capability ran but its answer was too large. Ask for less.",
        "transport": "The back end could not be reached or did not answer properly.",
    }
    return capability_error(
        ErrorCode.EXECUTION_FAILED,
        message=messages[reason],
        retry=Retry.AFTER_DELAY if transient else Retry.NO,
        details={"reason": reason, "transient": transient, "retryAfterMs": retry_after_ms},
        log_facts=log_facts,
    )
