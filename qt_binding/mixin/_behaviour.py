"""What a component brings along: its contract, its handlers, and what it says of itself.

A behaviour belongs to the component: it is kept in the component's own ``__dict__``, because the functions in it
nearly always refer to the component or its window. Kept anywhere else, they would keep both alive for ever.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import cast

import shiboken6
from PySide6.QtCore import QObject

from qt_binding.mixin._definition import Definition
from qt_binding.mixin._handle import AgentComponentHandle
from qt_binding.mixin._roles import ProcedureRole, Role

KEY = "_agent_behaviour"

CONTRIBUTIONS = "_agent_contributions"
"""Where an object keeps what it contributes to components; there and not at the component, for the same reason."""

DEFINITION = "_agent_definition"
"""Where a class of components keeps what was found out about it."""

OPTIONS: Mapping[str, object] = {
    "instance_id": "default",
    "parent": None,
    "internal": None,
    "enabled": True,
    "presented": False,
    "register_on": "show",
    "policies": (),
}
STRUCTURAL = ("instance_id", "parent", "internal", "policies")
"""The options that a registration is made of; the others say whether it can be used."""

_ATTRIBUTES = {name: f"agent_{name}" for name in OPTIONS}
"""What a component may say of itself, with what holds when it says nothing. The mixin writes them ``agent_…``."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Contribution:
    """Capabilities of a partial contract that one object brings along for as long as it lives."""

    observations: Mapping[str, Role]
    actions: Mapping[str, Role]


class Behaviour:
    """A contract with its handlers, and what the component says of itself.

    Attributes:
        handle: The registration, for the application.
        procedures: References to back-end procedures.
        key: The component's key inside the binding, once it is watched.
        attached: What was attached to this one component; ``None`` where its class says it.
    """

    def __init__(self) -> None:
        self.handle = AgentComponentHandle()
        self.procedures: tuple[ProcedureRole, ...] = ()
        self.attached: Definition | None = None
        self.key: int | None = None
        self._options: Mapping[str, object] | None = None
        self._contributions: list[tuple[weakref.ref[QObject], weakref.ref[Contribution]]] = []

    def attach(self, definition: Definition, options: Mapping[str, object]) -> None:
        """Take this in place of what was attached before."""
        self.attached, self._options = definition, options

    def definition(self, component: QObject) -> Definition:
        """The contract and its handlers, with what is contributed at this moment."""
        own = self.attached or cast("Definition", getattr(type(component), DEFINITION))
        if not self._contributions:
            return own
        observations, actions = dict(own.observations), dict(own.actions)
        for contribution in self._live_contributions():
            observations |= contribution.observations
            actions |= contribution.actions
        return replace(own, observations=MappingProxyType(observations), actions=MappingProxyType(actions))

    def contribute(self, contributor: QObject, contribution: Contribution) -> None:
        """Take ``contribution`` in until it is revoked or ``contributor`` is gone."""
        self._live_contributions()  # forgets those that ended
        vars(contributor).setdefault(CONTRIBUTIONS, []).append(contribution)
        self._contributions.append((weakref.ref(contributor), weakref.ref(contribution)))

    def revoke(self, contributor: QObject, contribution: Contribution) -> None:
        """Forget ``contribution``; the second of two calls does nothing."""
        kept: list[Contribution] = vars(contributor).get(CONTRIBUTIONS, [])
        kept[:] = [item for item in kept if item is not contribution]
        self._contributions = [entry for entry in self._contributions if entry[1]() is not contribution]

    def _live_contributions(self) -> list[Contribution]:
        living: list[Contribution] = []
        for entry in tuple(self._contributions):
            contributor, contribution = entry[0](), entry[1]()
            if contributor is not None and is_alive(contributor) and contribution is not None:
                living.append(contribution)
            else:
                self._contributions.remove(entry)
        return living

    def structure(self, component: QObject) -> dict[str, object]:
        """What the component says now of itself that a registration is made of, and nothing where it says nothing."""
        if self._options is not None:
            told = [name for name in STRUCTURAL if self._options.get(name) is not None]
        else:
            known, own = getattr(type(component), DEFINITION).options, vars(component)
            told = [name for name in STRUCTURAL if _ATTRIBUTES[name] in known or _ATTRIBUTES[name] in own]
        said = {name: self.option(component, name) for name in told}
        # What can be changed in place is copied, or the change could not be seen.
        if said.get("internal"):
            said["internal"] = dict(cast("Mapping[str, object]", said["internal"]))
        if said.get("policies"):
            said["policies"] = tuple(cast("Iterable[object]", said["policies"]))
        return said

    def option(self, component: QObject, name: str) -> object:
        """What the component says of itself now; called if it is a function or method.

        Args:
            component: Whose behaviour this is.
            name: One of ``OPTIONS``.
        """
        default = OPTIONS[name]
        if self._options is not None:
            value = self._options.get(name, default)
        else:
            # Asking a Qt object for an attribute it does not have costs many times a look into two dictionaries.
            attribute = _ATTRIBUTES[name]
            known = attribute in getattr(type(component), DEFINITION).options or attribute in vars(component)
            value = getattr(component, attribute) if known else default
        return value() if callable(value) else value


def ensure_behaviour(component: QObject) -> Behaviour:
    """The behaviour kept on ``component``, an empty one if there was none."""
    behaviour: Behaviour = vars(component).setdefault(KEY, Behaviour())
    return behaviour


def find_behaviour(component: QObject) -> Behaviour | None:
    """The behaviour kept on ``component``, also when only its Python half is left."""
    behaviour: Behaviour | None = vars(component).get(KEY)
    return behaviour


def is_alive(component: QObject) -> bool:
    """Whether the C++ half still exists."""
    return bool(shiboken6.isValid(component))
