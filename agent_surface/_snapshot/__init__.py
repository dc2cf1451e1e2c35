"""The catalogue of one consumer.

Above: the registry makes snapshots, adapters read them. Below: live registrations and policies.
"""

from agent_surface._snapshot._build import SnapshotBuilder
from agent_surface._snapshot._values import (
    ActionDescriptor,
    AgentSurfaceSnapshot,
    BoundFieldDescriptor,
    ComponentDescriptor,
    ObservationDescriptor,
    ProcedureDescriptor,
    RouteInfo,
    SnapshotBudget,
    SnapshotContext,
)

__all__ = [
    "ActionDescriptor",
    "AgentSurfaceSnapshot",
    "BoundFieldDescriptor",
    "ComponentDescriptor",
    "ObservationDescriptor",
    "ProcedureDescriptor",
    "RouteInfo",
    "SnapshotBudget",
    "SnapshotBuilder",
    "SnapshotContext",
]
