"""What holds for every test: nothing is left running, and nothing is complained about in passing.

A test fails when it leaves an asyncio task pending, when a logger of ours warns and the test did not say it would, and
(by pytest-qt, see ``qt_log_*`` in the configuration) when Qt warns. Where Qt is not installed the Qt part is inert.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import logging
import os
import sys
import weakref
from collections.abc import AsyncIterator, Iterable, Iterator

import pytest
from pytest_asyncio import is_async_test
from typing_extensions import override

OUR_LOGGERS = ("agent_surface", "qt_binding", "demo_app")

# Before anything imports Qt: without a screen it draws into memory.
if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# qasync takes the first binding it finds imported, or this one.
os.environ.setdefault("QT_API", "pyside6")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Accept pytest-qt's options where it is not installed: the configuration is strict and the same for both."""
    if importlib.util.find_spec("pytestqt") is None:
        parser.addini("qt_api", "not used here: pytest-qt is not installed")
        parser.addini("qt_log_level_fail", "not used here: pytest-qt is not installed")
        parser.addini("qt_log_ignore", "not used here: pytest-qt is not installed", type="linelist")


def pytest_collection_finish() -> None:
    """Take what was imported out of the collector's sight: many tests collect, and a full pass takes long."""
    gc.collect()
    gc.freeze()


# ---------------------------------------------------------------------------------------------------------- patience

PATIENCE_MS = 30_000


@pytest.fixture(autouse=True, scope="session")
def _patience() -> Iterator[None]:
    """How long a test may wait must not depend on what else the machine is doing; pytest-qt gives up after 5 s."""
    if importlib.util.find_spec("pytestqt") is None:
        yield
        return
    from pytestqt.qtbot import QtBot

    with pytest.MonkeyPatch.context() as patch:
        for wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals):
            patch.setattr(wait, "__kwdefaults__", {**(wait.__kwdefaults__ or {}), "timeout": PATIENCE_MS})
        yield


# ------------------------------------------------------------------------------------------------------------- tasks


@pytest.fixture(autouse=True, scope="session")
def _loops_made() -> Iterator[weakref.WeakSet[asyncio.BaseEventLoop]]:
    """The event loops that exist, so that tasks can be looked for in each; asyncio keeps no such list."""
    made: weakref.WeakSet[asyncio.BaseEventLoop] = weakref.WeakSet()
    original = asyncio.BaseEventLoop.__init__

    def init(self: asyncio.BaseEventLoop) -> None:
        original(self)
        made.add(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio.BaseEventLoop, "__init__", init)
        yield made


def _pending(loops: Iterable[asyncio.BaseEventLoop]) -> set[asyncio.Task[object]]:
    return {task for loop in list(loops) if not loop.is_closed() for task in asyncio.all_tasks(loop)}


def _fail_for(tasks: set[asyncio.Task[object]]) -> None:
    for task in tasks:
        task.cancel()
    pytest.fail("Tasks left pending:\n" + "\n".join(f"  {task!r}" for task in tasks), pytrace=False)


@pytest.fixture
async def _no_task_left_in_the_test_loop() -> AsyncIterator[None]:
    yield
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        _fail_for(left)


@pytest.fixture(autouse=True)
def _no_task_left(
    _loops_made: weakref.WeakSet[asyncio.BaseEventLoop], request: pytest.FixtureRequest
) -> Iterator[None]:
    """Fail a test that leaves a task pending.

    The loop of an async test is closed, and its tasks cancelled unseen, before this fixture is torn down, so a fixture
    inside that loop looks there. Qt's loop outlives the test: what is being cancelled gets a few turns to end.
    """
    if is_async_test(request.node):
        request.getfixturevalue(_no_task_left_in_the_test_loop.__name__)
    before = _pending(_loops_made)
    yield
    left = _pending(_loops_made) - before
    for _ in range(_TURNS_OF_QT if "PySide6.QtCore" in sys.modules else 0):
        if not left:
            break
        _turn_qt()
        left = _pending(_loops_made) - before
    if left:
        _fail_for(left)


_TURNS_OF_QT = 20


def _turn_qt() -> None:
    from PySide6.QtCore import QCoreApplication, QEvent

    if QCoreApplication.instance() is not None:
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


# --------------------------------------------------------------------------------------------------------------- logs


class _Collector(logging.Handler):
    """Keeps the records of our own loggers that a person would be told about."""

    def __init__(self) -> None:
        super().__init__(level=logging.WARNING)
        self.records: list[logging.LogRecord] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        if _is_below(record.name, OUR_LOGGERS):
            self.records.append(record)


def _is_below(name: str, loggers: Iterable[str]) -> bool:
    return any(name == logger or name.startswith(logger + ".") for logger in loggers)


@pytest.fixture(autouse=True)
def _log_collector(request: pytest.FixtureRequest) -> Iterator[_Collector]:
    """Fail a test in which a logger of ours warned, unless it took ``expected_logs`` or is marked ``allow_logs``."""
    collector = _Collector()
    root = logging.getLogger()
    root.addHandler(collector)
    try:
        yield collector
    finally:
        root.removeHandler(collector)
    if "expected_logs" in request.fixturenames:
        return
    allowed = [str(logger) for mark in request.node.iter_markers("allow_logs") for logger in mark.args]
    unexpected = [record for record in collector.records if not _is_below(record.name, allowed)]
    if unexpected:
        lines = "\n".join(f"  {record.levelname} {record.name}: {record.getMessage()}" for record in unexpected)
        pytest.fail(
            f"Unexpected log records (take the fixture expected_logs to allow and judge them):\n{lines}", pytrace=False
        )


@pytest.fixture
def expected_logs(_log_collector: _Collector) -> list[logging.LogRecord]:
    """The warnings and errors our loggers have written in this test so far, in order; taking it allows them."""
    return _log_collector.records
