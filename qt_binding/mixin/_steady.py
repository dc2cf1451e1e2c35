"""The short way of a push, for components that say nothing of their own about when they can be used."""

from __future__ import annotations

import weakref
from collections.abc import Iterable

from PySide6.QtWidgets import QWidget

from agent_surface import AgentSurfaceRegistry, Availability, RegistrationHandle
from qt_binding._availability import Glance
from qt_binding.mixin._behaviour import KEY, OPTIONS, Behaviour, is_alive, says_of_itself
from qt_binding.mixin._definition import Definition

_TELLING = OPTIONS.keys() - {"instance_id", "register_on"}
"""The options that have to be asked anew each time."""


class Steady:
    """What was found of a component when all of it was looked at, as long as none of that is different.

    Nearly every component of a page is of this kind: no predicate, no followed signal, no switch, no parts. All its
    capabilities can be used exactly when a person could reach it, so when a page is turned there is one question to
    ask of each. Here is found out whether it is the only one, in as few steps as that takes: a page may have thousands.

    Attributes:
        registry: Where it is registered.
    """

    __slots__ = (
        "_address",
        "_attached",
        "_capabilities",
        "_instance_id",
        "_presence",
        "_registration",
        "_spoke",
        "_surroundings",
        "_target",
        "_told",
        "registry",
    )

    def __init__(
        self,
        target: QWidget,
        behaviour: Behaviour,
        *,
        address: int,
        told: frozenset[str],
        instance_id: object,
        surroundings: object,
        registry: AgentSurfaceRegistry,
        registration: RegistrationHandle,
        presence: Availability,
        capabilities: Iterable[str],
    ) -> None:
        self._target = weakref.ref(target)
        # Weakly: through its functions it holds the component.
        self._attached = None if behaviour.attached is None else weakref.ref(behaviour.attached)
        self._address = address
        self._spoke = says_of_itself(vars(target))
        self._told = told
        self._instance_id = instance_id
        self._surroundings = surroundings
        self.registry = registry
        self._registration = registration
        self._presence = presence
        self._capabilities = tuple(capabilities)

    @staticmethod
    def describes(behaviour: Behaviour, definition: Definition, told: frozenset[str]) -> bool:
        """Whether a component is of this kind at this moment."""
        return definition.constant and behaviour.is_only(behaviour.attached) and told.isdisjoint(_TELLING)

    def push(self, glance: Glance) -> bool:
        """Tell the registry of a new presence; inside a batch of it, and while the registration is active.

        Returns:
            ``False`` when more than its presence may have changed, and all of it has to be looked at.
        """
        target = self._target()
        if target is None or not is_alive(target):
            return False
        place = glance.place(target)
        if place is None or place.surroundings != self._surroundings:
            return False
        if glance.registry_at(place, target, self._address) is not self.registry or not self._is_as_it_was(target):
            return False
        presence = glance.presence_at(place, target)
        if presence is not self._presence and presence != self._presence:
            self._presence = presence
            self._registration.update(availability=dict.fromkeys(self._capabilities, presence))
        return True

    def _is_as_it_was(self, target: QWidget) -> bool:
        own = vars(target)  # asked for once: it costs more than what is looked up in it
        behaviour: Behaviour | None = own.get(KEY)
        attached = None if self._attached is None else self._attached()
        if behaviour is None or not behaviour.is_only(attached):
            return False
        # The class says what it always said; only one that says something itself, or did, is asked for all of it.
        if attached is None and (self._spoke or says_of_itself(own)) and behaviour.told(target) != self._told:
            return False
        return "instance_id" not in self._told or self._instance_id == behaviour.option(
            target, "instance_id", self._told
        )
