"""What an agent and a person did in a running application, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from agent_surface._base._json import FrozenJson
from agent_surface.confirmations import ConfirmationOutcome
from agent_surface.invocation import ANONYMOUS, AgentConsumer, AgentInvocationResult
from agent_surface.testing._exposed import Exposed


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One call and its result.

    Attributes:
        capability_id: What was called.
        input: What the agent sent.
        result: How it ended.
        consumer: Who asked.
        instance_id: Which instance was named, if one was.
        invocation_id: The call's id where the agent chose one.
        confirmation_id: The evidence that was presented.
    """

    capability_id: str
    input: FrozenJson = None
    result: AgentInvocationResult
    consumer: AgentConsumer = ANONYMOUS
    instance_id: str | None = None
    invocation_id: str | None = None
    confirmation_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedDecision:
    """How a request of a person ended."""

    confirmation_id: str
    outcome: ConfirmationOutcome
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSurface:
    """What a consumer saw at one moment."""

    consumer: AgentConsumer = ANONYMOUS
    exposed: tuple[Exposed, ...]


RecordedStep: TypeAlias = RecordedCall | RecordedDecision | RecordedSurface


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecording:
    """A session, in the order of its events, without the values that were declared secret."""

    steps: tuple[RecordedStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRunner:
    """How a generated test gets its surface and drives a coroutine; :data:`ASYNCIO` or ``qt_binding.testing.QT``.

    Attributes:
        imports: Lines of the generated file, by the module they import.
        parameters: Of the test function; one of them is ``surface``.
        run: The statement that runs ``replay(surface)`` to its end.
    """

    imports: Mapping[str, str] = field(default_factory=dict[str, str])
    parameters: str
    run: str


ASYNCIO = ReplayRunner(
    imports={"asyncio": "import asyncio"}, parameters="surface: SurfaceHarness", run="asyncio.run(replay(surface))"
)
"""Runs a replay on an event loop of its own: for applications without Qt."""
