"""Asking a model until it wants no more tools. Runs in the worker's thread."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias, cast

from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import ModelConnectionError, ModelTimeoutError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models import AbstractModel, Model, ModelRequestParameters, StreamedResponse, infer_model
from pydantic_ai.settings import ModelSettings

from agent_surface.assistant._backend import BackendNotice, BackendUsage, CallTool, ToolReply
from agent_surface.assistant._providers import provider_title
from agent_surface.assistant._pydantic_ai._channel import Channel
from agent_surface.assistant._pydantic_ai._messages import (
    WantedCall,
    clean_text,
    read_response,
    tool_definitions,
    transcript_to_messages,
    with_state,
)
from agent_surface.assistant._pydantic_ai._problems import (
    BROKE_OFF,
    EMPTY,
    ENDLESS,
    FILTERED,
    NOT_UNDERSTOOD,
    TOO_MANY_CALLS,
    UnusableAnswerError,
    say_problem,
)
from agent_surface.assistant._values import OfferedTool, TokenUsage, TranscriptEntry

_log = logging.getLogger("agent_surface.assistant")

MAX_ANSWER_CHARACTERS = 4_000_000
"""A longer answer does not end by itself."""

MAX_CALLS_IN_ANSWER = 100
"""An answer that wants more is none: it is not read to its end, and nothing of it is done."""

MAX_CALLS_AT_ONCE = 8
"""Of the calls of one response, so that a limit of the session ends the turn after some of them, not amid all."""

Look: TypeAlias = Callable[[], Awaitable[tuple[Sequence[OfferedTool], str]]]
"""Tools and state of the next request, read in the session's thread; refuses once the turn has ended."""


class ModelRequests:
    """One model, made when it is first asked.

    Args:
        model: Its name, itself, or what makes it.
        instructions: What it is told of its place.
        service: Who provides it, for people; taken from the model when empty.
        timeout_ms: How long it may stay silent, in milliseconds.
        at_end: Takes what is to be awaited before the thread ends.
    """

    def __init__(
        self,
        model: str | AbstractModel | Callable[[], object],
        *,
        instructions: str,
        service: str,
        timeout_ms: int,
        at_end: Callable[[Callable[[], Awaitable[object]]], None],
    ) -> None:
        self._wanted = model
        self._instructions = instructions
        self._service = service
        self._timeout_ms = timeout_ms
        self._at_end = at_end
        self._model: Model[object] | None = None

    async def converse(
        self, channel: Channel, transcript: Sequence[TranscriptEntry], *, look: Look, call_tool: CallTool
    ) -> str | None:
        """Answer the last message of ``transcript``; a sentence for the person when that goes wrong."""
        try:
            model = await self._require_model()
            messages = transcript_to_messages(transcript)
            used_tools = False
            while True:
                response = await self._ask(channel, model, messages, look)
                sendable, calls = read_response(response)
                if not calls:
                    self._require_said_something(response, channel, used_tools=used_tools)
                    return None
                used_tools = True
                messages += [sendable, ModelRequest(parts=await _use_tools(channel, calls, call_tool))]
        except Exception as error:  # noqa: BLE001  a provider's library is foreign code; logged below
            return self._say(error)

    async def _require_model(self) -> Model[object]:
        if self._model is None:
            model = self._make_model()
            # Kept open, so that the next request need not connect anew.
            await model.__aenter__()
            self._at_end(lambda: model.__aexit__(None, None, None))
            self._model = model
        return self._model

    def _make_model(self) -> Model[object]:
        wanted = self._wanted
        if isinstance(wanted, str):
            return infer_model(wanted)
        made = wanted if isinstance(wanted, AbstractModel) else wanted()
        if not isinstance(made, Model):
            raise TypeError("a model of pydantic-ai is wanted")
        return cast("Model[object]", made)

    async def _ask(
        self, channel: Channel, model: Model[object], messages: Sequence[ModelMessage], look: Look
    ) -> ModelResponse:
        """One request. It begins in the session's thread: a turn that was stopped makes none."""
        tools, state = await channel.ask(look)
        timeout_s = self._timeout_ms / 1_000
        opened = model_request_stream(
            model,
            with_state(messages, state, self._instructions),
            model_settings=ModelSettings(timeout=timeout_s, first_event_timeout=timeout_s, max_retries=0),
            model_request_parameters=ModelRequestParameters(function_tools=tool_definitions(tools)),
            instrument=False,
        )
        async with opened as stream:
            await _listen(stream, channel)
            response = stream.get()
        usage = response.usage
        channel.put(BackendUsage(usage=TokenUsage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)))
        return response

    def _require_said_something(self, response: ModelResponse, channel: Channel, *, used_tools: bool) -> None:
        if response.finish_reason == "content_filter":
            raise UnusableAnswerError(FILTERED)
        if response.finish_reason == "length":
            channel.put(BackendNotice(text="The answer was cut off: it reached the length the model may write."))
        elif any(isinstance(part, TextPart) and clean_text(part.content).strip() for part in response.parts):
            return
        elif used_tools:
            channel.put(BackendNotice(text="The assistant used its tools and said nothing more."))
        else:
            raise UnusableAnswerError(EMPTY)

    def _say(self, error: Exception) -> str:
        model = self._model
        wanted = self._wanted
        name = model.model_name if model is not None else wanted if isinstance(wanted, str) else "the model"
        service = self._service or provider_title(
            model.system if model is not None else name.partition(":")[0] if ":" in name else name
        )
        sentence = say_problem(error, service=service, model=name, timeout_ms=self._timeout_ms)
        if sentence is not None:
            _log.info("%s could not answer: %s", service, type(error).__name__)
            return sentence
        # Frames without messages: what a library writes into those may be the request, and the request has the key.
        _log.error(
            "asking %s failed with %s\n%s",
            service,
            type(error).__name__,
            "".join(traceback.format_tb(error.__traceback__)),
        )
        return NOT_UNDERSTOOD.format(service=service)


