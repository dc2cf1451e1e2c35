"""From a snapshot to tool definitions: names, descriptions and schemas without live state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from agent_surface._base._json import FrozenJson, JsonSchema
from agent_surface._snapshot._values import (
    ActionDescriptor,
    AgentSurfaceSnapshot,
    ComponentDescriptor,
    ObservationDescriptor,
    ProcedureDescriptor,
)
from agent_surface.ids import WireEntry, encode_wire_names
from agent_surface.invocation import CapabilityKind, ComponentRef, Confirmation, Effect, Plane
from agent_surface.toolset._values import ToolDefinition, ToolState

Descriptor: TypeAlias = ObservationDescriptor | ActionDescriptor | ProcedureDescriptor


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """One tool before it can be called: its definition, its state now, and the component it belongs to."""

    definition: ToolDefinition
    state: ToolState
    registration_id: str


def build_catalogue(
    snapshot: AgentSurfaceSnapshot, previous: Mapping[str, ToolDefinition]
) -> tuple[CatalogueEntry, ...]:
    """The tools of a snapshot, in its order.

    Args:
        snapshot: What the consumer may see.
        previous: Definitions of the last catalogue by name; an equal one is used again, so that whoever renders the
            block of tools can see by identity that nothing changed.
    """
    found = offerings(snapshot)
    names = encode_wire_names(
        [
            WireEntry(
                capability_id=offering.descriptor.capability_id,
                component_type=offering.component.type,
                instance_id=offering.component.instance_id,
            )
            for offering in found
        ]
    )
    entries: list[CatalogueEntry] = []
    for name, offering in zip(names, found, strict=True):
        item = offering.descriptor
        definition = _definition(name, item, offering.component)
        known = previous.get(name)
        note = item.contextual_note if isinstance(item, ProcedureDescriptor) else None
        entries.append(
            CatalogueEntry(
                definition=known if known is not None and known == definition else definition,
                state=ToolState(available=item.available, unavailable_reason=item.unavailable_reason, note=note),
                registration_id=offering.registration_id,
            )
        )
    return tuple(entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offering:
    """A capability as one live component offers it to the consumer of a snapshot."""

    descriptor: Descriptor
    component: ComponentRef
    registration_id: str


def offerings(snapshot: AgentSurfaceSnapshot) -> tuple[Offering, ...]:
    """Everything a snapshot lists, in its order: what the components offer, then procedures."""
    return (
        *(
            Offering(
                descriptor=item,
                component=ComponentRef(type=component.type, instance_id=component.instance_id),
                registration_id=component.registration_id,
            )
            for component in snapshot.components
            for item in _view_capabilities(component)
        ),
        *(
            Offering(descriptor=item, component=item.context, registration_id=item.registration_id)
            for item in snapshot.procedures
        ),
    )


def describe_tool(plane: Plane, effect: Effect, confirmation: Confirmation, description: str) -> str:
    """The description of a tool: plane, effect and confirmation in constant form, then the author's words."""
    return f"[{plane.value} · {effect.value} · {_CONFIRMATION_WORDS[confirmation]}] {description}"


_CONFIRMATION_WORDS: Mapping[Confirmation, str] = MappingProxyType(
    {
        Confirmation.NEVER: "no confirmation",
        Confirmation.OPTIONAL: "may require confirmation",
        Confirmation.REQUIRED: "requires confirmation",
    }
)

_NO_PROPERTIES: Mapping[str, FrozenJson] = MappingProxyType({})
_NO_INPUT: JsonSchema = MappingProxyType(
    {"type": "object", "properties": _NO_PROPERTIES, "additionalProperties": False}
)


def _view_capabilities(component: ComponentDescriptor) -> Iterator[ObservationDescriptor | ActionDescriptor]:
    yield from component.observations
    yield from component.actions


def _definition(name: str, item: Descriptor, component: ComponentRef) -> ToolDefinition:
    if isinstance(item, ObservationDescriptor):
        return ToolDefinition(
            name=name,
            description=describe_tool(Plane.VIEW, Effect.NONE, Confirmation.NEVER, item.description),
            input_schema=_NO_INPUT,
            output_schema=item.output_schema,
            capability_id=item.capability_id,
            summary=item.description,
            kind=CapabilityKind.OBSERVATION,
            plane=Plane.VIEW,
            effect=Effect.NONE,
            confirmation=Confirmation.NEVER,
            idempotent=True,
            reversible=None,
            component=component,
        )
    bound = item.bound_fields if isinstance(item, ProcedureDescriptor) else ()
    kind, plane = (
        (CapabilityKind.PROCEDURE, Plane.DOMAIN)
        if isinstance(item, ProcedureDescriptor)
        else (CapabilityKind.ACTION, Plane.VIEW)
    )
    return ToolDefinition(
        name=name,
        description=describe_tool(plane, item.effect, item.confirmation, item.description),
        input_schema=item.input_schema,
        output_schema=item.output_schema,
        capability_id=item.capability_id,
        summary=item.description,
        kind=kind,
        plane=plane,
        effect=item.effect,
        confirmation=item.confirmation,
        idempotent=item.idempotent,
        reversible=item.reversible,
        component=component,
        bound_fields=tuple(field.path for field in bound),
    )
