"""The pytest plugin, on a small project that fails in each of the promised ways."""

from __future__ import annotations

import sys

import pytest

# hypothesis loads itself for the summary, which takes longer than everything else here.
OTHERS = ("randomly", "cacheprovider", "pytest-qt", "hypothesispytest", "xdist", "anyio")
QUIET = (*(word for name in OTHERS for word in ("-p", f"no:{name}")), "--import-mode=importlib")
INI = "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"

NUMBERS = """
import pytest
from agent_surface import action_contract, create_agent_surface_registry, define_agent_component_contract
from agent_surface.testing import contract_authority

NUMBER = define_agent_component_contract(
    type="t.number",
    description="A number",
    actions={
        "set": action_contract(description="Set it", effect="local-state"),
        "reset": action_contract(description="To zero", effect="local-state", confirmation="required"),
    },
)


def bound(instance_id="default", act=lambda: None):
    return NUMBER.bind(instance_id=instance_id, actions={"set": act, "reset": act})


@pytest.fixture(scope="session")
def application():
    with create_agent_surface_registry(authority=contract_authority(NUMBER), environment="test") as registry:
        registry.register(bound("window"))
        yield registry
"""

PROJECT = """
import asyncio
import pytest
from agent_surface.testing import assert_fails_with, assert_ok

pytestmark = pytest.mark.surface(NUMBER)
SET, RESET = "view:t.number.set", "view:t.number.reset"


async def test_leaves_nothing(surface):
    surface.mount(bound())
    assert_ok(await surface.invoke(SET))
    assert_fails_with(await surface.invoke(RESET), "CONFIRMATION_REQUIRED")
    assert_ok(await surface.invoke(RESET, confirmation_id=surface.confirmations.approve()))


async def test_leaves_a_question(surface):
    surface.mount(bound())
    await surface.invoke(RESET)


async def test_leaves_a_task(surface):
    surface.mount(bound(act=asyncio.Event().wait))
    asyncio.create_task(surface.invoke(SET), name="left")
    await asyncio.sleep(0)
    await surface.invoke("view:t.number.missing")


async def test_leaves_a_task_that_ends(surface):
    surface.mount(bound(act=asyncio.Event().wait))
    task = asyncio.create_task(surface.invoke(SET))
    await asyncio.sleep(0)
    task.cancel()


def test_leaves_a_component(surface):
    surface.registry.register(bound("forgotten"))


@pytest.mark.surface_fail_on()
async def test_may_leave_everything(surface):
    surface.registry.register(bound())
    await surface.invoke(RESET)


async def test_fails_by_itself(surface):
    surface.mount(bound())
    await surface.invoke(RESET)
    assert False, "its own reason"


def test_closes_the_registry(surface):
    surface.registry.close()
"""

APPLICATION = """
import pytest
from agent_surface.testing import assert_exposes


@pytest.fixture
def surface_registry(application):
    return application


def test_sees_what_was_there(surface):
    assert_exposes(surface, "view:t.number.set", instance_id="window")


def test_leaves_a_component_in_the_application(surface):
    surface.registry.register(bound("forgotten"))


def test_takes_away_what_it_mounted(surface):
    surface.mount(bound("mounted"))


class TestNotTheProjects:
    @pytest.fixture
    def surface_registry(self):
        return None

    def test_names_no_contract(self, surface):
        pass

    @pytest.mark.surface(NUMBER)
    @pytest.mark.surface_fail_on("spelling")
    def test_misspells(self, surface):
        pass

    @pytest.mark.surface(NUMBER)
    def test_gets_a_fresh_one(self, surface):
        assert not surface.snapshot().components
"""


@pytest.mark.requirement("AS-TEST-002")
def test_a_test_fails_on_what_it_left_behind(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A component, a task, a question: named, each by the test that left it, and by no other."""
    monkeypatch.setenv("COLUMNS", "200")
    pytester.makeini(INI)
    pytester.makepyfile(test_fresh=NUMBERS + PROJECT, test_application=NUMBERS + APPLICATION)
    ran = pytester.runpytest_inprocess(*QUIET, "-rA")
    ran.assert_outcomes(passed=9, failed=3, errors=4)
    ran.stdout.re_match_lines_random(
        [
            r"ERROR .*::test_leaves_a_component_in_the_application - Failed: The test left behind",
            r"ERROR .*::test_leaves_a_component - Failed: The test left behind",
            r"ERROR .*::test_names_no_contract - .*takes the fixture surface: mark it.*",
            r"ERROR .*::test_misspells - .*agent_surface_fail_on: spelling is none of confirmations, qt-warnings, .*",
            r"FAILED .*::test_leaves_a_question - Failed: The test left behind",
            r"FAILED .*::test_leaves_a_task - Failed: The test left behind",
            r"FAILED .*::test_fails_by_itself - AssertionError: its own reason",
            r"  the pending confirmation cnf_\d+ of view:t\.number\.reset: To zero",
            r"  the task <Task pending name='left' .*",
            r"  the registered component t\.number, instance forgotten \(reg_\d_\w+\)",
        ]
    )


def test_the_command_line_says_what_counts(pytester: pytest.Pytester) -> None:
    """For one run, over the configuration: these and no others, or none."""
    pytester.makeini(INI + "agent_surface_fail_on = registrations\n")
    pytester.makepyfile(test_fresh=NUMBERS + PROJECT)
    chosen = (*QUIET, "-k", "leaves_a_question or leaves_a_component")
    pytester.runpytest_inprocess(*chosen).assert_outcomes(passed=2, errors=1)
    pytester.runpytest_inprocess(*chosen, "--agent-surface-fail-on=none").assert_outcomes(passed=2)
    pytester.runpytest_inprocess(*chosen, "--agent-surface-fail-on=confirmations,tasks").assert_outcomes(
        passed=1, failed=1
    )


def test_a_run_that_takes_no_fixture_loads_nothing(pytester: pytest.Pytester) -> None:
    """The distribution may be installed beside any project: no pydantic, no Qt, and not even our own packages."""
    pytester.makepyfile(
        """
        import sys

        def test_what_is_loaded(pytestconfig):
            assert pytestconfig.pluginmanager.get_plugin("agent-surface") is sys.modules["pytest_agent_surface.core"]
            assert pytestconfig.pluginmanager.get_plugin("agent-surface-qt") is sys.modules["pytest_agent_surface.qt"]
            loaded = {name.partition(".")[0] for name in sys.modules}
            assert loaded.isdisjoint({"agent_surface", "qt_binding", "PySide6", "pydantic", "jsonschema", "asyncio"})
        """
    )
    ran = pytester.run(sys.executable, "-m", "pytest", "-q", *QUIET, "-p", "no:asyncio", "-p", "no:cov")
    ran.assert_outcomes(passed=1)
