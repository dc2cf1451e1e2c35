"""Turning to pages as an action, and what there is to turn to as an observation."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDockWidget, QStackedWidget, QTabWidget, QToolBox, QWidget

from agent_surface import (
    ActionContract,
    AgentCapabilityError,
    AgentPolicy,
    AgentSchema,
    AgentSchemaError,
    AgentSurfaceDefinitionError,
    DefinitionErrorCode,
    Effect,
    ErrorCode,
    JsonValue,
    PreconditionFailure,
    capability_error,
)
from qt_binding._availability import main_window_of, presented, why_out_of_sight
from qt_binding._slots import SlotFailures
from qt_binding.errors import ActionSlotError
from qt_binding.mixin import Role, observing, performing
from qt_binding.navigation._places import Container, Docks, Place, is_in_sight

InT = TypeVar("InT")
OutT = TypeVar("OutT")
PageT = TypeVar("PageT", bound=QWidget)

PAGE = "page"
"""The field of the input that names a page."""

STEADY_TURNS = 2
"""Turns of the event loop for which a page has to stay current: applications also turn back from a zero-delay timer."""

ARRIVAL_STEPS = 100
STEP_MS = 10
"""How often, and how many milliseconds apart, it is asked whether a page that slides in has arrived."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PageNavigation:
    """The two halves of a navigation, for ``attach_agent_component``.

    Attributes:
        show: The performer of an action with the effect ``navigation``: it turns to a page.
        read: The reader of an observation: the pages, which is current, and which can be turned to.
    """

    show: Role
    read: Role


def navigate_pages(
    contract_action: ActionContract[InT, OutT],
    container: QTabWidget | QStackedWidget | QToolBox,
    pages: Mapping[str, QWidget],
    *,
    policies: Iterable[AgentPolicy] = (),
) -> PageNavigation:
    """Offer the pages of a tab widget, a stack or a tool box, as far as they are named here.

    The action takes ``{"page": key}``. It ends when the page is in sight and its components are on the surface; a page
    that is current ends it at once. It is available while ``container`` is presented. A page that is disabled, hidden
    or gone, and an unknown key, are refused with ``PRECONDITION_FAILED`` before anything is turned. When the
    application turns back, from a slot or a moment later, the call fails with ``PRECONDITION_FAILED`` and details
    ``{"current": key}``; when a slot raises, with ``EXECUTION_FAILED``.

    The observation returns ``{"pages": [{"page", "current", "available", "reason"}]}``, in the order given here. It is
    held to the schema you declare.

    Args:
        contract_action: The declared action, with the effect ``navigation``.
        container: Shows one page at a time.
        pages: The page widgets by keys of your choice; never a position or a label.
        policies: Guards of the action alone.

    Raises:
        AgentSurfaceDefinitionError: No page is named, a page is not in ``container``, or the declared effect, input or
            output does not fit.
    """
    for key, page in pages.items():
        if container.indexOf(page) < 0:
            raise _error(contract_action, f"the page {key!r} is not in the {type(container).__name__}", "pages")
    _check_contract(contract_action, pages)
    return _Navigation(contract_action, Container(container), container, pages).roles(policies)


def navigate_docks(
    contract_action: ActionContract[InT, OutT],
    docks: Mapping[str, QDockWidget],
    *,
    policies: Iterable[AgentPolicy] = (),
) -> PageNavigation:
    """Offer docks of a main window: a closed one is opened, one behind another is raised.

    The same as :func:`navigate_pages`, with docks for pages and their window for the container. Several docks may be
    ``current`` at a time: all that are in sight.

    Args:
        contract_action: The declared action, with the effect ``navigation``.
        docks: The docks by keys of your choice, all of one window.
        policies: Guards of the action alone.

    Raises:
        AgentSurfaceDefinitionError: No dock is named, they are not of one window, or the declared effect, input or
            output does not fit.
    """
    _check_contract(contract_action, docks)
    window, *others = {main_window_of(dock) for dock in docks.values()}
    if window is None or others:
        raise _error(contract_action, "docks are offered by the one main window that has them all", "docks")
    return _Navigation(contract_action, Docks(), window, docks).roles(policies)


