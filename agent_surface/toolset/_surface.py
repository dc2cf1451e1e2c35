"""The registry as an adapter sees it: no handlers, and no way to decide a confirmation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from agent_surface._snapshot._values import AgentSurfaceSnapshot, SnapshotContext
from agent_surface.confirmations._values import ConfirmationWaiter
from agent_surface.events._values import AgentSurfaceEvent
from agent_surface.invocation import AgentConsumer, AgentInvocation, AgentInvocationResult


class InvokableSurface(Protocol):
    """What a toolset, a bridge or an assistant may use of a registry."""

    @property
    def surface_id(self) -> str:
        """``srf_…``."""
        ...

    @property
    def version(self) -> str:
        """The current surface version."""
        ...

    @property
    def confirmation_waiter(self) -> ConfirmationWaiter:
        """Waiting for, and withdrawing, a confirmation."""
        ...

    def snapshot(self, context: SnapshotContext | None = None) -> AgentSurfaceSnapshot:
        """The catalogue of one consumer."""
        ...

    def invoke(
        self,
        request: AgentInvocation,
        *,
        consumer: AgentConsumer | None = None,
        timeout_ms: int | None = None,
    ) -> Awaitable[AgentInvocationResult]:
        """Run one capability through the pipeline. Cancelling the awaiting task cancels the call."""
        ...

    def subscribe(self, listener: Callable[[AgentSurfaceEvent], None]) -> Callable[[], None]:
        """Hear events after each mutation; returns a disposer."""
        ...
