from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import pytest
from PySide6.QtCore import QCoreApplication, QEventLoop, QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from qt_binding._runtime import GuestLoop, runtime_of_application

T = TypeVar("T")


@pytest.fixture
def loop(qapp: QApplication) -> Iterator[GuestLoop]:
    """A guest loop of its own for each test, closed at the end."""
    owner = QObject()
    guest = GuestLoop(qapp, owner)
    yield guest
    guest.close()
    owner.deleteLater()


@pytest.fixture
def finish(loop: GuestLoop, qtbot: QtBot) -> Callable[[Coroutine[object, object, object]], object]:
    """Run a coroutine to its end by pytest-qt's wait, which is a nested Qt event loop."""

    def run(coroutine: Coroutine[object, object, object]) -> object:
        task = loop.create_task(coroutine)
        qtbot.waitUntil(task.done)
        return task.result()

    return run


class Ticker:
    """A task that counts its wake-ups."""

    def __init__(self, loop: GuestLoop) -> None:
        self.count = 0
        self.task = loop.create_task(self._tick())

    async def _tick(self) -> None:
        while True:
            self.count += 1
            await asyncio.sleep(0)

    async def ticks_on(self) -> bool:
        """Whether it wakes up again."""
        before = self.count
        for _ in range(20):
            await asyncio.sleep(0)
        return self.count > before


@contextmanager
def ticking(loop: GuestLoop) -> Generator[Ticker]:
    """A ticker for the body of the ``with`` statement."""
    ticker = Ticker(loop)
    try:
        yield ticker
    finally:
        ticker.task.cancel()


def exec_a_dialog_until(done: Callable[[], bool]) -> None:
    """What applications do: a modal dialog with a nested event loop, closed once ``done`` says so."""
    dialog = QDialog()
    poll = QTimer(dialog)
    poll.timeout.connect(lambda: dialog.accept() if done() else None)
    poll.start(0)
    dialog.exec()


class Emitter(QObject):
    """An application object with a signal."""

    fired = Signal()


@pytest.mark.requirement("QT-LOOP-006")
def test_tasks_run_under_an_event_loop_of_qt_that_knows_nothing_of_asyncio(loop: GuestLoop) -> None:
    """The loop is served without being run, at any nesting."""

    async def work() -> bool:
        await asyncio.sleep(0)
        return asyncio.get_running_loop() is loop and asyncio.current_task() is not None

    plain, nested_result = QEventLoop(), list[bool]()

    def nest() -> None:
        inner = QEventLoop()
        task = loop.create_task(work())
        task.add_done_callback(lambda _: inner.quit())
        inner.exec()
        nested_result.append(task.result())
        plain.quit()

    outer = loop.create_task(work())
    QTimer.singleShot(0, nest)
    plain.exec()
    assert (outer.result(), nested_result) == (True, [True])


@pytest.mark.requirement("QT-LOOP-006")
def test_tasks_run_under_pytest_qts_waits(loop: GuestLoop, qtbot: QtBot) -> None:
    """A test needs no plugin for asyncio to wait for a task."""

    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    task = loop.create_task(work())
    qtbot.waitUntil(task.done)
    assert task.result() == 7


@pytest.mark.requirement("QT-LOOP-006")
def test_the_loop_is_the_running_one_only_while_its_callbacks_execute(loop: GuestLoop, qtbot: QtBot) -> None:
    """So a slot may use ``asyncio.run``, and another loop may live beside this one."""
    seen = list[object]()

    async def nothing() -> str:
        return "own loop"

    loop.call_soon(lambda: seen.append(asyncio.get_running_loop() is loop))
    QTimer.singleShot(0, lambda: seen.append(asyncio.run(nothing())))
    qtbot.waitUntil(lambda: len(seen) == 2)
    assert set(seen) == {True, "own loop"}
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()


