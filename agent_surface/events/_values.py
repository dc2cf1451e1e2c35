"""What a registry tells its listeners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from agent_surface.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceChanged:
    """The catalogue moved; at most one per turn of the event loop."""

    surface_version: str
    type: Literal["surface-changed"] = "surface-changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRegistered:
    """A component went live."""

    registration_id: str
    component_type: str
    instance_id: str
    type: Literal["component-registered"] = "component-registered"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentUnregistered:
    """A component is gone."""

    registration_id: str
    component_type: str
    instance_id: str
    type: Literal["component-unregistered"] = "component-unregistered"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRejected:
    """A component was refused: its identity is taken, or the registration guard said no."""

    component_type: str
    instance_id: str
    reason: Literal["duplicate", "guard"]
    type: Literal["component-rejected"] = "component-rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class AvailabilityChanged:
    """The pushed availability of a capability, or its reason, is now another one."""

    registration_id: str
    capability_id: str
    available: bool
    reason: str | None = None
    type: Literal["availability-changed"] = "availability-changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CollisionSuspected:
    """A view capability has the name of a known procedure."""

    view_capability_id: str
    domain_procedure_id: str
    type: Literal["collision-suspected"] = "collision-suspected"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationStarted:
    """A call entered the pipeline. Always before its ``InvocationSettled``."""

    invocation_id: str
    capability_id: str
    consumer_id: str
    type: Literal["invocation-started"] = "invocation-started"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationSettled:
    """A call has its one result."""

    invocation_id: str
    capability_id: str
    status: Literal["ok", "error"]
    duration_ms: int
    code: ErrorCode | None = None
    type: Literal["invocation-settled"] = "invocation-settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationRequested:
    """A person is asked."""

    confirmation_id: str
    capability_id: str
    expires_at: str
    type: Literal["confirmation-requested"] = "confirmation-requested"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationResolved:
    """A request of a person ended."""

    confirmation_id: str
    outcome: Literal["approved", "denied", "expired"]
    type: Literal["confirmation-resolved"] = "confirmation-resolved"


AgentSurfaceEvent: TypeAlias = (
    SurfaceChanged
    | ComponentRegistered
    | ComponentUnregistered
    | ComponentRejected
    | AvailabilityChanged
    | CollisionSuspected
    | InvocationStarted
    | InvocationSettled
    | ConfirmationRequested
    | ConfirmationResolved
)
