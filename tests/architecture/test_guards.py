"""The guards in ``tests/conftest.py`` do fail a test: a guard that never fires looks just like a clean suite."""

from __future__ import annotations

import pytest

from tests.architecture.source import CHECKOUT

INI = """
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
markers =
    allow_logs(logger, ...): as in the project
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """An empty suite under the project's own conftest."""
    pytester.makeini(INI)
    pytester.makeconftest((CHECKOUT / "tests" / "conftest.py").read_text(encoding="utf-8"))
    return pytester


def _outcomes(suite: pytest.Pytester, source: str) -> dict[str, int]:
    suite.makepyfile(source)
    return suite.runpytest_subprocess("-p", "no:randomly", "-p", "no:cacheprovider").parseoutcomes()


def test_a_pending_task_fails_the_test_that_left_it(suite: pytest.Pytester) -> None:
    """A task nobody owns may still be working when the next test runs."""
    outcomes = _outcomes(
        suite,
        """
        import asyncio

        async def test_leaves_one():
            asyncio.get_running_loop().the_task = asyncio.create_task(asyncio.Event().wait())

        def test_leaves_one_in_a_loop_of_its_own():
            loop = asyncio.new_event_loop()
            loop.create_task(asyncio.Event().wait())
            loop.run_until_complete(asyncio.sleep(0))
            globals()["kept"] = loop

        async def test_ends_what_it_starts():
            task = asyncio.create_task(asyncio.Event().wait())
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        """,
    )
    assert outcomes == {"passed": 3, "errors": 2}


def test_a_warning_of_our_loggers_fails_the_test_unless_it_was_expected(suite: pytest.Pytester) -> None:
    """A complaint nobody expected is a defect nobody looked at."""
    outcomes = _outcomes(
        suite,
        """
        import logging
        import pytest

        def test_warns():
            logging.getLogger("agent_surface.events").warning("a listener failed")

        def test_expects_it(expected_logs):
            logging.getLogger("qt_binding").error("a slot failed")
            assert [record.getMessage() for record in expected_logs] == ["a slot failed"]

        @pytest.mark.allow_logs("agent_surface.events")
        def test_allows_it():
            logging.getLogger("agent_surface.events").warning("a listener failed")

        @pytest.mark.allow_logs("agent_surface.events")
        def test_allows_another():
            logging.getLogger("agent_surface.audit").warning("a sink failed")

        def test_hears_others_and_lower_levels_in_peace():
            logging.getLogger("somebody.else").error("not ours")
            logging.getLogger("agent_surface").info("good to know")
        """,
    )
    assert outcomes == {"passed": 5, "errors": 2}
