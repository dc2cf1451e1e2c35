"""An admitted tool, as whoever puts a list of tools together gets it."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Protocol

from agent_surface._base._json import JsonSchema, JsonValue, thaw_json
from agent_surface.invocation import AgentInvocationResult, Confirmation, Effect


class ToolExecutor(Protocol):
    """Runs a tool for :meth:`ExposedTool.execute`; never raises."""

    def __call__(
        self, tool_input: JsonValue, *, tool_call_id: str | None, confirmation_id: str | None
    ) -> Awaitable[AgentInvocationResult]:
        """Send the call through the gateway."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedTool:
    """A tool whose proof matches the manifest. What it says of itself is what the manifest says of it.

    Attributes:
        id: ``external:…``.
        name: Wire-safe name for a model provider, at most 64 characters.
        description: As it was reviewed.
        input_schema: What the agent may send; an object at the root.
        output_schema: What comes back, when the author declared it.
        effect: What it does to the world.
        confirmation: How much it asks a person.
        idempotent: Whether a repetition changes nothing more.
        reversible: Whether it can be undone.
        executor: What ``execute`` runs.
    """

    id: str
    name: str
    description: str
    input_schema: JsonSchema
    output_schema: JsonSchema | None
    effect: Effect
    confirmation: Confirmation
    idempotent: bool
    reversible: bool | None
    executor: ToolExecutor = field(repr=False, compare=False)

    def to_json(self) -> dict[str, JsonValue]:
        """Name, description and input schema, the block a provider is given, as a fresh JSON object."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": thaw_json(self.input_schema),
        }

    async def execute(
        self, tool_input: JsonValue = None, *, tool_call_id: str | None = None, confirmation_id: str | None = None
    ) -> AgentInvocationResult:
        """Call the tool and return its typed result. Cancelling the awaiting task cancels the call.

        Where a person has to approve, the first call is answered ``CONFIRMATION_REQUIRED`` and executes nothing. The
        host decides through ``gateway.confirmations``; an equal call with the id of an approved request executes, once.

        Args:
            tool_input: What the model sent; ``None`` means no input.
            tool_call_id: The provider's id of the call, used as idempotency key; a repetition joins or replays.
            confirmation_id: From the answer ``CONFIRMATION_REQUIRED``, once the person has decided.

        Returns:
            The result, also when the input is no JSON or the gateway was closed.

        Raises:
            asyncio.CancelledError: The awaiting task was cancelled. Nothing else is ever raised.
        """
        return await self.executor(tool_input, tool_call_id=tool_call_id, confirmation_id=confirmation_id)
