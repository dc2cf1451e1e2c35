"""Results that can say what the surface exposed, for the message of a test that fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields

from agent_surface._base._json import JsonValue, thaw_json
from agent_surface.invocation import AgentInvocationResult, InvocationError, InvocationOk


@dataclass(frozen=True, slots=True, kw_only=True)
class HarnessOk(InvocationOk):
    """A success that remembers where it comes from."""

    describe_surface: Callable[[], str] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HarnessError(InvocationError):
    """A refusal that remembers where it comes from."""

    describe_surface: Callable[[], str] = field(compare=False, repr=False)


def with_surface(result: AgentInvocationResult, describe_surface: Callable[[], str]) -> AgentInvocationResult:
    """The result, with a way to say what the surface exposes."""
    kind = HarnessOk if isinstance(result, InvocationOk) else HarnessError
    values = {item.name: getattr(result, item.name) for item in fields(result) if item.init}
    return kind(**values, describe_surface=describe_surface)


def failure_text(sentence: str, result: AgentInvocationResult) -> str:
    """Why an assertion about a result failed: the sentence, the whole result, and what the surface exposes."""
    text = f"{sentence}\n{json.dumps(result.to_json(), indent=2, ensure_ascii=False)}"
    return f"{text}\n{result.describe_surface()}" if isinstance(result, HarnessOk | HarnessError) else text


def output_of(result: AgentInvocationResult) -> JsonValue:
    """The output of a success, ``None`` when it has none.

    Raises:
        AssertionError: It is a refusal.
    """
    if result.status == "error":
        raise AssertionError(failure_text(f"{result.capability_id} was refused: {result.error.code.value}", result))
    return thaw_json(result.output)
