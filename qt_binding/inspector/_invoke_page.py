"""Using a capability by hand, as the developer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid
from typing_extensions import override

from agent_surface import (
    ActionDescriptor,
    AgentConsumer,
    AgentInvocation,
    AgentInvocationResult,
    AgentSurfaceRegistry,
    ErrorCode,
    FrozenJson,
    HostLoop,
    InvocationError,
    JsonValue,
    ObservationDescriptor,
    ProcedureDescriptor,
    RegistryClosedError,
)
from agent_surface.explain import CapabilityExplanation
from qt_binding._looks import Colors, EffectBadge, Glyph, GlyphView, PlainLabel
from qt_binding.inspector._editors import UnreadableField, text_field
from qt_binding.inspector._facts import bounded, json_text
from qt_binding.inspector._reading import Descriptor, consumer_text, find_descriptor
from qt_binding.inspector._schema_form import Issue, SchemaForm, has_form, whole_input_editor
from qt_binding.inspector._wording import tr

if TYPE_CHECKING:
    from agent_surface.testing import RecordedStep, ReplayRunner


class InvokePage(QWidget):
    """A form for the input of one capability, a button, and the result.

    Every call goes through ``registry.invoke`` with the developer's own identity, so policies, confirmations and the
    audit treat it like any other.

    Args:
        registry: Whose capabilities.
        developer: Who calls.
        host_loop: Where a call waits.
        test_runner: How a copied test gets its surface; on an event loop of its own when absent.
        parent: Qt owner.
    """

    def __init__(
        self,
        registry: AgentSurfaceRegistry,
        *,
        developer: AgentConsumer,
        host_loop: HostLoop,
        test_runner: ReplayRunner | None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._test_runner = test_runner
        self._steps: list[RecordedStep] = []
        self._registry = registry
        self._developer = developer
        self._host_loop = host_loop
        self._target: CapabilityExplanation | None = None
        self._descriptor: Descriptor | None = None
        self._form: SchemaForm | None = None
        # None or one; a list, so that what cancels it after the death of this page holds nothing of the page.
        self._running: list[asyncio.Task[None]] = []
        self._outcome = Glyph.IDLE
        self.title = PlainLabel()
        self.badge = EffectBadge()
        self.hint = PlainLabel()
        self.as_json = QCheckBox(tr("As &JSON"))
        self.json = whole_input_editor()
        self.problem = PlainLabel()
        self.invoke_button = QPushButton(tr("&Invoke"))
        self.stop_button = QPushButton(tr("&Stop"))
        self.copy_button = QPushButton(tr("&Copy as test"))
        self.glyph = GlyphView()
        self.status = PlainLabel()
        self.result = text_field(lines=5, fixed=True)
        self._inputs = QVBoxLayout()
        self._build()
        self._connect()
        self.show_capability(None)

    @property
    def form(self) -> SchemaForm | None:
        """The form of the shown capability, if its input has one."""
        return self._form

    def show_capability(self, explanation: CapabilityExplanation | None) -> None:
        """Offer another capability; the same one again leaves what was typed alone."""
        if explanation is not None and self._target is not None and _same(explanation, self._target):
            self._target = explanation
            return
        self._target = explanation
        self._steps = []
        self._descriptor = None
        if explanation is not None:
            self._descriptor = find_descriptor(self._registry, self._developer, explanation)
        self._show_result(Glyph.IDLE, "", "")
        self._show_target()
        self._make_form()
        self._follow()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._apply_colors()

    # What a person does.

    def _invoke(self) -> None:
        if self._target is None or self._running:
            return
        self._say_problem("")
        accepted, value = self._read()
        if not accepted:
            return
        self._show_result(Glyph.RUNNING, tr("Running\u2026"), "")
        self._running.append(self._host_loop.create_task(self._run(self._target, value)))
        self._follow()

    def _stop(self) -> None:
        for task in self._running:
            task.cancel()

    def _copy_as_test(self) -> None:
        from agent_surface.testing import ASYNCIO, SessionRecording, session_as_test

        name = "calls"
        if self._target is not None:
            name = re.sub(r"\W+", "_", self._target.capability_id.lower(), flags=re.ASCII).strip("_")
        recording = SessionRecording(steps=tuple(self._steps))
        QGuiApplication.clipboard().setText(session_as_test(recording, name=name, runner=self._test_runner or ASYNCIO))

    def _switch(self, as_json: bool) -> None:
        if self._form is None:
            return
        if as_json:
            value = self._form.read()
            if value is not None:
                self.json.show_value(value)
        else:
            try:
                self._form.show_value(self.json.read())
            except UnreadableField as problem:
                self._say_problem(str(problem))
        self._choose_input()

    def _read(self) -> tuple[bool, JsonValue]:
        if isinstance(self._descriptor, ObservationDescriptor):
            return True, None
        if self._form is not None and not self.as_json.isChecked():
            value = self._form.read()
            return value is not None, value
        try:
            return True, self.json.read()
        except UnreadableField as problem:
            self._say_problem(str(problem))
            self.json.widget.setFocus(Qt.FocusReason.OtherFocusReason)
            return False, None

    # The call.

    async def _run(self, target: CapabilityExplanation, value: JsonValue) -> None:
        try:
            result = await self._ask(target, value)
        except asyncio.CancelledError:
            self._end(Glyph.REFUSED, tr("Stopped."), "")
            raise
        except RegistryClosedError:
            self._end(Glyph.FAILED, tr("The registry is closed."), "")
        except Exception as error:  # noqa: BLE001 - what the application's code raised is what a developer wants to see
            self._end(Glyph.FAILED, f"{type(error).__name__}: {error}", "")
        else:
            self._show_outcome(result)

    async def _ask(self, target: CapabilityExplanation, value: JsonValue) -> AgentInvocationResult:
        self._steps = []
        result = await self._call(target, value, None)
        waits = isinstance(result, InvocationError) and result.error.code is ErrorCode.CONFIRMATION_REQUIRED
        confirmation_id = result.error.details.get("confirmationId") if isinstance(result, InvocationError) else None
        if not waits or not isinstance(confirmation_id, str):
            return result
        from agent_surface.testing import RecordedDecision

        self._show_result(Glyph.WAITING, tr("Waiting for the person's decision\u2026"), "")
        try:
            answer = await self._registry.confirmation_waiter.wait_for(confirmation_id)
        except asyncio.CancelledError:
            self._registry.confirmation_waiter.withdraw(confirmation_id)
            raise
        self._steps.append(RecordedDecision(confirmation_id=confirmation_id, outcome=answer.outcome, note=answer.note))
        return await self._call(target, value, confirmation_id)

    async def _call(
        self, target: CapabilityExplanation, value: JsonValue, confirmation_id: str | None
    ) -> AgentInvocationResult:
        # Support for tests is in the program of those who invoke by hand, and of nobody else.
        from agent_surface.testing import RecordedCall

        result = await self._registry.invoke(
            AgentInvocation(
                capability_id=target.capability_id,
                input=value,
                instance_id=target.component.instance_id,
                registration_id=target.registration_id,
                surface_version=self._registry.version,
                confirmation_id=confirmation_id,
            ),
            consumer=self._developer,
        )
        self._steps.append(
            RecordedCall(
                capability_id=target.capability_id,
                input=cast("FrozenJson", value),
                result=result,
                consumer=self._developer,
                instance_id=target.component.instance_id,
                confirmation_id=confirmation_id,
            )
        )
        return result

    def _show_outcome(self, result: AgentInvocationResult) -> None:
        if isinstance(result, InvocationError):
            error = result.error
            self._end(Glyph.FAILED, f"{error.code.value}. {error.message}", json_text(result.to_json()))
            issues = error.details.get("issues")
            if isinstance(issues, Sequence) and not isinstance(issues, str):
                self._show_issues([_issue(one) for one in issues if isinstance(one, Mapping)])
        else:
            said = tr("Done.") if result.has_output else tr("Done. It has no output.")
            self._end(Glyph.DONE, said, json_text(result.output) if result.has_output else "")

    def _show_issues(self, issues: Sequence[Issue]) -> None:
        left = list(issues)
        if self._form is not None and not self.as_json.isChecked():
            left = self._form.show_issues(issues)
        self._say_problem("\n".join(f"{one.path}: {one.message}" if one.path else one.message for one in left))

    def _end(self, outcome: Glyph, text: str, result: str) -> None:
        self._running.clear()
        if not isValid(self):
            return
        self._show_result(outcome, text, result)
        self._follow()

    # Showing.

    def _show_target(self) -> None:
        if self._target is None:
            self.title.set_text(tr("Choose a capability in the tree."))
            self.hint.set_text("")
        else:
            self.title.set_lines(self._target.description or self._target.capability_id)
            called = tr("Called as %1.").replace("%1", consumer_text(self._developer))
            if self._descriptor is None:
                called += " " + tr("A policy hides it from this consumer, so its input is not known here.")
            self.hint.set_text(called)
        descriptor = self._descriptor
        has_effect = isinstance(descriptor, ActionDescriptor | ProcedureDescriptor)
        self.badge.setVisible(has_effect)
        if isinstance(descriptor, ActionDescriptor | ProcedureDescriptor):
            self.badge.show_effect(descriptor.effect)

    def _make_form(self) -> None:
        if self._form is not None:
            self._inputs.removeWidget(self._form)
            self._form.hide()
            self._form.deleteLater()
            self._form = None
        self._say_problem("")
        self.json.show_value({})
        schema = (
            self._descriptor.input_schema
            if isinstance(self._descriptor, ActionDescriptor | ProcedureDescriptor)
            else None
        )
        if schema is not None and has_form(cast("Mapping[str, object]", schema)):
            self._form = SchemaForm(cast("Mapping[str, object]", schema))
            self._inputs.insertWidget(0, self._form)
        self._choose_input()
        # What was made last would be reached last.
        fields = [] if self._form is None else self._form.tab_stops()
        after = (self.json.widget, self.invoke_button, self.stop_button, self.as_json, self.copy_button, self.result)
        for before, following in pairwise((*fields, *after)):
            QWidget.setTabOrder(before, following)

    def _choose_input(self) -> None:
        takes_input = self._target is not None and not isinstance(self._descriptor, ObservationDescriptor)
        with_form = self._form is not None and not self.as_json.isChecked()
        empty = (
            isinstance(self._descriptor, ActionDescriptor | ProcedureDescriptor)
            and self._form is None
            and self._descriptor.input_schema.get("additionalProperties") is False
        )
        self.as_json.setVisible(takes_input and self._form is not None)
        self.json.widget.setVisible(takes_input and not with_form and not empty)
        if self._form is not None:
            self._form.setVisible(with_form)

    def _follow(self) -> None:
        running = bool(self._running)
        # Whoever pressed the one button finds the other; Qt would send the keyboard somewhere else.
        pressed, other = self.invoke_button, self.stop_button
        if not running:
            pressed, other = other, pressed
        had_focus = pressed.hasFocus()
        self.stop_button.setVisible(running)
        self.invoke_button.setEnabled(self._target is not None and not running)
        if had_focus:
            other.setFocus(Qt.FocusReason.OtherFocusReason)
        self.copy_button.setVisible(bool(self._steps) and not running)

    def _say_problem(self, text: str) -> None:
        self.problem.set_text(text)
        self.problem.setVisible(bool(text))

    def _show_result(self, outcome: Glyph, text: str, result: str) -> None:
        self._outcome = outcome
        self.glyph.setVisible(bool(text))
        self.status.set_text(text)
        self.status.setVisible(bool(text))
        self.result.setPlainText(bounded(result))
        self.result.setVisible(bool(result))
        self._apply_colors()

    def _apply_colors(self) -> None:
        colors = Colors.of(self.palette())
        color = {
            Glyph.DONE: colors.done,
            Glyph.FAILED: colors.failed,
            Glyph.WAITING: colors.waiting,
            Glyph.REFUSED: colors.refused,
        }.get(self._outcome, colors.accent)
        self.glyph.set_glyph(self._outcome, color)
        self.status.set_color(color)
        self.hint.set_color(colors.muted)
        self.problem.set_color(colors.failed)

    def _build(self) -> None:
        bold = self.title.font()
        bold.setBold(True)
        self.title.setFont(bold)
        self.result.setReadOnly(True)
        self.result.setAccessibleName(tr("Result"))
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.badge, 0, Qt.AlignmentFlag.AlignTop)
        self._inputs.setContentsMargins(0, 0, 0, 0)
        self._inputs.addWidget(self.json.widget)
        buttons = QHBoxLayout()
        buttons.addWidget(self.invoke_button)
        buttons.addWidget(self.stop_button)
        buttons.addWidget(self.as_json)
        buttons.addStretch(1)
        buttons.addWidget(self.copy_button)
        outcome = QHBoxLayout()
        outcome.addWidget(self.glyph, 0, Qt.AlignmentFlag.AlignTop)
        outcome.addWidget(self.status, 1)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.addLayout(head)
        column.addWidget(self.hint)
        column.addLayout(self._inputs)
        column.addWidget(self.problem)
        column.addLayout(buttons)
        column.addLayout(outcome)
        column.addWidget(self.result)
        column.addStretch(1)
        area = QScrollArea(self)
        area.setWidget(inside)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(area)

    def _connect(self) -> None:
        self.invoke_button.clicked.connect(self._invoke)
        self.stop_button.clicked.connect(self._stop)
        self.copy_button.clicked.connect(self._copy_as_test)
        self.copy_button.setToolTip(tr("Puts a test that makes this call and expects this answer into the clipboard"))
        self.as_json.toggled.connect(self._switch)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(self._invoke)
        self.invoke_button.setToolTip(tr("Ctrl+Enter"))

    def canceller(self) -> Callable[[], None]:
        """A function that gives up what runs; it holds nothing of the page, whose own methods Qt would not call."""
        running = self._running

        def cancel() -> None:
            for task in running:
                task.cancel()

        return cancel


def _same(one: CapabilityExplanation, other: CapabilityExplanation) -> bool:
    return (one.registration_id, one.capability_id) == (other.registration_id, other.capability_id)


def _issue(given: Mapping[str, object]) -> Issue:
    return Issue(path=str(given.get("path") or ""), message=str(given.get("message") or ""))
