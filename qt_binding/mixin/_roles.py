"""What a function does for a capability: the same for decorated methods and for attached functions."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

from PySide6.QtCore import QObject, SignalInstance

from agent_surface import AgentPolicy, AgentProcedureContract, Concurrency, Confirmation, JsonValue, ProcedureRef
from qt_binding._availability import Followed

T = TypeVar("T")

Function: TypeAlias = Callable[..., object]

OfComponent: TypeAlias = Callable[[Any], T]
"""A function of the component. Its class is not known yet where a decorator stands, and a lambda in its place shall
still be checked, hence ``Any``."""

Signals: TypeAlias = SignalInstance | str | Iterable[SignalInstance | str]
"""Bound signals, and ``"property:name"`` for the NOTIFY signal of a property of the component."""

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Role:
    """How one declared capability is handled, and when it may be used.

    A text in place of a function names an attribute of the component, or of the owner, looked up at each use.

    Attributes:
        handler: Reads the observation or performs the action.
        of_component: Whether the functions below take the component as their first argument.
        when: Whether it can be used now.
        reason: What the agent is told when it cannot: the text itself, or a function that returns it.
        precondition: Judges the input against live state.
        follows: The signals that tell when ``when`` may have changed.
        policies: Guards of this capability alone.
        thread: Perform the action on a worker thread.
        owner: What a person would use for it where that is not the component itself: a part that contributes the
            capability, or the tabs it turns over. It has to be presented too.
    """

    handler: str | Function
    of_component: bool
    when: str | Function | None = None
    reason: str | Function | None = None
    precondition: str | Function | None = None
    follows: Signals | Function | None = None
    policies: tuple[AgentPolicy, ...] = ()
    thread: bool = False
    owner: weakref.ref[QObject] | None = None

    def find_handler(self, component: QObject) -> Function:
        """The handler as it is at this moment."""
        return self._find(self.handler, component)

    def is_available(self, component: QObject) -> bool:
        """The author's predicate, evaluated now; raises whatever it raises."""
        return self.when is None or bool(self._ask(self.when, component))

    def unavailable_reason(self, component: QObject) -> str | None:
        """The author's reason, evaluated now; raises whatever it raises."""
        if self.reason is None or isinstance(self.reason, str):
            return self.reason
        text = self._ask(self.reason, component)
        return text if isinstance(text, str) else None

    def signals(self, component: QObject) -> list[Followed]:
        """The signals to follow now; none when the author's function raises, as before a model is set."""
        if not callable(self.follows) or isinstance(self.follows, SignalInstance):
            return as_signals(self.follows)
        try:
            return as_signals(self._ask(self.follows, component))
        except Exception:  # noqa: BLE001 - means that there is nothing to follow yet
            return []

    def check_precondition(self, component: QObject, arguments: tuple[object, ...]) -> object:
        """The author's judgement on the input, made now."""
        if self.precondition is None:
            return None
        function = self._find(self.precondition, component)
        if self.of_component and not isinstance(self.precondition, str):
            arguments = (component, *arguments)
        return function(*arguments[: arity(function, len(arguments))])

    def _ask(self, function: str | Function, component: QObject) -> object:
        found = self._find(function, component)
        return found(component) if self.of_component and not isinstance(function, str) else found()

    def _find(self, function: str | Function, component: QObject) -> Function:
        if not isinstance(function, str):
            return function
        found: Function = getattr(component if self.owner is None else self.owner(), function)
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProcedureRole:
    """A component's reference to a back-end procedure, with what the screen supplies.

    Attributes:
        contract: The declared procedure.
        ref: Its path at the back end; the contract's own when absent.
        role: When it can be used, and what to follow.
        bind: For each root field that the screen supplies, a function that reads its value.
        overridable_fields: Those of the bound fields the agent may supply itself.
        describe: Live text beside the stable description.
        confirmation: Raises the contract's level.
        concurrency: Which calls exclude each other.
    """

    contract: AgentProcedureContract[Any, Any]
    ref: ProcedureRef | str | None
    role: Role
    bind: Mapping[str, Callable[[], JsonValue]]
    overridable_fields: tuple[str, ...]
    describe: Callable[[], str] | None
    confirmation: Confirmation | None
    concurrency: Concurrency | None


def as_signals(source: object) -> list[Followed]:
    """What ``follows`` gave, as a list; anything that is no signal is refused where it is connected."""
    if source is None:
        return []
    if isinstance(source, SignalInstance | str):
        return [source]
    if isinstance(source, Iterable):
        return [signal for item in cast("Iterable[object]", source) for signal in as_signals(item)]
    return [repr(type(source))]


def arity(function: Function, most: int) -> int:
    """How many of the ``most`` arguments on offer ``function`` takes: those it requires, or all if it takes any.

    Args:
        function: A bound method or a function.
        most: Arguments on offer.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0  # a method of Qt, such as QPushButton.click; none takes an agent's input
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return most
    required = sum(parameter.kind in _POSITIONAL and parameter.default is parameter.empty for parameter in parameters)
    return min(required, most)
