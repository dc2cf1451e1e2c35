"""A back end that plays a list of steps: for tests, demonstrations and recordings."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agent_surface._base._json import FrozenJson, JsonValue, freeze_json, thaw_json
from agent_surface.assistant._backend import (
    AssistantBackendError,
    BackendEvent,
    BackendNotice,
    BackendText,
    CallTool,
    ToolReply,
)
from agent_surface.assistant._values import NoticeKind, OfferedTool, TranscriptEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """Say ``text``, in pieces of ``piece`` characters (0: all at once)."""

    text: str
    piece: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Use a tool, named by its wire name or its capability id."""

    tool: str
    input: FrozenJson = None
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UseTogether:
    """Use several tools at the same time, as a model does in one response."""

    calls: tuple[Use, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A remark for the person that is not part of the answer."""

    text: str
    kind: NoticeKind = NoticeKind.INFO


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """Give up with one sentence for the person, as a back end without a key or a network does."""

    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Wait, as for a model that thinks, until ``until`` ends."""

    until: Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTurn:
    """The turn is over; the steps after it answer the next message."""


ScriptStep: TypeAlias = Say | Use | UseTogether | Remark | Fail | Pause | EndTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedRequest:
    """What the script saw before a step, as a model would have seen it.

    Attributes:
        tools: The definitions and states offered.
        state: The trailing block.
    """

    tools: tuple[OfferedTool, ...]
    state: str


class ScriptedBackend:
    """Plays steps in order, whatever the person says; a step that is missing says so.

    Args:
        steps: The script; ``EndTurn`` separates answers.

    Attributes:
        requests: What was offered before each step with tools or text, in order.
        replies: What each used tool answered, in order of the answers.
        transcripts: What each turn was given.
    """

    def __init__(self, steps: Iterable[ScriptStep]) -> None:
        self._steps = deque(steps)
        self.requests: list[ScriptedRequest] = []
        self.replies: list[ToolReply] = []
        self.transcripts: list[tuple[TranscriptEntry, ...]] = []

    @property
    def remaining(self) -> int:
        """How many steps were not played yet."""
        return len(self._steps)

    async def turn(
        self,
        transcript: Sequence[TranscriptEntry],
        *,
        tools: Callable[[], Sequence[OfferedTool]],
        state: Callable[[], str],
        call_tool: CallTool,
    ) -> AsyncIterator[BackendEvent]:
        """Play the steps up to the next ``EndTurn`` or the end.

        Raises:
            AssistantBackendError: The script says ``Fail``, or a step names a tool that is not offered.
        """
        self.transcripts.append(tuple(transcript))
        while self._steps:
            step = self._steps.popleft()
            if isinstance(step, EndTurn):
                return
            offered = tuple(tools())
            self.requests.append(ScriptedRequest(tools=offered, state=state()))
            match step:
                case Say():
                    for piece in _pieces(step):
                        yield BackendText(text=piece)
                case Use():
                    await self._use((step,), offered, call_tool)
                case UseTogether():
                    await self._use(step.calls, offered, call_tool)
                case Remark():
                    yield BackendNotice(text=step.text, kind=step.kind)
                case Fail():
                    raise AssistantBackendError(step.sentence)
                case Pause():
                    await step.until()

    async def _use(self, calls: Sequence[Use], offered: Sequence[OfferedTool], call_tool: CallTool) -> None:
        async def use(step: Use) -> None:
            name = _wire_name(step.tool, offered)
            self.replies.append(await call_tool(name, thaw_json(step.input), call_id=step.call_id))

        if len(calls) == 1:
            await use(calls[0])
            return
        await asyncio.gather(*(use(step) for step in calls))


def use(tool: str, tool_input: JsonValue = None, *, call_id: str | None = None) -> Use:
    """A step that uses a tool, with ordinary JSON as input."""
    return Use(tool=tool, input=freeze_json({} if tool_input is None else tool_input), call_id=call_id)


def _pieces(step: Say) -> list[str]:
    if step.piece <= 0:
        return [step.text]
    return [step.text[start : start + step.piece] for start in range(0, len(step.text), step.piece)]


def _wire_name(tool: str, offered: Sequence[OfferedTool]) -> str:
    """The name of the first offered tool with this capability id; else ``tool`` as it is, so that it is refused."""
    return next((item.definition.name for item in offered if item.definition.capability_id == tool), tool)
