"""The components of the storm: every form a component can take, one contract."""

from __future__ import annotations

import asyncio
from typing import Protocol, cast

import shiboken6
from pydantic import BaseModel
from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QDialog, QGroupBox, QLabel, QPushButton, QWidget
from typing_extensions import override

from agent_surface import (
    AgentActionContext,
    AgentReadContext,
    Concurrency,
    action_contract,
    define_agent_component_contract,
    from_model,
    from_type,
    observation_contract,
)
from qt_binding import AgentComponentMixin, attach_agent_component, observes, performing, performs

NOT_READY = "It is not ready"
MANY = Concurrency(mode="parallel", max=8)


class Order(BaseModel):
    """What every action is told."""

    value: int


READ = observation_contract(description="The number", output=from_type(int))
SET = action_contract(description="Take a number", input=from_model(Order), effect="local-state")
LINGER = action_contract(description="Take a while", input=from_model(Order), effect="local-state", concurrency=MANY)
NEST = action_contract(description="Ask in a dialog", input=from_model(Order), effect="local-state", concurrency=MANY)
VANISH = action_contract(description="Be gone", input=from_model(Order), effect="local-state")
LEAVE = action_contract(description="Work elsewhere", input=from_model(Order), effect="local-state", concurrency=MANY)
AGENT = define_agent_component_contract(
    type="storm.agent",
    description="A component in the storm",
    observations={"read": READ},
    actions={"set": SET, "linger": LINGER, "nest": NEST, "vanish": VANISH, "leave": LEAVE},
)
CAPABILITIES = ("read", "set", "linger", "nest", "vanish", "leave")


def capability_id(name: str) -> str:
    """The wire id of a capability."""
    return f"view:{AGENT.type}.{name}"


class Weather(QObject):
    """Outlives every component; all of them follow its signal, so its receivers tell who is still connected.

    Signals:
        changed: Nothing in particular.
    """

    changed = Signal()


class Witness(Protocol):
    """Who has to hear of each handler that runs."""

    @property
    def weather(self) -> Weather:
        """What every component follows."""
        ...

    def handler_starts(self, agent: QObject, capability: str, invocation_id: str | None) -> None:
        """A handler of ``agent`` runs; of a reading the call is not known."""
        ...

    def may_nest(self) -> bool:
        """Whether one more event loop may be nested."""
        ...

    def dialog_opens(self, dialog: QDialog) -> None:
        """A modal dialog is about to be shown."""
        ...


class _Sends(Protocol):
    @property
    def changed(self) -> SignalInstance: ...


class Deeds:
    """What a component of the storm says and does, for whichever Qt class it is mixed into."""

    changed = Signal()
    witness: Witness
    identity: str
    switched_on = True
    ready = True
    value = 0

    @observes(READ)
    def read(self, context: AgentReadContext) -> int:
        """The number."""
        del context
        self._tell("read", None)
        return self.value

    @performs(
        SET,
        when=lambda self: self.is_ready(),
        reason=NOT_READY,
        follows=lambda self: self.signals(),
    )
    def set_value(self, order: Order, context: AgentActionContext) -> None:
        """Take a number, which may have made it unready."""
        self._tell("set", context.invocation_id)
        self.value = order.value
        self.set_ready(order.value % 5 != 0)

    @performs(LINGER)
    async def linger(self, order: Order, context: AgentActionContext) -> None:
        """Wait, and end early when asked to."""
        self._tell("linger", context.invocation_id)
        asked = asyncio.ensure_future(context.cancel.wait())
        try:
            await asyncio.wait({asked}, timeout=order.value % 4 / 1_000)
        finally:
            asked.cancel()

    @performs(NEST)
    def nest(self, order: Order, context: AgentActionContext) -> None:
        """Hold this turn of the event loop in a modal dialog that answers itself."""
        self._tell("nest", context.invocation_id)
        if not self.witness.may_nest():
            return
        dialog = QDialog()
        dialog.setWindowTitle(f"Nested {order.value}")
        QTimer.singleShot(order.value % 4, dialog, dialog.accept)
        self.witness.dialog_opens(dialog)
        dialog.exec()

    @performs(VANISH)
    def vanish(self, order: Order, context: AgentActionContext) -> None:
        """Die in the middle of a call."""
        self._tell("vanish", context.invocation_id)
        if order.value % 2:
            shiboken6.delete(cast("QObject", self))
        else:
            cast("QObject", self).deleteLater()

    @performs(LEAVE, thread=True)
    def leave(self, order: Order) -> None:
        """Work on another thread, where nothing of Qt is touched."""

    def be(self, witness: Witness, identity: str) -> None:
        """Be somebody."""
        self.witness = witness
        self.identity = identity

    def is_ready(self) -> bool:
        """Whether a number can be taken."""
        return self.ready

    def set_ready(self, ready: bool) -> None:
        """Become ready or not, and tell so."""
        self.ready = ready
        cast("_Sends", self).changed.emit()

    def signals(self) -> list[SignalInstance | str]:
        """What tells that it became ready or not, and what tells everybody everything."""
        return [cast("_Sends", self).changed, self.witness.weather.changed]

    def _tell(self, capability: str, invocation_id: str | None) -> None:
        self.witness.handler_starts(cast("QObject", self), capability, invocation_id)


class _Told(AgentComponentMixin, Deeds):
    agent_contract = AGENT

    def agent_instance_id(self) -> str:
        return self.identity

    def agent_enabled(self) -> bool:
        return self.switched_on


class PlainAgent(_Told, QWidget):
    """The trait before the Qt class."""

    def __init__(self, witness: Witness, identity: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.be(witness, identity)


class GroupAgent(_Told, QGroupBox):
    """A component that others sit in."""

    def __init__(self, witness: Witness, identity: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.be(witness, identity)


class ButtonAgent(QPushButton, _Told):
    """The trait behind the Qt class; a property of the button is what it follows."""

    def __init__(self, witness: Witness, identity: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.be(witness, identity)

    @override
    def is_ready(self) -> bool:
        return not self.isChecked()

    @override
    def set_ready(self, ready: bool) -> None:
        self.setCheckable(True)
        self.setChecked(not ready)

    @override
    def signals(self) -> list[SignalInstance | str]:
        return ["property:checked", self.witness.weather.changed]


class ObjectAgent(_Told, QObject):
    """No widget; the widget it belongs to is what a person has to reach."""

    def __init__(self, witness: Witness, identity: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.be(witness, identity)


class LabelAgent(Deeds, QLabel):
    """Not a component by its class; attached, all its handlers by name."""

    def __init__(self, witness: Witness, identity: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.be(witness, identity)
        attach_agent_component(
            self,
            AGENT,
            instance_id=lambda: self.identity,
            enabled=lambda: self.switched_on,
            observations={"read": "read"},
            actions={
                "set": performing("set_value", when="is_ready", reason=NOT_READY, follows=self.signals),
                "linger": "linger",
                "nest": "nest",
                "vanish": "vanish",
                "leave": performing("leave", thread=True),
            },
        )


FORMS = (PlainAgent, GroupAgent, ButtonAgent, ObjectAgent, LabelAgent)
