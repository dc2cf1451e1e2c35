"""The transcript as a model reads it, and a model's answer as it can be sent back to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition

from agent_surface._base._json import JsonValue, compact_json, thaw_json
from agent_surface.assistant._replies import NOTICES_FOR_THE_MODEL, render_tool_reply
from agent_surface.assistant._values import (
    AssistantMessage,
    Notice,
    NoticeKind,
    OfferedTool,
    PersonMessage,
    ToolCall,
    TranscriptEntry,
)

MAX_ARGUMENT_CHARACTERS = 1_000_000
"""Longer arguments are not read; no capability takes that much."""

NOT_JSON = "The arguments are no valid JSON. Send one JSON object that fits the tool's schema."
TOO_LONG = "The arguments are too long. Send less."

_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_CONTROLS = {code: None for code in (*range(32), *range(127, 160)) if code not in (9, 10)}


def transcript_to_messages(transcript: Iterable[TranscriptEntry]) -> list[ModelMessage]:
    """The conversation so far. A call that was given up has a result that says so, so that it is shown as what it is.

    Equal transcripts give equal messages, and a longer one begins with those of a shorter one: a provider can cache.
    """
    messages: list[ModelMessage] = []
    for entry in transcript:
        match entry:
            case PersonMessage():
                _asked(messages, UserPromptPart(content=entry.text))
            case AssistantMessage():
                if entry.text.strip():
                    messages.append(ModelResponse(parts=[TextPart(content=entry.text)]))
            case ToolCall():
                _called(messages, entry)
            case Notice():
                text = _for_the_model(entry)
                if text is not None:
                    _asked(messages, UserPromptPart(content=f"[Notice of the application] {text}"))
    return messages


def with_state(messages: Sequence[ModelMessage], state: str, instructions: str) -> list[ModelMessage]:
    """What one request sends: the conversation, and at its very end the live state, which is stored nowhere."""
    sent = list(messages)
    parts: list[ModelRequestPart] = [UserPromptPart(content=state)]
    if sent and isinstance(last := sent[-1], ModelRequest):
        sent[-1] = replace(last, parts=[*last.parts, *parts], instructions=instructions)
    else:
        sent.append(ModelRequest(parts=parts, instructions=instructions))
    return sent


def tool_definitions(tools: Sequence[OfferedTool]) -> list[ToolDefinition]:
    """The block of tools: nothing in it is live, so it is the same until a definition changes."""
    definitions: list[ToolDefinition] = []
    for tool in tools:
        schema = thaw_json(tool.definition.input_schema)
        definitions.append(
            ToolDefinition(
                name=tool.definition.name,
                description=tool.definition.description,
                parameters_json_schema=schema if isinstance(schema, dict) else {"type": "object"},
            )
        )
    return definitions


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCall:
    """A tool call of a model, read.

    Attributes:
        part: As it can be sent back.
        name: As the model sent it, without control characters; at most 200 characters.
        tool_input: What it sends; text when that is no JSON, which every tool refuses.
        problem: What is wrong with the arguments themselves.
    """

    part: ToolCallPart
    name: str
    tool_input: JsonValue
    problem: str | None = None


def read_response(response: ModelResponse) -> tuple[ModelResponse, list[WantedCall]]:
    """The answer as it can be sent back, whatever a model put into it, and the calls it wants, each with its own id."""
    parts: list[ModelResponsePart] = []
    calls: list[WantedCall] = []
    taken: set[str] = set()
    for part in response.parts:
        if isinstance(part, ToolCallPart):
            call = _read_call(part, taken)
            calls.append(call)
            parts.append(call.part)
        else:
            parts.append(part)
    return replace(response, parts=parts), calls


def clean_text(text: str) -> str:
    """Text without control characters and without halves of characters, which no file and no label takes."""
    return text.translate(_CONTROLS).encode("utf-8", "replace").decode("utf-8")


def wire_name(name: str) -> str:
    """``name`` as every provider takes it back."""
    return _NAME.sub("_", name)[:64] or "unnamed"


def _read_call(part: ToolCallPart, taken: set[str]) -> WantedCall:
    call_id = part.tool_call_id
    while call_id in taken:
        call_id += "_"
    taken.add(call_id)
    tool_input, problem = _arguments(part.args)
    return WantedCall(
        part=replace(part, tool_name=wire_name(part.tool_name), args=_sendable(tool_input), tool_call_id=call_id),
        name=clean_text(part.tool_name)[:200],
        tool_input=tool_input,
        problem=problem,
    )


def _arguments(sent: object) -> tuple[JsonValue, str | None]:
    if sent is None or sent == "":
        return {}, None
    text = sent if isinstance(sent, str) else json.dumps(sent)
    if len(text) > MAX_ARGUMENT_CHARACTERS:
        return f"({len(text):,} characters)", TOO_LONG
    try:
        value: JsonValue = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return clean_text(text[:500]), NOT_JSON
    return value, None


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _sendable(value: JsonValue) -> str:
    """Arguments as JSON text of an object; what was none is wrapped, because providers refuse anything else."""
    if value is None:
        return "{}"
    sent: dict[str, JsonValue] = value if isinstance(value, dict) else {"unreadable": value}
    try:
        return compact_json(sent)
    except (ValueError, RecursionError):
        return "{}"


def _for_the_model(notice: Notice) -> str | None:
    if notice.kind in (NoticeKind.ERROR, NoticeKind.LIMIT):
        return None
    return NOTICES_FOR_THE_MODEL.get(notice.kind, notice.text)


def _called(messages: list[ModelMessage], call: ToolCall) -> None:
    name, call_id = wire_name(call.tool_name), call.call_id
    wanted = ToolCallPart(tool_name=name, args=_sendable(thaw_json(call.input)), tool_call_id=call_id)
    last = messages[-1] if messages else None
    if isinstance(last, ModelResponse):
        # What was said before a call was said in one answer with it.
        messages[-1] = replace(last, parts=[*last.parts, wanted])
    else:
        messages.append(ModelResponse(parts=[wanted]))
    result = ToolReturnPart(tool_name=name, content=render_tool_reply(call), tool_call_id=call_id)
    messages.append(ModelRequest(parts=[result]))


def _asked(messages: list[ModelMessage], part: UserPromptPart) -> None:
    messages.append(ModelRequest(parts=[part]))
