"""What a session of the assistant is made of: its state, its transcript and its events."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from agent_surface._base._json import FrozenJson
from agent_surface.confirmations._values import ConfirmationOutcome
from agent_surface.invocation import AgentInvocationResult, CapabilityKind, Effect
from agent_surface.toolset._values import ToolDefinition, ToolState


class SessionState(StrEnum):
    """What a session does at the moment."""

    IDLE = "idle"
    THINKING = "thinking"
    ACTING = "acting"
    WAITING_FOR_PERSON = "waiting-for-person"
    STOPPING = "stopping"


class ToolCallStatus(StrEnum):
    """How far a call of the assistant came.

    ``running`` and ``waiting`` (for a person) are open. ``refused``: it was not carried out because someone or
    something said no (a person, a right, availability, a limit of the session). ``failed``: it was tried, or was
    wrong. ``abandoned``: nobody knows or waits any more (stopped, or unfinished when the conversation was saved).
    """

    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    ABANDONED = "abandoned"

    @property
    def open(self) -> bool:
        """Whether a result is still to come."""
        return self in (ToolCallStatus.RUNNING, ToolCallStatus.WAITING)


class NoticeKind(StrEnum):
    """What a notice is about."""

    INFO = "info"
    ERROR = "error"
    LIMIT = "limit"
    STOPPED = "stopped"
    TAKEN_OVER = "taken-over"
    HANDED_BACK = "handed-back"


class TurnEnd(StrEnum):
    """Why a turn ended."""

    COMPLETED = "completed"
    STOPPED = "stopped"
    STEP_LIMIT = "step-limit"
    ERROR = "error"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonMessage:
    """What the person wrote. ``at_ms`` is milliseconds since the Unix epoch."""

    message_id: str
    text: str
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """What the assistant said (Markdown, untrusted). ``streaming`` while text may still be added."""

    message_id: str
    text: str
    at_ms: int
    streaming: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One use of one tool.

    Attributes:
        call_id: Unique in the transcript. The invocation id is in ``result``.
        tool_name: Wire name as the model sent it.
        capability_id: The id behind the name; ``None`` when no such tool was offered.
        title: What the tool does in the author's words, or the tool's name when it is unknown.
        kind: Kind of the capability, ``None`` when unknown.
        effect: Effect of the capability, ``None`` when unknown.
        component_type: Type of the component it acts on, for "show in the window".
        instance_id: Instance of that component.
        input: What the assistant sent.
        status: How far it came.
        confirmation_id: The request of the person that the call waits or waited for.
        result: The typed result, once there is one. For an abandoned call ``None``, unless it came late.
        late: Whether ``result`` arrived after the call was given up.
        guidance: What the session told the model beside the result, for example that it will not try again.
        started_ms: Milliseconds since the Unix epoch.
        ended_ms: Milliseconds since the Unix epoch; ``None`` while open.
    """

    call_id: str
    tool_name: str
    capability_id: str | None
    title: str
    kind: CapabilityKind | None = None
    effect: Effect | None = None
    component_type: str | None = None
    instance_id: str | None = None
    input: FrozenJson = None
    status: ToolCallStatus = ToolCallStatus.RUNNING
    confirmation_id: str | None = None
    result: AgentInvocationResult | None = None
    late: bool = False
    guidance: str | None = None
    started_ms: int
    ended_ms: int | None = None

    @property
    def message_id(self) -> str:
        """The call id under the name the other entries of a transcript use."""
        return self.call_id

    @property
    def duration_ms(self) -> int | None:
        """How long it took, in milliseconds; ``None`` while open."""
        return None if self.ended_ms is None else max(0, self.ended_ms - self.started_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A remark of the application, not of the assistant: an error, a limit, a change of control."""

    message_id: str
    kind: NoticeKind
    text: str
    at_ms: int


TranscriptEntry: TypeAlias = PersonMessage | AssistantMessage | ToolCall | Notice
"""Everything a transcript can hold, told apart by its class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """A tool as a back end and a palette see it: nothing here can be called."""

    definition: ToolDefinition
    state: ToolState


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChanged:
    """The session does something else now."""

    state: SessionState
    previous: SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAdded:
    """A message or notice was appended to the transcript. Tool calls come as :class:`ToolCallStarted`."""

    message: PersonMessage | AssistantMessage | Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """Text was added at the end of a streaming message."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCompleted:
    """A streaming message will not grow any more."""

    message: AssistantMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStarted:
    """A call was appended to the transcript."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallSettled:
    """A call is no longer open. Sent a second time, with ``call.late``, when an abandoned call ends after all."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationWaiting:
    """A call waits for the person; the pending confirmation has this id."""

    call_id: str
    confirmation_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationSettled:
    """A call no longer waits for the person and, when approved, runs again."""

    call_id: str
    confirmation_id: str
    outcome: ConfirmationOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """What models read and wrote, in tokens as their providers count them."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        """Both together."""
        return TokenUsage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFinished:
    """The session is idle again. Always the last event of a turn.

    ``usage`` is what the back end reported for the turn; ``None`` when it reported nothing.
    """

    reason: TurnEnd
    usage: TokenUsage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionError:
    """The turn could not go on; one sentence for the person with the way out (also a notice in the transcript)."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsChanged:
    """What the assistant is offered changed, in definitions or in live state."""

    tools: tuple[OfferedTool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptReset:
    """The transcript was replaced as a whole; read it again."""


SessionEvent: TypeAlias = (
    StateChanged
    | MessageAdded
    | TextDelta
    | MessageCompleted
    | ToolCallStarted
    | ToolCallSettled
    | ConfirmationWaiting
    | ConfirmationSettled
    | TurnFinished
    | SessionError
    | ToolsChanged
    | TranscriptReset
)
"""Everything a session tells its listeners, told apart by its class."""
