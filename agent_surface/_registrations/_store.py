"""All live registrations of one registry, indexed by what a call names, and the memory of those that went."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._ports import Clock, IdSource
from agent_surface._registrations._ids import RegistrationIds
from agent_surface._registrations._live import LiveCapability, Registration
from agent_surface.invocation import Plane

KeyT = TypeVar("KeyT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """What is remembered of a registration that went: identifiers and a time, nothing that could be executed."""

    registration_id: str
    type: str
    instance_id: str
    expires_at_ms: int


class RegistrationStore:
    """Live registrations and tombstones. Emits nothing and decides nothing."""

    def __init__(self, *, clock: Clock, ids: IdSource, limits: AgentSurfaceLimits) -> None:
        self._clock = clock
        self._limits = limits
        self._ids = RegistrationIds(ids)
        self._live: dict[str, Registration] = {}
        self._by_identity: dict[tuple[str, str], Registration] = {}
        self._by_capability: dict[str, dict[str, LiveCapability]] = {}
        # Of procedures alone, which components of any type may refer to; the id of any other names the type itself.
        self._procedures: dict[tuple[str, str], dict[str, LiveCapability]] = {}
        self._ordered: tuple[Registration, ...] | None = None
        self._tombstones: OrderedDict[str, Tombstone] = OrderedDict()

    def __len__(self) -> int:
        return len(self._live)

    def __iter__(self) -> Iterator[Registration]:
        return iter(tuple(self._live.values()))

    def in_order(self) -> tuple[Registration, ...]:
        """The live registrations in the order of a catalogue: by priority, highest first, then type, then instance."""
        if self._ordered is None:
            self._ordered = tuple(
                sorted(self._live.values(), key=lambda item: (-item.bound.seal.contract.priority, *item.identity))
            )
        return self._ordered

    @property
    def tombstone_count(self) -> int:
        """How many tombstones are kept."""
        self._expire_tombstones()
        return len(self._tombstones)

    def issue_id(self) -> str:
        """A new registration id."""
        return self._ids.issue()

    def issued(self, registration_id: str) -> bool:
        """Whether this registry issued the id, now or ever."""
        return self._ids.issued(registration_id)

    def find_identity(self, identity: tuple[str, str]) -> Registration | None:
        """The live registration of that type and instance."""
        return self._by_identity.get(identity)

    def candidates(self, capability_id: str) -> Mapping[str, LiveCapability]:
        """The live capabilities of that id by registration id; the cost does not depend on how much is registered."""
        return self._by_capability.get(capability_id, {})

    def candidates_of_instance(self, capability_id: str, instance_id: str) -> Mapping[str, LiveCapability]:
        """The same for one instance: nearly always one, however many instances there are."""
        known = next(iter(self._by_capability.get(capability_id, {}).values()), None)
        if known is None:
            return {}
        if known.plane is not Plane.VIEW:
            return self._procedures.get((capability_id, instance_id), {})
        registration = self._by_identity.get((known.registration.type, instance_id))
        live = None if registration is None else registration.capabilities.get(capability_id)
        return {} if live is None else {live.registration.registration_id: live}

    def find_tombstone(self, registration_id: str) -> Tombstone | None:
        """What is still remembered of a registration that went."""
        self._expire_tombstones()
        return self._tombstones.get(registration_id)

    def add(self, registration: Registration) -> None:
        """Make a registration live."""
        self._ordered = None
        self._live[registration.registration_id] = registration
        self._by_identity[registration.identity] = registration
        self._index(registration)

    def remove(self, registration: Registration) -> None:
        """Take a registration away and remember that it was."""
        self._ordered = None
        del self._live[registration.registration_id]
        del self._by_identity[registration.identity]
        for live in registration:
            self._drop(live)
        registration.end()
        self._tombstones[registration.registration_id] = Tombstone(
            registration_id=registration.registration_id,
            type=registration.type,
            instance_id=registration.instance_id,
            expires_at_ms=self._clock.monotonic_ms() + self._limits.tombstone_ttl_ms,
        )
        while len(self._tombstones) > self._limits.tombstone_size:
            self._tombstones.popitem(last=False)

    def replace_capabilities(self, registration: Registration, capabilities: dict[str, LiveCapability]) -> None:
        """Exchange the capabilities of a live registration."""
        for live in registration:
            self._drop(live)
        registration.capabilities = capabilities
        registration.projection = None
        self._index(registration)

    def _index(self, registration: Registration) -> None:
        registration_id, instance_id = registration.registration_id, registration.instance_id
        for live in registration:
            self._by_capability.setdefault(live.capability_id, {})[registration_id] = live
            if live.plane is not Plane.VIEW:
                self._procedures.setdefault((live.capability_id, instance_id), {})[registration_id] = live

    def _drop(self, live: LiveCapability) -> None:
        registration = live.registration
        _forget(self._by_capability, live.capability_id, registration.registration_id)
        if live.plane is not Plane.VIEW:
            _forget(self._procedures, (live.capability_id, registration.instance_id), registration.registration_id)

    def _expire_tombstones(self) -> None:
        now_ms = self._clock.monotonic_ms()
        while self._tombstones:
            oldest = next(iter(self._tombstones.values()))
            if oldest.expires_at_ms > now_ms:
                return
            self._tombstones.popitem(last=False)


def _forget(index: dict[KeyT, dict[str, LiveCapability]], key: KeyT, registration_id: str) -> None:
    entries = index[key]
    del entries[registration_id]
    if not entries:
        del index[key]
