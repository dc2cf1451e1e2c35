"""What a class of components handles, found out once, when the class is made."""

from __future__ import annotations

import inspect
import logging
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from agent_surface import ActionContract, AgentComponentContract, AgentSchema, ObservationContract
from qt_binding.mixin._declare import HandlerMark, find_mark
from qt_binding.mixin._roles import Role

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Definition:
    """A contract and, by capability name, how each capability is handled.

    Attributes:
        options: Which attributes ``agent_…`` the class has, without the prefix.
        structure: What a registration is made of, as far as the definition says it; comparable.
        owned: Whether any capability belongs to another object than the component.
        constant: Whether no capability has a predicate, a signal to follow or an owner.
        roles: How each capability is handled, by its id.
    """

    contract: AgentComponentContract
    observations: Mapping[str, Role]
    actions: Mapping[str, Role]
    options: frozenset[str] = frozenset()
    structure: tuple[object, ...] = field(init=False, repr=False)
    owned: bool = field(init=False, repr=False)
    constant: bool = field(init=False, repr=False)
    roles: Mapping[str, Role] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        roles = (*self.observations.items(), *self.actions.items())
        by_id = {f"view:{self.contract.type}.{name}": role for name, role in roles}
        structure = (
            self.contract,
            len(self.observations),
            *((name, role.policies, role.thread) for name, role in roles),
        )
        object.__setattr__(self, "structure", structure)
        object.__setattr__(self, "owned", any(role.owner is not None for _, role in roles))
        constant = all(role.when is None and role.follows is None and role.owner is None for _, role in roles)
        object.__setattr__(self, "constant", constant)
        object.__setattr__(self, "roles", MappingProxyType(by_id))


def define_class(cls: type) -> Definition | None:
    """Match the handlers of ``cls`` with its contract; ``None`` for an abstract class, which has none.

    An overridden method keeps its role by name.

    Raises:
        TypeError: A declared capability has no handler or two, a handler belongs to nothing declared, or its
            annotations contradict the contract; names both sides.
    """
    contract = getattr(cls, "agent_contract", None)
    if contract is None:
        return None
    if not isinstance(contract, AgentComponentContract):
        raise TypeError(f"agent_contract of {cls.__qualname__} must be made by define_agent_component_contract")
    observations: dict[str, Role] = {}
    actions: dict[str, Role] = {}
    for attribute, mark in _marks(cls).items():
        name = _capability_name(cls, attribute, mark, contract)
        roles = observations if mark.observes else actions
        if name in roles:
            raise TypeError(
                f"{cls.__qualname__}.{attribute} and {cls.__qualname__}.{roles[name].handler} both handle "
                f"{name!r} of {contract.type}"
            )
        roles[name] = replace(mark.role, handler=attribute)
        _check_annotations(cls, attribute, name, contract)
    for name in (*contract.observations, *contract.actions):
        if name not in observations and name not in actions and not contract.partial:
            raise TypeError(f"{cls.__qualname__} has no handler for {name!r}, which {contract.type} declares")
    return Definition(
        contract=contract,
        observations=MappingProxyType(observations),
        actions=MappingProxyType(actions),
        options=frozenset(
            name.removeprefix("agent_") for base in cls.__mro__ for name in vars(base) if name.startswith("agent_")
        ),
    )


def _marks(cls: type) -> dict[str, HandlerMark]:
    found: dict[str, HandlerMark] = {}
    for base in reversed(cls.__mro__):
        for attribute, value in vars(base).items():
            mark = find_mark(value)
            if mark is not None:
                found[attribute] = mark
    return found


def _capability_name(cls: type, attribute: str, mark: HandlerMark, contract: AgentComponentContract) -> str:
    declared: Mapping[str, object] = contract.observations if mark.observes else contract.actions
    for name, capability in declared.items():
        if mark.capability in (name, capability):
            return name
    kind = "observation" if mark.observes else "action"
    named = repr(mark.capability) if isinstance(mark.capability, str) else f"{mark.capability.description!r}"
    raise TypeError(
        f"{cls.__qualname__}.{attribute} is a handler for the {kind} {named}, which {contract.type} does not declare"
    )


def _check_annotations(cls: type, attribute: str, name: str, contract: AgentComponentContract) -> None:
    """Hold what a handler says of itself against what its capability declares."""
    handler = inspect.unwrap(getattr(cls, attribute))
    try:
        hints = typing.get_type_hints(handler)
        parameters = list(inspect.signature(handler).parameters.values())[1:]
    except Exception as error:  # noqa: BLE001 - names under TYPE_CHECKING, in functions, or not yet defined
        logger.debug("the annotations of %s.%s cannot be resolved: %s", cls.__qualname__, attribute, error)
        return
    where = f"{cls.__qualname__}.{attribute}"
    observation = contract.observations.get(name)
    capability: ObservationContract[object] | ActionContract[object, object]
    capability = observation if observation is not None else contract.actions[name]
    if isinstance(capability, ActionContract) and parameters and parameters[0].name in hints:
        taken, given = hints[parameters[0].name], _python_type(capability.input)
        if given is not None and not _accepts(taken, given):
            raise TypeError(f"{where} takes {_name(taken)}, but the input of {contract.type}.{name} is {_name(given)}")
    if "return" in hints:
        returned = hints["return"]
        if capability.output is None:
            if returned is not object and returned not in (type(None), Any, typing.NoReturn, typing.Never):
                raise TypeError(f"{where} returns {_name(returned)}, but {contract.type}.{name} declares no output")
            return
        wanted = _python_type(capability.output)
        if wanted is not None and not _accepts(wanted, returned):
            raise TypeError(
                f"{where} returns {_name(returned)}, but the output of {contract.type}.{name} is {_name(wanted)}"
            )


def _python_type(schema: AgentSchema[object]) -> object:
    return schema.python_type


def _accepts(wide: object, narrow: object) -> bool:
    """Whether a value of ``narrow`` fits ``wide``, as far as two annotations can tell; in doubt it does."""
    if any(annotation is Any or annotation is object for annotation in (wide, narrow)) or wide == narrow:
        return True
    if isinstance(wide, typing.TypeVar) or isinstance(narrow, typing.TypeVar):
        return True
    wide_members, narrow_members = _union_members(wide), _union_members(narrow)
    if len(narrow_members) > 1:
        return all(_accepts(wide, member) for member in narrow_members)
    if len(wide_members) > 1:
        return any(_accepts(member, narrow) for member in wide_members)
    wide_class, narrow_class = typing.get_origin(wide) or wide, typing.get_origin(narrow) or narrow
    if isinstance(wide_class, type) and isinstance(narrow_class, type):
        return issubclass(narrow_class, wide_class)
    return True


def _union_members(annotation: object) -> tuple[object, ...]:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def _name(annotation: object) -> str:
    return annotation.__qualname__ if isinstance(annotation, type) else str(annotation)
