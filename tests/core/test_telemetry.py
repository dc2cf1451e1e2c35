"""A span for each invocation, for programs that have OpenTelemetry."""

from __future__ import annotations

import sys

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from agent_surface.events import InvocationSettled, InvocationStarted
from agent_surface.telemetry import MAX_OPEN_SPANS, OpenTelemetryObserver
from tests.core.surface_fixtures import ACT, ALICE, BOB, READ, Surface, turns


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    """Where the spans of a test end up."""
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> TracerProvider:
    """A provider of the test's own."""
    made = TracerProvider(shutdown_on_exit=False)
    made.add_span_processor(SimpleSpanProcessor(exporter))
    return made


async def test_each_invocation_is_one_span(
    surface: Surface, provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    """Observations too, whatever their audit level; a refusal is in error; no input is in it."""
    surface.registry.subscribe(OpenTelemetryObserver(provider))
    surface.mount()
    await surface.invoke(READ, consumer=ALICE, invocation_id="1")
    await surface.invoke(ACT, {"name": "secret"}, consumer=ALICE, invocation_id="2")
    await surface.invoke("view:t.one.gone", consumer=BOB, invocation_id="3")
    spans = exporter.get_finished_spans()
    assert [(span.name, span.status.status_code) for span in spans] == [
        (READ, StatusCode.UNSET),
        (ACT, StatusCode.UNSET),
        ("view:t.one.gone", StatusCode.ERROR),
    ]
    assert dict(spans[2].attributes or {}) == {
        "agent_surface.capability_id": "view:t.one.gone",
        "agent_surface.invocation_id": "3",
        "agent_surface.consumer_id": "bob",
        "agent_surface.status": "error",
        "agent_surface.duration_ms": 0,
        "agent_surface.code": "CAPABILITY_NOT_FOUND",
    }
    assert "secret" not in "".join(span.to_json() for span in spans)


async def test_a_span_lasts_as_long_as_its_call_and_sits_in_its_callers(
    surface: Surface, provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    """A turn of an assistant that is a span has its calls below it."""
    surface.registry.subscribe(OpenTelemetryObserver(provider))

    async def act(_: object) -> None:
        surface.clock.advance(40)
        await turns(1)

    surface.mount(act=act)
    with provider.get_tracer("app").start_as_current_span("turn"):
        await surface.invoke(ACT, {})
    call, turn = exporter.get_finished_spans()
    assert call.parent is not None
    assert turn.context is not None
    assert call.parent.span_id == turn.context.span_id
    assert (call.attributes or {})["agent_surface.duration_ms"] == 40


def test_spans_whose_end_is_never_heard_do_not_pile_up(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    """Events can be lost; what is open has a bound, and an end nobody knows is passed over."""
    observer = OpenTelemetryObserver(provider)
    for number in range(MAX_OPEN_SPANS + 3):
        observer(InvocationStarted(invocation_id=str(number), capability_id=ACT, consumer_id="a"))
    observer(InvocationSettled(invocation_id="never", capability_id=ACT, status="ok", duration_ms=0))
    assert len(exporter.get_finished_spans()) == 3


def test_two_consumers_may_use_one_id_at_once(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    """Each call has its own span."""
    observer = OpenTelemetryObserver(provider)
    started = InvocationStarted(invocation_id="1", capability_id=ACT, consumer_id="a")
    settled = InvocationSettled(invocation_id="1", capability_id=ACT, status="ok", duration_ms=0)
    for event in (started, started, settled, settled):
        observer(event)
    assert len(exporter.get_finished_spans()) == 2


def test_without_opentelemetry_the_observer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module can be imported; who makes the observer is told what is missing."""
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(ModuleNotFoundError, match="opentelemetry"):
        OpenTelemetryObserver()