async def _listen(stream: StreamedResponse, channel: Channel) -> None:
    said = _Said(channel)
    calls = 0
    try:
        async for event in stream:
            if isinstance(event, PartStartEvent) and isinstance(event.part, ToolCallPart):
                calls += 1
                if calls > MAX_CALLS_IN_ANSWER:
                    raise UnusableAnswerError(TOO_MANY_CALLS)
            elif isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                said.begin(event.part.content)
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                said.go_on(event.delta.content_delta)
    except ModelTimeoutError:
        raise
    except ModelConnectionError as error:
        raise UnusableAnswerError(BROKE_OFF) from error


class _Said:
    """The text of one answer on its way to the person: nothing before its first letter, and not without end."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._begun = False
        self._characters = 0

    def begin(self, text: str) -> None:
        """Another part of the text."""
        if self._begun and text.strip():
            text = f"\n\n{text}"
        self.go_on(text)

    def go_on(self, text: str) -> None:
        """The text goes on."""
        self._characters += len(text)
        if self._characters > MAX_ANSWER_CHARACTERS:
            raise UnusableAnswerError(ENDLESS)
        text = clean_text(text)
        if not self._begun:
            text = text.lstrip()
        if text:
            self._begun = True
            self._channel.put_text(text)


async def _use_tools(channel: Channel, calls: Sequence[WantedCall], call_tool: CallTool) -> list[ModelRequestPart]:
    free = asyncio.Semaphore(MAX_CALLS_AT_ONCE)

    async def use(call: WantedCall) -> ModelRequestPart:
        async with free:
            reply = await channel.ask(lambda: _call(call, call_tool))
        text = reply.text if call.problem is None else f"{call.problem}\n{reply.text}"
        return ToolReturnPart(tool_name=call.part.tool_name, content=text, tool_call_id=call.part.tool_call_id)

    tasks = [asyncio.ensure_future(use(call)) for call in calls]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def _call(call: WantedCall, call_tool: CallTool) -> ToolReply:
    return await call_tool(call.name, call.tool_input, call_id=call.part.tool_call_id)
