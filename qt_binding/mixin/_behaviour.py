"""What a component brings along: its contract, its handlers, and what it says of itself.

A behaviour belongs to the component: it is kept in the component's own ``__dict__``, because the functions in it
nearly always refer to the component or its window. Kept anywhere else, they would keep both alive for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import shiboken6
from PySide6.QtCore import QObject

from qt_binding.mixin._definition import Definition
from qt_binding.mixin._handle import AgentComponentHandle
from qt_binding.mixin._roles import ProcedureRole

KEY = "_agent_behaviour"

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
"""What a component may say of itself, with what holds when it says nothing. The mixin writes them ``agent_…``."""


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

    def attach(self, definition: Definition, options: Mapping[str, object]) -> None:
        """Take this in place of what was attached before."""
        self.attached, self._options = definition, options

    def definition(self, component: QObject) -> Definition:
        """The contract and its handlers."""
        return self.attached or cast("Definition", getattr(type(component), DEFINITION))

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
            attribute = f"agent_{name}"
            known = attribute in vars(component) or attribute in self.definition(component).options
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
