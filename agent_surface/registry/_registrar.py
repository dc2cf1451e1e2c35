"""Registrations coming, changing and going."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._user_errors import USER_ERRORS
from agent_surface._registrations import (
    CapabilityPreparation,
    LiveCapability,
    Registration,
    RegistrationCandidate,
    RegistrationGuard,
    RegistrationHandle,
    RegistrationStore,
)
from agent_surface._registrations._live import COMPONENT_DISABLED
from agent_surface.authority._authority import AuthorityProof, require_bound, verify_binding
from agent_surface.confirmations._store import ConfirmationStore
from agent_surface.contracts import BoundComponent
from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode
from agent_surface.events import (
    AvailabilityChanged,
    CollisionSuspected,
    ComponentRegistered,
    ComponentRejected,
    ComponentUnregistered,
)
from agent_surface.events._dispatcher import EventDispatcher
from agent_surface.invocation import AVAILABLE, Availability, Plane
from agent_surface.policies import AgentPolicy
from agent_surface.procedures import ProcedureExecutor
from agent_surface.registry._announcements import Announcements
from agent_surface.registry._owner import Owner

logger = logging.getLogger("agent_surface.registry")


class Registrar:
    """Takes components in and lets them go; the owner of every :class:`RegistrationHandle`.

    Attributes:
        procedures: Runs back-end procedures, once one is installed.
    """

    def __init__(
        self,
        *,
        owner: Owner,
        authority: AuthorityProof,
        store: RegistrationStore,
        announcements: Announcements,
        confirmations: ConfirmationStore,
        events: EventDispatcher,
        limits: AgentSurfaceLimits,
        policies: Sequence[AgentPolicy],
        guard: RegistrationGuard | None,
        on_duplicate_instance: Literal["reject", "replace"],
        duplicate_suffix_policy: Literal["off", "warn", "error"],
        procedures: ProcedureExecutor | None,
        explain: bool,
    ) -> None:
        self._owner = owner
        self._authority = authority
        self._store = store
        self._announcements = announcements
        self._version = announcements.version
        self._confirmations = confirmations
        self._events = events
        self._preparation = CapabilityPreparation(limits=limits, policies=tuple(policies), announce_missing=explain)
        self._guard = guard
        self._on_duplicate = on_duplicate_instance
        self._suffix_policy = duplicate_suffix_policy
        self._explain = explain
        self.procedures = procedures

    def register(self, bound: BoundComponent) -> RegistrationHandle:
        """Make a component live at once.

        Args:
            bound: Made by ``contract.bind(...)``.

        Returns:
            Its handle. When the identity is taken or the guard refuses, a dead one (``status == "rejected"``).

        Raises:
            AgentSurfaceDefinitionError: The binding is not genuine, or differs from the contract of this program.
            RegistryClosedError: The registry was closed.
        """
        with self._announcements.public_call():
            self._owner.require_open("register")
            sealed = require_bound(bound)
            verify_binding(self._authority, sealed)
            registration = Registration(self._store.issue_id(), sealed)
            registration.capabilities = self._prepare(registration)
            refused = self._refusal(registration)
            if refused is not None:
                return self._reject(registration, refused)
            self._check_suffixes(registration)
            # The guard and listeners are the application's code; what they did counts.
            self._owner.require_open("register")
            with self._announcements.mutation():
                # Both steps before anybody hears: whoever registers on hearing finds the identity taken.
                holder = self._store.find_identity(registration.identity)
                if holder is not None:
                    self._take_away(holder)
                self._store.add(registration)
                self._version.bump()
                if self._events.has_listeners:
                    self._events.emit(
                        ComponentRegistered(
                            registration_id=registration.registration_id,
                            component_type=registration.type,
                            instance_id=registration.instance_id,
                        )
                    )
                if holder is not None:
                    self._end_calls(holder)
            return RegistrationHandle(registration.registration_id, owner=self, registration=registration)

    def set_procedure_executor(self, executor: ProcedureExecutor | None) -> None:
        """Install the executor of back-end procedures; references it can run appear, others vanish."""
        self._owner.require_open("set_procedure_executor")
        with self._announcements.public_call(), self._announcements.mutation():
            self.procedures = executor
            for registration in self._store:
                if not registration.bound.procedures:
                    continue
                prepared = self._prepare(registration)
                if prepared.keys() != registration.capabilities.keys():
                    self._store.replace_capabilities(registration, prepared)
                    self._version.bump()

    def remove_all(self) -> None:
        """Take every component away, as one change."""
        with self._announcements.mutation():
            for registration in self._store:
                self.remove_registration(registration)

    # What a handle does.

    def update_registration(
        self, registration: Registration, enabled: bool | None, availability: Mapping[str, Availability] | None
    ) -> None:
        """Push new availability; for :class:`RegistrationHandle`."""
        self._owner.require_open("update")
        pushed = {} if availability is None else _normalize_all(registration, availability)
        if enabled is None and registration.enabled:
            changed = _differing(registration.overrides, pushed)
            registration.overrides.update(pushed)
        else:
            before = _pushed(registration)
            registration.enabled = registration.enabled if enabled is None else enabled
            registration.overrides.update(pushed)
            changed = _differing(before, _pushed(registration))
        registration.projection = None
        if changed:
            self._announce_availability(registration, changed)

    def _announce_availability(self, registration: Registration, changed: Mapping[str, Availability]) -> None:
        if not self._events.has_listeners:
            self._announcements.bump()
            return
        with self._announcements.public_call(), self._announcements.mutation():
            self._version.bump()
            for capability_id, now in changed.items():
                self._events.emit(
                    AvailabilityChanged(
                        registration_id=registration.registration_id,
                        capability_id=capability_id,
                        available=now.available,
                        reason=now.reason,
                    )
                )

    def invalidate_registration(self) -> None:
        """Bump the version once; for :class:`RegistrationHandle`."""
        self._owner.require_open("invalidate")
        self._announcements.bump()

    def remove_registration(self, registration: Registration) -> None:
        """Take a component away; for :class:`RegistrationHandle`."""
        self._owner.require("unregister")
        with self._announcements.public_call(), self._announcements.mutation():
            self._take_away(registration)
            self._version.bump()
            self._end_calls(registration)

    def warn_dead_handle(self, operation: str, registration_id: str) -> None:
        """A handle was used after its end; for :class:`RegistrationHandle`."""
        self._owner.require(operation)
        if self._explain:
            logger.warning("%s on the dead registration %s does nothing", operation, registration_id)

    def _take_away(self, registration: Registration) -> None:
        self._store.remove(registration)
        if self._events.has_listeners:
            self._events.emit(
                ComponentUnregistered(
                    registration_id=registration.registration_id,
                    component_type=registration.type,
                    instance_id=registration.instance_id,
                )
            )

    def _end_calls(self, registration: Registration) -> None:
        """What a component that went leaves behind: people who are asked, and calls in flight."""
        self._confirmations.expire_registration(registration.registration_id)
        for call in tuple(registration.active_calls):
            call.owner_gone()

    def _prepare(self, registration: Registration) -> dict[str, LiveCapability]:
        return self._preparation.prepare(registration, self._runnable_paths())

    def _runnable_paths(self) -> Collection[str]:
        """Paths that the authority lists and the executor can run; no other is ever called."""
        if self.procedures is None:
            return frozenset()
        return self._authority.procedure_paths.intersection(self.procedures.paths)

    def _refusal(self, registration: Registration) -> Literal["duplicate", "guard"] | None:
        if self._guard is not None and self._guard_rejects(self._guard, registration):
            return "guard"
        if self._on_duplicate == "reject" and self._store.find_identity(registration.identity) is not None:
            return "duplicate"
        return None

    def _guard_rejects(self, guard: RegistrationGuard, registration: Registration) -> bool:
        seal = registration.bound.seal
        candidate = RegistrationCandidate(
            type=registration.type,
            instance_id=registration.instance_id,
            origin=seal.contract.origin,
            declaration_id=seal.record.declaration_id,
            capability_ids=tuple(registration.capabilities),
        )
        try:
            return guard(candidate) != "accept"
        except USER_ERRORS:
            logger.exception("the registration guard raised; %s is rejected", registration.type)
            return True

    def _reject(self, registration: Registration, reason: Literal["duplicate", "guard"]) -> RegistrationHandle:
        if self._explain:
            logger.error(
                "component %s (instance %s) is rejected: %s",
                registration.type,
                registration.instance_id,
                "a live component has the same type and instance id" if reason == "duplicate" else "the guard said no",
            )
        self._events.emit(
            ComponentRejected(component_type=registration.type, instance_id=registration.instance_id, reason=reason)
        )
        return RegistrationHandle(registration.registration_id, owner=self)

    def _check_suffixes(self, registration: Registration) -> None:
        """A view capability with the name of a known procedure is most likely a mistake (AS-LINT-001)."""
        if self._suffix_policy == "off" or not self._authority.procedure_paths:
            return
        for live in registration:
            _, _, suffix = live.capability_id.partition(":")
            if live.plane is not Plane.VIEW or suffix not in self._authority.procedure_paths:
                continue
            text = f"{live.capability_id} has the name of the procedure domain:{suffix}"
            if self._suffix_policy == "error":
                raise AgentSurfaceDefinitionError(
                    DefinitionErrorCode.INVALID_DEFINITION, text, subject=live.capability_id
                )
            logger.warning("%s", text)
            self._events.emit(
                CollisionSuspected(view_capability_id=live.capability_id, domain_procedure_id=f"domain:{suffix}")
            )


def _normalize_all(registration: Registration, availability: Mapping[str, Availability]) -> dict[str, Availability]:
    """What was pushed, by capability id.

    Raises:
        AgentSurfaceDefinitionError: A name is none of the component's, or a value no :class:`Availability`.
    """
    capabilities = registration.capabilities
    pushed: dict[str, Availability] = {}
    asked: object = object()
    normalized = AVAILABLE
    for key, value in availability.items():
        capability_id = key if key in capabilities else registration.find_named(key)
        if capability_id is None:
            raise AgentSurfaceDefinitionError(
                DefinitionErrorCode.INVALID_DEFINITION,
                f"{registration.type} has no capability {key!r}",
                subject=registration.type,
                path=key,
            )
        if value is not asked:  # most often all capabilities are told the same
            normalized = _normalized(value, registration.type, key)
            asked = value
        pushed[capability_id] = normalized
    return pushed


def _normalized(value: object, component_type: str, key: str) -> Availability:
    """What was pushed, with a reason only where it means something.

    Raises:
        AgentSurfaceDefinitionError: It is no :class:`Availability`.
    """
    if not isinstance(value, Availability) or not (value.reason is None or isinstance(value.reason, str)):
        raise AgentSurfaceDefinitionError(
            DefinitionErrorCode.INVALID_DEFINITION,
            f"the availability of {key!r} of {component_type} must be an Availability with a reason in words",
            subject=component_type,
            path=key,
        )
    if value.available:
        return AVAILABLE
    if value.reason is None or value.reason.strip():
        return value
    return Availability(available=False, reason=None)


def _pushed(registration: Registration) -> dict[str, Availability]:
    """What was pushed for each capability, the master switch included; live predicates play no part in it."""
    if not registration.enabled:
        return dict.fromkeys(registration.capabilities, COMPONENT_DISABLED)
    overrides = registration.overrides
    return {capability_id: overrides.get(capability_id, AVAILABLE) for capability_id in registration.capabilities}


def _differing(before: Mapping[str, Availability], after: Mapping[str, Availability]) -> dict[str, Availability]:
    """What is not as it was; nothing pushed means available."""
    changed: dict[str, Availability] = {}
    for capability_id, now in after.items():
        was = before.get(capability_id, AVAILABLE)
        if was is not now and (was.available != now.available or was.reason != now.reason):
            changed[capability_id] = now
    return changed
