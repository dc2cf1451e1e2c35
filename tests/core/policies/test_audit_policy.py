"""The built-in policy that writes down what reaches phase 6."""

from __future__ import annotations

import logging
from typing import cast

import pytest

from agent_surface import AgentInvocation, AuditLevel, AuditRecord, MemoryAuditSink, create_agent_surface_registry
from agent_surface.policies import audit
from agent_surface.testing import ManualClock, contract_authority
from tests.core.policies.audited import LAMP, switch


class _FullDisk:
    def record(self, record: AuditRecord) -> None:
        raise OSError("no space left")


@pytest.mark.requirement("AS-POLICY-004")
@pytest.mark.parametrize(("level", "kept"), [(AuditLevel.FULL, {"on": True}), (AuditLevel.METADATA, None)])
async def test_an_audit_policy_keeps_the_validated_input_of_an_attempt_as_its_level_says(
    level: AuditLevel, kept: object
) -> None:
    """``full`` has the effective input, ``metadata`` the fact alone, both before anything is executed."""
    sink = MemoryAuditSink()
    clock = ManualClock()
    with create_agent_surface_registry(
        authority=contract_authority(LAMP),
        environment="test",
        clock=clock,
        policies=[audit(sink=sink, level=level)],
    ) as registry:
        registry.register(LAMP.bind(actions={"switch": switch}))
        await registry.invoke(AgentInvocation(capability_id="view:home.lamp.switch", input={"on": True}))
        await registry.invoke(AgentInvocation(capability_id="view:home.lamp.switch", input={"on": "perhaps"}))
    assert [(record.kind, record.status, record.phase, record.input, record.at_ms) for record in sink.records] == [
        ("attempt", "attempted", 6, kept, clock.now_ms())
    ]


@pytest.mark.requirement("AS-POLICY-004")
async def test_an_audit_policy_without_a_level_keeps_nothing() -> None:
    """``none`` switches it off where it is, without taking it out of a contract's demands."""
    sink = MemoryAuditSink()
    with create_agent_surface_registry(
        authority=contract_authority(LAMP), environment="test", policies=[audit(sink=sink, level="none")]
    ) as registry:
        registry.register(LAMP.bind(actions={"switch": switch}))
        await registry.invoke(AgentInvocation(capability_id="view:home.lamp.switch", input={"on": True}))
    assert sink.records == ()


@pytest.mark.allow_logs("agent_surface.policies")
@pytest.mark.requirement("AS-OBSV-004")
async def test_a_sink_that_fails_decides_about_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The call goes on, and the loss is in the log."""
    with (
        caplog.at_level(logging.ERROR, "agent_surface.policies"),
        create_agent_surface_registry(
            authority=contract_authority(LAMP), environment="test", policies=[audit(sink=_FullDisk())]
        ) as registry,
    ):
        registry.register(LAMP.bind(actions={"switch": switch}))
        result = await registry.invoke(AgentInvocation(capability_id="view:home.lamp.switch", input={"on": True}))
    assert result.status == "ok"
    assert [record.getMessage() for record in caplog.records] == [
        "the sink of an audit policy did not take a record of view:home.lamp.switch"
    ]


def test_an_audit_policy_refuses_a_level_that_is_none() -> None:
    """A typing mistake must not become silence."""
    with pytest.raises(ValueError, match="everything"):
        audit(sink=MemoryAuditSink(), level=cast("AuditLevel", "everything"))
