"""A handler that repeats its own request would wait for ever."""

from __future__ import annotations

from logging import LogRecord

import pytest

from agent_surface import AgentInvocation
from tests.core.surface_fixtures import ACT, Surface, refusal


@pytest.mark.requirement("AS-INVOKE-007")
async def test_a_handler_that_awaits_the_call_it_runs_in_fails_instead_of_hanging(
    surface: Surface, expected_logs: list[LogRecord]
) -> None:
    """The author reads why; the agent is told that it failed; nothing is held afterwards."""
    request = AgentInvocation(capability_id=ACT, input={}, invocation_id="i-1")

    def act() -> None:
        try:
            surface.registry.invoke(request).send(None)
        except StopIteration as over:
            raise AssertionError("the repetition was answered") from over

    surface.mount(act=act)
    assert refusal(await surface.registry.invoke(request)) == ("EXECUTION_FAILED", {"reason": "handler-error"})
    assert any("cannot await the very call" in str(entry.exc_info) for entry in expected_logs)
    assert surface.idle()
