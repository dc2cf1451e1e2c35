"""Live registrations: the index, tombstones, the surface version, and the handle of the owner.

Above: the pipeline and the snapshot read it, the registry changes it. Below: contracts, authority, policies.
"""

from agent_surface._registrations._guard import RegistrationCandidate, RegistrationGuard
from agent_surface._registrations._handle import RegistrationHandle, RegistrationOwner
from agent_surface._registrations._live import ActiveCall, HandleStatus, LiveCapability, Registration
from agent_surface._registrations._prepare import CapabilityPreparation
from agent_surface._registrations._store import RegistrationStore, Tombstone
from agent_surface._registrations._version import SurfaceVersion

__all__ = [
    "ActiveCall",
    "CapabilityPreparation",
    "HandleStatus",
    "LiveCapability",
    "Registration",
    "RegistrationCandidate",
    "RegistrationGuard",
    "RegistrationHandle",
    "RegistrationOwner",
    "RegistrationStore",
    "SurfaceVersion",
    "Tombstone",
]
