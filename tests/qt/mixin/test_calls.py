from __future__ import annotations

import ast
import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import QThread, QTimer, Signal
from PySide6.QtWidgets import QDialog, QWidget

import qt_binding
from agent_surface import AgentInvocation, AgentSurfaceEvent, InvocationSettled
from qt_binding import AgentComponentMixin, performs
from qt_binding._runtime import runtime_of_application
from tests.qt.mixin.parts import PING, PING_ID, PINGER, SET_ID, Counter, Surface, code_of, delete, shown


class Ticker:
    """A task that counts its wake-ups."""

    def __init__(self, surface: Surface) -> None:
        self.count = 0
        self._task = surface.loop.create_task(self._tick())

    async def _tick(self) -> None:
        while True:
            self.count += 1
            await asyncio.sleep(0)

    async def stop(self) -> bool:
        """End it; whether it still ticked."""
        before = self.count
        for _ in range(10):
            await asyncio.sleep(0)
        self._task.cancel()
        return self.count > before


def exec_until(ticker: Ticker) -> int:
    """An application's modal dialog, closed after some more ticks."""
    enough = ticker.count + 20
    dialog = QDialog()
    poll = QTimer(dialog)
    poll.timeout.connect(lambda: dialog.accept() if ticker.count > enough else None)
    poll.start(0)
    return dialog.exec()


@pytest.mark.requirement("QT-LOOP-003")
@pytest.mark.requirement("QT-LOOP-004")
@pytest.mark.parametrize("form", ["sync", "async", "slot"])
def test_a_dialog_with_exec_inside_a_call_wedges_nobody(surface: Surface, form: str) -> None:
    """In a plain handler, in an ``async`` one, and in a slot of a signal that an ``async`` handler emits."""
    ticker = Ticker(surface)

    class Plain(AgentComponentMixin, QWidget):
        agent_contract = PINGER
        agent_presented = True

        @performs(PING)
        def ping(self) -> None:
            exec_until(ticker)

    class Async(AgentComponentMixin, QWidget):
        agent_contract = PINGER
        agent_presented = True
        pinged = Signal()

        @performs(PING)
        async def ping(self) -> None:
            await asyncio.sleep(0)
            if form == "slot":
                self.pinged.emit()
            else:
                exec_until(ticker)
            await asyncio.sleep(0)

    widget = Plain() if form == "sync" else Async()
    if isinstance(widget, Async):
        widget.pinged.connect(lambda: exec_until(ticker))
    shown(widget)
    assert code_of(surface.invoke(PING_ID)) == "ok"
    assert ticker.count > 20
    assert surface.finish(ticker.stop())
    delete(widget)


@pytest.mark.requirement("QT-LOOP-003")
@pytest.mark.requirement("QT-LOOP-004")
def test_a_dialog_with_exec_in_a_listener_of_the_surface_wedges_nobody(surface: Surface) -> None:
    """Events reach application code too."""
    ticker, counter = Ticker(surface), Counter()
    opened = list[int]()

    def listener(event: AgentSurfaceEvent) -> None:
        if isinstance(event, InvocationSettled) and not opened:
            opened.append(exec_until(ticker))

    shown(counter)
    dispose = surface.registry.subscribe(listener)
    assert code_of(surface.invoke(SET_ID, {"value": 1})) == "ok"
    assert opened == [QDialog.DialogCode.Accepted]
    assert surface.finish(ticker.stop())
    dispose()
    delete(counter)


@pytest.mark.requirement("QT-LOOP-003")
def test_calls_are_served_while_an_application_dialog_runs(surface: Surface) -> None:
    """A model goes on working while the person reads a message box of another window."""
    counter, dialog = Counter(), QDialog()
    counter.agent_presented = True  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    shown(counter)
    codes = list[str]()

    async def call() -> None:
        codes.append(code_of(await surface.registry.invoke(AgentInvocation(capability_id=SET_ID, input={"value": 2}))))
        dialog.accept()

    QTimer.singleShot(0, lambda: surface.loop.create_task(call()))
    assert dialog.exec() == QDialog.DialogCode.Accepted
    assert (codes, counter.value) == (["ok"], 2)
    delete(counter)


@pytest.mark.requirement("QT-LOOP-004")
def test_a_handler_runs_one_event_loop_deep_and_with_no_current_task(surface: Surface) -> None:
    """Whatever called it."""
    seen = list[tuple[object, int]]()

    class Looking(AgentComponentMixin, QWidget):
        agent_contract = PINGER

        @performs(PING)
        def ping(self) -> None:
            seen.append((asyncio.current_task(), QThread.currentThread().loopLevel()))

    looking = Looking()
    shown(looking)
    assert code_of(surface.invoke(PING_ID)) == "ok"
    assert seen == [(None, 1)]
    delete(looking)


@pytest.mark.requirement("QT-LOOP-005")
def test_many_calls_with_an_hours_time_out_leave_no_timers(surface: Surface) -> None:
    """Each takes a deadline and gives it back; the deadline timer itself is tried with ten thousand."""
    counter = Counter()
    shown(counter)
    deadlines = runtime_of_application("test").loop.deadlines
    before = len(deadlines)

    async def many() -> None:
        for number in range(300):
            result = await surface.registry.invoke(
                AgentInvocation(capability_id=SET_ID, input={"value": number}), timeout_ms=3_600_000
            )
            assert code_of(result) == "ok"

    surface.finish(many())
    assert len(deadlines) == before
    assert deadlines.entries < before * 2 + 50
    delete(counter)


@pytest.mark.requirement("QT-LOOP-001")
def test_the_binding_starts_no_nested_event_loop() -> None:
    """Only ``run`` starts one, and ends with another after the first has returned. Tests may drive them."""
    found = list[str]()
    root = Path(qt_binding.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] in {"testing", "pytest_plugin"}:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name = node.func.attr
                if name in {"exec", "exec_", "processEvents", "run_until_complete", "run_forever"}:
                    found.append(f"{path.relative_to(root).as_posix()}:{ast.unparse(node.func)}")
    assert sorted(found) == [
        "_runtime/_loop.py:super().run_forever",
        "_runtime/_run.py:last.exec",
        "_runtime/_run.py:running.exec",
    ]
