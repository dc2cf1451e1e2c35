"""What other parts of the core may reach of a registry, and the proof that a registry is one.

``explain`` reads through it and ``exposure`` puts external tools on a registry of its own. Adapters never see it.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass

from agent_surface._base._provenance import ProofStore
from agent_surface._pipeline._policy_context import PolicyContexts
from agent_surface._registrations import RegistrationStore
from agent_surface.errors import AgentSurfaceError
from agent_surface.registry._owner import Owner


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class RegistryInternals:
    """The parts of a registry that are not for applications.

    Attributes:
        owner: The owning thread, and whether the registry is closed.
        store: Live registrations.
        contexts: What policies are told.
    """

    owner: Owner
    store: RegistrationStore
    contexts: PolicyContexts


# The registry itself keeps its internals alive. A strong reference from here would reach the handlers, and through
# them, often enough, the registry: it would never die.
_INTERNALS: ProofStore[weakref.ref[RegistryInternals]] = ProofStore()


def attest_registry(registry: object, internals: RegistryInternals) -> None:
    """Remember what belongs to a registry that was just made."""
    _INTERNALS.attest(registry, weakref.ref(internals))


def require_internals(registry: object, operation: str) -> RegistryInternals:
    """The internals of an open registry, on its own thread.

    Raises:
        AgentSurfaceError: ``registry`` was not made by ``create_agent_surface_registry``.
        RegistryClosedError: It was closed.
        WrongThreadError: The calling thread does not own it.
    """
    reference = _INTERNALS.find(registry)
    internals = reference() if reference is not None else None
    if internals is None:
        raise AgentSurfaceError(
            f"{operation} needs a registry made by create_agent_surface_registry, not a {type(registry).__name__}"
        )
    internals.owner.require_open(operation)
    return internals
