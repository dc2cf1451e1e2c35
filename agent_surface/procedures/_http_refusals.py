"""What an agent is told of a back end's refusal: the code, and nothing in the back end's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import cast

from agent_surface._base._json import JsonValue, json_pointer
from agent_surface._failures import (
    MAX_ISSUES,
    capability_error,
    execution_failed,
    invalid_input,
    not_authorized,
)
from agent_surface.errors import AgentCapabilityError, ErrorCode, SchemaIssue

MAX_RETRY_AFTER_MS = 86_400_000
"""Nobody is told to wait for more than a day."""

_NOT_ACCEPTED = "was not accepted by the back end"
_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z")
_MAX_READ = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpFailure:
    """An answer of a back end that is no success, for the application to map.

    Attributes:
        path: The procedure.
        status: The HTTP status.
        headers: Of the answer, names in lower case.
        body: The JSON of the answer; ``None`` when it was none, or too large.
        input: The effective input that was sent.
    """

    path: str
    status: int
    headers: Mapping[str, str]
    body: JsonValue
    input: Mapping[str, JsonValue]


def refusal_of(failure: HttpFailure) -> AgentCapabilityError:
    """The typed refusal of a status; see :class:`HttpExecutor`."""
    facts = MappingProxyType({"procedure": failure.path, "status": failure.status})
    match failure.status:
        case 401:
            return capability_error(ErrorCode.NOT_AUTHENTICATED, log_facts=facts)
        case 403:
            return not_authorized(facts, origin="server")
        case 409:
            return capability_error(ErrorCode.PRECONDITION_FAILED, log_facts=facts)
        case 422:
            return invalid_input(_issues(failure))
        case 428:
            # The pipeline makes the record the person answers, and composes its summary.
            return capability_error(ErrorCode.CONFIRMATION_REQUIRED, details={"origin": "server"}, log_facts=facts)
        case 429:
            return capability_error(
                ErrorCode.RATE_LIMITED,
                details={"reason": "rate", "retryAfterMs": _retry_after_ms(failure.headers)},
                log_facts=facts,
            )
        case status:
            transient = status >= 500
            return execution_failed(
                "transport",
                transient=transient,
                retry_after_ms=_retry_after_ms(failure.headers) if transient else None,
                log_facts=facts,
            )


def _retry_after_ms(headers: Mapping[str, str]) -> int | None:
    """``Retry-After`` as a duration. A date counts from the ``Date`` of the same answer: clocks differ."""
    said = headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return min(int(said[:9]) * 1_000, MAX_RETRY_AFTER_MS)
    try:
        wait = parsedate_to_datetime(said) - parsedate_to_datetime(headers.get("date", ""))
    except (ValueError, TypeError):
        return None
    return min(max(0, int(wait.total_seconds() * 1_000)), MAX_RETRY_AFTER_MS)


def _issues(failure: HttpFailure) -> list[SchemaIssue]:
    """Which parts of the input were refused, in words of ours.

    Three shapes are understood: ``{"issues": [{"path": "/a"}]}``, problem details with ``{"errors": [{"pointer":
    "#/a"}]}``, and ``{"detail": [{"loc": ["body", "a"]}]}``. A path could say anything, so only as much of it is told
    as leads through the input that was sent.
    """
    pointers = dict.fromkeys(_known(tokens, failure.input) for tokens in _places(failure.body))
    pointers.pop("", None)
    return [SchemaIssue(path=pointer, message=_NOT_ACCEPTED) for pointer in list(pointers)[:MAX_ISSUES]] or [
        SchemaIssue(path="", message=_NOT_ACCEPTED)
    ]


def _places(body: JsonValue) -> Iterator[list[str]]:
    """The paths a body names, as tokens."""
    if not isinstance(body, dict):
        return
    for key, name in (("issues", "path"), ("errors", "pointer"), ("detail", "loc")):
        entries = body.get(key)
        for entry in entries[:_MAX_READ] if isinstance(entries, list) else []:
            place = entry.get(name) if isinstance(entry, dict) else None
            if isinstance(place, str):
                yield [part.replace("~1", "/").replace("~0", "~") for part in place.removeprefix("#").split("/")[1:]]
            elif isinstance(place, list) and place[:1] == ["body"]:
                yield [str(part) for part in place[1:]]


def _known(tokens: list[str], value: object) -> str:
    """The pointer to the deepest part of ``value`` on this path."""
    found: list[str] = []
    for token in tokens:
        if isinstance(value, dict) and token in value:
            value = cast("dict[str, object]", value)[token]
        elif isinstance(value, list) and _INDEX.match(token) and int(token) < len(cast("list[object]", value)):
            value = cast("list[object]", value)[int(token)]
        else:
            break
        found.append(token)
    return json_pointer(found)
