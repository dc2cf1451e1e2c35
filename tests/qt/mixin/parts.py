"""A surface in the hands of a test, and the contracts and components the tests of the binding share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

import shiboken6
from pydantic import BaseModel
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from agent_surface import (
    AgentConsumer,
    AgentInvocation,
    AgentInvocationResult,
    AgentSurfaceEvent,
    AgentSurfaceRegistry,
    ComponentDescriptor,
    InvocationError,
    JsonValue,
    SurfaceChanged,
    action_contract,
    define_agent_component_contract,
    from_model,
    from_type,
    observation_contract,
)
from qt_binding import AgentComponentMixin, observes, performs
from qt_binding._runtime import GuestLoop, runtime_of_application
from qt_binding.mixin._watch import ComponentWatch

T = TypeVar("T")


class SetValue(BaseModel):
    """Input of the counter's action."""

    value: int


READ = observation_contract(description="The value", output=from_type(int))
SET = action_contract(description="Set the value", input=from_model(SetValue), effect="local-state")
RESET = action_contract(description="Back to zero", effect="local-state")
COUNTER = define_agent_component_contract(
    type="test.counter", description="A counter", observations={"read": READ}, actions={"set": SET, "reset": RESET}
)

PING = action_contract(description="Do it", effect="local-state")
PINGER = define_agent_component_contract(type="test.pinger", description="Does one thing", actions={"ping": PING})

READ_ID, SET_ID, RESET_ID = (f"view:test.counter.{name}" for name in ("read", "set", "reset"))
PING_ID = "view:test.pinger.ping"


class CounterHandlers(AgentComponentMixin):
    """The counter for whichever Qt class it is mixed into."""

    agent_contract = COUNTER
    value = 0

    @observes(READ)
    def read_value(self) -> int:
        """The value."""
        return self.value

    @performs(SET)
    def set_value(self, request: SetValue) -> None:
        """Another value."""
        self.value = request.value

    @performs(RESET, when=lambda self: self.value != 0, reason="It is zero already")
    def reset(self) -> None:
        """Back to zero."""
        self.value = 0


class Counter(CounterHandlers, QWidget):
    """A counter with a signal that tells when its value changed."""

    changed = Signal()


class Surface:
    """A registry with what a test wants to know of it."""

    def __init__(self, registry: AgentSurfaceRegistry, qtbot: QtBot) -> None:
        self.registry = registry
        self.events = list[AgentSurfaceEvent]()
        self._qtbot = qtbot
        registry.subscribe(self.events.append)
        self._others = len(self.watch)

    @property
    def loop(self) -> GuestLoop:
        """The application's loop."""
        return runtime_of_application("test").loop

    @property
    def watch(self) -> ComponentWatch:
        """What the binding keeps of the application's components."""
        return runtime_of_application("test").part(ComponentWatch)

    @property
    def watched(self) -> int:
        """How many components there are beside those that other tests left."""
        return len(self.watch) - self._others

    @property
    def announcements(self) -> int:
        """How often the surface said that it changed."""
        return sum(isinstance(event, SurfaceChanged) for event in self.events)

    def components(self) -> tuple[ComponentDescriptor, ...]:
        """What an agent is shown."""
        return self.registry.snapshot().components

    def instances(self) -> list[str]:
        """The instance ids an agent is shown."""
        return [component.instance_id for component in self.components()]

    def reason(self, name: str, instance_id: str = "default") -> str | None:
        """Why a capability is unavailable; ``None`` when it is available."""
        for component in self.components():
            if component.instance_id == instance_id:
                told = {item.name: (item.available, item.unavailable_reason) for item in component.observations}
                told |= {item.name: (item.available, item.unavailable_reason) for item in component.actions}
                available, reason = told[name]
                assert available == (reason is None)
                return reason
        raise AssertionError(f"{name} of {instance_id} is not on the surface")

    def finish(self, coroutine: Coroutine[object, object, T]) -> T:
        """Run a coroutine on the guest loop to its end."""
        return self.wait(self.loop.create_task(coroutine))

    def wait(self, future: asyncio.Future[T]) -> T:
        """Wait for a task or future of the guest loop."""
        self._qtbot.waitUntil(future.done)
        return future.result()

    def start(
        self, capability_id: str, value: JsonValue = None, *, instance_id: str | None = None
    ) -> asyncio.Task[AgentInvocationResult]:
        """Begin a call."""
        return self.loop.create_task(
            self.registry.invoke(
                AgentInvocation(capability_id=capability_id, input=value, instance_id=instance_id),
                consumer=AgentConsumer(id="test"),
            )
        )

    def invoke(
        self,
        capability_id: str,
        value: JsonValue = None,
        *,
        registration_id: str | None = None,
        instance_id: str | None = None,
    ) -> AgentInvocationResult:
        """Make a call and wait for its result."""
        return self.finish(
            self.registry.invoke(
                AgentInvocation(
                    capability_id=capability_id,
                    input=value,
                    registration_id=registration_id,
                    instance_id=instance_id,
                )
            )
        )


def code_of(result: AgentInvocationResult) -> str:
    """``ok``, or the error's code."""
    return result.error.code.value if isinstance(result, InvocationError) else "ok"


def reason_of(result: AgentInvocationResult) -> object:
    """The reason an error gives."""
    assert isinstance(result, InvocationError)
    return result.error.details.get("reason")


def turn(times: int = 2) -> None:
    """Let Qt deliver what is posted, deletions included, and run what is due."""
    for _ in range(times):
        loop = QEventLoop()
        QTimer.singleShot(0, loop.quit)
        loop.exec()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def delete(*objects: QObject | None) -> None:
    """Delete what still lives."""
    for target in objects:
        if target is not None and shiboken6.isValid(target):
            shiboken6.delete(target)


def shown(widget: QWidget) -> QWidget:
    """Show ``widget`` and let it register."""
    widget.show()
    turn()
    return widget


MakeSurface = Callable[[], Surface]
