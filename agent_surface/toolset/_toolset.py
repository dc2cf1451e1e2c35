"""The projection of one consumer's surface into tools, as hosts, bridges and assistants use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Protocol, Self

from agent_surface.invocation import AgentConsumer
from agent_surface.toolset._values import AgentTool, ConfirmationMode


class AgentToolset(Protocol):
    """Tools of one consumer. Belongs to the thread of the registry; a context manager that closes itself."""

    @property
    def consumer(self) -> AgentConsumer:
        """For whom the catalogue is made and in whose name the tools call."""
        ...

    @property
    def confirmations(self) -> ConfirmationMode:
        """Who waits for the person."""
        ...

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        ...

    def tools(self) -> Sequence[AgentTool]:
        """The catalogue, made once per surface version; constant in meta mode. Empty once the toolset is closed.

        In direct mode also once the registry is closed.
        """
        ...

    def refresh(self) -> Sequence[AgentTool]:
        """The catalogue with live state evaluated now, also where nothing announced a change."""
        ...

    def find_tool(self, name: str) -> AgentTool | None:
        """The tool of this wire name, also one that has left the catalogue lately.

        A call of such a one is answered by the registry with its typed reason, so a caller that plans with an older
        catalogue learns what happened instead of "no such tool".
        """
        ...

    def wire_name_map(self) -> Mapping[str, str]:
        """Wire name to capability id of the catalogue ``tools()`` gave last; never decode a name by hand.

        Empty in meta mode, whose names stand for no capability.
        """
        ...

    def subscribe(self, listener: Callable[[Sequence[AgentTool]], None]) -> Callable[[], None]:
        """Hear when ``tools()`` would differ, in definitions, state or registrations; returns a disposer.

        Never in meta mode: there the model compares ``surfaceVersion`` and discovers again.
        """
        ...

    def close(self) -> None:
        """Settle waits for a person at once, withdraw their requests, and refuse what comes later. Idempotent."""
        ...

    def __enter__(self) -> Self:
        """The toolset itself."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None:
        """Close the toolset."""
