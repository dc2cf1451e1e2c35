"""A conversation that only shows what a scene puts into it."""

from __future__ import annotations

from collections.abc import Callable

from agent_surface import JsonValue
from agent_surface.assistant import (
    AssistantMessage,
    Notice,
    NoticeKind,
    OfferedTool,
    PersonMessage,
    SessionEvent,
    SessionState,
    TokenUsage,
    ToolCall,
    ToolCallStatus,
    TranscriptEntry,
)
from agent_surface.errors import CapabilityErrorPayload, ErrorCode, Retry
from agent_surface.invocation import InvocationError

MARKDOWN = """Three stations in **Milan** are offline. In short:

| Station | Since | Battery |
|---|---|---|
| MIL-002 | 3 days | 12 % |
| MIL-004 | 5 hours | 71 % |

1. `MIL-002` needs a new battery.
2. The other one lost its network; see the [manual](https://example.com/manual).

```python
# Stations that have been silent for a day
def silent(stations, hours=24):
    return [s for s in stations if s.hours > hours]
```

> Nothing was changed so far.
"""

ARABIC = """ثلاث محطات في **ميلانو** غير متصلة:

1. المحطة `MIL-002` تحتاج إلى بطارية جديدة.
2. الأخرى فقدت شبكتها؛ انظر [الدليل](https://example.com/manual).
   - منذ 5 ساعات
   - البطارية 71 %

```python
offline = [s for s in stations if s.hours > 24]
```
"""

HOSTILE = (
    "Look: <b>bold</b> <script>alert(1)</script> <img src='http://evil.example/x.png'>\n\n"
    "![tracker](http://evil.example/pixel.png) and [click](javascript:alert(1)) or [file](file:///etc/passwd)\n\n"
    "Pay to \u202etxt.exe\u202c now\u200b\u200b\x07, see [bank](https://ex\u0430mple.com/login)\n\n"
    + "W" * 400
    + "\n\n"
    + "> " * 30
    + "deep\n\n"
    + "".join(f"{' ' * (2 * depth)}- level {depth}\n" for depth in range(12))
)


class StagedConversation:
    """A transcript, a state and what is offered, as a scene wants them; nothing ever happens in it."""

    def __init__(
        self,
        *entries: TranscriptEntry,
        state: SessionState = SessionState.IDLE,
        tools: tuple[OfferedTool, ...] = (),
        suggestions: tuple[str, ...] = (),
        usage: TokenUsage | None = None,
    ) -> None:
        self.transcript = entries
        self.state = state
        self.closed = False
        self.usage = usage or TokenUsage()
        self._tools = tools
        self._suggestions = suggestions

    def send(self, text: str) -> bool:
        """Nobody listens."""
        return not text

    def stop(self) -> bool:
        """Nothing runs."""
        return False

    def clear(self) -> bool:
        """Nothing is cleared."""
        return False

    def to_json(self) -> dict[str, JsonValue]:
        """Nothing is exported."""
        return {}

    def tools(self) -> tuple[OfferedTool, ...]:
        """What the scene offers."""
        return self._tools

    def suggestions(self) -> tuple[str, ...]:
        """What the scene suggests."""
        return self._suggestions

    def subscribe(self, listener: Callable[[SessionEvent], None]) -> Callable[[], None]:
        """There is nothing to hear."""
        del listener
        return lambda: None


def everyday_talk() -> tuple[TranscriptEntry, ...]:
    """A bit of everything an ordinary conversation has."""
    return (
        PersonMessage(message_id="p1", text="Which stations in Milan are offline?", at_ms=0),
        _call("c1", "List the devices", ToolCallStatus.DONE, "devices.table", ended_ms=412),
        AssistantMessage(message_id="a1", text=MARKDOWN, at_ms=0),
        PersonMessage(message_id="p2", text="Disable both, and rename the first one to “Spare”.", at_ms=0),
        _call("c2", "Take devices out of service", ToolCallStatus.WAITING, "devices.table", confirmation_id="cnf_1"),
        _call("c3", "Rename a device", ToolCallStatus.FAILED, "devices.drawer", ended_ms=1_300, failed=True),
        _call("c4", "Export the list", ToolCallStatus.RUNNING, "devices.table"),
        Notice(message_id="n1", kind=NoticeKind.INFO, text="The language model was changed.", at_ms=0),
    )


def arabic_talk() -> tuple[TranscriptEntry, ...]:
    """A talk in a language that is written from right to left, about things that are not."""
    return (
        PersonMessage(message_id="p1", text="أي المحطات في ميلانو غير متصلة؟ (MIL-*)", at_ms=0),
        _call("c1", "عرض الأجهزة", ToolCallStatus.DONE, "devices.table", ended_ms=412),
        AssistantMessage(message_id="a1", text=ARABIC, at_ms=0),
        PersonMessage(message_id="p2", text="Disable both, please.", at_ms=0),
        _call("c2", "إيقاف الأجهزة عن العمل!", ToolCallStatus.WAITING, "devices.table", confirmation_id="cnf_1"),
    )


def hostile_talk() -> tuple[TranscriptEntry, ...]:
    """What a model, a tool or a file could try."""
    return (
        PersonMessage(message_id="p1", text="<i>What</i> is in \u202egnp.exe?", at_ms=0),
        AssistantMessage(message_id="a1", text=HOSTILE, at_ms=0),
        _call("c1", "<b>Delete</b> \u202eeverything\u202c " + "X" * 300, ToolCallStatus.RUNNING, "a\u2066b"),
        Notice(message_id="n1", kind=NoticeKind.ERROR, text="<h1>Failed</h1> \u200b" + "Y" * 200, at_ms=0),
    )


def _call(
    call_id: str,
    title: str,
    status: ToolCallStatus,
    component: str,
    *,
    ended_ms: int | None = None,
    confirmation_id: str | None = None,
    failed: bool = False,
) -> ToolCall:
    error = CapabilityErrorPayload(code=ErrorCode.EXECUTION_FAILED, message="It failed.", retry=Retry.NO)
    result = InvocationError(invocation_id="i", capability_id="view:x.y", surface_version="1", error=error)
    return ToolCall(
        call_id=call_id,
        tool_name="tool",
        capability_id="view:devices.table.list",
        title=title,
        component_type=component,
        instance_id="default",
        input={"ids": ("MIL-002", "MIL-004"), "name": "Spare"},
        status=status,
        confirmation_id=confirmation_id,
        result=result if failed else None,
        started_ms=0,
        ended_ms=ended_ms,
    )
