"""A sink that may block or fail, behind a queue and a thread, and never in the way of a call."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agent_surface import AuditRecord, MemoryAuditSink, create_agent_surface_registry
from agent_surface.audit import AuditSinkStatistics, BackgroundAuditSink
from agent_surface.invocation import AgentInvocation
from agent_surface.testing import contract_authority
from tests.core.audit.records import record
from tests.core.surface_fixtures import ACT, ONE, nothing, zero


class Gate:
    """A sink that waits until it is let go, or fails as long as it is told to."""

    def __init__(self) -> None:
        self.kept = MemoryAuditSink()
        self.entered = threading.Event()
        self.open = threading.Event()
        self.open.set()
        self.broken = False

    def record(self, record: AuditRecord) -> None:
        """Wait, then fail or keep it."""
        self.entered.set()
        assert self.open.wait(30)
        if self.broken:
            raise OSError("the disk is full")
        self.kept.record(record)

    def told(self) -> list[object]:
        """The times of the records it took; for one about losses, how many there were."""
        return [
            f"lost {kept.facts['lost']}" if kept.kind == "records-lost" else kept.at_ms for kept in self.kept.records
        ]


def test_records_arrive_in_their_order_on_one_thread() -> None:
    """And a flush returns when they have."""
    threads: set[int] = set()
    gate = Gate()

    class Sink:
        def record(self, record: AuditRecord) -> None:
            threads.add(threading.get_ident())
            gate.record(record)

    sink = BackgroundAuditSink(Sink())
    for number in range(100):
        sink.record(record(number))
    assert sink.flush()
    assert gate.told() == list(range(100))
    assert len(threads - {threading.get_ident()}) == len(threads) == 1
    assert sink.close()


@pytest.mark.requirement("AS-OBSV-004")
def test_a_slow_sink_loses_what_does_not_fit_and_says_so(expected_logs: list[logging.LogRecord]) -> None:
    """Recording never waits; the gap is counted, and marked in its place when there is room again."""
    gate = Gate()
    gate.open.clear()
    sink = BackgroundAuditSink(gate, capacity=2)
    sink.record(record(0))
    assert gate.entered.wait(30)
    for number in range(1, 6):
        sink.record(record(number))
    assert sink.statistics() == AuditSinkStatistics(queued=2, capacity=2, written=0, lost=3, failing=False)
    gate.open.set()
    assert sink.flush()
    sink.record(record(6))
    assert sink.close()
    assert gate.told() == [0, 1, 2, "lost 3", 6]
    assert (sink.lost, sink.statistics().written) == (3, 5)
    assert len(expected_logs) == 1, "one warning for a stretch of trouble"


@pytest.mark.requirement("AS-OBSV-004")
def test_a_failing_sink_loses_what_it_fails_on_and_says_so_when_it_recovers(
    expected_logs: list[logging.LogRecord],
) -> None:
    """The log tells it once, the statistics at once, and a record as soon as one can be written."""
    gate = Gate()
    sink = BackgroundAuditSink(gate)
    gate.broken = True
    for number in range(3):
        sink.record(record(number))
    assert sink.flush()
    assert sink.statistics() == AuditSinkStatistics(queued=0, capacity=10_000, written=0, lost=3, failing=True)
    gate.broken = False
    sink.record(record(3))
    assert sink.flush()
    assert gate.told() == ["lost 3", 3]
    assert sink.statistics() == AuditSinkStatistics(queued=0, capacity=10_000, written=2, lost=3, failing=False)
    assert sink.close()
    assert [entry.levelname for entry in expected_logs] == ["ERROR"]


@pytest.mark.requirement("AS-OBSV-004")
@pytest.mark.allow_logs("agent_surface.audit")
async def test_a_call_does_not_wait_for_its_audit_and_the_registry_counts_what_was_lost() -> None:
    """The sink hangs, the queue is full, and the calls go on."""
    gate = Gate()
    gate.open.clear()
    sink = BackgroundAuditSink(gate, capacity=1)
    with create_agent_surface_registry(authority=contract_authority(ONE), environment="test", audit=sink) as registry:
        registry.register(ONE.bind(observations={"read": zero}, actions={"act": nothing, "go": nothing}))
        results = [(await registry.invoke(AgentInvocation(capability_id=ACT))).status for _ in range(5)]
        # At most one is with the writer and one waits.
        assert 3 <= registry.statistics().audit_failures <= 4
    assert results == ["ok"] * 5
    gate.open.set()
    assert sink.close()


def test_what_is_recorded_after_the_end_is_lost_and_counted(expected_logs: list[logging.LogRecord]) -> None:
    """A registry may outlive its sink by a moment."""
    gate = Gate()
    with BackgroundAuditSink(gate) as sink:
        sink.record(record(1))
    sink.record(record(2))
    assert (gate.told(), sink.lost) == ([1], 1)
    assert sink.flush()
    assert sink.close(), "closing twice does nothing"
    assert len(expected_logs) == 1


def test_a_sink_that_nothing_was_recorded_in_is_closed_as_often_as_one_likes() -> None:
    """There was no thread to wait for."""
    sink = BackgroundAuditSink(MemoryAuditSink())
    assert [sink.close(), sink.close()] == [True, True]


def test_waiting_for_a_sink_that_hangs_ends_in_time() -> None:
    """A flush and a close say that they were not enough."""
    gate = Gate()
    gate.open.clear()
    sink = BackgroundAuditSink(gate)
    sink.record(record(1))
    assert not sink.flush(timeout_ms=1)
    assert not sink.close(timeout_ms=1)
    gate.open.set()
    assert sink.close()
    assert gate.told() == [1]


def test_a_program_that_forgets_to_close_it_ends_and_keeps_what_was_queued(tmp_path: Path) -> None:
    """The thread holds nobody up, and the exit gives it a moment."""
    program = (
        "import sys\n"
        "from tests.core.audit.records import record\n"
        "from agent_surface.audit import JsonlAuditSink\n"
        "sink = JsonlAuditSink(sys.argv[1])\n"
        "for number in range(50): sink.record(record(number))\n"
    )
    file = tmp_path / "audit.jsonl"
    subprocess.run([sys.executable, "-c", program, str(file)], check=True, timeout=50)
    assert len(file.read_bytes().splitlines()) == 50


def test_a_capacity_is_at_least_one() -> None:
    """A queue that holds nothing loses everything."""
    with pytest.raises(ValueError, match="capacity"):
        BackgroundAuditSink(MemoryAuditSink(), capacity=0)
