"""Decorators that say which capability a method handles."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

from agent_surface import ActionContract, AgentActionContext, AgentPolicy, AgentReadContext, ObservationContract
from qt_binding.mixin._roles import Function, OfComponent, Role, Signals

InT = TypeVar("InT")
OutT = TypeVar("OutT")
ComponentT = TypeVar("ComponentT")
FunctionT = TypeVar("FunctionT", bound=Callable[..., object])

MARK = "__agent_handler__"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HandlerMark:
    """What a decorator wrote on a method.

    Attributes:
        capability: The contract of the capability, or its name.
        observes: Whether it is an observation.
        role: How it is handled; the handler is still to be named.
    """

    capability: ObservationContract[Any] | ActionContract[Any, Any] | str
    observes: bool
    role: Role


class ObservationDecorator(Generic[OutT]):
    """Takes a method that returns what the contract declares, plain or ``async``, with or without the context."""

    def __init__(self, mark: HandlerMark) -> None:
        self._mark = mark

    @overload
    def __call__(
        self, handler: Callable[[ComponentT], Coroutine[Any, Any, OutT]]
    ) -> Callable[[ComponentT], Coroutine[Any, Any, OutT]]: ...
    @overload
    def __call__(
        self, handler: Callable[[ComponentT, AgentReadContext], Coroutine[Any, Any, OutT]]
    ) -> Callable[[ComponentT, AgentReadContext], Coroutine[Any, Any, OutT]]: ...
    @overload
    def __call__(self, handler: Callable[[ComponentT], OutT]) -> Callable[[ComponentT], OutT]: ...
    @overload
    def __call__(
        self, handler: Callable[[ComponentT, AgentReadContext], OutT]
    ) -> Callable[[ComponentT, AgentReadContext], OutT]: ...
    def __call__(self, handler: Function) -> Function:
        """Mark ``handler`` and return it unchanged."""
        return mark_handler(handler, self._mark)


class ActionDecorator(Generic[InT, OutT]):
    """Takes a method that accepts the declared input, or nothing, or the input and the context; plain or ``async``."""

    def __init__(self, mark: HandlerMark) -> None:
        self._mark = mark

    @overload
    def __call__(
        self, handler: Callable[[ComponentT], Coroutine[Any, Any, OutT]]
    ) -> Callable[[ComponentT], Coroutine[Any, Any, OutT]]: ...
    @overload
    def __call__(
        self, handler: Callable[[ComponentT, InT], Coroutine[Any, Any, OutT]]
    ) -> Callable[[ComponentT, InT], Coroutine[Any, Any, OutT]]: ...
    @overload
    def __call__(
        self, handler: Callable[[ComponentT, InT, AgentActionContext], Coroutine[Any, Any, OutT]]
    ) -> Callable[[ComponentT, InT, AgentActionContext], Coroutine[Any, Any, OutT]]: ...
    @overload
    def __call__(self, handler: Callable[[ComponentT], OutT]) -> Callable[[ComponentT], OutT]: ...
    @overload
    def __call__(self, handler: Callable[[ComponentT, InT], OutT]) -> Callable[[ComponentT, InT], OutT]: ...
    @overload
    def __call__(
        self, handler: Callable[[ComponentT, InT, AgentActionContext], OutT]
    ) -> Callable[[ComponentT, InT, AgentActionContext], OutT]: ...
    def __call__(self, handler: Function) -> Function:
        """Mark ``handler`` and return it unchanged."""
        return mark_handler(handler, self._mark)


@overload
def observes(
    capability: ObservationContract[OutT],
    *,
    when: OfComponent[bool] | str | None = None,
    reason: OfComponent[str] | str | None = None,
    follows: OfComponent[Signals] | str | None = None,
    policies: Iterable[AgentPolicy] = (),
) -> ObservationDecorator[OutT]: ...
@overload
def observes(
    capability: str,
    *,
    when: OfComponent[bool] | str | None = None,
    reason: OfComponent[str] | str | None = None,
    follows: OfComponent[Signals] | str | None = None,
    policies: Iterable[AgentPolicy] = (),
) -> Callable[[FunctionT], FunctionT]: ...
def observes(
    capability: ObservationContract[OutT] | str,
    *,
    when: OfComponent[bool] | str | None = None,
    reason: OfComponent[str] | str | None = None,
    follows: OfComponent[Signals] | str | None = None,
    policies: Iterable[AgentPolicy] = (),
) -> object:
    """Make a method the reader of an observation.

    The method takes nothing, or the :class:`AgentReadContext`. It is looked up on the component at each call, so an
    override or a re-assigned method counts at once.

    Args:
        capability: The observation's contract, so that type checkers hold the method against it; or its name.
        when: Whether it can be read now: a function of the component, or the name of one of its methods.
        reason: What the agent is told when it cannot: the text, or a function of the component.
        follows: The signals that tell when ``when`` may have changed: a function of the component that returns them,
            or ``"property:name"`` for a property of the component.
        policies: Guards of this capability alone.
    """
    role = Role(handler="", of_component=True, when=when, reason=reason, follows=follows, policies=tuple(policies))
    return ObservationDecorator[Any](HandlerMark(capability=capability, observes=True, role=role))


@overload
def performs(
    capability: ActionContract[InT, OutT],
    *,
    when: OfComponent[bool] | str | None = None,
    reason: OfComponent[str] | str | None = None,
    precondition: Function | str | None = None,
    follows: OfComponent[Signals] | str | None = None,
    policies: Iterable[AgentPolicy] = (),
    thread: bool = False,
) -> ActionDecorator[InT, OutT]: ...
@overload
def performs(
    capability: str,
    *,
    when: OfComponent[bool] | str | None = None,
    reason: OfComponent[str] | str | None = None,
    precondition: Function | str | None = None,
    follows: OfComponent[Signals] | str | None = None,
    policies: Iterable[AgentPolicy] = (),
    thread: bool = False,
) -> Callable[[FunctionT], FunctionT]: ...
def performs(
    capability: ActionContract[InT, OutT] | str,
    *,
    when: OfComponent[bool] | str | None = None,
    reason: OfComponent[str] | str | None = None,
    precondition: Function | str | None = None,
    follows: OfComponent[Signals] | str | None = None,
    policies: Iterable[AgentPolicy] = (),
    thread: bool = False,
) -> object:
    """Make a method the performer of an action.

    The method takes nothing, the input, or the input and the :class:`AgentActionContext`. It is looked up on the
    component at each call, so an override or a re-assigned method counts at once.

    Args:
        capability: The action's contract, so that type checkers hold the method against it; or its name.
        when: Whether it can be used now: a function of the component, or the name of one of its methods.
        reason: What the agent is told when it cannot: the text, or a function of the component.
        precondition: Judges the input against live state: a function of the component, the input and, if it takes
            one, the context; or the name of a method. Returns or raises ``PreconditionFailure`` to refuse.
        follows: The signals that tell when ``when`` may have changed: a function of the component that returns them,
            or ``"property:name"`` for a property of the component.
        policies: Guards of this capability alone.
        thread: Run the method, which must be a plain one, on a worker thread with a copy of its input. It must not
            touch Qt there.
    """
    role = Role(
        handler="",
        of_component=True,
        when=when,
        reason=reason,
        precondition=precondition,
        follows=follows,
        policies=tuple(policies),
        thread=thread,
    )
    return ActionDecorator[Any, Any](HandlerMark(capability=capability, observes=False, role=role))


def mark_handler(handler: Function, mark: HandlerMark) -> Function:
    """Write ``mark`` on ``handler``."""
    setattr(handler, MARK, mark)
    return handler


def find_mark(attribute: object) -> HandlerMark | None:
    """What a decorator wrote on ``attribute`` of a class, if one did."""
    mark = getattr(attribute, MARK, None)
    return mark if isinstance(mark, HandlerMark) else None
