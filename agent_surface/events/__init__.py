"""Events of a registry and their delivery.

Above: the pipeline, registrations and the registry, which emit. Below: errors and invocation values.
"""

from agent_surface.events._values import (
    AgentSurfaceEvent,
    AvailabilityChanged,
    CollisionSuspected,
    ComponentRegistered,
    ComponentRejected,
    ComponentUnregistered,
    ConfirmationRequested,
    ConfirmationResolved,
    InvocationSettled,
    InvocationStarted,
    SurfaceChanged,
)

__all__ = [
    "AgentSurfaceEvent",
    "AvailabilityChanged",
    "CollisionSuspected",
    "ComponentRegistered",
    "ComponentRejected",
    "ComponentUnregistered",
    "ConfirmationRequested",
    "ConfirmationResolved",
    "InvocationSettled",
    "InvocationStarted",
    "SurfaceChanged",
]
