"""A ``QAction`` as the performer of a declared action."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar, cast

from PySide6.QtCore import SignalInstance
from PySide6.QtGui import QAction, QActionGroup

from agent_surface import (
    ActionContract,
    AgentPolicy,
    AgentSchemaError,
    AgentSurfaceDefinitionError,
    DefinitionErrorCode,
    JsonValue,
    PreconditionFailure,
)
from qt_binding._slots import SlotFailures
from qt_binding.actions._reach import signals_of_reach, why_out_of_reach
from qt_binding.errors import ActionSlotError
from qt_binding.mixin import Role, performing

InT = TypeVar("InT")
OutT = TypeVar("OutT")

CHECKED = "checked"
"""The field of the input that says which state a checkable action shall have."""


def bind_action(
    contract_action: ActionContract[InT, OutT],
    qaction: QAction,
    *,
    reason: str | None = None,
    policies: Iterable[AgentPolicy] = (),
) -> Role:
    """The performer of an action for ``attach_agent_component``: it triggers ``qaction``, as a person would.

    It is available exactly when a person could use ``qaction``: enabled, visible, no modal dialog in the way, and in a
    bar or widget that is presented, directly or through menus that are enabled and visible. A closed menu is no
    obstacle. An action that is in no menu, bar or widget needs the window it belongs to.

    A checkable action takes ``{"checked": true}`` or ``{"checked": false}`` and is triggered only if its state differs;
    the one that is checked in an exclusive group cannot be unchecked. Any other takes no input. When a slot raises, the
    call fails with ``EXECUTION_FAILED``, and the program's ``sys.excepthook`` is told as ever.

    Args:
        contract_action: The declared action.
        qaction: The application's action. It lives as long as the component, unless Qt deletes it before.
        reason: What the agent is told when the action itself is off; by default its status tip.
        policies: Guards of this capability alone.

    Raises:
        AgentSurfaceDefinitionError: The declared input or output does not fit the action.
    """
    checkable = qaction.isCheckable()
    _check_contract(contract_action, checkable=checkable)

    def why() -> str | None:
        return why_out_of_reach(qaction, reason)

    def follows() -> list[SignalInstance]:
        return list(signals_of_reach(qaction))

    def wanted(request: object) -> bool | None:
        plain: JsonValue = contract_action.input.dump(request)
        state = plain.get(CHECKED) if isinstance(plain, Mapping) else None
        return state if isinstance(state, bool) else None

    def judge(request: object) -> PreconditionFailure | None:
        state = wanted(request)
        if state is None or not qaction.isCheckable():
            return PreconditionFailure("It cannot be switched on and off at the moment.")
        if not state and _is_held(qaction):
            return PreconditionFailure(
                "It is one of several of which one is always on. Switch another one on instead of this one off."
            )
        return None

    def switch(request: object) -> None:
        if qaction.isChecked() != wanted(request):
            _trigger(qaction)

    def trigger() -> None:
        _trigger(qaction)

    return performing(
        switch if checkable else trigger,
        when=lambda: why() is None,
        reason=lambda: why() or "",
        precondition=judge if checkable else None,
        follows=follows,
        policies=policies,
    )


def _trigger(action: QAction) -> None:
    with SlotFailures() as failures:
        action.trigger()
    if failures.first is not None:
        raise ActionSlotError(failures.first) from failures.first


def _is_held(action: QAction) -> bool:
    """Whether its group keeps it checked until another one is."""
    group = cast("QActionGroup | None", action.actionGroup())
    exclusive = QActionGroup.ExclusionPolicy.Exclusive
    return action.isChecked() and group is not None and group.exclusionPolicy() == exclusive


def _check_contract(contract: ActionContract[InT, OutT], *, checkable: bool) -> None:
    if contract.output is not None:
        raise _error(contract, "a QAction returns nothing, so declare no output", "output")
    inputs: list[JsonValue] = [{CHECKED: True}, {CHECKED: False}] if checkable else [{}]
    try:
        for value in inputs:
            contract.input.parse(value)
    except AgentSchemaError:
        message = (
            f"a checkable QAction takes the input {{{CHECKED!r}: bool}}"
            if checkable
            else "a QAction that is not checkable takes no input"
        )
        raise _error(contract, message, "input") from None


def _error(contract: ActionContract[InT, OutT], message: str, path: str) -> AgentSurfaceDefinitionError:
    return AgentSurfaceDefinitionError(
        DefinitionErrorCode.INVALID_DEFINITION, message, subject=contract.description, path=path
    )
