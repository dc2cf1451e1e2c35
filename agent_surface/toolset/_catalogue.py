"""From a snapshot to tool definitions: names, descriptions and schemas without live state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from agent_surface.toolset._values import ToolDefinition, ToolEntry, ToolState

Descriptor: TypeAlias = ObservationDescriptor | ActionDescriptor | ProcedureDescriptor


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The tools of one snapshot, with what they were made of, so that the next one can be made of what changed.

    Attributes:
        components: Of the snapshot.
        procedures: Of the snapshot.
        found: What they offer, in the order of the catalogue.
        names: The wire name of each.
        entries: The tool of each.
    """

    components: tuple[ComponentDescriptor, ...] = ()
    procedures: tuple[ProcedureDescriptor, ...] = ()
    found: tuple[Offering, ...] = ()
    names: tuple[str, ...] = ()
    entries: tuple[ToolEntry, ...] = ()


def build_catalogue(snapshot: AgentSurfaceSnapshot, previous: Catalogue) -> Catalogue:
    """The tools of a snapshot, in its order.

    Args:
        snapshot: What the consumer may see.
        previous: The last catalogue; a definition equal to its own is used again, so that whoever renders the block
            of tools can see by identity that nothing changed.
    """
    # A snapshot shows what did not change by the same objects, which makes both comparisons cheap.
    if snapshot.components == previous.components and snapshot.procedures == previous.procedures:
        return previous
    found = offerings(snapshot)
    names = _wire_names(found, previous)
    known = {
        name: (offering, entry)
        for name, offering, entry in zip(previous.names, previous.found, previous.entries, strict=True)
    }
    return Catalogue(
        components=snapshot.components,
        procedures=snapshot.procedures,
        found=found,
        names=names,
        entries=tuple(_entry(name, offering, known.get(name)) for name, offering in zip(names, found, strict=True)),
    )


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


def _wire_names(found: Sequence[Offering], previous: Catalogue) -> tuple[str, ...]:
    """The names of a catalogue; the last ones again while the same things are to be named in the same order."""
    if len(found) == len(previous.found) and all(map(_share_a_name, found, previous.found)):
        return previous.names
    return encode_wire_names(
        [
            WireEntry(
                capability_id=offering.descriptor.capability_id,
                component_type=offering.component.type,
                instance_id=offering.component.instance_id,
            )
            for offering in found
        ]
    )


def _share_a_name(one: Offering, other: Offering) -> bool:
    return one is other or (
        one.descriptor.capability_id == other.descriptor.capability_id and one.component == other.component
    )


def _entry(name: str, offering: Offering, known: tuple[Offering, ToolEntry] | None) -> ToolEntry:
    if known is not None and known[0] == offering:
        return known[1]
    item = offering.descriptor
    definition = _definition(name, item, offering.component)
    note = item.contextual_note if isinstance(item, ProcedureDescriptor) else None
    return ToolEntry(
        definition=known[1].definition if known is not None and known[1].definition == definition else definition,
        state=ToolState(available=item.available, unavailable_reason=item.unavailable_reason, note=note),
        registration_id=offering.registration_id,
    )


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