class _Navigation(Generic[PageT]):
    def __init__(
        self,
        contract: ActionContract[InT, OutT],
        place: Place[PageT],
        owner: QWidget,
        pages: Mapping[str, PageT],
    ) -> None:
        self._input: AgentSchema[Any] = contract.input
        self._place = place
        self._owner = owner
        self._pages = dict(pages)

    def roles(self, policies: Iterable[AgentPolicy]) -> PageNavigation:
        owner: weakref.ref[QObject] = weakref.ref(self._owner)
        show = performing(self.show, precondition=self.judge, policies=policies)
        return PageNavigation(show=replace(show, owner=owner), read=observing(self.read, when=self._is_there))

    def judge(self, request: object) -> PreconditionFailure | None:
        page = self._pages.get(self._key(request))
        if page is None:
            return PreconditionFailure(f"There is no such page. There are: {', '.join(self._pages)}.")
        reason = presented(self._owner).reason or self._place.why_not(page)
        return None if reason is None else PreconditionFailure(reason)

    def show(self, request: object) -> Awaitable[None] | None:
        """Turn to a page from the stack of a plain handler, where slots may ``exec`` what they like."""
        page = self._pages[self._key(request)]
        if self._has_arrived(page):
            return None
        with SlotFailures() as failures:
            self._place.turn_to(page)
        if failures.first is not None:
            raise ActionSlotError(failures.first) from failures.first
        return self._arrival(page)

    def read(self) -> dict[str, JsonValue]:
        away = presented(self._owner).reason
        pages: list[JsonValue] = []
        for key, page in self._pages.items():
            reason = away or self._place.why_not(page)
            current = self._has_arrived(page)
            pages.append({"page": key, "current": current, "available": reason is None, "reason": reason})
        return {"pages": pages}

    async def _arrival(self, page: PageT) -> None:
        for _ in range(STEADY_TURNS):
            await asyncio.sleep(0)
        for _ in range(ARRIVAL_STEPS):
            if not self._is_there():
                return  # the navigation closed what it began in, which is a way to arrive (AS-NAV-001)
            if not self._place.is_current(page):
                raise self._refusal("The application did not stay on that page.")
            if is_in_sight(page):
                return
            await asyncio.sleep(STEP_MS / 1_000)
        raise self._refusal(f"The page was turned to, and is not in sight. {why_out_of_sight(page) or ''}".rstrip())

    def _key(self, request: object) -> str:
        plain: JsonValue = self._input.dump(request)
        return str(plain.get(PAGE)) if isinstance(plain, Mapping) else ""

    def _refusal(self, message: str) -> AgentCapabilityError:
        current = [key for key, page in self._pages.items() if self._has_arrived(page)]
        details: dict[str, JsonValue] = {"current": current[0] if current else None}
        return capability_error(ErrorCode.PRECONDITION_FAILED, message=message, details=details)

    def _has_arrived(self, page: PageT) -> bool:
        return self._place.is_current(page) and is_in_sight(page)

    def _is_there(self) -> bool:
        return bool(shiboken6.isValid(self._owner))


def _check_contract(contract: ActionContract[InT, OutT], pages: Mapping[str, QWidget]) -> None:
    if contract.effect is not Effect.NAVIGATION:
        raise _error(contract, f"it turns to a page, so its effect is {Effect.NAVIGATION.value!r}", "effect")
    if contract.output is not None:
        raise _error(contract, "turning to a page returns nothing, so declare no output", "output")
    if not pages:
        raise _error(contract, "name at least one page", "pages")
    for key in pages:
        try:
            contract.input.parse({PAGE: key})
        except AgentSchemaError:
            raise _error(contract, f"its input has to accept {{{PAGE!r}: {key!r}}}", "input") from None


def _error(contract: ActionContract[InT, OutT], message: str, path: str) -> AgentSurfaceDefinitionError:
    return AgentSurfaceDefinitionError(
        DefinitionErrorCode.INVALID_DEFINITION, message, subject=contract.description, path=path
    )
