"""The table of errors an agent can be told: the one in the specification, the one in the code, and what calls do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import pytest

from agent_surface import AgentCapabilityError, JsonValue
from agent_surface._failures import (
    ERROR_TABLE,
    ambiguous_instance,
    binding_failed,
    cancelled,
    capability_error,
    confirmation_invalid,
    confirmation_required,
    conflict,
    execution_failed,
    invalid_input,
    is_cacheable,
    not_authorized,
    not_available,
    not_found,
    precondition_failed,
    rate_limited,
    stale,
    timed_out,
    unmounted,
)
from agent_surface.errors import ErrorCode, SchemaIssue

MATRIX = Path(__file__).resolve().parent.parent.parent / "resources" / "spec" / "error_matrix.json"


class Row(TypedDict):
    """One code. The kind of a detail is the name of a type, or the values it may have."""

    phases: list[int]
    retry: str
    retryWhen: NotRequired[dict[str, str]]
    cached: bool
    notCachedWhen: NotRequired[str]
    details: dict[str, str | list[str]]


ROWS = cast("Mapping[str, Row]", json.loads(MATRIX.read_text(encoding="utf-8")))


@pytest.mark.requirement("AS-ERR-001")
def test_the_code_has_the_table_of_the_specification() -> None:
    """Codes, phases, usual retry hint, cacheability and details, one by one."""
    in_code = {
        code.value: (sorted(spec.phases), spec.retry.value, spec.cached, sorted(spec.details - {"*"}))
        for code, spec in ERROR_TABLE.items()
    }
    specified = {
        code: (row["phases"], row["retry"], row["cached"], [] if "*" in row["details"] else sorted(row["details"]))
        for code, row in ROWS.items()
    }
    assert in_code == specified
    assert set(ROWS) == {code.value for code in ErrorCode}
    assert {code.value for code, spec in ERROR_TABLE.items() if "*" in spec.details} == {"PRECONDITION_FAILED"}


MADE: Sequence[AgentCapabilityError] = [
    not_found(),
    not_available("not now"),
    ambiguous_instance(["a", "b"]),
    *[unmounted(phase) for phase in ("resolve", "queued", "mid-flight")],
    *[stale(reason, "reg_1") for reason in ("registration-replaced", "surface-reloaded", "surface-version-mismatch")],
    conflict({"known": "a", "presented": "b"}),
    invalid_input([SchemaIssue(path="/a", message="is wrong")], ["b"]),
    capability_error(ErrorCode.NOT_AUTHENTICATED),
    *[not_authorized(origin=origin) for origin in ("client", "server")],
    precondition_failed("Select one first.", {"selected": 0}),
    binding_failed(),
    *[
        confirmation_required(
            confirmation_id="cnf_1",
            summary="Do it",
            expires_at="2026-01-01T00:00:00.000Z",
            effect="none",
            origin=origin,
        )
        for origin in ("client", "server")
    ],
    *[confirmation_invalid(reason, "no") for reason in ("expired", "denied", "consumed", "mismatch")],
    *[rate_limited(reason, 5) for reason in ("rate", "queue-full", "confirmations-full")],
    *[timed_out(5, idempotent=idempotent) for idempotent in (True, False)],
    *[cancelled(closed=closed) for closed in (True, False)],
    *[
        execution_failed(reason, transient=transient, retry_after_ms=5)
        for reason in ("handler-error", "output-invalid", "output-too-large", "transport")
        for transient in (True, False)
    ],
]


def _shape(error: AgentCapabilityError) -> str:
    details = json.dumps({key: str(value) for key, value in error.payload.details.items()})
    return f"{error.payload.code.value} {details} {error.payload.retry.value}"


@pytest.mark.requirement("AS-ERR-001")
@pytest.mark.parametrize("error", MADE, ids=_shape)
def test_every_refusal_the_code_makes_is_one_the_table_allows(error: AgentCapabilityError) -> None:
    """Its details have the table's keys and values, and its hint and cacheability follow from them."""
    row = ROWS[error.payload.code.value]
    said = cast("dict[str, JsonValue]", error.payload.to_json().get("details", {}))
    for key, value in said.items():
        kind = row["details"].get(key, row["details"].get("*"))
        assert kind is not None, key
        assert _is(value, kind), (key, value)
    facts = {f"{key}={json.dumps(value).strip(chr(34))}" for key, value in said.items()}
    if error.payload.message == "The application is closing.":
        facts.add("the registry closed")
    hints = [hint for condition, hint in row.get("retryWhen", {}).items() if condition in facts]
    assert error.payload.retry.value == (hints or [row["retry"]])[0]
    assert is_cacheable(error.payload) == (row["cached"] and row.get("notCachedWhen") not in facts)
    assert 0 < len(error.payload.message) <= 300


def _is(value: JsonValue, kind: str | list[str]) -> bool:
    if isinstance(kind, list):
        return value in kind
    types: dict[str, type] = {"text": str, "list": list, "integer": int, "boolean": bool, "the author's": object}
    return isinstance(value, types[kind])


@pytest.mark.requirement("AS-ERR-001")
def test_every_code_and_every_value_of_the_table_is_made_by_the_code() -> None:
    """A row nobody can reach would be a promise about nothing."""
    made: dict[str, set[tuple[str, str]]] = {code: set() for code in ROWS}
    for error in MADE:
        made[error.payload.code.value] |= {(key, str(value)) for key, value in error.payload.details.items()}
    listed = {
        code: {(key, value) for key, kind in row["details"].items() if isinstance(kind, list) for value in kind}
        for code, row in ROWS.items()
    }
    assert {code: sorted(values - made[code]) for code, values in listed.items() if values - made[code]} == {}
    assert {error.payload.code.value for error in MADE} == set(ROWS)


@pytest.mark.requirement("AS-ERR-001")
def test_a_detail_that_does_not_belong_to_a_code_is_dropped() -> None:
    """Whoever refuses cannot say more than the table lets it."""
    error = capability_error(ErrorCode.NOT_AUTHORIZED, details={"origin": "server", "sql": "SELECT 1"})
    assert error.payload.to_json().get("details") == {"origin": "server"}
