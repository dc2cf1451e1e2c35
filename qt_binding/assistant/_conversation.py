"""What the dock needs of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agent_surface import JsonValue
from agent_surface.assistant import OfferedTool, SessionEvent, SessionState, TokenUsage, TranscriptEntry


class Conversation(Protocol):
    """A conversation as the dock sees it; :class:`agent_surface.assistant.AssistantSession` is one."""

    @property
    def state(self) -> SessionState:
        """What it does at the moment."""
        ...

    @property
    def closed(self) -> bool:
        """Whether it takes no messages any more."""
        ...

    @property
    def transcript(self) -> tuple[TranscriptEntry, ...]:
        """What was said and done, oldest first."""
        ...

    @property
    def usage(self) -> TokenUsage:
        """What models read and wrote for it."""
        ...

    def send(self, text: str) -> bool:
        """Begin a turn with a message of the person; ``False`` when it cannot."""
        ...

    def stop(self) -> bool:
        """End the turn; ``False`` when nothing runs."""
        ...

    def clear(self) -> bool:
        """Begin a new, empty conversation; ``False`` while a turn runs."""
        ...

    def to_json(self) -> dict[str, JsonValue]:
        """The conversation as a fresh JSON object."""
        ...

    def tools(self) -> tuple[OfferedTool, ...]:
        """What the assistant is offered now."""
        ...

    def suggestions(self) -> tuple[str, ...]:
        """Messages the person could send now."""
        ...

    def subscribe(self, listener: Callable[[SessionEvent], None]) -> Callable[[], None]:
        """Hear events on the GUI thread, after the change is visible; returns a disposer."""
        ...
