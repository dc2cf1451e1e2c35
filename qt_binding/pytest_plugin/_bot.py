"""The fixture ``agent_qtbot``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Protocol, TypeVar, cast

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from agent_surface import AgentConsumer, AgentInvocationResult, JsonValue, PendingConfirmation
from agent_surface.pytest_plugin import leaks_to_fail_on
from agent_surface.testing import CapabilityRef, SurfaceHarness
from qt_binding.confirmation import ConfirmationHost
from qt_binding.testing import Answer, answer_confirmation, click, mount, start, turn, type_text, wait_for

T = TypeVar("T")
Widget = TypeVar("Widget", bound=QWidget)

PATIENCE_MS = 5_000

_COMPLAINTS = frozenset({"WARNING", "CRITICAL", "FATAL"})


class _QtRecord(Protocol):
    """The part of a message captured by pytest-qt that is used here."""

    message: str
    ignored: bool
    log_type_name: str


class _QtLog(Protocol):
    """What pytest-qt captured; it has no types of its own."""

    records: Sequence[_QtRecord]


class AgentQtBot(QtBot):
    """pytest-qt's ``qtbot`` that also knows the surface.

    Attributes:
        surface: The harness of the test; the fixture ``surface``.
    """

    def __init__(self, request: pytest.FixtureRequest, surface: SurfaceHarness, *, asks_itself: bool) -> None:
        super().__init__(request)
        self.surface = surface
        self._asks_itself = asks_itself
        self._host: ConfirmationHost | None = None
        self._undo: list[Callable[[], None]] = []
        # qtbot itself remembers widgets weakly; one that nobody else keeps would be gone at once.
        self._mounted: list[QWidget] = []

    def mount(self, widget: Widget, *, timeout_ms: int = PATIENCE_MS) -> Widget:
        """Show a component, or a window with components in it, and wait until they are registered.

        It is kept, and closed and deleted at the end of the test.

        Returns:
            ``widget``.

        Raises:
            AssertionError: There is no component in it, one was refused, or none is registered in time.
        """
        self._mounted.append(widget)
        self.addWidget(widget.window())
        self._undo.append(mount(widget, self.surface.registry, timeout_ms=timeout_ms))
        return widget

    def run(self, coroutine: Coroutine[object, object, T], *, timeout_ms: int = PATIENCE_MS) -> T:
        """Run a coroutine on the application's loop to its end.

        Raises:
            AssertionError: It did not end in time.
        """
        return wait_for(self.start(coroutine), timeout_ms=timeout_ms)

    def start(self, coroutine: Coroutine[object, object, T]) -> asyncio.Task[T]:
        """Begin a coroutine on the application's loop, for what goes on while the test does something else."""
        return start(self.surface.registry, coroutine)

    def wait_for(self, task: asyncio.Future[T], *, timeout_ms: int = PATIENCE_MS) -> T:
        """Run the application until a task has ended, and return its result.

        Raises:
            AssertionError: It did not end in time.
        """
        return wait_for(task, timeout_ms=timeout_ms)

    def invoke(
        self,
        capability: str | CapabilityRef,
        input: JsonValue = None,
        *,
        instance_id: str | None = None,
        confirmation_id: str | None = None,
        invocation_id: str | None = None,
        consumer: AgentConsumer | None = None,
        timeout_ms: int = PATIENCE_MS,
    ) -> AgentInvocationResult:
        """Call a capability and run the application until the call has settled; see ``SurfaceHarness.invoke``.

        Raises:
            AssertionError: It did not settle within ``timeout_ms`` milliseconds.
        """
        return self.run(
            self.surface.invoke(
                capability,
                input,
                instance_id=instance_id,
                confirmation_id=confirmation_id,
                invocation_id=invocation_id,
                consumer=consumer,
            ),
            timeout_ms=timeout_ms,
        )

    def observe(self, capability: str | CapabilityRef, *, instance_id: str | None = None) -> JsonValue:
        """Read an observation; see ``SurfaceHarness.observe``."""
        return self.run(self.surface.observe(capability, instance_id=instance_id))

    def answer_confirmation(
        self, answer: Answer = "approve", *, note: str = "", timeout_ms: int = PATIENCE_MS
    ) -> PendingConfirmation:
        """Answer the confirmation dialog through its window, with the mouse: read to the end, write, press.

        Where the registry is a fresh one the dialog comes from a host of this fixture, without an arming time. An
        application has a host of its own, and the test waits until its buttons can be pressed.

        Args:
            answer: Which button.
            note: What the person writes first.
            timeout_ms: Milliseconds to wait at most.

        Returns:
            What was asked. Its ``confirmation_id`` is the evidence.

        Raises:
            AssertionError: No dialog came up, it offers no such button, or the button cannot be pressed.
        """
        if self._asks_itself and self._host is None:
            self._host = ConfirmationHost(self.surface.registry.confirmations, arming_ms=0)
        return answer_confirmation(self.surface.registry, answer, note=note, timeout_ms=timeout_ms)

    def click(self, widget: QWidget) -> None:
        """Click into the middle of a widget, through its window, so that a modal dialog is in the way of it.

        Raises:
            AssertionError: It is not visible or not enabled, or something covers it.
        """
        click(widget)

    def type_text(self, widget: QWidget, text: str) -> None:
        """Click into a field and type.

        Raises:
            AssertionError: It is not visible or not enabled, or something covers it.
        """
        type_text(widget, text)

    def close(self) -> None:
        """Take away what the fixture brought."""
        if self._host is not None:
            self._host.close()
            self._host.deleteLater()
            self._host = None
        for undo in self._undo:
            undo()
        self._undo.clear()
        self._mounted.clear()
        turn()


def open_bot(request: pytest.FixtureRequest, surface: SurfaceHarness) -> Iterator[AgentQtBot]:
    """The bot of one test, and at its end the verdict on what Qt complained about."""
    given: object = request.getfixturevalue("surface_registry")
    log: _QtLog | None = None
    if "qt-warnings" in leaks_to_fail_on(request):
        log = cast("_QtLog", request.getfixturevalue("qtlog"))
    bot = AgentQtBot(request, surface, asks_itself=given is None)
    yield bot
    bot.close()
    complaints = (
        []
        if log is None
        else [record.message for record in log.records if record.log_type_name in _COMPLAINTS and not record.ignored]
    )
    if complaints:
        pytest.fail("Qt warned\n" + "\n".join(f"  {message}" for message in complaints), pytrace=False)
