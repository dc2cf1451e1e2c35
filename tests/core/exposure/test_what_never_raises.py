"""A tool's call is answered, whatever is wrong around it."""

from __future__ import annotations

from logging import LogRecord

import pytest

from agent_surface import (
    AgentConsumer,
    AgentExternalToolContract,
    create_agent_exposure_gateway,
    define_external_agent_tool_contract,
)
from agent_surface.testing import contract_authority
from tests.core.surface_fixtures import nothing, refusal

PING: AgentExternalToolContract[object, object] = define_external_agent_tool_contract(
    id="external:never.ping", description="Ping", effect="server-query"
)


@pytest.mark.requirement("AS-ADAPTER-002")
async def test_a_consumer_that_cannot_be_one_is_logged_for_its_author_and_answered(
    expected_logs: list[LogRecord],
) -> None:
    """Its id is too long: the host's mistake, of which the model learns no more than that it failed."""
    gateway = create_agent_exposure_gateway(contract_authority(PING), environment="test")
    (tool,) = gateway.expose([PING.bind(execute=nothing)], consumer=AgentConsumer(id="x" * 129))
    code, details = refusal(await tool.execute())
    assert (code, details) == ("EXECUTION_FAILED", {"reason": "handler-error"})
    (entry,) = expected_logs
    assert "failed outside the pipeline" in entry.getMessage()
    gateway.close()
    assert refusal(await tool.execute())[0] == "CANCELLED"
