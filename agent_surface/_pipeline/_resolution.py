"""Phase 2: which live capability is meant, as far as this consumer can know of it."""

from __future__ import annotations

from agent_surface._failures import ambiguous_instance, not_found, stale, unmounted
from agent_surface._pipeline._call import Call
from agent_surface._pipeline._policy_context import PolicyContexts
from agent_surface._registrations import LiveCapability, RegistrationStore, SurfaceVersion
from agent_surface.errors import AgentCapabilityError
from agent_surface.ids import find_capability_id
from agent_surface.invocation import Effect

_VERSION_BOUND = (Effect.DESTRUCTIVE, Effect.EXTERNAL_SIDE_EFFECT)


class Resolution:
    """Finds the target of a call, or the reason why there is none (AS-STALE-001, AS-STALE-002, AS-AVAIL-002)."""

    def __init__(self, *, store: RegistrationStore, contexts: PolicyContexts, surface_id: str) -> None:
        self._store = store
        self._contexts = contexts
        self._surface_id = surface_id

    def resolve(self, call: Call, version: SurfaceVersion) -> LiveCapability:
        """The capability meant by the call.

        Args:
            call: With its request and consumer.
            version: Of the surface.

        Raises:
            AgentCapabilityError: ``CAPABILITY_NOT_FOUND``, ``AMBIGUOUS_INSTANCE``, ``STALE_CAPABILITY`` or
                ``COMPONENT_UNMOUNTED``. What is hidden from the consumer plays no part in any of them.
        """
        request = call.request
        if not isinstance(request.capability_id, str):
            raise not_found()
        live = self._select(call, request.capability_id)
        if request.surface_id is not None and request.surface_id != self._surface_id:
            raise stale("surface-reloaded", live.registration.registration_id)
        if (
            request.surface_version is not None
            and live.effect in _VERSION_BOUND
            and request.surface_version != version.text
            and request.confirmation_id is None
        ):
            raise stale("surface-version-mismatch", live.registration.registration_id)
        return live

    def _select(self, call: Call, capability_id: str) -> LiveCapability:
        request = call.request
        if request.registration_id is not None:
            named = self._store.candidates(capability_id).get(request.registration_id)
            if named is None or self._contexts.hides(call, named):
                raise self._gone(call, capability_id)
            return named
        matching = self._visible(call, capability_id, request.instance_id)
        if not matching:
            raise not_found()
        if len(matching) > 1:
            raise ambiguous_instance(sorted({live.registration.instance_id for live in matching}))
        return matching[0]

    def _visible(self, call: Call, capability_id: str, instance_id: str | None) -> list[LiveCapability]:
        """The candidates as this consumer knows them; with an instance named, however many others there are."""
        if instance_id is None:
            candidates = self._store.candidates(capability_id)
        else:
            candidates = self._store.candidates_of_instance(capability_id, instance_id)
        return [
            live for live in candidates.values() if not live.chain.discovery or not self._contexts.hides(call, live)
        ]

    def _gone(self, call: Call, capability_id: str) -> AgentCapabilityError:
        """Why the presented registration is not the live one."""
        registration_id = call.request.registration_id
        if not isinstance(registration_id, str):
            return not_found()
        # A tombstone answers for every capability, known or not: to tell them apart would tell what was hidden.
        tombstone = self._store.find_tombstone(registration_id)
        instance_id = tombstone.instance_id if tombstone is not None else call.request.instance_id
        successors = [
            live
            for live in self._visible(call, capability_id, instance_id)
            if tombstone is None or live.registration.type == tombstone.type
        ]
        if successors:
            reason = "registration-replaced" if self._store.issued(registration_id) else "surface-reloaded"
            live_id = successors[0].registration.registration_id if len(successors) == 1 else None
            return stale(reason, live_id)
        if tombstone is None or find_capability_id(capability_id) is None:
            return not_found()
        return unmounted("resolve")
