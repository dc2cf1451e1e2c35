"""Running the event loop from a test, for as long as something takes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QTimer

from agent_surface import AgentSurfaceRegistry
from qt_binding._runtime import runtimes_of

T = TypeVar("T")

PATIENCE_MS = 5_000
"""How long a test waits for anything unless it says otherwise."""

_LOOK_MS = 5


def start(registry: AgentSurfaceRegistry, coroutine: Coroutine[object, object, T]) -> asyncio.Task[T]:
    """Begin a coroutine on the loop of a registry.

    Raises:
        NotAQtRegistryError: ``registry`` was not made by ``create_qt_registry``.
    """
    return runtimes_of(registry, "testing").loop("testing").create_task(coroutine)


def wait_for(task: asyncio.Future[T], *, timeout_ms: int = PATIENCE_MS) -> T:
    """Run the application until a task has ended; its result.

    Args:
        task: Of the registry's loop.
        timeout_ms: Milliseconds at most; the task is cancelled then.

    Raises:
        AssertionError: It did not end in time.
    """
    loop = QEventLoop()
    task.add_done_callback(lambda _: loop.quit())
    QTimer.singleShot(timeout_ms, loop, loop.quit)
    if not task.done():
        loop.exec()
    if not task.done():
        task.cancel()
        turn()
        raise AssertionError(f"{task!r} did not end within {timeout_ms} ms")
    return task.result()


def wait_until(condition: Callable[[], bool], what: Callable[[], str], *, timeout_ms: int = PATIENCE_MS) -> None:
    """Run the application until something is so.

    Args:
        condition: Whether it is.
        what: What it is, asked when it did not come about.
        timeout_ms: Milliseconds at most.

    Raises:
        AssertionError: It did not come about in time.
    """
    turn()
    if condition():
        return
    loop, patience, look = QEventLoop(), QTimer(), QTimer()
    patience.setSingleShot(True)
    patience.timeout.connect(loop.quit)
    patience.start(timeout_ms)

    def see() -> None:
        if condition():
            loop.quit()

    look.timeout.connect(see)
    look.start(_LOOK_MS)
    loop.exec()
    look.stop()
    if not condition():
        raise AssertionError(f"Waited {timeout_ms} ms in vain until {what()}.")


def turn(times: int = 2) -> None:
    """Let Qt deliver what is posted, deletions included, and run what is due."""
    for _ in range(times):
        loop = QEventLoop()
        QTimer.singleShot(0, loop, loop.quit)
        loop.exec()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
