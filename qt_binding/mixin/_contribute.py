"""Capabilities of one component that come from several places (experimental)."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from PySide6.QtCore import QObject

from agent_surface import AgentComponentContract
from qt_binding._runtime import runtime_of_application
from qt_binding.mixin._attach import Handler, attach_error, component_behaviour, is_held_by_python, keep_wrapper
from qt_binding.mixin._behaviour import Behaviour, Contribution, is_alive
from qt_binding.mixin._roles import Role
from qt_binding.mixin._watch import ComponentWatch


def contribute_to_component(
    component: QObject,
    contributor: QObject,
    *,
    observations: Mapping[str, Handler] | None = None,
    actions: Mapping[str, Handler] | None = None,
) -> Callable[[], None]:
    """Let an object bring along some capabilities of a component whose contract is ``partial``. Experimental.

    What nothing contributes is absent from the surface. Contributions end with their contributor. Each change makes
    the component register again, with a new registration id, and everything that comes or goes in one turn of the
    event loop makes one registration. While the contributor is not presented its capabilities are unavailable, with
    the reason, unless the component says that it is meant to work unseen.

    Args:
        component: By its class (also from inside its ``__init__``) or by ``attach_agent_component``.
        contributor: Whose methods texts name. It is not kept alive.
        observations: For each contributed observation a function, the name of a method, or ``observing``.
        actions: For each contributed action a function, the name of a method, or ``performing``.

    Returns:
        Takes the contribution back before the contributor goes. May be called any number of times.

    Raises:
        AgentSurfaceDefinitionError: ``component`` is none or its contract is not partial; or a capability is not
            declared, or handled already.
    """
    if not is_alive(contributor):
        raise attach_error("the contributor is gone", type(contributor).__name__)
    behaviour = component_behaviour(component, type(contributor).__name__)
    definition = behaviour.definition(component)
    contract = definition.contract
    if not contract.partial:
        raise attach_error(f"{contract.type} is not declared partial, so nothing is contributed to it", contract.type)
    owner = weakref.ref(contributor)
    contribution = Contribution(
        observations=_roles(
            contract, "observation", contract.observations, definition.observations, observations, owner
        ),
        actions=_roles(contract, "action", contract.actions, definition.actions, actions, owner),
    )
    watch = runtime_of_application("contribute_to_component").part(ComponentWatch)
    behaviour.contribute(contributor, contribution)
    connection = watch.mark_when_gone(contributor, behaviour)
    if not is_held_by_python(contributor):
        keep_wrapper(component, contributor)  # or it would be collected, and the contribution with it
    if behaviour.key is not None:
        watch.mark(behaviour.key)
    known = weakref.ref(behaviour), weakref.ref(contribution)

    def revoke() -> None:
        QObject.disconnect(connection)  # says False the second time
        _revoke(watch, owner, *known)

    return revoke


def _revoke(
    watch: ComponentWatch,
    owner: weakref.ref[QObject],
    behaviour: weakref.ref[Behaviour],
    contribution: weakref.ref[Contribution],
) -> None:
    contributor, changed, revoked = owner(), behaviour(), contribution()
    if contributor is None or changed is None or revoked is None:
        return
    changed.revoke(contributor, revoked)
    if changed.key is not None and is_alive(watch):
        watch.mark(changed.key)


def _roles(
    contract: AgentComponentContract,
    kind: str,
    declared: Mapping[str, object],
    handled: Mapping[str, Role],
    given: Mapping[str, Handler] | None,
    owner: weakref.ref[QObject],
) -> Mapping[str, Role]:
    roles: dict[str, Role] = {}
    for name, handler in (given or {}).items():
        if name not in declared:
            raise attach_error(f"{contract.type} does not declare the {kind} {name!r}", contract.type)
        if name in handled:
            raise attach_error(f"the {kind} {name!r} of {contract.type} is handled already", contract.type)
        role = handler if isinstance(handler, Role) else Role(handler=handler, of_component=False)
        roles[name] = role if role.owner is not None else replace(role, owner=owner)
    return MappingProxyType(roles)
