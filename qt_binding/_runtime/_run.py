"""Starting an application and ending it cleanly."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEventLoop, QThread
from PySide6.QtWidgets import QApplication, QWidget

from agent_surface import AgentSurfaceRegistry
from qt_binding._runtime._loop import GuestLoop
from qt_binding._runtime._provider import provide_surface
from qt_binding._runtime._registry import runtimes_of
from qt_binding._runtime._runtime import find_application

GRACE_MS = 2_000
"""How long tasks may take to end after they were cancelled."""

_LAST_TURNS = 50
"""Turns of the event loop between the settlement of calls and the cancellation of tasks."""

_log = logging.getLogger(__name__)


def run(
    window_factory: Callable[[], QWidget],
    *,
    registry: AgentSurfaceRegistry,
    application: QApplication | None = None,
    argv: Sequence[str] | None = None,
    grace_ms: int = GRACE_MS,
) -> int:
    """Show a window, run the application, and end everything that runs when it quits.

    On the way out the registry takes no more calls and settles those in flight as ``CANCELLED``; tasks are cancelled
    and get a bounded time to end; the event loop is closed.

    Args:
        window_factory: Makes the first window; called once the application provides ``registry``.
        registry: Made by ``create_qt_registry``. Closed when this returns.
        application: The application; the existing one, or a new one, when absent.
        argv: Arguments of a new application; ``sys.argv`` when absent.
        grace_ms: Milliseconds that cancelled tasks may take to end.

    Returns:
        The exit code of the application.

    Raises:
        NotAQtRegistryError: ``registry`` lacks the Qt ports.
        RuntimeError: An event loop runs already, or the registry uses a loop of the application's own.
        SystemExit: A handler or task asked for it; everything has ended as above.
        KeyboardInterrupt: Likewise.
    """
    runtimes = runtimes_of(registry, "run")
    running = application or find_application() or QApplication(list(sys.argv if argv is None else argv))
    loop = runtimes.loop("run")
    if not isinstance(loop, GuestLoop):
        raise RuntimeError("run() brings its own event loop; a registry made with loop=… is run by its application")  # noqa: TRY004 - the wrong way to start it, not a wrong type
    if QThread.currentThread().loopLevel() > 0:
        raise RuntimeError("run() starts the application and cannot be called while it runs")
    requests: list[BaseException] = []

    def leave(request: BaseException) -> None:
        requests.append(request)
        running.exit(1)

    loop.on_exit_request = leave
    asyncio.set_event_loop(loop)  # for slots that say asyncio.ensure_future
    withdraw = provide_surface(running, registry)
    try:
        window = window_factory()
        window.show()
        code = running.exec()
    finally:
        _end(registry, loop, grace_ms)
        withdraw()
        asyncio.set_event_loop(None)
    if requests:
        raise requests[0]
    return code


def _end(registry: AgentSurfaceRegistry, loop: GuestLoop, grace_ms: int) -> None:
    loop.on_exit_request = lambda _: None  # it is ending already; leaving the last event loop would cut it short
    registry.close()
    _hide_windows()
    # The application's event loop has returned, so this one is not inside another.
    last = QEventLoop()
    draining = loop.create_task(_drain(loop, grace_ms))
    draining.add_done_callback(lambda _: last.quit())
    last.exec()
    loop.on_exit_request = None
    loop.close()


def _hide_windows() -> None:
    """Nobody shall click on what no longer works while the last tasks end."""
    for window in QApplication.topLevelWidgets():
        try:
            window.hide()
        except Exception as error:  # noqa: BLE001 - an override of the application failed; quitting goes on
            sys.excepthook(type(error), error, error.__traceback__)


async def _drain(loop: GuestLoop, grace_ms: int) -> None:
    """Let who waits for a call hear its result, then cancel every task and wait until it ends or the time is up."""
    ends_at = loop.time() + grace_ms / 1_000
    for _ in range(_LAST_TURNS):
        if loop.idle:
            break
        await asyncio.sleep(0)
    while tasks := asyncio.all_tasks(loop) - {asyncio.current_task(loop)}:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=max(0.0, ends_at - loop.time()))
        if loop.time() >= ends_at:
            break
    for task in asyncio.all_tasks(loop) - {asyncio.current_task(loop)}:
        _log.warning("task %s did not end within %d ms after it was cancelled", task.get_name(), grace_ms)
        # It was named above; asyncio would complain a second time, when nobody can do anything about it any more.
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # noqa: SLF001 - asyncio's own switch
    await loop.shutdown_asyncgens()
