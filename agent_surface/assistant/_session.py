"""One conversation: a state machine that owns steps, limits and tool calls, with a stream of events.

::

    IDLE ── send ──▶ THINKING ◀──▶ ACTING ◀──▶ WAITING_FOR_PERSON
      ▲                 │             │                │
      │                 └──── stop ───┴────────────────┘
      │                            ▼
      └── a turn of the loop ── STOPPING            (a turn that ends by itself goes to IDLE directly)

``THINKING``: no call is open. ``ACTING``: one is. ``WAITING_FOR_PERSON``: one of them waits for a confirmation.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Self, assert_never

from agent_surface._base._json import JsonValue
from agent_surface._base._ports import Clock, HostLoop
from agent_surface.assistant._backend import (
    AssistantBackend,
    AssistantBackendError,
    BackendEvent,
    BackendNotice,
    BackendText,
    BackendUsage,
    CompletingBackend,
)
from agent_surface.assistant._conversation import Conversation
from agent_surface.assistant._emitter import EventEmitter
from agent_surface.assistant._persistence import conversation_from_json, conversation_to_json, usage_from_json
from agent_surface.assistant._replies import NOTICES_FOR_THE_MODEL
from agent_surface.assistant._turn import Turn, offered
from agent_surface.assistant._values import (
    NoticeKind,
    OfferedTool,
    SessionError,
    SessionEvent,
    SessionState,
    StateChanged,
    TokenUsage,
    ToolsChanged,
    TranscriptEntry,
    TranscriptReset,
    TurnEnd,
    TurnFinished,
)
from agent_surface.policies import TakeOver
from agent_surface.toolset._toolset import AgentToolset
from agent_surface.toolset._values import AgentTool, ConfirmationMode

_log = logging.getLogger(__name__)

_CONTROL = {
    NoticeKind.TAKEN_OVER: "You have control. The assistant can do nothing until you hand it back.",
    NoticeKind.HANDED_BACK: "You have handed control back to the assistant.",
}

UNEXPECTED = "The assistant failed unexpectedly. Try again; the application's log has the details."


class AssistantSession:
    """A conversation with an assistant that acts only through a toolset.

    Belongs to the thread of the registry. Everything it does on its own runs as tasks of ``host_loop``; ``close``
    ends them. Listeners are called on that thread, in order, after the change they hear of is visible in
    ``state`` and ``transcript``; what a listener causes is delivered after the event it was called with.

    Args:
        toolset: In ``wait`` mode: the person is waited for inside a call. Stays open when the session closes.
        backend: Who answers.
        clock: Time of the entries and of waits between attempts.
        host_loop: The event loop of the application.
        max_steps: Most tool calls in one turn, at least 1.
        take_over: The switch with which the person takes control of the toolset's registry; the conversation tells of
            it, and the model hears of it at its next step.

    Raises:
        ValueError: The toolset is in ``two-phase`` mode, or ``max_steps`` is less than 1.
    """

    def __init__(
        self,
        toolset: AgentToolset,
        backend: AssistantBackend,
        *,
        clock: Clock,
        host_loop: HostLoop,
        max_steps: int = 25,
        take_over: TakeOver | None = None,
    ) -> None:
        if toolset.confirmations is not ConfirmationMode.WAIT:
            raise ValueError("a session waits for the person itself; give it a toolset with confirmations='wait'")
        if max_steps < 1:
            raise ValueError(f"max_steps is at least 1, not {max_steps}")
        self._toolset = toolset
        self._backend = backend
        self._clock = clock
        self._host_loop = host_loop
        self._max_steps = max_steps
        self._state = SessionState.IDLE
        self._closed = False
        self._emitter = EventEmitter()
        self._conversation = self._begin(())
        self._turn: Turn | None = None
        # A back end that does not end when told to is kept here, so that its task is not collected.
        self._running: dict[Turn, asyncio.Task[None]] = {}
        self._usage = TokenUsage()
        self._forget_toolset = toolset.subscribe(self._tools_changed)
        self._forget_take_over = take_over.subscribe(self._control_changed) if take_over is not None else _nothing

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
        take_over: TakeOver | None = None,
    ) -> Self:
        """A session with the saved transcript. Executes nothing; unfinished calls become abandoned.

        Raises:
            ValueError: ``saved`` is no conversation of a version this library can read.
        """
        entries = conversation_from_json(saved)
        usage = usage_from_json(saved)
        session = cls(toolset, backend, clock=clock, host_loop=host_loop, max_steps=max_steps, take_over=take_over)
        session._conversation = session._begin(entries)
        session._usage = usage
        return session

    @property
    def state(self) -> SessionState:
        """What the session does at the moment."""
        return self._state

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._closed

    @property
    def transcript(self) -> tuple[TranscriptEntry, ...]:
        """The conversation, oldest first."""
        return self._conversation.entries()

    @property
    def usage(self) -> TokenUsage:
        """What models read and wrote for this conversation, as far as back ends reported it."""
        return self._usage

    @property
    def clock(self) -> Clock:
        """Time of the entries."""
        return self._clock

    @property
    def backend(self) -> AssistantBackend:
        """Who answers. :meth:`use_backend` exchanges it between turns."""
        return self._backend

    def use_backend(self, backend: AssistantBackend) -> bool:
        """Answer with ``backend`` from the next turn on; ``False`` while a turn runs."""
        if self._turn is not None:
            return False
        self._backend = backend
        return True

    def send(self, text: str) -> bool:
        """Begin a turn with a message of the person.

        Returns:
            ``False``, and nothing happens, while a turn runs, after ``close``, and for blank text.
        """
        if self._closed or self._turn is not None or not text.strip():
            return False
        turn = Turn(
            conversation=self._conversation,
            toolset=self._toolset,
            clock=self._clock,
            host_loop=self._host_loop,
            max_steps=self._max_steps,
            activity_changed=self._show_activity,
            overrun=partial(self._end_soon, TurnEnd.STEP_LIMIT),
        )
        running = self._run(turn)
        try:
            task = self._host_loop.create_task(running)
        except BaseException:
            running.close()
            raise
        self._running[turn] = task
        task.add_done_callback(lambda _: self._running.pop(turn, None))
        self._turn = turn
        self._conversation.add_person_message(text)
        self._show_activity()
        return True

    def stop(self) -> bool:
        """End the turn: withdraw what is waited for, call no model again, be idle in the next turn of the loop.

        A handler that does not cooperate goes on; its result is recorded as late. ``False`` when nothing runs.
        """
        if self._turn is None or not self._turn.live:
            return False
        self._end_soon(TurnEnd.STOPPED)
        return True

    def announce(self, kind: NoticeKind, text: str) -> None:
        """Add a notice of the application and tell the model of it at its next step (for example a take-over)."""
        self._conversation.add_notice(kind, text)
        if self._turn is not None:
            self._turn.add_news(text)

    def clear(self) -> bool:
        """Begin a new, empty conversation; ``False`` while a turn runs."""
        if self._turn is not None:
            return False
        self._conversation = self._begin(())
        self._usage = TokenUsage()
        self._emitter.emit(TranscriptReset())
        return True

    def tools(self) -> tuple[OfferedTool, ...]:
        """What the assistant is offered now, for a palette."""
        return offered(self._toolset.tools())

    def suggestions(self) -> tuple[str, ...]:
        """Messages the person could send now; empty when the back end has none."""
        return self.complete("")

    def complete(self, text: str) -> tuple[str, ...]:
        """Whole messages that finish ``text``, best first; empty when the back end cannot complete."""
        if self._closed or not isinstance(self._backend, CompletingBackend):
            return ()
        try:
            return tuple(self._backend.complete(text, self.tools()))
        except Exception:  # noqa: BLE001  a back end is foreign code; logged with its traceback
            _log.exception("the back end failed to complete a message")
            return ()

    def subscribe(self, listener: Callable[[SessionEvent], None]) -> Callable[[], None]:
        """Hear events; returns a disposer that may be called twice."""
        return self._emitter.subscribe(listener)

    async def wait_idle(self) -> None:
        """Wait until no turn runs; at once when none does."""
        if self._turn is None:
            return
        idle = self._host_loop.create_future()

        def heard(event: SessionEvent) -> None:
            if isinstance(event, TurnFinished) and not idle.done():
                idle.set_result(None)

        forget = self.subscribe(heard)
        try:
            await idle
        finally:
            forget()

    def to_json(self) -> dict[str, JsonValue]:
        """The conversation as a fresh JSON object for :meth:`restore`. Live state is no part of it."""
        return conversation_to_json(self._conversation.entries(), self._usage)

    def close(self) -> None:
        """End the turn if there is one, and take no more. Idempotent; the toolset stays open."""
        if self._closed:
            return
        self._closed = True
        self._forget_toolset()
        self._forget_take_over()
        turn = self._turn
        if turn is not None:
            self._cancel(turn)
            self._finish(turn, TurnEnd.CLOSED)
        for task in tuple(self._running.values()):
            task.cancel()

    # The turn.

    async def _run(self, turn: Turn) -> None:
        reason = TurnEnd.COMPLETED
        try:
            events = self._backend.turn(
                self._conversation.entries(),
                tools=turn.offer,
                state=turn.state_block,
                call_tool=turn.call_tool,
            )
            await self._take_all(turn, events)
        except asyncio.CancelledError:
            if turn.live:
                # Not by stop(): the loop goes, or the back end gave itself up.
                self._finish(turn, TurnEnd.STOPPED)
                raise
        except AssistantBackendError as error:
            reason = self._fail(turn, str(error))
        except Exception:  # noqa: BLE001  a back end is foreign code; logged with its traceback
            _log.exception("the back end failed")
            reason = self._fail(turn, UNEXPECTED)
        if turn.live:
            exhausted = reason is TurnEnd.COMPLETED and turn.exhausted
            self._finish(turn, TurnEnd.STEP_LIMIT if exhausted else reason)

    async def _take_all(self, turn: Turn, events: AsyncIterator[BackendEvent]) -> None:
        try:
            async for event in events:
                if not turn.live:
                    return
                self._take(turn, event)
        finally:
            close = getattr(events, "aclose", None)
            if close is not None:
                await close()

    def _take(self, turn: Turn, event: BackendEvent) -> None:
        match event:
            case BackendText():
                self._conversation.add_text(event.text)
            case BackendNotice():
                self._conversation.add_notice(event.kind, event.text)
            case BackendUsage():
                turn.add_usage(event.usage)
                self._usage += event.usage
            case _:
                assert_never(event)

    def _fail(self, turn: Turn, sentence: str) -> TurnEnd:
        if turn.live:
            self._conversation.add_notice(NoticeKind.ERROR, sentence)
            self._emitter.emit(SessionError(message=sentence))
        return TurnEnd.ERROR

    def _cancel(self, turn: Turn) -> None:
        turn.end()
        task = self._running.get(turn)
        if task is not None:
            task.cancel()

    def _end_soon(self, reason: TurnEnd) -> None:
        """Cancel now and be idle in the next turn of the loop, whether or not anything has ended by then."""
        turn = self._turn
        if turn is None:
            return
        self._set_state(SessionState.STOPPING)
        self._cancel(turn)
        if not self._host_loop.call_soon(partial(self._finish, turn, reason)):
            self._finish(turn, reason)

    def _finish(self, turn: Turn, reason: TurnEnd) -> None:
        if turn is not self._turn:
            return
        turn.end()
        self._conversation.complete_message()
        if reason is TurnEnd.STOPPED:
            self._conversation.add_notice(NoticeKind.STOPPED, "Stopped.")
        self._turn = None
        self._set_state(SessionState.IDLE)
        self._emitter.emit(TurnFinished(reason=reason, usage=turn.usage))

    def _begin(self, entries: Iterable[TranscriptEntry]) -> Conversation:
        return Conversation(entries, clock=self._clock, emitter=self._emitter)

    def _show_activity(self) -> None:
        turn = self._turn
        if turn is not None and turn.live:
            self._set_state(turn.activity)

    def _set_state(self, state: SessionState) -> None:
        if state is self._state:
            return
        previous, self._state = self._state, state
        self._emitter.emit(StateChanged(state=state, previous=previous))

    def _control_changed(self, engaged: bool) -> None:
        kind = NoticeKind.TAKEN_OVER if engaged else NoticeKind.HANDED_BACK
        self._conversation.add_notice(kind, _CONTROL[kind])
        if self._turn is not None:
            self._turn.add_news(NOTICES_FOR_THE_MODEL[kind])

    def _tools_changed(self, tools: Sequence[AgentTool]) -> None:
        self._emitter.emit(ToolsChanged(tools=offered(tools)))


def _nothing() -> None:
    """There is no switch to forget."""
