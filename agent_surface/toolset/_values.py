"""A tool as a model provider, a bridge or an assistant sees it: a constant definition and a live state."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from typing_extensions import override

from agent_surface._base._json import JsonSchema, JsonValue, thaw_json
from agent_surface.confirmations._values import ConfirmationOutcome
from agent_surface.invocation import (
    AgentInvocationResult,
    CapabilityKind,
    ComponentRef,
    Confirmation,
    Effect,
    Plane,
)


class ConfirmationMode(StrEnum):
    """Who waits for the person: the tool (``wait``), or the model by repeating itself (``two-phase``)."""

    WAIT = "wait"
    TWO_PHASE = "two-phase"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """The part of a tool that never carries live state.

    Equal definitions give equal bytes, whatever the availability of the capability does, so a provider can cache
    the block of tools across steps.

    Attributes:
        name: Wire name, at most 64 characters, unique in its catalogue.
        description: ``[plane · effect · confirmation] `` and the authored description.
        input_schema: What the agent may send; an object at the root.
        output_schema: What comes back, when the author declared it.
        capability_id: The canonical id behind the name.
        summary: The authored description alone.
        kind: Observation, action or procedure.
        plane: View or domain.
        effect: What it does to the world.
        confirmation: How much it asks a person.
        idempotent: Whether a repetition changes nothing more.
        reversible: Whether it can be undone; ``None`` where the question has no meaning.
        component: The live component that offers it.
        bound_fields: Root fields of a procedure's input that the screen fills in.
    """

    name: str
    description: str
    input_schema: JsonSchema
    output_schema: JsonSchema | None = None
    capability_id: str
    summary: str
    kind: CapabilityKind
    plane: Plane
    effect: Effect
    confirmation: Confirmation
    idempotent: bool
    reversible: bool | None
    component: ComponentRef
    bound_fields: tuple[str, ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """Name, description and input schema, the block a provider is given, as a fresh JSON object."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": thaw_json(self.input_schema),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolState:
    """The live part of a tool, for a trailing block outside the tool definitions.

    Attributes:
        available: Whether a call can succeed right now.
        unavailable_reason: Why not.
        note: Live text of a binding's ``describe()``.
    """

    available: bool
    unavailable_reason: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationWait:
    """A call waits for a person, or has stopped waiting.

    Attributes:
        confirmation_id: The pending request.
        outcome: ``None`` while a person is being waited for; how it ended afterwards.
    """

    confirmation_id: str
    outcome: ConfirmationOutcome | None = None


WaitListener = Callable[[ConfirmationWait], None]
"""Hears when a call begins and ends to wait for a person."""


class ToolCallCancelledError(asyncio.CancelledError):
    """The task that awaited a tool was cancelled when the call had already settled.

    It is a ``CancelledError``, so cancellation goes its usual way; who wants to know what the call did all the same
    (a handler that holds the thread ends before its Stop is seen) reads ``result``.

    Attributes:
        result: How the call ended.
    """

    def __init__(self, result: AgentInvocationResult) -> None:
        super().__init__("the call had already settled when the awaiting task was cancelled")
        self.result = result


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEntry:
    """One tool before it can be called: its definition, its state now, and the component it belongs to."""

    definition: ToolDefinition
    state: ToolState
    registration_id: str


class ToolExecutor(Protocol):
    """Runs a tool for :meth:`AgentTool.execute`; never raises."""

    def __call__(
        self, entry: ToolEntry, tool_input: JsonValue, *, tool_call_id: str | None, on_wait: WaitListener | None
    ) -> Awaitable[AgentInvocationResult]:
        """Run the capability behind the tool."""
        ...


class AgentTool:
    """One tool of a catalogue. Definition and state are values; only ``execute`` does anything.

    Immutable, and equal to another tool with the same values. A big surface makes hundreds with every version, so one
    is no more than a pair: what it stands for, and what all tools of that version are run by.
    """

    __slots__ = ("_entry", "_executor")

    def __init__(self, entry: ToolEntry, executor: ToolExecutor) -> None:
        """Make a tool of an entry; applications get theirs from a toolset.

        Args:
            entry: What it stands for.
            executor: What ``execute`` runs.
        """
        self._entry = entry
        self._executor = executor

    @property
    def definition(self) -> ToolDefinition:
        """What never carries live state."""
        return self._entry.definition

    @property
    def state(self) -> ToolState:
        """What does."""
        return self._entry.state

    @property
    def registration_id(self) -> str:
        """The live component a call is addressed to; empty for a tool of the meta mode."""
        return self._entry.registration_id

    @override
    def __eq__(self, other: object) -> bool:
        return self._entry == other._entry if isinstance(other, AgentTool) else NotImplemented

    @override
    def __hash__(self) -> int:
        return hash((self.name, self.registration_id))

    @override
    def __repr__(self) -> str:
        return f"AgentTool({self._entry!r})"

    @property
    def name(self) -> str:
        """The wire name."""
        return self._entry.definition.name

    @property
    def description(self) -> str:
        """Prefix and authored description, without live state."""
        return self._entry.definition.description

    @property
    def input_schema(self) -> JsonSchema:
        """What the agent may send."""
        return self._entry.definition.input_schema

    async def execute(
        self, tool_input: JsonValue = None, *, tool_call_id: str | None = None, on_wait: WaitListener | None = None
    ) -> AgentInvocationResult:
        """Call the capability and return its typed result. Cancelling the awaiting task cancels the call.

        Args:
            tool_input: What the model sent; ``None`` means no input.
            tool_call_id: The provider's id of the call, used as idempotency key; a repetition joins or replays.
            on_wait: Hears when the call begins and ends to wait for a person (only in ``wait`` mode).

        Returns:
            The result, also when the tool is gone, the input is no JSON or the registry was closed.

        Raises:
            asyncio.CancelledError: The awaiting task was cancelled; :class:`ToolCallCancelledError` when the result
                was there already. Nothing else is ever raised.
        """
        return await self._executor(self._entry, tool_input, tool_call_id=tool_call_id, on_wait=on_wait)
