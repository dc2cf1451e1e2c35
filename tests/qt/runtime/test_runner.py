from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TypeVar

import pytest
import shiboken6
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from agent_surface.errors import AgentCapabilityError, ErrorCode
from qt_binding._runtime import QtHandlerRunner, Runtimes, runtime_of_application

T = TypeVar("T")

_variable: ContextVar[str] = ContextVar("_variable", default="unset")


@pytest.fixture
def runner(qapp: QApplication) -> QtHandlerRunner:
    """The port over the application's runtime."""
    del qapp
    found = Runtimes()
    return QtHandlerRunner(found.runtime, found.loop)


async def outcome(awaitable: Awaitable[T]) -> T:
    """Await in a task of the guest loop."""
    return await awaitable


def in_a_task(qtbot: QtBot, start: Callable[[], Awaitable[T]]) -> asyncio.Task[T]:
    """Start ``start`` in a task of the guest loop and wait until the task ended."""

    async def begin() -> T:
        return await start()

    task = runtime_of_application("test").loop.create_task(begin())
    qtbot.waitUntil(task.done)
    return task


@pytest.mark.requirement("QT-LOOP-004")
def test_a_handler_runs_later_with_no_current_task_and_its_callers_context(
    runner: QtHandlerRunner, qtbot: QtBot
) -> None:
    """Whatever it does with event loops, no task is in the way."""

    def handler() -> tuple[object, str, bool]:
        return asyncio.current_task(), _variable.get(), asyncio.get_running_loop().is_running()

    async def call() -> tuple[tuple[object, str, bool], bool]:
        _variable.set("caller")
        future = asyncio.ensure_future(runner.run(handler))
        return (await future), asyncio.current_task() is not None

    assert in_a_task(qtbot, call).result() == ((None, "caller", True), True)


@pytest.mark.requirement("QT-LOOP-003")
@pytest.mark.requirement("QT-LOOP-004")
def test_a_handler_may_exec_a_dialog_while_tasks_go_on(runner: QtHandlerRunner, qtbot: QtBot) -> None:
    """The most common thing a handler written before agents does."""
    loop = runtime_of_application("test").loop
    ticks = list[int]()

    async def tick() -> None:
        while len(ticks) < 50:
            ticks.append(1)
            await asyncio.sleep(0)

    def handler() -> int:
        dialog = QDialog()
        poll = QTimer(dialog)
        poll.timeout.connect(lambda: dialog.accept() if len(ticks) > 10 else None)
        poll.start(0)
        return dialog.exec()

    ticker = loop.create_task(tick())
    assert in_a_task(qtbot, lambda: runner.run(handler)).result() == QDialog.DialogCode.Accepted
    qtbot.waitUntil(ticker.done)


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("y"), asyncio.CancelledError()])
def test_what_a_handler_raises_comes_through_the_future(
    runner: QtHandlerRunner, qtbot: QtBot, error: BaseException
) -> None:
    """Never through Qt, which would print it and say nothing to the caller."""

    def handler() -> None:
        raise error

    caught = list[BaseException]()

    async def call() -> None:
        try:
            await runner.run(handler)
        except BaseException as raised:  # noqa: BLE001 - the point is that it is the same one
            caught.append(raised)

    in_a_task(qtbot, call)
    assert len(caught) == 1
    assert type(caught[0]) is type(error)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_a_request_to_end_the_process_reaches_the_future_first(
    runner: QtHandlerRunner, qtbot: QtBot, error: BaseException
) -> None:
    """The call settles before it propagates."""

    def handler() -> None:
        raise error

    future = asyncio.ensure_future(runner.run(handler), loop=runtime_of_application("test").loop)
    qtbot.waitUntil(future.done)
    assert future.exception() is error


def test_a_handler_that_raises_stop_iteration_is_an_error_not_an_end(runner: QtHandlerRunner, qtbot: QtBot) -> None:
    """A future would refuse it and the call would never settle."""

    def handler() -> None:
        raise StopIteration

    async def call() -> str:
        try:
            await runner.run(handler)
        except RuntimeError as error:
            return str(error)
        return ""

    assert in_a_task(qtbot, call).result() == "the handler raised StopIteration"


def test_a_cancelled_handler_that_has_not_started_never_starts(runner: QtHandlerRunner, qtbot: QtBot) -> None:
    """Time-outs and cancellations may come in the turn between."""
    ran = list[int]()
    future = asyncio.ensure_future(runner.run(lambda: ran.append(1)), loop=runtime_of_application("test").loop)
    future.cancel()
    done = asyncio.ensure_future(runner.run(lambda: ran.append(2)), loop=runtime_of_application("test").loop)
    qtbot.waitUntil(done.done)
    assert ran == [2]


@pytest.mark.requirement("QT-LIFE-004")
def test_a_handler_whose_timer_context_dies_settles_as_unmounted(runner: QtHandlerRunner, qtbot: QtBot) -> None:
    """Qt drops the timer without a word; the caller must not wait for ever, and later handlers must run."""
    runtime = runtime_of_application("test")
    ran = list[int]()

    async def call() -> ErrorCode | None:
        awaitable = runner.run(lambda: ran.append(1))
        shiboken6.delete(runtime.context)
        try:
            await awaitable
        except AgentCapabilityError as error:
            return error.payload.code
        return None

    assert in_a_task(qtbot, call).result() is ErrorCode.COMPONENT_UNMOUNTED
    in_a_task(qtbot, lambda: runner.run(lambda: ran.append(2)))
    assert ran == [2]
