"""One turn while it runs: what was offered, what is being called, and what it may still do."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial

from agent_surface import _failures
from agent_surface._base._canonical import canonical_json
from agent_surface._base._json import JsonValue, NotJsonError
from agent_surface._base._ports import Clock, HostLoop
from agent_surface.assistant._backend import ToolReply
from agent_surface.assistant._conversation import Conversation, refused
from agent_surface.assistant._limits import CallKey, TurnLimits, plan_retry
from agent_surface.assistant._replies import render_tool_reply
from agent_surface.assistant._values import (
    NoticeKind,
    OfferedTool,
    SessionState,
    TokenUsage,
    ToolCall,
    ToolCallStatus,
)
from agent_surface.invocation import AgentInvocationResult, Effect
from agent_surface.toolset._state_block import render_state_block
from agent_surface.toolset._toolset import AgentToolset
from agent_surface.toolset._values import AgentTool, ConfirmationWait, ToolCallCancelledError

_log = logging.getLogger(__name__)

_READS = frozenset({Effect.NONE, Effect.SERVER_QUERY})


class Turn:
    """The live part of a session between a message of the person and idle.

    A back end is given ``offer``, ``state_block`` and ``call_tool``. Once the turn is ended each of them raises
    ``CancelledError``: a back end that goes on after Stop gets no tools, no state and no call, so it can only end.

    Args:
        conversation: Where calls are written down.
        toolset: Where they go.
        clock: Waits between attempts.
        host_loop: Runs each call as a task.
        max_steps: Most calls.
        activity_changed: Called when ``activity`` may have another value.
        overrun: Called when the back end keeps calling after it was told to stop.

    Attributes:
        usage: What the back end reported so far; ``None`` when nothing.
    """

    def __init__(
        self,
        *,
        conversation: Conversation,
        toolset: AgentToolset,
        clock: Clock,
        host_loop: HostLoop,
        max_steps: int,
        activity_changed: Callable[[], None],
        overrun: Callable[[], None],
    ) -> None:
        self._conversation = conversation
        self._toolset = toolset
        self._clock = clock
        self._host_loop = host_loop
        self._max_steps = max_steps
        self._limits = TurnLimits(max_steps=max_steps)
        self._activity_changed = activity_changed
        self._overrun = overrun
        self._told_limit = False
        # A call is addressed to what the model has seen, so that the registry notices what moved since.
        self._offered: dict[str, AgentTool] = {}
        self._executions: dict[str, asyncio.Task[AgentInvocationResult]] = {}
        # Given up, but not ended: kept, so that the task is not collected before its late result is written down.
        self._strays: set[asyncio.Task[AgentInvocationResult]] = set()
        self._news: list[str] = []
        self._live = True
        self.usage: TokenUsage | None = None

    @property
    def live(self) -> bool:
        """Whether the back end is still listened to."""
        return self._live

    @property
    def exhausted(self) -> bool:
        """Whether a call was refused because there were too many."""
        return self._limits.exhausted

    @property
    def activity(self) -> SessionState:
        """What the turn does: think, act, or wait for the person."""
        calls = [self._conversation.find_call(call_id) for call_id in self._executions]
        if any(call is not None and call.status is ToolCallStatus.WAITING for call in calls):
            return SessionState.WAITING_FOR_PERSON
        return SessionState.ACTING if calls else SessionState.THINKING

    def add_news(self, text: str) -> None:
        """Tell the model ``text`` at its next step."""
        self._news.append(text)

    def add_usage(self, usage: TokenUsage) -> None:
        """The back end reports what a request took."""
        self.usage = usage if self.usage is None else self.usage + usage

    def end(self) -> None:
        """Cancel what runs and abandon what is open; what ends all the same is recorded late. Idempotent."""
        self._live = False
        executions, self._executions = self._executions, {}
        for call_id, task in executions.items():
            self._conversation.abandon_call(call_id)
            task.cancel()

    # What a back end is given.

    def offer(self) -> tuple[OfferedTool, ...]:
        """The tools of the next request, with live state evaluated now."""
        self._require_live()
        tools = self._toolset.refresh()
        self._offered = {tool.name: tool for tool in tools}
        return offered(tools)

    def state_block(self) -> str:
        """The trailing block of the next request: live state, and what happened since the turn began."""
        self._require_live()
        block = render_state_block(tuple(self._offered.values()) or self._toolset.tools())
        if not self._news:
            return block
        return "\n".join([block, "News from the application:", *(f"- {' '.join(item.split())}" for item in self._news)])

    async def call_tool(self, name: str, tool_input: JsonValue = None, *, call_id: str | None = None) -> ToolReply:
        """Use one tool within the limits of the turn. See :class:`CallTool`."""
        self._require_live()
        tool = self._offered.get(name) or self._toolset.find_tool(name)
        call = self._conversation.open_call(name, None if tool is None else tool.definition, tool_input, call_id)
        key = _call_key(name, tool_input)
        refusal = self._limits.admit(key)
        if self._limits.overrun:
            self._conversation.abandon_call(call.call_id)
            self._overrun()
            raise asyncio.CancelledError
        if refusal is not None:
            self._tell_limit()
            self._conversation.refuse_call(call.call_id, refused(call, refusal.error), refusal.guidance)
        elif tool is None:
            self._conversation.settle_call(call.call_id, refused(call, _failures.not_found().payload))
            self._record(key, call.call_id)
        else:
            await self._execute(call, tool, tool_input)
            self._record(key, call.call_id)
        settled = self._conversation.find_call(call.call_id)
        if not self._live or settled is None or settled.result is None:
            raise asyncio.CancelledError
        return ToolReply(result=settled.result, text=render_tool_reply(settled))

    # One call.

    async def _execute(self, call: ToolCall, tool: AgentTool, tool_input: JsonValue) -> None:
        task = self._host_loop.create_task(self._perform(call.call_id, tool, tool_input))
        # First in line: the transcript has the result before anybody who waits for the task goes on.
        task.add_done_callback(partial(self._performed, call))
        self._strays.add(task)
        self._executions[call.call_id] = task
        self._activity_changed()
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            # Only this call was given up by the back end; a stopped turn has taken it out before.
            if self._executions.pop(call.call_id, None) is not None:
                self._conversation.abandon_call(call.call_id)
                task.cancel()
                self._activity_changed()
            raise

    async def _perform(self, call_id: str, tool: AgentTool, tool_input: JsonValue) -> AgentInvocationResult:
        attempt = 0
        while True:
            try:
                result = await tool.execute(tool_input, on_wait=partial(self._waiting, call_id))
            except ToolCallCancelledError as cancelled:
                # The end of this task is in nobody's hands but ours, and the person should see what happened.
                return cancelled.result
            hint = plan_retry(
                result,
                attempt=attempt,
                repeatable=tool.definition.effect in _READS,
                refreshed=partial(self._still_offered, tool),
            )
            if hint is None:
                return result
            if hint.delay_ms:
                await self._delay(hint.delay_ms)
            tool = self._toolset.find_tool(tool.name) or tool
            attempt += 1

    def _performed(self, call: ToolCall, task: asyncio.Task[AgentInvocationResult]) -> None:
        self._strays.discard(task)
        if task.cancelled():
            result: AgentInvocationResult = refused(call, _failures.cancelled().payload)
        elif (error := task.exception()) is not None:
            _log.error("a tool raised instead of returning its result", exc_info=error)
            result = refused(call, _failures.execution_failed("handler-error").payload)
        else:
            result = task.result()
        self._conversation.settle_call(call.call_id, result)
        if self._executions.pop(call.call_id, None) is not None:
            self._activity_changed()

    def _waiting(self, call_id: str, wait: ConfirmationWait) -> None:
        self._conversation.show_wait(call_id, wait)
        self._activity_changed()

    def _still_offered(self, tool: AgentTool) -> bool:
        for current in self._toolset.refresh():
            if current.name == tool.name:
                return current.definition == tool.definition and current.state.available
        return False

    async def _delay(self, delay_ms: int) -> None:
        due = self._host_loop.create_future()
        timer = self._clock.call_later(delay_ms, lambda: None if due.done() else due.set_result(None))
        try:
            await due
        finally:
            timer.cancel()

    def _record(self, key: CallKey, call_id: str) -> None:
        call = self._conversation.find_call(call_id)
        if call is not None and call.result is not None:
            self._limits.record(key, call.result)

    def _tell_limit(self) -> None:
        if self._limits.exhausted and not self._told_limit:
            self._told_limit = True
            self._conversation.add_notice(
                NoticeKind.LIMIT, f"The assistant reached the limit of {self._max_steps} steps for one message."
            )

    def _require_live(self) -> None:
        if not self._live:
            raise asyncio.CancelledError


def offered(tools: Sequence[AgentTool]) -> tuple[OfferedTool, ...]:
    """Tools without what could call them."""
    return tuple(OfferedTool(definition=tool.definition, state=tool.state) for tool in tools)


def _call_key(name: str, tool_input: JsonValue) -> CallKey:
    """What makes two calls of a turn the same; input that is no JSON is the same as any other such."""
    try:
        return (name, canonical_json({} if tool_input is None else tool_input))
    except NotJsonError:
        return (name, "")
