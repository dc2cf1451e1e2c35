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
"""What holds where a component says nothing."""

STRUCTURAL = ("instance_id", "parent", "internal", "policies")
"""The options that a registration is made of; the others say whether it can be used."""

_ATTRIBUTES: Mapping[str, str] = {f"agent_{name}": name for name in OPTIONS}
"""What a component may say of itself: the attributes in which the mixin says it, and the option each of them is."""

_NAMES = frozenset(_ATTRIBUTES)


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
        self._told: frozenset[str] = frozenset()
        self._contributions: list[tuple[weakref.ref[QObject], weakref.ref[Contribution]]] = []

    def attach(self, definition: Definition, options: Mapping[str, object]) -> None:
        """Take this in place of what was attached before."""
        self.attached, self._options = definition, options
        # What is attached names every option; only what differs from the usual says anything.
        self._told = frozenset(
            name for name, value in options.items() if value is not None and not _is_usual(name, value)
        )

    def is_only(self, attached: Definition | None) -> bool:
        """Whether ``attached`` is all there is: nothing else was attached since, no procedures, no contributions."""
        return self.attached is attached and not self.procedures and not self._contributions

    def definition(self, component: QObject) -> Definition:
        """The contract and its handlers, with what is contributed at this moment."""
        own: Definition = self.attached or getattr(type(component), DEFINITION)
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

    def told(self, component: QObject) -> frozenset[str]:
        """Of which options the component says anything at this moment; for the others holds what ``OPTIONS`` says."""
        if self._options is not None:
            return self._told
        # Asking a Qt object for an attribute it does not have costs many times a look into two collections.
        by_class: frozenset[str] = getattr(type(component), DEFINITION).options
        own = vars(component)
        if not says_of_itself(own):
            return by_class
        return by_class | {option for attribute, option in _ATTRIBUTES.items() if attribute in own}

    def structure(self, component: QObject, told: frozenset[str]) -> dict[str, object]:
        """What the component says now of itself that a registration is made of, and nothing where it says nothing.

        Args:
            component: Whose behaviour this is.
            told: Of which options it says anything.
        """
        said = {name: self.option(component, name, told) for name in STRUCTURAL if name in told}
        # What can be changed in place is copied, or the change could not be seen.
        if said.get("internal"):
            said["internal"] = dict(cast("Mapping[str, object]", said["internal"]))
        if said.get("policies"):
            said["policies"] = tuple(cast("Iterable[object]", said["policies"]))
        return said

    def option(self, component: QObject, name: str, told: frozenset[str] | None = None) -> object:
        """What the component says of itself now; called if it is a function or method.

        Args:
            component: Whose behaviour this is.
            name: One of ``OPTIONS``.
            told: Of which options it says anything, where that was asked already.
        """
        if name not in (self.told(component) if told is None else told):
            return OPTIONS[name]
        value = getattr(component, f"agent_{name}") if self._options is None else self._options[name]
        return value() if callable(value) else value


def _is_usual(name: str, value: object) -> bool:
    usual = OPTIONS[name]
    return type(value) is type(usual) and value == usual


def says_of_itself(own: Mapping[str, object]) -> bool:
    """Whether one component says anything, apart from what its class says or was attached.

    Args:
        own: Its ``__dict__``.
    """
    return not _NAMES.isdisjoint(own)


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
