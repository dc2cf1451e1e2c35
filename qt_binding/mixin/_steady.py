"""The short way of a push, for components that say nothing of their own about when they can be used."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject

from agent_surface import AgentSurfaceRegistry, Availability, RegistrationHandle
from qt_binding.mixin._behaviour import OPTIONS, Behaviour
from qt_binding.mixin._definition import Definition

_TELLING = OPTIONS.keys() - {"instance_id", "register_on"}
"""The options that have to be asked anew each time."""


class Steady:
    """What was found of a component when all of it was looked at, as long as none of that is different.

    Nearly every component of a page is of this kind: no predicate, no followed signal, no switch, no parts. All its
    capabilities can be used exactly when a person could reach it, so when a page is turned there is one question to
    ask of each, and this says whether it is the only one.
    """

    __slots__ = ("_definition", "_instance_id", "_registration", "_registry", "_told", "presence")

    def __init__(
        self,
        *,
        definition: Definition,
        told: frozenset[str],
        instance_id: object,
        registry: AgentSurfaceRegistry,
        registration: RegistrationHandle,
        presence: Availability,
    ) -> None:
        self._definition = definition
        self._told = told
        self._instance_id = instance_id
        self._registry = registry
        self._registration = registration
        self.presence = presence

    @staticmethod
    def describes(behaviour: Behaviour, definition: Definition, told: frozenset[str]) -> bool:
        """Whether a component is of this kind at this moment."""
        return definition.constant and not behaviour.procedures and told.isdisjoint(_TELLING)

    def holds(self, target: QObject, behaviour: Behaviour, registry: AgentSurfaceRegistry | None) -> bool:
        """Whether all but its presence is as it was."""
        told = behaviour.told(target)
        return (
            registry is self._registry
            and self._registration.status == "active"
            and told == self._told
            and behaviour.definition(target) is self._definition
            and not behaviour.procedures
            and ("instance_id" not in told or behaviour.option(target, "instance_id", told) == self._instance_id)
        )

    def push(self, presence: Availability) -> Mapping[str, Availability] | None:
        """Tell the registry of a new presence; returns what was told of each capability, ``None`` if it is the old."""
        if presence == self.presence:
            return None
        self.presence = presence
        vector = dict.fromkeys(self._definition.roles, presence)
        self._registration.update(availability=vector)
        return vector