@pytest.mark.requirement("QT-LOOP-004")
@pytest.mark.requirement("QT-LOOP-003")
def test_an_exec_inside_a_task_wedges_no_other_task(
    loop: GuestLoop, finish: Callable[[Coroutine[object, object, object]], object]
) -> None:
    """With qasync as it is, every task that became ready meanwhile never runs again."""

    async def opens_a_dialog() -> bool:
        with ticking(loop) as ticker:
            exec_a_dialog_until(lambda: ticker.count > 10)
            during, current = ticker.count, asyncio.current_task()
            return during > 10 and await ticker.ticks_on() and current is asyncio.current_task()

    assert finish(opens_a_dialog())


@pytest.mark.requirement("QT-LOOP-004")
def test_an_exec_in_a_slot_of_a_signal_emitted_inside_a_task_wedges_no_other_task(
    loop: GuestLoop, finish: Callable[[Coroutine[object, object, object]], object]
) -> None:
    """The author of the coroutine cannot know what the application connects."""
    emitter = Emitter()

    async def emits() -> bool:
        with ticking(loop) as ticker:
            emitter.fired.connect(lambda: exec_a_dialog_until(lambda: ticker.count > 10))
            emitter.fired.emit()
            return ticker.count > 10 and await ticker.ticks_on()

    assert finish(emits())


@pytest.mark.requirement("QT-LOOP-004")
def test_dialogs_nested_in_two_tasks_wedge_no_third(
    loop: GuestLoop, finish: Callable[[Coroutine[object, object, object]], object]
) -> None:
    """A task that wakes inside the dialog of another may open its own."""
    order = list[str]()

    async def opens(name: str, until: Callable[[], bool]) -> None:
        await asyncio.sleep(0)
        exec_a_dialog_until(until)
        order.append(name)
        await asyncio.sleep(0)

    async def both() -> bool:
        with ticking(loop) as ticker:
            first = loop.create_task(opens("first", lambda: ticker.count > 10))
            second = loop.create_task(opens("second", lambda: ticker.count > 20))
            await asyncio.wait_for(asyncio.gather(first, second), 10)
            return await ticker.ticks_on()

    assert finish(both())
    assert sorted(order) == ["first", "second"]


@pytest.mark.requirement("QT-LOOP-004")
def test_a_callback_that_nests_a_loop_does_not_hold_up_the_callbacks_behind_it(loop: GuestLoop, qtbot: QtBot) -> None:
    """The rest of a batch runs inside the nested loop."""
    order = list[str]()

    def nest() -> None:
        inner = QEventLoop()
        loop.call_soon(inner.quit)
        inner.exec()
        order.append("outer")

    loop.call_soon(nest)
    loop.call_soon(order.append, "behind")
    qtbot.waitUntil(lambda: "outer" in order)
    assert order == ["behind", "outer"]


def test_callbacks_run_first_come_first_served_and_cancelled_ones_not(loop: GuestLoop, qtbot: QtBot) -> None:
    """Plain asyncio promises the order."""
    order = list[int]()
    handles = [loop.call_soon(order.append, number) for number in range(6)]
    handles[2].cancel()
    qtbot.waitUntil(lambda: 5 in order)
    assert order == [0, 1, 3, 4, 5]


def test_a_callback_that_reschedules_itself_does_not_starve_qt(loop: GuestLoop, qtbot: QtBot) -> None:
    """One batch for each turn of Qt."""
    turns, stop = list[int](), list[bool]()

    def again() -> None:
        if not stop:
            loop.call_soon(again)

    timer = QTimer()
    timer.timeout.connect(lambda: turns.append(1))
    timer.start(0)
    again()
    qtbot.waitUntil(lambda: len(turns) > 5)
    stop.append(True)


@pytest.mark.requirement("QT-LOOP-005")
def test_long_time_outs_of_asyncio_leave_no_timers_behind(
    loop: GuestLoop, finish: Callable[[Coroutine[object, object, object]], object]
) -> None:
    """``wait_for`` with an hour's time-out ends at once and takes its deadline with it."""

    async def many() -> int:
        for _ in range(1_000):
            await asyncio.wait_for(asyncio.sleep(0), 3_600)
        return loop.deadlines.entries

    entries = finish(many())
    assert isinstance(entries, int)
    assert entries < 50


