"""A plugin of pytest: what passed in one environment is left out in the next one, and nothing else.

``make test`` runs the core's tests where Qt is not installed, and then everything. A test that passed the first time is
the same test on the same interpreter, so the second run leaves it out; one that was skipped for want of a package, or
did not run at all, runs.

    pytest -p tools.passed_tests --write-passed FILE      write the names of the tests that passed
    pytest -p tools.passed_tests --leave-out-passed FILE  leave those out, if the interpreter is the same
"""

from __future__ import annotations

import platform
from collections import defaultdict
from pathlib import Path

import pytest

_PHASES = {"setup", "call", "teardown"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The two options."""
    group = parser.getgroup("passed tests")
    group.addoption("--write-passed", type=Path, help="write the names of the tests that passed to this file")
    group.addoption("--leave-out-passed", type=Path, help="leave out the tests that this file names")


def pytest_configure(config: pytest.Config) -> None:
    """Record what passes, where that was asked for; in a run on several processes the first one hears of all."""
    target: Path | None = config.getoption("--write-passed")
    if target is not None and not hasattr(config, "workerinput"):
        target.unlink(missing_ok=True)
        config.pluginmanager.register(_Recorder(target))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what passed before."""
    source: Path | None = config.getoption("--leave-out-passed")
    if source is None or not source.exists():
        return
    interpreter, *names = source.read_text(encoding="utf-8").splitlines()
    if interpreter != platform.python_version():
        return
    passed = set(names)
    left_out = [item for item in items if item.nodeid in passed]
    items[:] = [item for item in items if item.nodeid not in passed]
    config.hook.pytest_deselected(items=left_out)


class _Recorder:
    def __init__(self, target: Path) -> None:
        self._target = target
        self._phases: defaultdict[str, set[str]] = defaultdict(set)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One of the three phases of a test ended."""
        if report.passed:
            self._phases[report.nodeid].add(report.when or "")

    def pytest_sessionfinish(self) -> None:
        """Write the names of the tests of which every phase passed."""
        passed = [name for name, phases in self._phases.items() if phases >= _PHASES]
        self._target.parent.mkdir(parents=True, exist_ok=True)
        self._target.write_text("\n".join([platform.python_version(), *sorted(passed)]) + "\n", encoding="utf-8")
