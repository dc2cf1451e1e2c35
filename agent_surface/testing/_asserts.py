"""Assertions about a surface and about results; a failure prints what the surface does expose."""

from __future__ import annotations

from agent_surface._base._json import JsonValue
from agent_surface._snapshot import AgentSurfaceSnapshot
from agent_surface.errors import CapabilityErrorPayload, ErrorCode
from agent_surface.invocation import AgentInvocationResult
from agent_surface.testing._exposed import Exposed, exposed_text, find_exposed
from agent_surface.testing._harness import SurfaceHarness
from agent_surface.testing._results import failure_text, output_of

_ANYTHING = object()


def assert_exposes(
    surface: SurfaceHarness | AgentSurfaceSnapshot, *capability_ids: str, instance_id: str | None = None
) -> None:
    """The consumer sees each capability, and it can be used now.

    Args:
        surface: A harness, or a snapshot.
        capability_ids: Which.
        instance_id: Of this instance; of any when absent.
    """
    snapshot = _snapshot(surface)
    for capability_id in capability_ids:
        found = _found(snapshot, capability_id, instance_id)
        if not any(item.available for item in found):
            raise AssertionError(f"{capability_id} is {found[0].state}.\n{exposed_text(snapshot)}")


def assert_exposes_unavailable(
    surface: SurfaceHarness | AgentSurfaceSnapshot,
    capability_id: str,
    *,
    reason: str | None = None,
    instance_id: str | None = None,
) -> None:
    """The consumer sees the capability, and it cannot be used now.

    Args:
        surface: A harness, or a snapshot.
        capability_id: Which.
        reason: What the agent is told, to the letter; anything when absent.
        instance_id: Of this instance; of every one when absent.
    """
    snapshot = _snapshot(surface)
    for item in _found(snapshot, capability_id, instance_id):
        if item.available:
            raise AssertionError(f"{capability_id} is available.\n{exposed_text(snapshot)}")
        if reason is not None and item.reason != reason:
            raise AssertionError(f"{capability_id} is {item.state}; expected: {reason}\n{exposed_text(snapshot)}")


def assert_hidden(
    surface: SurfaceHarness | AgentSurfaceSnapshot, *capability_ids: str, instance_id: str | None = None
) -> None:
    """The consumer does not see any of the capabilities; one that is merely unavailable is seen.

    Args:
        surface: A harness, or a snapshot.
        capability_ids: Which.
        instance_id: Of this instance; of any when absent.
    """
    snapshot = _snapshot(surface)
    for capability_id in capability_ids:
        found = find_exposed(snapshot, capability_id, instance_id)
        if found:
            raise AssertionError(f"{capability_id} is exposed, {found[0].state}.\n{exposed_text(snapshot)}")


def assert_ok(result: AgentInvocationResult, output: object = _ANYTHING) -> JsonValue:
    """The call succeeded.

    Args:
        result: What ``invoke`` returned.
        output: What its output has to equal; anything when absent. A call without output has ``None``.

    Returns:
        The output.
    """
    given = output_of(result)
    if output is not _ANYTHING and given != output:
        raise AssertionError(failure_text(f"{result.capability_id} returned {given!r}\nand not {output!r}", result))
    return given


def assert_fails_with(
    result: AgentInvocationResult, code: ErrorCode | str, /, **details: object
) -> CapabilityErrorPayload:
    """The call was refused with this code.

    Args:
        result: What ``invoke`` returned.
        code: The code.
        details: Details that have to be there, by the keys an agent sees; further ones may be.

    Returns:
        What the agent is told.
    """
    if result.status == "ok":
        raise AssertionError(failure_text(f"{result.capability_id} succeeded; expected {code!s}", result))
    if result.error.code != code:
        raise AssertionError(
            failure_text(f"{result.capability_id} was refused with {result.error.code.value}, not {code!s}", result)
        )
    told = result.error.to_json().get("details")
    given = told if isinstance(told, dict) else {}
    wrong = [f"{key} is {given.get(key)!r}, not {value!r}" for key, value in details.items() if given.get(key) != value]
    if wrong:
        raise AssertionError(failure_text(f"{result.capability_id}: {'; '.join(wrong)}", result))
    return result.error


def _snapshot(surface: SurfaceHarness | AgentSurfaceSnapshot) -> AgentSurfaceSnapshot:
    return surface.snapshot() if isinstance(surface, SurfaceHarness) else surface


def _found(snapshot: AgentSurfaceSnapshot, capability_id: str, instance_id: str | None) -> list[Exposed]:
    found = find_exposed(snapshot, capability_id, instance_id)
    if not found:
        of_instance = "" if instance_id is None else f" by the instance {instance_id}"
        raise AssertionError(f"{capability_id} is not exposed{of_instance}.\n{exposed_text(snapshot)}")
    return found
