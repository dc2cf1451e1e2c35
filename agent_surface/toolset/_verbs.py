"""The three constant tools of the meta mode: what they say of themselves, and what a call of each must look like.

Nothing here depends on the surface, so the block of tools has the same bytes whatever is on the screen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agent_surface import _failures
from agent_surface._base._json import JsonValue
from agent_surface.errors import AgentSchemaError, SchemaIssue
from agent_surface.invocation import CapabilityKind, ComponentRef, Confirmation, Effect, Plane
from agent_surface.schemas import AgentSchema, from_json_schema
from agent_surface.toolset._values import ToolDefinition

MAX_ID_CHARACTERS: Final = 128

_CAPABILITY_ID: Final[JsonValue] = {
    "type": "string",
    "minLength": 1,
    "description": "capabilityId or procedureId as surface_discover lists it.",
}
_INSTANCE_ID: Final[JsonValue] = {
    "type": "string",
    "minLength": 1,
    "description": "instanceId of the component, when several offer the capability.",
}
_REGISTRATION_ID: Final[JsonValue] = {
    "type": "string",
    "minLength": 1,
    "description": "registrationId of the component, to be told when it has been replaced since.",
}


class Verb:
    """One of the tools: its definition, and the reader of its envelope.

    Attributes:
        definition: Constant. Kind, effect and confirmation are those of the most a call can be.
    """

    __slots__ = ("_hint", "_keys", "_schema", "definition")

    def __init__(
        self,
        *,
        name: str,
        prefix: str,
        summary: str,
        keys: Mapping[str, JsonValue],
        required: tuple[str, ...] = (),
        acts: bool = False,
        hint: str | None = None,
    ) -> None:
        self._keys = frozenset(keys)
        self._hint = hint
        self._schema: AgentSchema[JsonValue] = from_json_schema(
            {
                "type": "object",
                "properties": dict(keys),
                **({"required": list(required)} if required else {}),
                "additionalProperties": False,
            }
        )
        self.definition = ToolDefinition(
            name=name,
            description=f"{prefix} {summary}",
            input_schema=self._schema.json_schema,
            capability_id=name,
            summary=summary,
            kind=CapabilityKind.PROCEDURE if acts else CapabilityKind.OBSERVATION,
            plane=Plane.DOMAIN if acts else Plane.VIEW,
            effect=Effect.DESTRUCTIVE if acts else Effect.NONE,
            confirmation=Confirmation.OPTIONAL if acts else Confirmation.NEVER,
            idempotent=not acts,
            reversible=False if acts else None,
            component=ComponentRef(type="surface"),
        )

    def read(self, tool_input: JsonValue) -> dict[str, JsonValue]:
        """The envelope of a call, with every key checked.

        Text in place of the input object is let through: whether it can be read depends on the target.

        Raises:
            AgentCapabilityError: ``INVALID_INPUT``; each issue names the key.
        """
        given: JsonValue = {} if tool_input is None else tool_input
        text: dict[str, JsonValue] = {}
        if isinstance(given, dict) and "input" in self._keys and isinstance(given.get("input"), str):
            text = {"input": given["input"]}
            given = {key: value for key, value in given.items() if key != "input"}
        try:
            envelope = self._schema.parse(given)
        except AgentSchemaError as error:
            raise _failures.invalid_input([self._hinted(issue) for issue in error.issues]) from error
        # The schema takes objects only.
        return {**envelope, **text} if isinstance(envelope, dict) else {}

    def _hinted(self, issue: SchemaIssue) -> SchemaIssue:
        """An argument of the capability beside ``input`` is the mistake models make; say where it belongs."""
        if self._hint is None or not issue.path or issue.path.split("/")[1] in self._keys:
            return issue
        return SchemaIssue(path=issue.path, message=self._hint)


DISCOVER: Final = Verb(
    name="surface_discover",
    prefix="[view · none · no confirmation]",
    summary=(
        "List what the application offers now: components with their observations and actions, and procedures, each "
        "with its schema and whether it is available. Call it first, and again when surfaceVersion has changed."
    ),
    keys={
        "scope": {
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "description": 'Component types to list, or their beginnings: "devices" lists "devices.table" too.',
        },
        "includeUnavailable": {
            "type": "boolean",
            "description": "Whether to list what cannot be used right now; true when absent.",
        },
    },
)

READ: Final = Verb(
    name="surface_read",
    prefix="[view · none · no confirmation]",
    summary="Read one observation that surface_discover lists.",
    keys={"capabilityId": _CAPABILITY_ID, "instanceId": _INSTANCE_ID, "registrationId": _REGISTRATION_ID},
    required=("capabilityId",),
)

ACT: Final = Verb(
    name="surface_act",
    prefix="[view or domain · up to destructive · may require confirmation]",
    summary=(
        "Perform one action or procedure that surface_discover lists. Its arguments go into input. Give the "
        "surfaceVersion you planned with; on STALE_CAPABILITY discover again."
    ),
    keys={
        "capabilityId": _CAPABILITY_ID,
        "instanceId": _INSTANCE_ID,
        "registrationId": _REGISTRATION_ID,
        "input": {"type": "object", "description": "What the capability takes, as its inputSchema says."},
        "invocationId": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_ID_CHARACTERS,
            "description": "Your id of this call; repeating it with the same call does not act twice.",
        },
        "confirmationId": {
            "type": "string",
            "minLength": 1,
            "description": "confirmationId from CONFIRMATION_REQUIRED, once the person has approved.",
        },
        "surfaceVersion": {
            "type": "string",
            "minLength": 1,
            "description": "surfaceVersion of the list you planned with.",
        },
    },
    required=("capabilityId",),
    acts=True,
    hint="is not a key of this call; the arguments of the capability go into input",
)
