from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from typing_extensions import override

from agent_surface import AgentInvocation, AgentInvocationResult, RegistryClosedError, WrongThreadError
from qt_binding import AgentComponentMixin, performs
from tests.qt.mixin.parts import PING_ID, PINGER, READ_ID, SET_ID, Counter, Surface, code_of, delete, shown

T = TypeVar("T")


class Worker:
    """Runs functions on another thread while the test turns the event loop."""

    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot = qtbot
        self._pool = concurrent.futures.ThreadPoolExecutor(1)

    def call(self, function: Callable[[], T]) -> T:
        """The result of ``function``, run on the worker."""
        future = self._pool.submit(function)
        self._qtbot.waitUntil(future.done)
        return future.result()

    def close(self) -> None:
        """End the thread."""
        self._pool.shutdown()


@pytest.fixture
def worker(qtbot: QtBot) -> Iterator[Worker]:
    """Another thread."""
    made = Worker(qtbot)
    yield made
    made.close()


@pytest.mark.requirement("QT-THREAD-001")
def test_a_call_from_another_thread_runs_on_the_gui_thread_and_brings_its_result_back(
    surface: Surface, worker: Worker
) -> None:
    """Waited for in the plain way of threads."""
    threads = list[int]()

    class Watched(Counter):
        @override
        def read_value(self) -> int:
            threads.append(threading.get_ident())
            return 5

    watched = Watched()
    shown(watched)
    result = worker.call(lambda: surface.registry.invoke_threadsafe(AgentInvocation(capability_id=READ_ID)).result(10))
    assert (result.to_json()["output"], threads) == (5, [threading.get_ident()])
    delete(watched)


@pytest.mark.requirement("QT-THREAD-001")
def test_a_call_from_another_event_loop_is_awaited_there(surface: Surface, worker: Worker) -> None:
    """An MCP server or a model's client has a loop of its own."""
    counter = Counter()
    shown(counter)

    async def elsewhere() -> AgentInvocationResult:
        future = surface.registry.invoke_threadsafe(AgentInvocation(capability_id=SET_ID, input={"value": 8}))
        return await asyncio.wait_for(asyncio.wrap_future(future), 10)

    assert code_of(worker.call(lambda: asyncio.run(elsewhere()))) == "ok"
    assert counter.value == 8
    delete(counter)


@pytest.mark.requirement("QT-THREAD-001")
def test_everything_else_is_refused_on_another_thread_by_name(surface: Surface, worker: Worker) -> None:
    """Instead of ending the process some time later."""

    def misuse() -> str:
        try:
            surface.registry.snapshot()
        except WrongThreadError as error:
            return str(error)
        return ""

    assert "invoke_threadsafe" in worker.call(misuse)


@pytest.mark.requirement("QT-THREAD-001")
def test_a_thread_that_comes_after_the_end_is_told_at_once(surface: Surface, worker: Worker) -> None:
    """Nobody waits for an application that is gone."""
    surface.registry.close()

    def late() -> str:
        try:
            surface.registry.invoke_threadsafe(AgentInvocation(capability_id=READ_ID))
        except RegistryClosedError as error:
            return type(error).__name__
        return ""

    assert worker.call(late) == "RegistryClosedError"


@pytest.mark.requirement("QT-THREAD-001")
def test_an_action_may_run_on_a_worker_thread(surface: Surface) -> None:
    """For what would hold the screen."""
    threads = list[int]()

    class Heavy(AgentComponentMixin, QWidget):
        agent_contract = PINGER

        @performs("ping", thread=True)
        def ping(self) -> None:
            threads.append(threading.get_ident())

    heavy = Heavy()
    shown(heavy)
    assert code_of(surface.invoke(PING_ID)) == "ok"
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()
    delete(heavy)
