"""Live behaviour bound to a declaration: the only part of a capability that may change while it is registered."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from types import FunctionType, MethodType
from typing import TypeAlias

from agent_surface.contracts._checks import definition_error
from agent_surface.policies import AgentPolicy

Function: TypeAlias = Callable[..., object]
Predicate: TypeAlias = Callable[[], bool]
Text: TypeAlias = str | Callable[[], str]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def is_coroutine_function(function: object) -> bool:
    """Whether calling ``function`` makes a coroutine, as far as can be known without calling it."""
    while isinstance(function, partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004  # the method of a callable object is what is asked about


def positional_arity(function: Function, most: int, subject: str) -> int:
    """How many of the ``most`` arguments on offer ``function`` takes: those it requires.

    Raises:
        AgentSurfaceDefinitionError: It requires more than there are, or a keyword.
    """
    known = _arity_of_code(function, most)
    if known is not None:
        return known
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        # Some C functions have no signature; they are given what a handler most often takes.
        return most - 1
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return most
    required = [p for p in parameters if p.default is p.empty]
    count = sum(p.kind in _POSITIONAL for p in required)
    if count > most or any(p.kind is p.KEYWORD_ONLY for p in required):
        raise definition_error(
            f"the handler of {subject} must take at most {most} positional arguments", subject=subject
        )
    return count


def _arity_of_code(function: Function, most: int) -> int | None:
    """The same for a plain function or a method of one, a fifth of the time; ``None`` where only a signature can tell.

    A window binds its handlers when it is shown, so this is paid for every component that appears.
    """
    candidate: object = function
    bound = isinstance(candidate, MethodType)
    plain = candidate.__func__ if isinstance(candidate, MethodType) else candidate
    if not isinstance(plain, FunctionType) or plain.__dict__ or plain.__code__.co_kwonlyargcount:
        return None  # __wrapped__ and __signature__ live in the dictionary
    code = plain.__code__
    if code.co_flags & inspect.CO_VARARGS:
        return most
    count = code.co_argcount - len(plain.__defaults__ or ()) - bound
    return count if 0 <= count <= most else None


def check_predicate(when: Predicate | None, subject: str) -> Predicate | None:
    """A plain function: a coroutine is true whatever it would return.

    Raises:
        AgentSurfaceDefinitionError: It is a coroutine function, or cannot be called.
    """
    if when is not None and (not callable(when) or is_coroutine_function(when)):
        raise definition_error(f"when of {subject} must be a plain function", subject=subject, path="when")
    return when


class Handler:
    """A user's function with what was learnt of its signature, once."""

    __slots__ = ("function", "is_coroutine", "takes")

    def __init__(self, function: Function, *, most: int, subject: str) -> None:
        if not callable(function):
            raise definition_error(f"the handler of {subject} is not callable", subject=subject)
        self.function = function
        self.takes = positional_arity(function, most, subject)
        self.is_coroutine = is_coroutine_function(function)


class ObservationBinding:
    """How an observation is read.

    Attributes:
        read: Takes nothing or the :class:`AgentReadContext`; plain or ``async``; assigning another one takes effect
            with the next call and changes no version.
        when: Whether it can be used now; a predicate that raises says no.
        unavailable_reason: What the agent is told when it cannot.
        policies: Guards of this capability alone.
    """

    __slots__ = ("_handler", "policies", "unavailable_reason", "when")

    def __init__(
        self,
        *,
        read: Function,
        when: Predicate | None = None,
        unavailable_reason: Text | None = None,
        policies: Iterable[AgentPolicy] = (),
    ) -> None:
        self._handler = Handler(read, most=1, subject="an observation")
        self.when = check_predicate(when, "an observation")
        self.unavailable_reason = unavailable_reason
        self.policies = tuple(policies)

    @property
    def read(self) -> Function:
        """The function that reads the value."""
        return self._handler.function

    @read.setter
    def read(self, function: Function) -> None:
        self._handler = Handler(function, most=1, subject="an observation")

    @property
    def handler(self) -> Handler:
        """The function with its signature."""
        return self._handler


class ActionBinding:
    """How an action is performed.

    Attributes:
        execute: Takes nothing, the input, or the input and the :class:`AgentActionContext`; plain or ``async``;
            assigning another one takes effect with the next call and changes no version.
        when: Whether it can be used now; a predicate that raises says no.
        unavailable_reason: What the agent is told when it cannot.
        precondition: Takes the input or the input and the :class:`AgentReadContext`; returns or raises
            :class:`PreconditionFailure` to refuse. Synchronous, because it is asked again in the very turn in which
            the handler starts.
        policies: Guards of this capability alone.
        thread: Run ``execute``, a plain function, on a worker thread with a copy of its input.
    """

    __slots__ = ("_handler", "_precondition", "policies", "thread", "unavailable_reason", "when")

    def __init__(
        self,
        *,
        execute: Function,
        when: Predicate | None = None,
        unavailable_reason: Text | None = None,
        precondition: Function | None = None,
        policies: Iterable[AgentPolicy] = (),
        thread: bool = False,
    ) -> None:
        self._handler = Handler(execute, most=2, subject="an action")
        self._precondition = _precondition(precondition)
        self.when = check_predicate(when, "an action")
        self.unavailable_reason = unavailable_reason
        self.policies = tuple(policies)
        self.thread = thread
        if thread and self._handler.is_coroutine:
            raise definition_error("an action on a worker thread needs a plain function, not a coroutine function")

    @property
    def execute(self) -> Function:
        """The function that performs the action."""
        return self._handler.function

    @execute.setter
    def execute(self, function: Function) -> None:
        self._handler = Handler(function, most=2, subject="an action")

    @property
    def precondition(self) -> Function | None:
        """The check against live state."""
        return self._precondition.function if self._precondition is not None else None

    @precondition.setter
    def precondition(self, function: Function | None) -> None:
        self._precondition = _precondition(function)

    @property
    def handler(self) -> Handler:
        """The function with its signature."""
        return self._handler

    @property
    def precondition_handler(self) -> Handler | None:
        """The check with its signature."""
        return self._precondition


def _precondition(function: Function | None) -> Handler | None:
    if function is None:
        return None
    handler = Handler(function, most=2, subject="a precondition")
    if handler.is_coroutine:
        raise definition_error("a precondition must be a plain function: it is asked in the turn the handler starts")
    return handler
