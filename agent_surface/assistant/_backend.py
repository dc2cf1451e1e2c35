"""The port behind which a model, a script or a command language sits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from agent_surface._base._json import JsonValue
from agent_surface.assistant._values import NoticeKind, OfferedTool, TokenUsage, TranscriptEntry
from agent_surface.errors import AgentSurfaceError
from agent_surface.invocation import AgentInvocationResult


class AssistantBackendError(AgentSurfaceError):
    """A back end cannot go on, for a reason the person can do something about.

    Raised by back ends out of ``turn`` with one clear sentence and the way out (no key, no network, quota, unknown
    model). Never raised because a tool call failed.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReply:
    """What a back end gets for a tool call.

    Attributes:
        result: The typed result.
        text: The same for a model to read: JSON, with observation output marked as data, the person's words on a
            denial, and what to do next.
    """

    result: AgentInvocationResult
    text: str


class CallTool(Protocol):
    """Uses one tool through the session, which enforces its limits. Several calls may run at the same time.

    Belongs to the thread of the session. It is the only way to act that a back end has.
    """

    async def __call__(self, name: str, tool_input: JsonValue = None, *, call_id: str | None = None) -> ToolReply:
        """Run the tool and wait for its result, also for the person if it needs one.

        Args:
            name: Wire name of an offered tool; an unknown one is answered with a typed refusal.
            tool_input: What the model sent.
            call_id: The provider's id of the call; one is made when it is missing or was used before.

        Raises:
            asyncio.CancelledError: The turn was stopped. A back end must let it through.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendText:
    """Text of the answer, to be appended to the message that is being written."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendNotice:
    """A remark for the person that is not part of the answer."""

    text: str
    kind: NoticeKind = NoticeKind.INFO


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendUsage:
    """What one request to a model took; a turn adds up its requests."""

    usage: TokenUsage


BackendEvent: TypeAlias = BackendText | BackendNotice | BackendUsage
"""What a back end yields during a turn."""


class AssistantBackend(Protocol):
    """Answers one message of the person. It sees values and ``call_tool``, and no toolset."""

    def turn(
        self,
        transcript: Sequence[TranscriptEntry],
        *,
        tools: Callable[[], Sequence[OfferedTool]],
        state: Callable[[], str],
        call_tool: CallTool,
    ) -> AsyncIterator[BackendEvent]:
        """Answer the last message of ``transcript``. The turn ends when the iterator does.

        Args:
            transcript: The conversation up to and including the person's message.
            tools: The tools of the next request; equal definitions as long as none changed. Ask before each request.
            state: The trailing block with live state and news for the model. Ask before each request, send it last
                and never store it.
            call_tool: The session's way to use a tool.

        Raises:
            AssistantBackendError: With a sentence for the person.
        """
        ...


@runtime_checkable
class CompletingBackend(Protocol):
    """A back end that can also finish what the person is writing."""

    def complete(self, text: str, tools: Sequence[OfferedTool]) -> Sequence[str]:
        """Whole messages that begin with or replace ``text``, best first; suggestions when it is empty."""
        ...
