"""Events and audit records are shown as they come, in bounds."""

from __future__ import annotations

from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from agent_surface import AgentInvocation, AuditRecord, CombinedAuditSink, LoggingAuditSink, MemoryAuditSink
from qt_binding.inspector import SurfaceInspector
from qt_binding.inspector._stream import AuditTail, StreamEntry, StreamModel, Topic
from tests.qt.inspector.conftest import ALICE, Inspect, Shop


def _lines(inspector: SurfaceInspector) -> list[str]:
    model = inspector.stream.view.model()
    return [model.index(row, 1).data() for row in range(model.rowCount())]


def _entry(number: int) -> StreamEntry:
    return StreamEntry(at_ms=number, topic=Topic.CALLS, kind=str(number), subject="", outcome="", details=None)


def test_a_call_is_seen_in_events_and_audit(qtbot: QtBot, inspect: Inspect, shop: Shop) -> None:
    """In order, with everything that is known of the chosen one."""
    shop.open()
    inspector = inspect()
    inspector.tabs.setCurrentWidget(inspector.stream)
    shop.registry.invoke_threadsafe(AgentInvocation(capability_id="view:test.parts.clear"), consumer=ALICE)
    qtbot.waitUntil(lambda: "audit: invocation" in _lines(inspector))
    assert _lines(inspector)[-3:] == ["invocation-started", "invocation-settled", "audit: invocation"]
    view = inspector.stream.view
    view.setCurrentIndex(view.model().index(view.model().rowCount() - 1, 0))
    assert '"consumerKey": "embedded:alice"' in inspector.stream.details.toPlainText()
    inspector.stream.topics.setCurrentIndex(inspector.stream.topics.findData("audit"))
    assert _lines(inspector) == ["audit: invocation"]
    inspector.stream.topics.setCurrentIndex(0)
    QTest.keyClicks(inspector.stream.filter, "started")
    assert _lines(inspector) == ["invocation-started"]


def test_the_stream_has_a_bound_and_counts_what_it_lets_go() -> None:
    """The latest are kept, also of a burst that is larger than the bound."""
    model = StreamModel(10)
    model.extend([_entry(number) for number in range(7)])
    model.extend([_entry(number) for number in range(7, 12)])
    assert [model.entry(row).kind for row in range(model.rowCount())] == [str(number) for number in range(2, 12)]
    assert model.dropped == 2
    model.extend([_entry(number) for number in range(100, 125)])
    assert [model.entry(row).kind for row in range(model.rowCount())] == [str(number) for number in range(115, 125)]
    assert model.dropped == 2 + 10 + 15


def test_pausing_holds_back_and_going_on_shows(qtbot: QtBot, inspect: Inspect, shop: Shop) -> None:
    """What is being read does not run away, and nothing is lost."""
    inspector = inspect()
    inspector.tabs.setCurrentWidget(inspector.stream)
    inspector.stream.pause.click()
    shop.open()
    qtbot.waitUntil(lambda: "paused, 2 held back" in inspector.stream.summary.shown_text)
    assert _lines(inspector) == []
    inspector.stream.pause.click()
    assert _lines(inspector) == ["component-registered", "surface-changed"]
    inspector.stream.clear.click()
    assert _lines(inspector) == []


def test_the_tail_of_an_audit_reads_each_record_once() -> None:
    """Through a combined sink too, and past what the sink has let go; a sink that cannot be read back is said."""
    memory = MemoryAuditSink(capacity=3)
    tail = AuditTail(CombinedAuditSink(LoggingAuditSink(), memory))
    records = [
        AuditRecord(kind="attempt", at_ms=number, capability_id="view:x.y", consumer_key="test:a", status="attempted")
        for number in range(8)
    ]
    for record in records[:2]:
        memory.record(record)
    assert tail.take() == tuple(records[:2])
    assert tail.take() == ()
    for record in records[2:]:
        memory.record(record)
    assert tail.take() == tuple(records[-3:])
    assert not AuditTail(LoggingAuditSink()).readable


def test_pending_confirmations_are_counted_and_shown(qtbot: QtBot, inspect: Inspect, shop: Shop) -> None:
    """With their input; they are answered elsewhere."""
    shop.open()
    inspector = inspect()
    for _ in range(2):
        shop.registry.invoke_threadsafe(AgentInvocation(capability_id="view:test.parts.drop"), consumer=ALICE)
    qtbot.waitUntil(lambda: inspector.tabs.tabText(2) == "Confirmations (1)")
    view = inspector.pending.view
    view.setCurrentIndex(view.model().index(0, 0))
    assert "embedded:alice" in inspector.pending.facts.toPlainText()
    shop.registry.confirmations.resolve(shop.registry.confirmations.pending()[0].confirmation_id, approved=False)
    qtbot.waitUntil(lambda: inspector.tabs.tabText(2) == "Confirmations")
    assert inspector.pending.facts.toPlainText() == ""
