"""Spans of OpenTelemetry, for programs that have it (extra ``otel``); importing this module needs nothing."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from agent_surface.events import AgentSurfaceEvent, InvocationSettled, InvocationStarted

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

MAX_OPEN_SPANS = 10_000


class OpenTelemetryObserver:
    """Makes one span for each invocation, from its start to its settlement. A listener for ``registry.subscribe``.

    A span is named after the capability and carries ``agent_surface.capability_id``, ``.invocation_id``,
    ``.consumer_id``, ``.status``, ``.duration_ms`` (on the registry's clock) and, for a refusal, ``.code``; it is in
    error when the call was. Inputs and outputs are in no span. It is a child of the span that is current where
    ``invoke`` was called.

    Args:
        tracer_provider: Where spans go; the program's own when absent.

    Raises:
        ModuleNotFoundError: ``opentelemetry-api`` is not installed.
    """

    def __init__(self, tracer_provider: TracerProvider | None = None) -> None:
        # Bound here and not at the top: a program without telemetry neither has nor imports it.
        from opentelemetry.trace import Status, StatusCode, get_tracer

        self._tracer = get_tracer("agent_surface", tracer_provider=tracer_provider)
        self._refused = Status(StatusCode.ERROR)
        # An invocation id is unique for one consumer, and the end of a call does not say whose it was.
        self._open: dict[tuple[str, str], deque[Span]] = {}

    def __call__(self, event: AgentSurfaceEvent) -> None:
        """Hear one event."""
        if isinstance(event, InvocationStarted):
            self._start(event)
        elif isinstance(event, InvocationSettled):
            self._end(event)

    def _start(self, event: InvocationStarted) -> None:
        if len(self._open) >= MAX_OPEN_SPANS:
            # Ends that were never heard: a listener can be subscribed late, and events can be lost.
            for span in self._open.pop(next(iter(self._open))):
                span.end()
        span = self._tracer.start_span(
            event.capability_id or "invocation",
            attributes={
                "agent_surface.capability_id": event.capability_id,
                "agent_surface.invocation_id": event.invocation_id,
                "agent_surface.consumer_id": event.consumer_id,
            },
        )
        self._open.setdefault((event.invocation_id, event.capability_id), deque()).append(span)

    def _end(self, event: InvocationSettled) -> None:
        key = (event.invocation_id, event.capability_id)
        spans = self._open.get(key)
        if not spans:
            return
        span = spans.popleft()
        if not spans:
            del self._open[key]
        span.set_attribute("agent_surface.status", event.status)
        span.set_attribute("agent_surface.duration_ms", event.duration_ms)
        if event.code is not None:
            span.set_attribute("agent_surface.code", event.code.value)
            span.set_status(self._refused)
        span.end()
