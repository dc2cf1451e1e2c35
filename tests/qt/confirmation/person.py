"""A person at the screen: everything goes through the window system, so modality counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QPushButton, QWidget

from agent_surface._base._json import FrozenJson
from agent_surface.confirmations import PendingConfirmation
from agent_surface.invocation import AgentConsumer, Effect
from qt_binding.confirmation import ConfirmationHost
from qt_binding.confirmation._dialog import ConfirmationDialog
from qt_binding.confirmation._form import InputView
from qt_binding.confirmation._host import ARMING_MS
from tests.core.confirmations.store_under_test import StoreUnderTest, binding_of

ASSISTANT = AgentConsumer(id="assistant")


def turn() -> None:
    """Let the event loop turn until nothing more follows from what was done; nothing here waits for real time."""
    for _ in range(10):
        QApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@dataclass
class Announced:
    """What assistive technology was told."""

    alerts: list[QWidget] = field(default_factory=list[QWidget])
    said: list[str] = field(default_factory=list[str])

    def alert(self, dialog: QWidget) -> None:
        """Remember it."""
        self.alerts.append(dialog)

    def say(self, widget: QWidget, text: str) -> None:
        """Remember it."""
        self.said.append(text)


@dataclass
class Asking:
    """A store, a host on it, and a person in front of it."""

    under_test: StoreUnderTest
    host: ConfirmationHost
    announced: Announced

    def ask(
        self,
        value: FrozenJson = None,
        *,
        summary: str = "Disable d-42",
        description: str = "Disable a device",
        registration_id: str = "reg_1",
        effect: Effect = Effect.DESTRUCTIVE,
        bound_fields: tuple[str, ...] = (),
        origin: str = "client",
        consumer: AgentConsumer = ASSISTANT,
    ) -> str:
        """The assistant asks; returns the confirmation id."""
        pending = self.under_test.store.request(
            binding_of(value, consumer=consumer, registration_id=registration_id, effect=effect),
            description=description,
            component_type="devices.table",
            instance_id="main",
            consumer=consumer,
            summary=summary,
            bound_fields=bound_fields,
            origin=origin,
        )
        turn()
        return pending.confirmation_id

    def asked(self, value: FrozenJson = None) -> str:
        """The assistant asks and the arming time passes."""
        confirmation_id = self.ask(value)
        self.wait(ARMING_MS)
        return confirmation_id

    def wait(self, delay_ms: int) -> None:
        """Time passes."""
        self.under_test.clock.advance(delay_ms)
        turn()

    @property
    def dialog(self) -> ConfirmationDialog:
        """The dialog on the screen; there must be one."""
        dialog = self.host.dialog
        assert dialog is not None
        return dialog

    def outcome(self, confirmation_id: str) -> str:
        """How a request ended, or that it is pending."""
        resolution = self.under_test.store.resolution(confirmation_id)
        return "pending" if resolution is None else f"{resolution.outcome.value} by {resolution.actor}"

    def note(self, confirmation_id: str) -> str | None:
        """The person's words."""
        resolution = self.under_test.store.resolution(confirmation_id)
        return None if resolution is None else resolution.note

    def click(self, text: str) -> None:
        """Press a button of the dialog with the mouse, through its window."""
        click(button(self.dialog, text))

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key, through the dialog's window."""
        QTest.keyClick(self.dialog.windowHandle(), key, modifier)
        turn()

    def type_note(self, text: str) -> None:
        """Click into the field for the note and type."""
        field_ = self.note_field()
        click(field_)
        QTest.keyClicks(field_, text)
        turn()

    def note_field(self) -> QPlainTextEdit:
        """The field for the note."""
        field_ = self.dialog.findChild(QPlainTextEdit)
        assert isinstance(field_, QPlainTextEdit)
        return field_

    def input_view(self) -> InputView:
        """The table of the input."""
        view = self.dialog.findChild(InputView)
        assert isinstance(view, InputView)
        return view

    def scroll_to(self, share: float) -> None:
        """Drag the table's scroll bar."""
        bar = self.input_view().verticalScrollBar()
        bar.setValue(round(bar.maximum() * share))
        turn()


def buttons(dialog: QWidget) -> Mapping[str, QPushButton]:
    """The visible buttons by their text, in the order of the layout."""
    return {
        one.text().replace("&", ""): one
        for one in sorted(dialog.findChildren(QPushButton), key=lambda one: one.mapTo(dialog, QPoint()).x())
        if one.isVisible()
    }


def button(dialog: QWidget, text: str) -> QPushButton:
    """A visible button."""
    return buttons(dialog)[text]


def click(widget: QWidget) -> None:
    """Click the middle of a widget through its window; a click sent to the widget would ignore modality."""
    window = widget.window()
    QTest.mouseClick(
        window.windowHandle(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        widget.mapTo(window, widget.rect().center()),
    )
    turn()


WindowOf = Callable[[PendingConfirmation], QWidget | None]
