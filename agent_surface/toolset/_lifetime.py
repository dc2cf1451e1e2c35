"""What the toolsets of every mode have in common: whose they are, how they call, and how they end."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from agent_surface.invocation import AgentConsumer
from agent_surface.toolset._calls import CallRunner
from agent_surface.toolset._surface import InvokableSurface
from agent_surface.toolset._values import ConfirmationMode


class ToolsetLifetime:
    """One consumer's way to one surface, until it is closed."""

    def __init__(self, surface: InvokableSurface, *, consumer: AgentConsumer, confirmations: ConfirmationMode) -> None:
        self._surface = surface
        self._consumer = consumer
        self._confirmations = confirmations
        self._runner = CallRunner(surface, consumer=consumer, confirmations=confirmations)
        self._closed = False

    @property
    def consumer(self) -> AgentConsumer:
        """For whom the catalogue is made."""
        return self._consumer

    @property
    def confirmations(self) -> ConfirmationMode:
        """Who waits for the person."""
        return self._confirmations

    @property
    def closed(self) -> bool:
        """Whether the toolset was closed."""
        return self._closed

    def close(self) -> None:
        """Settle waits, withdraw requests, refuse what comes later."""
        if self._closed:
            return
        self._closed = True
        self._release()
        self._runner.close()

    def _release(self) -> None:
        """Let go of what a mode holds besides."""

    def __enter__(self) -> Self:
        """The toolset itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None:
        """Close the toolset."""
        self.close()
