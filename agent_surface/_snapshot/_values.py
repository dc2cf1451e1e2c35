"""The catalogue a consumer sees: frozen descriptors that turn into stable JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from agent_surface._base._json import FrozenJson, JsonSchema, JsonValue, thaw_json
from agent_surface.invocation import ANONYMOUS, AgentConsumer, ComponentRef, Confirmation, Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotBudget:
    """Experimental truncation: components go lowest priority first, and the snapshot says so."""

    max_components: int | None = None
    max_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotContext:
    """Whose catalogue, and how much of it.

    Attributes:
        consumer: Default ``embedded:anonymous``.
        scope: Component-type prefixes to include; empty means all.
        include_unavailable: Whether capabilities that cannot be used right now are listed.
        budget: Experimental truncation.
    """

    consumer: AgentConsumer = ANONYMOUS
    scope: tuple[str, ...] = ()
    include_unavailable: bool = True
    budget: SnapshotBudget | None = None

    def covers(self, component_type: str) -> bool:
        """Whether components of that type are in scope."""
        return not self.scope or any(is_within(component_type, prefix) for prefix in self.scope)


def is_within(component_type: str, prefix: str) -> bool:
    """Whether a type, or a prefix of types, is ``prefix`` or lies below it."""
    return component_type == prefix or component_type.startswith(f"{prefix}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteInfo:
    """Where in the application the person is."""

    path: str
    params: Mapping[str, str] | None = None

    def frozen(self) -> RouteInfo:
        """A copy that nobody can change, and that is text all through."""
        params = None if self.params is None else {str(key): str(value) for key, value in self.params.items()}
        return RouteInfo(path=str(self.path), params=None if params is None else MappingProxyType(params))

    def to_json(self) -> dict[str, JsonValue]:
        """The route as a fresh JSON object."""
        if self.params is None:
            return {"path": self.path}
        return {"path": self.path, "params": dict(self.params)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationDescriptor:
    """A value a consumer can ask for."""

    capability_id: str
    name: str
    description: str
    output_schema: JsonSchema
    available: bool
    unavailable_reason: str | None = None
    meta: Mapping[str, FrozenJson] | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """The descriptor as a fresh JSON object with camelCase keys."""
        result: dict[str, JsonValue] = {
            "capabilityId": self.capability_id,
            "name": self.name,
            "description": self.description,
            "outputSchema": thaw_json(self.output_schema),
            "available": self.available,
        }
        if self.unavailable_reason is not None:
            result["unavailableReason"] = self.unavailable_reason
        if self.meta:
            result["meta"] = thaw_json(self.meta)
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionDescriptor:
    """Something a consumer can do in the user interface."""

    capability_id: str
    name: str
    description: str
    input_schema: JsonSchema
    effect: Effect
    idempotent: bool
    reversible: bool
    confirmation: Confirmation
    available: bool
    output_schema: JsonSchema | None = None
    unavailable_reason: str | None = None
    meta: Mapping[str, FrozenJson] | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """The descriptor as a fresh JSON object with camelCase keys."""
        result: dict[str, JsonValue] = {
            "capabilityId": self.capability_id,
            "name": self.name,
            "description": self.description,
            "inputSchema": thaw_json(self.input_schema),
        }
        if self.output_schema is not None:
            result["outputSchema"] = thaw_json(self.output_schema)
        result["effect"] = self.effect.value
        result["idempotent"] = self.idempotent
        result["reversible"] = self.reversible
        result["confirmation"] = self.confirmation.value
        result["available"] = self.available
        if self.unavailable_reason is not None:
            result["unavailableReason"] = self.unavailable_reason
        if self.meta:
            result["meta"] = thaw_json(self.meta)
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentDescriptor:
    """A live component with what this consumer can see of it."""

    type: str
    instance_id: str
    registration_id: str
    description: str
    observations: tuple[ObservationDescriptor, ...] = ()
    actions: tuple[ActionDescriptor, ...] = ()
    parent: ComponentRef | None = None
    meta: Mapping[str, FrozenJson] | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """The descriptor as a fresh JSON object with camelCase keys."""
        result: dict[str, JsonValue] = {
            "type": self.type,
            "instanceId": self.instance_id,
            "registrationId": self.registration_id,
            "description": self.description,
        }
        if self.parent is not None:
            result["parent"] = self.parent.to_json()
        if self.meta:
            result["meta"] = thaw_json(self.meta)
        result["observations"] = [item.to_json() for item in self.observations]
        result["actions"] = [item.to_json() for item in self.actions]
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundFieldDescriptor:
    """A root field of a procedure's input that the screen fills in."""

    path: str
    locked: bool

    def to_json(self) -> dict[str, JsonValue]:
        """The field as a fresh JSON object."""
        return {"path": self.path, "locked": self.locked, "source": "ui-state"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureDescriptor:
    """A back-end procedure that a live component refers to."""

    procedure_id: str
    description: str
    input_schema: JsonSchema
    effect: Effect
    idempotent: bool
    reversible: bool | None
    confirmation: Confirmation
    available: bool
    registration_id: str
    context: ComponentRef
    bound_fields: tuple[BoundFieldDescriptor, ...] = ()
    output_schema: JsonSchema | None = None
    contextual_note: str | None = None
    unavailable_reason: str | None = None
    meta: Mapping[str, FrozenJson] | None = None

    @property
    def capability_id(self) -> str:
        """The procedure id under the name the other descriptors use."""
        return self.procedure_id

    def to_json(self) -> dict[str, JsonValue]:
        """The descriptor as a fresh JSON object with camelCase keys."""
        result: dict[str, JsonValue] = {"procedureId": self.procedure_id, "description": self.description}
        if self.contextual_note is not None:
            result["contextualNote"] = self.contextual_note
        result["inputSchema"] = thaw_json(self.input_schema)
        if self.output_schema is not None:
            result["outputSchema"] = thaw_json(self.output_schema)
        result["effect"] = self.effect.value
        result["idempotent"] = self.idempotent
        if self.reversible is not None:
            result["reversible"] = self.reversible
        result["confirmation"] = self.confirmation.value
        result["available"] = self.available
        if self.unavailable_reason is not None:
            result["unavailableReason"] = self.unavailable_reason
        result["boundFields"] = [item.to_json() for item in self.bound_fields]
        result["registrationId"] = self.registration_id
        result["context"] = self.context.to_json()
        if self.meta:
            result["meta"] = thaw_json(self.meta)
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSurfaceSnapshot:
    """What one consumer may call at one moment. A catalogue, never a dump of state.

    Attributes:
        surface_id: ``srf_…``, one registry.
        surface_version: Opaque; compare for equality.
        captured_at: ISO 8601 in UTC; the only part that differs between equal surfaces.
        components: By priority (highest first), type, instance.
        procedures: At the top level; planes are not nested into each other.
        dropped_components: How many a budget left out.
    """

    surface_id: str
    surface_version: str
    captured_at: str
    components: tuple[ComponentDescriptor, ...] = ()
    procedures: tuple[ProcedureDescriptor, ...] = ()
    route: RouteInfo | None = None
    dropped_components: int = 0

    def to_json(self) -> dict[str, JsonValue]:
        """The snapshot as a fresh JSON object with camelCase keys."""
        result: dict[str, JsonValue] = {
            "surfaceId": self.surface_id,
            "surfaceVersion": self.surface_version,
            "capturedAt": self.captured_at,
        }
        if self.route is not None:
            result["route"] = self.route.to_json()
        result["components"] = [item.to_json() for item in self.components]
        result["procedures"] = [item.to_json() for item in self.procedures]
        if self.dropped_components:
            result["truncated"] = {"droppedComponents": self.dropped_components}
        return result
