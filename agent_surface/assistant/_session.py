"""One conversation: a state machine that owns steps, limits and tool calls, with a stream of events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Self

from agent_surface._base._json import JsonValue
from agent_surface._base._ports import Clock, HostLoop
from agent_surface.assistant._backend import AssistantBackend
from agent_surface.assistant._values import (
    NoticeKind,
    OfferedTool,
    SessionEvent,
    SessionState,
    TranscriptEntry,
)
from agent_surface.toolset._toolset import AgentToolset


class AssistantSession:
    """A conversation with an assistant that acts only through a toolset.

    Belongs to the thread of the registry. Everything it does on its own runs as tasks of ``host_loop``; ``close``
    ends them. Listeners are called on that thread, in order, after the change they hear of is visible in
    ``state`` and ``transcript``; what a listener causes is delivered after the event it was called with.

    Args:
        toolset: In ``wait`` mode: the person is waited for inside a call.
        backend: Who answers.
        clock: Time of the entries and of waits between attempts.
        host_loop: The event loop of the application.
        max_steps: Most tool calls in one turn, at least 1.
    """

    def __init__(
        self,
        toolset: AgentToolset,
        backend: AssistantBackend,
        *,
        clock: Clock,
        host_loop: HostLoop,
        max_steps: int = 25,
    ) -> None:
        raise NotImplementedError

    @classmethod
    def restore(
        cls,
        saved: Mapping[str, JsonValue],
        toolset: AgentToolset,
        backend: AssistantBackend,
        *,
        clock: Clock,
        host_loop: HostLoop,
        max_steps: int = 25,
    ) -> Self:
        """A session with the saved transcript. Executes nothing; unfinished calls become abandoned.

        Raises:
            ValueError: ``saved`` is no conversation of a version this library can read.
        """
        raise NotImplementedError

    @property
    def state(self) -> SessionState:
        """What the session does at the moment."""
        raise NotImplementedError

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        raise NotImplementedError

    @property
    def transcript(self) -> tuple[TranscriptEntry, ...]:
        """The conversation, oldest first."""
        raise NotImplementedError

    @property
    def backend(self) -> AssistantBackend:
        """Who answers. :meth:`use_backend` exchanges it between turns."""
        raise NotImplementedError

    def use_backend(self, backend: AssistantBackend) -> bool:
        """Answer with ``backend`` from the next turn on; ``False`` while a turn runs."""
        raise NotImplementedError

    def send(self, text: str) -> bool:
        """Begin a turn with a message of the person; ``False`` (and nothing happens) unless idle, open and not blank."""
        raise NotImplementedError

    def stop(self) -> bool:
        """End the turn: withdraw what is waited for, call no model again, be idle within two turns of the loop.

        A handler that does not cooperate goes on; its result is recorded as late. ``False`` when nothing runs.
        """
        raise NotImplementedError

    def announce(self, kind: NoticeKind, text: str) -> None:
        """Add a notice of the application and tell the model of it at its next step (for example a take-over)."""
        raise NotImplementedError

    def clear(self) -> bool:
        """Begin a new, empty conversation; ``False`` while a turn runs."""
        raise NotImplementedError

    def tools(self) -> tuple[OfferedTool, ...]:
        """What the assistant is offered now, for a palette."""
        raise NotImplementedError

    def suggestions(self) -> tuple[str, ...]:
        """Messages the person could send now; empty when the back end has none."""
        raise NotImplementedError

    def complete(self, text: str) -> tuple[str, ...]:
        """Whole messages that finish ``text``, best first; empty when the back end cannot complete."""
        raise NotImplementedError

    def subscribe(self, listener: Callable[[SessionEvent], None]) -> Callable[[], None]:
        """Hear events; returns a disposer that may be called twice."""
        raise NotImplementedError

    def to_json(self) -> dict[str, JsonValue]:
        """The conversation as a fresh JSON object for :meth:`restore`. Live state is no part of it."""
        raise NotImplementedError

    def close(self) -> None:
        """End the turn if there is one, and take no more. Idempotent; the toolset stays open."""
        raise NotImplementedError
