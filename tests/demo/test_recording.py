"""The tour, recorded in the running console, as a test of its own."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from agent_surface import AgentConsumer, redact_paths
from agent_surface.testing import record_session, session_as_test
from demo_app.composition import ASSISTANT, Console
from demo_app.contracts import DISABLE_DEVICES
from demo_app.tour import Tour
from qt_binding._runtime import runtime_of_application
from qt_binding.testing import QT

APPLICATION = """
import pytest
from datetime import UTC, datetime

from demo_app.composition import create_console


class Noon:
    def now(self):
        return datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def surface_registry(qtbot, tmp_path):
    console = create_console(tmp_path / "fleet.sqlite", clock=Noon(), person="giulia")
    console.window.show()
    qtbot.waitExposed(console.window)
    qtbot.waitUntil(lambda: not console.window.session.busy_with)
    yield console.registry
    console.close()
    qtbot.waitUntil(lambda: not console.window.session.busy_with)
    console.window.close()
    console.window.deleteLater()
"""


@pytest.mark.requirement("AS-TEST-003")
@pytest.mark.timeout(120)
def test_the_recorded_tour_replays_headless_and_names_what_is_different(
    console: Console, database: Path, tmp_path: Path, qtbot: QtBot, pytester: pytest.Pytester
) -> None:
    """The whole tour with its two decisions; then with a capability renamed and with another output."""
    tour = Tour(console, database=database, folder=tmp_path / "pictures", stream=io.StringIO())
    redact = redact_paths({DISABLE_DEVICES.id: ["/ids"]})
    with record_session(console.registry, consumer=AgentConsumer(id=ASSISTANT), redact=redact) as recorder:
        asyncio.set_event_loop(runtime_of_application("test").loop)  # as run() does
        try:
            tour.start()
            qtbot.waitUntil(lambda: not console.window.isVisible(), timeout=40_000)
        finally:
            asyncio.set_event_loop(None)
    assert tour.problem is None
    source = session_as_test(recorder.recording, name="tour", runner=QT)
    assert [secret for secret in ("MIL-", "ANR-") if secret in source] == []
    pytester.makeconftest(APPLICATION)
    pytester.makepyfile(
        test_as_recorded=source,
        test_renamed=source.replace("view:devices.table.selectAll", "view:devices.table.selectEverything"),
        test_changed=source.replace('"changed": 3', '"changed": 4'),
    )
    replayed = pytester.runpytest_inprocess(
        *(f"-pno:{name}" for name in ("randomly", "asyncio", "cacheprovider", "hypothesispytest"))
    )
    replayed.assert_outcomes(passed=1, failed=2)
    replayed.stdout.fnmatch_lines(
        [
            "*AssertionError: domain:devices.disable returned {'changed': 3, 'unchanged': 0}",
            "*and not {'changed': 4, 'unchanged': 0}",
            "*The surface exposes",
            "*AssertionError: view:devices.table.selectEverything is not exposed.",
            "*The surface exposes",
            "*view:devices.table.selectAll (default): available",
        ]
    )
