"""The same for objects whose class cannot be changed: from a ``.ui`` file, or somebody else's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import shiboken6
from PySide6.QtCore import QObject

from agent_surface import (
    AgentComponentContract,
    AgentPolicy,
    AgentProcedureContract,
    AgentSurfaceDefinitionError,
    ComponentRef,
    Concurrency,
    Confirmation,
    DefinitionErrorCode,
    JsonValue,
    ProcedureRef,
)
from qt_binding._availability import notify_signal
from qt_binding._runtime import runtime_of_application
from qt_binding.mixin._behaviour import Behaviour, ensure_behaviour, find_behaviour
from qt_binding.mixin._definition import Definition
from qt_binding.mixin._handle import AgentComponentHandle
from qt_binding.mixin._mixin import AgentComponentMixin
from qt_binding.mixin._roles import Function, ProcedureRole, Role, Signals
from qt_binding.mixin._watch import ComponentWatch

ANCHORS = "_agent_anchors"

Handler: TypeAlias = Function | str | Role
"""A function, the name of a method of the component, or what ``observing`` and ``performing`` return."""


def observing(
    read: Function | str,
    *,
    when: Callable[[], bool] | str | None = None,
    reason: Callable[[], str] | str | None = None,
    follows: Callable[[], Signals] | Signals | None = None,
    policies: Iterable[AgentPolicy] = (),
) -> Role:
    """The reader of an observation for ``attach_agent_component``, with what ``observes`` says of a method.

    Args:
        read: Takes nothing, or the :class:`AgentReadContext`. A text names a method of the component, here and below.
        when: Whether it can be read now.
        reason: What the agent is told when it cannot: the text, or a function.
        follows: The signals that tell when ``when`` may have changed, or a function that returns them.
        policies: Guards of this capability alone.
    """
    return Role(handler=read, of_component=False, when=when, reason=reason, follows=follows, policies=tuple(policies))


def performing(
    execute: Function | str,
    *,
    when: Callable[[], bool] | str | None = None,
    reason: Callable[[], str] | str | None = None,
    precondition: Function | str | None = None,
    follows: Callable[[], Signals] | Signals | None = None,
    policies: Iterable[AgentPolicy] = (),
    thread: bool = False,
) -> Role:
    """The performer of an action for ``attach_agent_component``, with what ``performs`` says of a method.

    Args:
        execute: Takes nothing, the input, or the input and the :class:`AgentActionContext`. A text names a method of
            the component, here and below.
        when: Whether it can be used now.
        reason: What the agent is told when it cannot: the text, or a function.
        precondition: Takes the input and, if it wants, the context; returns or raises ``PreconditionFailure``.
        follows: The signals that tell when ``when`` may have changed, or a function that returns them.
        policies: Guards of this capability alone.
        thread: Run ``execute`` on a worker thread; it must not touch Qt there.
    """
    return Role(
        handler=execute,
        of_component=False,
        when=when,
        reason=reason,
        precondition=precondition,
        follows=follows,
        policies=tuple(policies),
        thread=thread,
    )


def attach_agent_component(
    widget: QObject,
    contract: AgentComponentContract,
    *,
    observations: Mapping[str, Handler] | None = None,
    actions: Mapping[str, Handler] | None = None,
    instance_id: str | Callable[[], str] = "default",
    parent: ComponentRef | Callable[[], ComponentRef | None] | None = None,
    internal: Mapping[str, object] | Callable[[], Mapping[str, object]] | None = None,
    enabled: bool | Callable[[], bool] = True,
    presented: bool | Callable[[], bool] = False,
    register_on: Literal["attach", "show"] = "attach",
    policies: Iterable[AgentPolicy] = (),
) -> AgentComponentHandle:
    """Make an existing object a component, with the lifecycle the mixin has.

    Attaching the same contract again replaces the handlers and keeps the registration.

    Args:
        widget: A ``QWidget``, ``QObject`` or ``QAction``. It is not kept alive.
        contract: What it can be asked for and can do.
        observations: For each declared observation a function, the name of a method of ``widget``, or ``observing``.
        actions: For each declared action a function, the name of a method of ``widget``, or ``performing``.
        instance_id: Tells components of one type apart; from data, never from object names, text or a row number.
        parent: The component this one sits in.
        internal: For policies and audit; never shown to an agent.
        enabled: ``False`` makes every capability unavailable.
        presented: ``True`` for a component that is meant to work unseen.
        register_on: ``attach`` registers at once; ``show`` on the first show.
        policies: Guards of every capability of this component.

    Returns:
        The handle, also to be had as ``widget.agent_handle``.

    Raises:
        NoSurfaceProviderError: Neither a parent nor the application provides a surface.
        AgentSurfaceDefinitionError: A handler is missing or belongs to nothing declared, a property cannot be
            followed, or the object is a component already.
        NoApplicationError: There is no ``QApplication``, or this is not its thread.
    """
    if isinstance(widget, AgentComponentMixin):
        raise attach_error(f"{type(widget).__name__} is a component by its class", contract.type)
    definition = Definition(
        contract=contract,
        observations=_roles(contract, "observation", contract.observations, observations),
        actions=_roles(contract, "action", contract.actions, actions),
    )
    for role in (*definition.observations.values(), *definition.actions.values()):
        if isinstance(role.follows, str):
            notify_signal(widget, role.follows)
    watch = runtime_of_application("attach_agent_component").part(ComponentWatch)
    behaviour = ensure_behaviour(widget)
    if behaviour.attached is not None and behaviour.attached.contract is not contract:
        raise attach_error(
            f"{type(widget).__name__} is the component {behaviour.attached.contract.type} already", contract.type
        )
    behaviour.attach(
        definition,
        {
            "instance_id": instance_id,
            "parent": parent,
            "internal": internal,
            "enabled": enabled,
            "presented": presented,
            "register_on": register_on,
            "policies": tuple(policies),
        },
    )
    vars(widget)["agent_handle"] = behaviour.handle
    if behaviour.key is not None:
        watch.mark(behaviour.key)
        return behaviour.handle
    component = watch.add(widget, behaviour)
    behaviour.key = component.key
    _anchor(watch, component.key, widget)
    if component.wants_registration(widget, behaviour):
        watch.register(component)
    return behaviour.handle


def use_agent_procedure(
    widget: QObject,
    contract: AgentProcedureContract[Any, Any],
    ref: ProcedureRef | str | None = None,
    *,
    bind: Mapping[str, Callable[[], JsonValue]] | None = None,
    overridable_fields: Iterable[str] = (),
    when: Callable[[], bool] | str | None = None,
    reason: Callable[[], str] | str | None = None,
    follows: Callable[[], Signals] | Signals | None = None,
    describe: Callable[[], str] | None = None,
    confirmation: Confirmation | None = None,
    policies: Iterable[AgentPolicy] = (),
    concurrency: Concurrency | None = None,
) -> AgentComponentHandle:
    """Let a component refer to a back-end procedure, with values that the screen supplies.

    It lives as long as the component. Adding one to a component that is registered already registers it again.

    Args:
        widget: A component, by its class (also from inside its ``__init__``) or by ``attach_agent_component``.
        contract: The declared procedure.
        ref: The back end's path; the contract's own when absent.
        bind: For each root field that the screen supplies, a function that reads its value when a call is made.
        overridable_fields: Those of the bound fields the agent may supply itself.
        when: Whether it can be used now: a function, or the name of a method of ``widget``.
        reason: What the agent is told when it cannot: the text, or a function.
        follows: The signals that tell when ``when`` may have changed, or a function that returns them.
        describe: Live text beside the stable description.
        confirmation: Raises the contract's level; lowering it is an error.
        policies: Guards of this reference alone.
        concurrency: Which calls exclude each other; by default those of this reference.

    Returns:
        The handle of the component.

    Raises:
        AgentSurfaceDefinitionError: ``widget`` is no component, or refers to the procedure already.
    """
    behaviour = component_behaviour(widget, contract.id)
    if any(role.contract.id == contract.id for role in behaviour.procedures):
        raise attach_error(f"{type(widget).__name__} refers to {contract.id} already", contract.id)
    if isinstance(follows, str):
        notify_signal(widget, follows)
    role = ProcedureRole(
        contract=contract,
        ref=ref,
        role=Role(handler="", of_component=False, when=when, reason=reason, follows=follows, policies=tuple(policies)),
        bind=MappingProxyType(dict(bind or {})),
        overridable_fields=tuple(overridable_fields),
        describe=describe,
        confirmation=confirmation,
        concurrency=concurrency,
    )
    behaviour.procedures = (*behaviour.procedures, role)
    if behaviour.key is not None:
        runtime_of_application("use_agent_procedure").part(ComponentWatch).mark(behaviour.key)
    return behaviour.handle


def component_behaviour(widget: QObject, subject: str) -> Behaviour:
    """The behaviour of a component, by its class or attached.

    Raises:
        AgentSurfaceDefinitionError: It is no component.
    """
    if isinstance(widget, AgentComponentMixin):
        return ensure_behaviour(widget)
    behaviour = find_behaviour(widget)
    if behaviour is None:
        raise attach_error(f"{type(widget).__name__} is no component; attach_agent_component comes first", subject)
    return behaviour


def _roles(
    contract: AgentComponentContract, kind: str, declared: Mapping[str, object], given: Mapping[str, Handler] | None
) -> Mapping[str, Role]:
    handlers = given or {}
    for name in () if contract.partial else declared.keys() - handlers.keys():
        raise attach_error(f"{contract.type} declares the {kind} {name!r}, and nothing handles it", contract.type)
    for name in handlers.keys() - declared.keys():
        raise attach_error(
            f"a handler is given for the {kind} {name!r}, which {contract.type} does not declare", contract.type
        )
    return MappingProxyType(
        {
            name: handler if isinstance(handler, Role) else Role(handler=handler, of_component=False)
            for name, handler in handlers.items()
        }
    )


def _anchor(watch: ComponentWatch, key: int, target: QObject) -> None:
    """Keep the Python half of an object that C++ made and owns, or it would be collected and the component with it.

    It is kept by the nearest ancestor that Python holds, so that a cycle through handlers can still be collected.
    """
    if is_held_by_python(target):
        return
    ancestor = target.parent()
    while ancestor is not None and not is_held_by_python(ancestor):
        ancestor = ancestor.parent()
    if ancestor is None:
        watch.anchor(key, target)
    else:
        keep_wrapper(ancestor, target)


def is_held_by_python(target: QObject) -> bool:
    """Whether the Python half of an object lives as long as the object; that of one made by C++ may not."""
    return bool(shiboken6.createdByPython(target) or shiboken6.ownedByPython(target))


def keep_wrapper(keeper: QObject, target: QObject) -> None:
    """Keep the Python half of ``target`` for as long as both live."""
    anchors: list[QObject] = vars(keeper).setdefault(ANCHORS, [])
    anchors[:] = [anchor for anchor in anchors if shiboken6.isValid(anchor)]
    anchors.append(target)


def attach_error(message: str, subject: str) -> AgentSurfaceDefinitionError:
    """A mistake in what is attached."""
    return AgentSurfaceDefinitionError(DefinitionErrorCode.INVALID_DEFINITION, message, subject=subject)
