from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from agent_surface import AgentInvocation, AgentSurfaceRegistry
from agent_surface.testing import contract_authority
from qt_binding import AgentComponentMixin, create_qt_registry, performs, provide_surface, run
from qt_binding._runtime import runtime_of_application
from qt_binding._runtime._qasync import QasyncEventLoop
from tests.qt.mixin.parts import PING, PING_ID, PINGER, code_of, delete, shown


@pytest.fixture
def own_loop(qapp: QApplication) -> Iterator[asyncio.AbstractEventLoop]:
    """The qasync loop of an application that was there before us."""
    loop = QasyncEventLoop(qapp)
    yield loop
    loop.close()


@pytest.fixture
def registry(qapp: QApplication, own_loop: asyncio.AbstractEventLoop) -> Iterator[AgentSurfaceRegistry]:
    """A registry on the application's own loop."""
    made = create_qt_registry(authority=contract_authority(PINGER), environment="test", loop=own_loop)
    withdraw = provide_surface(qapp, made)
    yield made
    withdraw()
    made.close()


@pytest.mark.requirement("QT-LOOP-004")
@pytest.mark.requirement("QT-LOOP-005")
def test_a_plain_handler_may_exec_a_dialog_also_on_the_applications_own_qasync_loop(
    own_loop: asyncio.AbstractEventLoop, registry: AgentSurfaceRegistry
) -> None:
    """It runs from a timer of Qt, outside of every task; its deadline takes no timer of the loop."""
    ticks = list[int]()

    class Asking(AgentComponentMixin, QWidget):
        agent_contract = PINGER
        agent_presented = True

        @performs(PING)
        def ping(self) -> None:
            enough = len(ticks) + 10
            dialog = QDialog()
            poll = QTimer(dialog)
            poll.timeout.connect(lambda: dialog.accept() if len(ticks) > enough else None)
            poll.start(0)
            dialog.exec()

    async def tick() -> None:
        while True:
            ticks.append(1)
            await asyncio.sleep(0)

    async def use() -> str:
        ticker = asyncio.ensure_future(tick())
        result = await registry.invoke(AgentInvocation(capability_id=PING_ID), timeout_ms=3_600_000)
        before = len(ticks)
        for _ in range(10):
            await asyncio.sleep(0)
        assert len(ticks) > before
        ticker.cancel()
        return code_of(result)

    asking = Asking()
    shown(asking)
    assert own_loop.run_until_complete(use()) == "ok"
    assert len(runtime_of_application("test").deadlines) == 0
    delete(asking)


def test_run_refuses_a_registry_on_the_applications_own_loop(registry: AgentSurfaceRegistry) -> None:
    """Who runs a loop ends it."""
    with pytest.raises(RuntimeError, match="run\\(\\) brings its own event loop"):
        run(QWidget, registry=registry)
