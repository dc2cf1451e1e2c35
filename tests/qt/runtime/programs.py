"""Small applications that quit at an awkward moment. Run in a process of their own: ``main(scenario)``."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox, QVBoxLayout, QWidget

from agent_surface import (
    AgentInvocation,
    AgentSurfaceRegistry,
    InvocationError,
    action_contract,
    define_agent_component_contract,
    from_type,
    observation_contract,
)
from agent_surface.testing import contract_authority
from qt_binding import AgentComponentMixin, create_qt_registry, observes, performs, run

READ = observation_contract(description="Reads", output=from_type(int))
PLAIN = action_contract(description="Plain", effect="local-state")
LATER = action_contract(description="Later", effect="local-state")
HEAVY = action_contract(description="Heavy", effect="local-state")
STUCK = action_contract(description="Stuck", effect="local-state")
ASKED = action_contract(description="Asked", effect="local-state", confirmation="required")
PANEL = define_agent_component_contract(
    type="test.panel",
    description="A panel",
    observations={"read": READ},
    actions={"plain": PLAIN, "later": LATER, "heavy": HEAVY, "stuck": STUCK, "asked": ASKED},
)


def quit_now() -> None:
    """What a menu entry does."""
    QCoreApplication.quit()


class Panel(AgentComponentMixin, QWidget):
    """What ``plain`` does is up to the scenario."""

    agent_contract = PANEL
    agent_presented = True

    def __init__(self) -> None:
        super().__init__()
        self.does: Callable[[], None] = quit_now

    @observes(READ)
    def read(self) -> int:
        """A number."""
        return 1

    @performs(PLAIN)
    def plain(self) -> None:
        """What the scenario says."""
        self.does()

    @performs(LATER)
    async def later(self) -> None:
        """Never ends by itself."""
        QTimer.singleShot(0, quit_now)
        await asyncio.Event().wait()

    @performs(HEAVY, thread=True)
    def heavy(self) -> None:
        """On a worker thread, for longer than the application lives."""
        asked_to_quit.set()
        never.wait(0.3)

    @performs(STUCK, thread=True)
    def stuck(self) -> None:
        """On a worker thread, for ever."""
        asked_to_quit.set()
        never.wait()

    @performs(ASKED)
    def asked(self) -> None:
        """Never approved."""


asked_to_quit, never = threading.Event(), threading.Event()


class Window(QWidget):
    """A window with the panel, which starts its scenario once it is shown."""

    def __init__(self, registry: AgentSurfaceRegistry, scenario: str) -> None:
        super().__init__()
        self.registry = registry
        self.panel = Panel()
        QVBoxLayout(self).addWidget(self.panel)
        QTimer.singleShot(0, lambda: QTimer.singleShot(0, getattr(self, scenario)))

    def call(self, name: str) -> asyncio.Task[str]:
        """Begin a call in a task that reports how it ended."""

        async def report() -> str:
            result = await self.registry.invoke(AgentInvocation(capability_id=f"view:test.panel.{name}"))
            code = result.error.code.value if isinstance(result, InvocationError) else "ok"
            sys.stdout.write(f"{name}: {code}\n")
            return code

        return asyncio.ensure_future(report())

    def idle(self) -> None:
        """Nothing is going on."""
        quit_now()

    def window_closed(self) -> None:
        """The person closes the last window."""
        self.close()

    def in_plain_handler(self) -> None:
        """A handler quits."""
        self.call("plain")

    def while_async_handler_runs(self) -> None:
        """A handler waits."""
        self.call("later")

    def while_calls_are_queued(self) -> None:
        """One runs, two wait behind it."""
        for name in ("later", "plain", "plain"):
            self.call(name)

    def while_thread_handler_runs(self) -> None:
        """A worker thread is busy."""
        self.call("heavy")
        poll = QTimer(self)
        poll.timeout.connect(lambda: quit_now() if asked_to_quit.is_set() else None)
        poll.start(0)

    def while_a_confirmation_is_pending(self) -> None:
        """A person was asked and has not answered."""
        self.call("asked").add_done_callback(lambda _: quit_now())

    def while_a_dialog_is_open(self) -> None:
        """Window-modal, without a loop of its own."""
        dialog = QDialog(self)
        dialog.open()
        QTimer.singleShot(0, quit_now)

    def inside_a_nested_exec(self) -> None:
        """A message box in a handler."""

        def ask() -> None:
            QTimer.singleShot(0, quit_now)
            QMessageBox.question(self, "Quit?", "Now?")

        self.panel.does = ask
        self.call("plain")

    def inside_a_nested_exec_in_a_task(self) -> None:
        """A message box in the application's own coroutine."""

        async def ask() -> None:
            QTimer.singleShot(0, quit_now)
            QDialog(self).exec()
            await asyncio.Event().wait()

        asyncio.ensure_future(ask())  # noqa: RUF006 - what applications do

    def with_background_tasks(self) -> None:
        """Ten tasks that would run for ever, one of which takes its time to clean up."""

        async def forever(number: int) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                if number == 0:
                    for _ in range(5):
                        await asyncio.sleep(0)
                    sys.stdout.write("cleaned up\n")

        self.tasks = [asyncio.ensure_future(forever(number)) for number in range(10)]
        QTimer.singleShot(5, quit_now)

    def with_a_task_that_will_not_end(self) -> None:
        """It swallows its cancellation."""

        async def stubborn() -> None:
            while True:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    continue

        self.tasks = [asyncio.ensure_future(stubborn())]
        QTimer.singleShot(5, quit_now)

    def with_timers_pending(self) -> None:
        """Deadlines far in the future."""
        loop = asyncio.get_event_loop()
        for _ in range(100):
            loop.call_later(3600, print)
        QTimer.singleShot(3_600_000, self, quit_now)
        quit_now()

    def after_a_slot_raised(self) -> None:
        """The application's own mistake is printed, and nothing else is."""
        QTimer.singleShot(0, quit_now)
        raise ZeroDivisionError("a slot's mistake")

    def after_a_handler_raised(self) -> None:
        """The call fails and the application lives."""

        def fail() -> None:
            raise ZeroDivisionError("a handler's mistake")

        self.panel.does = fail
        self.call("plain").add_done_callback(lambda _: quit_now())

    def while_a_thread_calls(self) -> None:
        """Another thread waits for a result."""

        def worker() -> None:
            future = self.registry.invoke_threadsafe(AgentInvocation(capability_id="view:test.panel.later"))
            result = future.result(10)
            code = result.error.code.value if isinstance(result, InvocationError) else "ok"
            sys.stdout.write(f"thread: {code}\n")

        self.worker = threading.Thread(target=worker)
        self.worker.start()

    def with_an_exit_code(self) -> None:
        """``QApplication.exit(7)``."""
        QApplication.exit(7)

    def with_a_thread_handler_that_never_returns(self) -> None:
        """A worker thread is lost, and the application quits with a code of its own."""
        self.call("stuck")
        poll = QTimer(self)

        def look() -> None:
            if asked_to_quit.is_set():
                poll.stop()
                QApplication.exit(7)

        poll.timeout.connect(look)
        poll.start(0)

    def by_system_exit_in_a_handler(self) -> None:
        """``sys.exit`` where nobody should say it."""
        self.panel.does = lambda: sys.exit(3)
        self.call("plain")


def main(scenario: str) -> None:
    """Run the application and exit with its code."""
    registry = create_qt_registry(authority=contract_authority(PANEL), environment="test")
    code = run(lambda: Window(registry, scenario), registry=registry, argv=["program"], grace_ms=500)
    sys.stdout.write("ended\n")
    sys.exit(code)


def plain_exec() -> None:
    """An application that uses its own ``app.exec()`` and never closes anything."""
    from qt_binding import provide_surface

    application = QApplication([])
    registry = create_qt_registry(authority=contract_authority(PANEL), environment="test")
    provide_surface(application, registry)
    panels = [Panel() for _ in range(3)]
    for number, panel in enumerate(panels):
        panel.agent_instance_id = f"p{number}"  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
        panel.show()

    def worker() -> None:
        future = registry.invoke_threadsafe(AgentInvocation(capability_id="view:test.panel.read", instance_id="p1"))
        sys.stdout.write(f"read: {future.result(10).status}\n")
        QTimer.singleShot(0, application, quit_now)

    QTimer.singleShot(0, lambda: threading.Thread(target=worker).start())
    sys.exit(application.exec())
