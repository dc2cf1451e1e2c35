"""A window of tabs whose pages an agent may turn to."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from pydantic import BaseModel
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from agent_surface import (
    AgentSurfaceLimits,
    InvocationError,
    JsonValue,
    action_contract,
    define_agent_component_contract,
    from_json_schema,
    from_model,
    observation_contract,
)
from agent_surface.testing import contract_authority
from qt_binding import PageNavigation, attach_agent_component, create_qt_registry, provide_surface
from tests.qt.mixin.parts import COUNTER, Surface, code_of, delete, turn


class ShowPage(BaseModel):
    """Which page."""

    page: str


SHOW = action_contract(description="Turn to a page", input=from_model(ShowPage), effect="navigation")
PAGES = observation_contract(description="The pages", output=from_json_schema({"type": "object"}))
WINDOW = define_agent_component_contract(
    type="test.window", description="A window of pages", observations={"readPages": PAGES}, actions={"showPage": SHOW}
)
SHOW_ID, PAGES_ID = "view:test.window.showPage", "view:test.window.readPages"


@pytest.fixture
def surface(qapp: QApplication, qtbot: QtBot) -> Iterator[Surface]:
    """A registry that the application provides; the test leaves nothing in it."""
    registry = create_qt_registry(
        authority=contract_authority(WINDOW, COUNTER),
        environment="test",
        limits=AgentSurfaceLimits(
            slow_handler_ms=60_000
        ),  # slots here ask with exec, and a busy machine takes its time
    )
    made = Surface(registry, qtbot)
    withdraw = provide_surface(qapp, made.registry)
    yield made
    withdraw()
    for window in qapp.topLevelWidgets():
        delete(window)
    turn()
    gc.collect()
    turn()
    assert made.registry.statistics().registrations == 0
    made.registry.close()


def offer(window: QWidget, pages: PageNavigation, *, presented: bool = False) -> None:
    """Put a navigation on a window."""
    attach_agent_component(
        window,
        WINDOW,
        observations={"readPages": pages.read},
        actions={"showPage": pages.show},
        presented=presented,
    )
    turn()


def show(surface: Surface, page: str) -> str:
    """Turn to a page; how it ended."""
    return code_of(surface.invoke(SHOW_ID, {"page": page}))


def refusal(surface: Surface, page: str) -> tuple[str, str, dict[str, JsonValue]]:
    """Turn to a page in vain: code, message and details."""
    result = surface.invoke(SHOW_ID, {"page": page})
    assert isinstance(result, InvocationError)
    details = result.error.to_json().get("details", {})
    assert isinstance(details, dict)
    return result.error.code.value, result.error.message, details


def pages(surface: Surface) -> dict[str, tuple[bool, object]]:
    """What an agent reads: for each page whether it is current, and why it cannot be turned to."""
    output = surface.invoke(PAGES_ID).to_json()["output"]
    assert isinstance(output, dict)
    read = output["pages"]
    assert isinstance(read, list)
    found: dict[str, tuple[bool, object]] = {}
    for item in read:
        assert isinstance(item, dict)
        assert item["available"] == (item["reason"] is None)
        found[str(item["page"])] = (bool(item["current"]), item["reason"])
    return found
