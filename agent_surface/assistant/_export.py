"""A conversation as a document for people."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from agent_surface._base._json import FrozenJson, thaw_json
from agent_surface.assistant._values import (
    AssistantMessage,
    Notice,
    PersonMessage,
    ToolCall,
    ToolCallStatus,
    TranscriptEntry,
)
from agent_surface.invocation import InvocationOk

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BACKTICKS = re.compile("`+")
# Control characters, and those that turn the direction of text around: a document shows what was said.
_HIDDEN = dict.fromkeys(
    (*range(9), 11, 12, *range(14, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)),
    "\N{REPLACEMENT CHARACTER}",
)

_OUTCOMES = {
    ToolCallStatus.RUNNING: "still running",
    ToolCallStatus.WAITING: "waiting for you",
    ToolCallStatus.DONE: "done",
    ToolCallStatus.REFUSED: "refused",
    ToolCallStatus.FAILED: "failed",
    ToolCallStatus.ABANDONED: "abandoned: its end is not known",
}


def conversation_to_markdown(entries: Iterable[TranscriptEntry]) -> str:
    """The conversation as Markdown.

    Whatever anybody wrote stands in a fence that is longer than any inside it. So a viewer loads nothing for it, and
    nothing said by one side can pass for the other. Inputs and outputs are those of the transcript: what was redacted
    there stays so.
    """
    return "\n".join(["# Conversation", "", *(line for entry in entries for line in _lines(entry))])


def _lines(entry: TranscriptEntry) -> Iterator[str]:
    match entry:
        case PersonMessage():
            yield from _section("You", entry.at_ms, entry.text)
        case AssistantMessage():
            yield from _section("Assistant", entry.at_ms, entry.text)
        case Notice():
            yield from _section("Notice", entry.at_ms, entry.text)
        case ToolCall():
            yield from _call_lines(entry)


def _section(title: str, at_ms: int, text: str) -> Iterator[str]:
    yield f"## {title} · {_when(at_ms)}"
    yield ""
    yield from _fenced(text, "text")


def _call_lines(call: ToolCall) -> Iterator[str]:
    yield f"## Tool · {_when(call.started_ms)}"
    yield ""
    yield f"{_inline(call.title)} ({_inline(call.tool_name)}): {_OUTCOMES[call.status]}"
    yield ""
    yield from _fenced(_json(call.input), "json")
    result = call.result
    if result is None:
        return
    if call.late:
        yield "It ended all the same, after it was given up:"
        yield ""
    if not isinstance(result, InvocationOk):
        yield from _fenced(_json_text(result.error.to_json()), "json")
    elif result.has_output:
        yield from _fenced(_json(result.output), "json")


def _fenced(text: str, kind: str) -> Iterator[str]:
    shown = text.replace("\r\n", "\n").replace("\r", "\n").translate(_HIDDEN)
    fence = "`" * max(3, _longest_run(shown) + 1)
    yield f"{fence}{kind}"
    yield shown.rstrip("\n")
    yield fence
    yield ""


def _inline(text: str) -> str:
    shown = " ".join(text.translate(_HIDDEN).split()) or "-"
    ticks = "`" * (_longest_run(shown) + 1)
    return f"{ticks} {shown} {ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def _json(value: FrozenJson) -> str:
    return _json_text(thaw_json(value))


def _json_text(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _when(at_ms: int) -> str:
    return (_EPOCH + timedelta(milliseconds=at_ms)).strftime("%Y-%m-%d %H:%M:%S UTC")
