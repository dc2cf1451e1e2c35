"""The fixture ``surface``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from agent_surface.pytest_plugin._leaks import LeakCheck, leaks_to_fail_on
from agent_surface.registry import AgentSurfaceRegistry
from agent_surface.testing import SurfaceHarness, contract_authority, create_surface_harness

CheckKey: TypeAlias = pytest.StashKey[Callable[[], None]]


def open_surface(
    request: pytest.FixtureRequest, *, after_call: CheckKey, after_teardown: CheckKey
) -> Iterator[SurfaceHarness]:
    """A harness for one test, and at its end the verdict on what it left.

    Args:
        request: Of the fixture.
        after_call: Where the plugin looks for the check to make when the test function has returned.
        after_teardown: Where it looks for the one to make when all fixtures of the test are gone.

    Raises:
        pytest.UsageError: The project gives no registry and the test names no contracts.
    """
    fail_on = leaks_to_fail_on(request)
    given: AgentSurfaceRegistry | None = request.getfixturevalue("surface_registry")
    surface = _fresh(request) if given is None else create_surface_harness(given)
    check = LeakCheck(surface, fail_on)
    request.node.stash[after_call] = check.after_call
    try:
        yield surface
        if given is not None:
            request.node.stash[after_teardown] = check.after_teardown
        elif not surface.registry.closed:
            surface.unmount_all()
            check.after_teardown()
    finally:
        surface.close()
        if given is None:
            surface.registry.close()


def _fresh(request: pytest.FixtureRequest) -> SurfaceHarness:
    contracts = [contract for mark in request.node.iter_markers("surface") for contract in mark.args]
    if not contracts:
        raise pytest.UsageError(
            f"{request.node.name} takes the fixture surface: mark it with @pytest.mark.surface(CONTRACT, ...), "
            "or override the fixture surface_registry to give it the application's registry"
        )
    authority = contract_authority(*contracts)
    made: AgentSurfaceRegistry | None = request.config.hook.pytest_agent_surface_registry(
        request=request, authority=authority
    )
    return create_surface_harness(authority=authority) if made is None else create_surface_harness(made)
