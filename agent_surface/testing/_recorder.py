"""Listening to a registry while an agent and a person use it."""

from __future__ import annotations

import concurrent.futures
from types import TracebackType
from typing import Self

from agent_surface._base._json import NotJsonError, freeze_json
from agent_surface._snapshot import SnapshotContext
from agent_surface.audit import AuditRedaction
from agent_surface.confirmations import ConfirmationOutcome
from agent_surface.events import AgentSurfaceEvent, ConfirmationRequested, ConfirmationResolved
from agent_surface.invocation import ANONYMOUS, AgentConsumer, AgentInvocation, AgentInvocationResult
from agent_surface.registry import AgentSurfaceRegistry
from agent_surface.testing._exposed import all_exposed
from agent_surface.testing._recording import (
    RecordedCall,
    RecordedDecision,
    RecordedStep,
    RecordedSurface,
    SessionRecording,
)
from agent_surface.testing._secrets import Secrets

MAX_STEPS = 10_000
"""Steps of one recording; later ones are counted and not kept."""


class SessionRecorder:
    """Records until it is closed. Made by :func:`record_session`; a context manager.

    Attributes:
        lost: How many steps came after the recording was full.
    """

    def __init__(self, registry: AgentSurfaceRegistry, *, consumer: AgentConsumer, secrets: Secrets) -> None:
        self._registry = registry
        self._secrets = secrets
        self._steps: list[RecordedStep] = []
        self._consumer = consumer
        self._closed = False
        self.lost = 0
        self._unsubscribe = registry.subscribe(self._hear)
        # Shadows the methods on this one object, so that whoever holds the registry is heard. A second recorder calls
        # through the first.
        self._before = {"invoke": registry.invoke, "invoke_threadsafe": registry.invoke_threadsafe}
        self._shadows = {"invoke": self._invoke, "invoke_threadsafe": self._invoke_threadsafe}
        self._invoke_before = registry.invoke
        self._invoke_threadsafe_before = registry.invoke_threadsafe
        vars(registry).update(self._shadows)
        self.checkpoint()

    @property
    def recording(self) -> SessionRecording:
        """What was recorded so far, without what is secret."""
        return SessionRecording(steps=tuple(self._secrets.scrub(step) for step in self._steps))

    def checkpoint(self) -> None:
        """Record what the consumer sees now, so that the test compares it. Done once at the beginning.

        Best while the application is at rest: a test is faster than a person.
        """
        snapshot = self._registry.snapshot(SnapshotContext(consumer=self._consumer))
        self._keep(RecordedSurface(exposed=tuple(all_exposed(snapshot)), consumer=self._consumer))

    def close(self) -> None:
        """Stop recording; what was recorded stays. Safe to repeat."""
        if not self._closed:
            self._closed = True
            self._unsubscribe()
            for name, shadow in self._shadows.items():
                if vars(self._registry).get(name) is shadow:
                    vars(self._registry)[name] = self._before[name]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def _invoke(
        self, request: AgentInvocation, *, consumer: AgentConsumer | None = None, timeout_ms: int | None = None
    ) -> AgentInvocationResult:
        result = await self._invoke_before(request, consumer=consumer, timeout_ms=timeout_ms)
        self._record(request, consumer, result)
        return result

    def _invoke_threadsafe(
        self, request: AgentInvocation, *, consumer: AgentConsumer | None = None, timeout_ms: int | None = None
    ) -> concurrent.futures.Future[AgentInvocationResult]:
        future = self._invoke_threadsafe_before(request, consumer=consumer, timeout_ms=timeout_ms)

        # A result is set on the owner thread; from elsewhere a future can only be cancelled.
        def done(settled: concurrent.futures.Future[AgentInvocationResult]) -> None:
            if not settled.cancelled() and settled.exception() is None:
                self._record(request, consumer, settled.result())

        future.add_done_callback(done)
        return future

    def _record(self, request: AgentInvocation, consumer: AgentConsumer | None, result: AgentInvocationResult) -> None:
        if self._closed:
            return
        try:
            sent = freeze_json(request.input)
        except NotJsonError:
            return  # no agent sends that, and no test could
        self._keep(
            self._secrets.learn(
                RecordedCall(
                    capability_id=request.capability_id,
                    input=sent,
                    result=result,
                    consumer=consumer if consumer is not None else ANONYMOUS,
                    instance_id=request.instance_id,
                    invocation_id=request.invocation_id,
                    confirmation_id=request.confirmation_id,
                )
            )
        )

    def _hear(self, event: AgentSurfaceEvent) -> None:
        if isinstance(event, ConfirmationRequested):
            for pending in self._registry.confirmations.pending():
                # The effective input: what the screen supplied is in no call of the agent.
                self._secrets.learn_input(pending.capability_id, pending.input)
        elif isinstance(event, ConfirmationResolved):
            resolution = self._registry.confirmations.resolution(event.confirmation_id)
            self._keep(
                RecordedDecision(
                    confirmation_id=event.confirmation_id,
                    outcome=ConfirmationOutcome(event.outcome),
                    note=resolution.note if resolution is not None else None,
                )
            )

    def _keep(self, step: RecordedStep) -> None:
        if len(self._steps) < MAX_STEPS:
            self._steps.append(step)
        else:
            self.lost += 1


def record_session(
    registry: AgentSurfaceRegistry,
    *,
    consumer: AgentConsumer = ANONYMOUS,
    redact: AuditRedaction | None = None,
    redact_output: AuditRedaction | None = None,
) -> SessionRecorder:
    """Record what happens on a registry, to make a test of it with :func:`session_as_test`.

    ::

        with record_session(registry, redact=redact_paths({"domain:account.login": ["/password"]})) as recorder:
            ...  # the application is used
        path.write_text(session_as_test(recorder.recording))

    Args:
        registry: The application's.
        consumer: Whose view of the surface is recorded; calls are recorded whoever makes them.
        redact: Takes what is secret out of an input; the same that the application hands to its audit sinks. A value
            it takes out is taken out wherever it turns up: in outputs, in messages, in the person's note.
        redact_output: The same for outputs, given to it as the input of a record.

    Returns:
        The recorder; it records until it is closed.
    """
    return SessionRecorder(registry, consumer=consumer, secrets=Secrets(redact=redact, redact_output=redact_output))