def test_a_delayed_call_can_be_asked_for_its_time_and_is_never_early(loop: GuestLoop, qtbot: QtBot) -> None:
    """Plain asyncio's contract: a TimerHandle with ``when``."""
    ran = list[float]()
    handle = loop.call_later(0.005, lambda: ran.append(loop.time()))
    cancelled = loop.call_later(0.001, lambda: ran.append(0.0))
    cancelled.cancel()
    qtbot.waitUntil(lambda: bool(ran))
    assert isinstance(handle, asyncio.TimerHandle)
    assert ran[0] >= handle.when()
    assert len(loop.deadlines) == 0


@pytest.mark.requirement("QT-THREAD-001")
def test_another_thread_hands_over_callbacks_with_their_context_and_gets_results(loop: GuestLoop, qtbot: QtBot) -> None:
    """Plain qasync ignores the context and returns nothing."""
    variable: ContextVar[str] = ContextVar("variable", default="unset")
    results = list[tuple[str, int]]()

    async def work() -> tuple[str, int]:
        await asyncio.sleep(0)
        return variable.get(), threading.get_ident()

    def worker() -> None:
        variable.set("worker")
        results.append(asyncio.run_coroutine_threadsafe(work(), loop).result(10))

    thread = threading.Thread(target=worker)
    thread.start()
    qtbot.waitUntil(lambda: bool(results))
    thread.join(10)
    assert results == [("worker", threading.get_ident())]


def test_call_soon_from_another_thread_is_refused_by_name(loop: GuestLoop) -> None:
    """Plain qasync loses the first callback and raises a bare AssertionError for the second."""
    errors = list[str]()

    def worker() -> None:
        try:
            loop.call_soon(print)
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=worker)
    thread.start()
    thread.join(10)
    assert len(errors) == 1
    assert "call_soon_threadsafe" in errors[0]


def test_a_closed_loop_refuses_every_callback(qapp: QApplication) -> None:
    """Plain qasync accepts and drops them, so whoever waits, waits for ever."""
    guest = GuestLoop(qapp, QObject())
    guest.close()
    guest.close()
    for call in (guest.call_soon, guest.call_soon_threadsafe):
        with pytest.raises(RuntimeError, match="closed"):
            call(print)
    with pytest.raises(RuntimeError, match="closed"):
        guest.call_later(0, print)


def test_the_loop_cannot_be_run_inside_a_qt_event_loop(loop: GuestLoop) -> None:
    """That would nest event loops; the Qt loop that runs serves this one already."""
    errors = list[str]()
    plain = QEventLoop()

    def try_to_run() -> None:
        try:
            loop.run_forever()
        except RuntimeError as error:
            errors.append(str(error))
        plain.quit()

    QTimer.singleShot(0, try_to_run)
    plain.exec()
    assert errors == ["the Qt event loop already runs and serves this loop; schedule the work instead"]


def test_an_exception_in_a_callback_goes_to_the_exception_handler(loop: GuestLoop, qtbot: QtBot) -> None:
    """The handler can also be read back, which qasync's cannot."""
    contexts = list[dict[str, object]]()

    def handler(_: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        contexts.append(context)

    loop.set_exception_handler(handler)
    loop.call_soon(lambda: 1 / 0)
    qtbot.waitUntil(lambda: bool(contexts))
    assert isinstance(contexts[0]["exception"], ZeroDivisionError)
    assert loop.get_exception_handler() is handler


def test_an_abandoned_async_generator_runs_its_finally(
    loop: GuestLoop, finish: Callable[[Coroutine[object, object, object]], object]
) -> None:
    """Plain asyncio's loops finalize generators that nobody exhausts; a guest must too."""
    ended = list[str]()

    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(0)
            ended.append("finally")

    async def takes_one() -> None:
        generator = numbers()
        await anext(generator)
        del generator
        gc.collect()
        for _ in range(20):
            await asyncio.sleep(0)

    finish(takes_one())
    assert ended == ["finally"]


@pytest.mark.requirement("QT-LOOP-001")
def test_the_runtime_is_one_per_application_and_found_through_it(qapp: QApplication) -> None:
    """No module keeps it; it dies with the application."""
    runtime = runtime_of_application("test")
    assert runtime is runtime_of_application("test")
    assert runtime.parent() is qapp
    assert QCoreApplication.instance() is qapp
