"""The core's plugin: the fixture ``surface``, and what a test may not leave behind."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

import pytest

from pytest_agent_surface import hookspecs

if TYPE_CHECKING:
    from agent_surface import AgentSurfaceRegistry
    from agent_surface.testing import SurfaceHarness

AFTER_CALL = pytest.StashKey[Callable[[], None]]()
"""What to check when the test function has returned and its event loop is still open."""


AFTER_TEARDOWN = pytest.StashKey[Callable[[], None]]()
"""What to check when all fixtures of the test are gone."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Introduce the hook through which the binding makes registries."""
    pluginmanager.add_hookspecs(hookspecs)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Introduce what tests can fail on."""
    said = (
        "any of registrations, tasks, confirmations and qt-warnings: "
        "what a test that takes the fixture surface fails on when it leaves it behind"
    )
    parser.addini("agent_surface_fail_on", said, type="args", default=["registrations", "tasks", "confirmations"])
    parser.getgroup("agent-surface").addoption(
        "--agent-surface-fail-on", metavar="WHAT", help=f"comma-separated, {said}; 'none' for nothing"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Introduce the marks."""
    config.addinivalue_line("markers", "surface(contract, ...): the fixture surface is a fresh one for these contracts")
    config.addinivalue_line("markers", "surface_fail_on(what, ...): overrides agent_surface_fail_on for this test")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Look for what the test function left, unless it failed by itself."""
    result = yield
    if AFTER_CALL in item.stash:
        item.stash[AFTER_CALL]()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Look for what is left on the application's registry, where that outlives the test."""
    result = yield
    if AFTER_TEARDOWN in item.stash:
        item.stash[AFTER_TEARDOWN]()
    return result


@pytest.fixture
def surface_registry() -> AgentSurfaceRegistry | None:
    """The application's registry. A project overrides this fixture; else ``surface`` is a fresh one."""
    return None


@pytest.fixture
def surface(request: pytest.FixtureRequest) -> Iterator[SurfaceHarness]:
    """A harness over the application's registry, or over a fresh one for the contracts of the mark ``surface``."""
    from agent_surface.pytest_plugin import open_surface

    yield from open_surface(request, after_call=AFTER_CALL, after_teardown=AFTER_TEARDOWN)
