"""The bounded sink, several sinks together, and what a registry does when nobody names one."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from agent_surface import AgentEnvironment, AuditRecord, MemoryAuditSink, create_agent_surface_registry
from agent_surface.audit import CombinedAuditSink, LoggingAuditSink
from agent_surface.testing import contract_authority
from tests.core.audit.records import record
from tests.core.surface_fixtures import ONE


class _Broken:
    """A sink that takes nothing."""

    def record(self, record: AuditRecord) -> None:
        raise OSError("no")


def default_audit(environment: AgentEnvironment) -> object:
    """The sink of a registry that was given none."""
    with create_agent_surface_registry(authority=contract_authority(ONE), environment=environment) as registry:
        return registry.audit


@pytest.mark.requirement("AS-OBSV-005")
def test_the_default_is_bounded_memory_and_in_development_the_log_beside_it() -> None:
    """Nothing grows for ever, and a developer sees what happens."""
    assert isinstance(default_audit("test"), MemoryAuditSink)
    development = default_audit("development")
    assert isinstance(development, CombinedAuditSink)
    assert [type(sink) for sink in development.sinks] == [MemoryAuditSink, LoggingAuditSink]


@pytest.mark.requirement("AS-OBSV-005")
def test_memory_keeps_the_latest_and_counts_the_rest() -> None:
    """A million calls take as much room as a thousand."""
    sink = MemoryAuditSink(2)
    for number in range(5):
        sink.record(record(number))
    assert ([kept.at_ms for kept in sink.records], sink.dropped) == ([3, 4], 3)


@pytest.mark.requirement("AS-OBSV-004")
def test_a_sink_that_raises_takes_nothing_from_the_others(expected_logs: list[logging.LogRecord]) -> None:
    """What it did not take is counted."""
    memory = MemoryAuditSink()
    combined = CombinedAuditSink(_Broken(), memory)
    combined.record(record(1))
    assert ([kept.at_ms for kept in memory.records], combined.lost) == ([1], 1)
    assert [entry.levelname for entry in expected_logs] == ["ERROR"]


def test_the_log_has_one_line_of_json_without_the_input(caplog: pytest.LogCaptureFixture) -> None:
    """A log is read by more people than an audit; a line break in a value breaks no line."""
    caplog.set_level(logging.INFO, "agent_surface.audit")
    LoggingAuditSink().record(record(7, note="a\nb", input="secret"))
    assert caplog.messages[0] == (
        'audit {"kind":"invocation","atMs":7,"capabilityId":"view:t.one.act","consumerKey":"test:alice",'
        '"status":"ok","note":"a\\nb"}'
    )
    LoggingAuditSink(include_input=True).record(record(7, input="shown"))
    assert '"input":"shown"' in caplog.messages[1]


@pytest.mark.requirement("AS-OBSV-002")
def test_nothing_of_it_goes_to_standard_output() -> None:
    """Standard output may carry a protocol; the log of a development registry goes where logging sends it."""
    program = (
        "import asyncio, logging\n"
        "logging.basicConfig(level=logging.DEBUG)\n"
        "from tests.core.surface_fixtures import *\n"
        "from agent_surface import *\n"
        "async def main():\n"
        "    registry = create_agent_surface_registry(authority=contract_authority(ONE), environment='development')\n"
        "    def boom(): raise RuntimeError\n"
        "    registry.register(ONE.bind(observations={'read': zero}, actions={'act': boom, 'go': nothing}))\n"
        "    print((await registry.invoke(AgentInvocation(capability_id=ACT))).status)\n"
        "    registry.subscribe(lambda event: 1 / 0)\n"
        "    await registry.invoke(AgentInvocation(capability_id=GO))\n"
        "    registry.close()\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "error\n"
    assert 'audit {"kind":"invocation"' in done.stderr
