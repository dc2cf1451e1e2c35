"""Choosing who answers, with which key, and what the assistant is allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import SecretStr
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid
from typing_extensions import override

from agent_surface import AgentSurfaceRegistry
from agent_surface.assistant import (
    MODEL_PROVIDERS,
    AssistantBackend,
    AssistantSettings,
    KeyStore,
    SettingsError,
    backend_from_settings,
)
from qt_binding._looks import Colors, PlainLabel
from qt_binding._runtime import QtHostLoop, runtimes_of
from qt_binding.assistant._wording import tr

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """Something a person can allow the assistant.

    Attributes:
        grant: What the consumer is granted; the application's policies interpret it.
        title: What that means, for the person.
    """

    grant: str
    title: str


class AssistantSettingsDialog(QDialog):
    """A form for :class:`~agent_surface.assistant.AssistantSettings`.

    The key goes to the first store that takes one, never into the settings. Key stores may wait for the system, so they
    are asked in a thread of their own and the form stays usable. Whatever cannot work is said in one sentence, at the
    field it is about, before anything is changed.

    Args:
        registry: Made by ``create_qt_registry``; its loop does the waiting.
        settings: What is chosen now.
        keys: Where keys are looked for, and kept.
        permissions: What the person can allow.
        parent: What it stands over.

    Signals:
        chosen: With the new settings and the back end they ask for; nothing has been saved but the key.
    """

    chosen = Signal(object, object)

    def __init__(
        self,
        registry: AgentSurfaceRegistry,
        *,
        settings: AssistantSettings,
        keys: Sequence[KeyStore] = (),
        permissions: Sequence[Permission] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Assistant settings"))
        self._host_loop = QtHostLoop(runtimes_of(registry, "AssistantSettingsDialog").loop)
        self._settings = settings
        self._keys = tuple(keys)
        self._tasks: set[asyncio.Task[None]] = set()
        self.provider = QComboBox()
        self.model = QLineEdit(settings.model)
        self.base_url = QLineEdit(settings.base_url)
        self.key = QLineEdit()
        self.forget = QPushButton(tr("&Forget"))
        self.permissions = {one.grant: QCheckBox(one.title.replace("&", "&&")) for one in permissions}
        self.problem = PlainLabel()
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel, parent=self
        )
        self._fill(settings)
        self._lay_out()
        self.provider.currentIndexChanged.connect(self._on_provider)
        self.forget.clicked.connect(self._forget_key)
        self.buttons.accepted.connect(self._save)
        self.buttons.rejected.connect(self.reject)
        self.destroyed.connect(_cancelling(self._tasks))
        self._on_provider()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self.problem.set_color(Colors.of(self.palette()).failed)

    # What a person does.

    def _on_provider(self) -> None:
        provider = self._chosen_provider()
        self._say("")
        for widget in (self.model, self.key):
            widget.setEnabled(bool(provider))
        takes_address = _takes_address(provider)
        self.base_url.setEnabled(takes_address)
        if not takes_address:
            self.base_url.clear()
        self.forget.setEnabled(False)
        self.key.setPlaceholderText(tr("Looking for a key\u2026") if provider else "")
        if provider:
            self._begin(self._look_for_key(provider))

    def _forget_key(self) -> None:
        self._begin(self._delete_key(self._chosen_provider()))

    def _save(self) -> None:
        provider = self._chosen_provider()
        try:
            settings = AssistantSettings(
                provider=provider,
                model=self.model.text().strip() if provider else "",
                base_url=self.base_url.text().strip(),
                grants=self._granted(),
                timeout_ms=self._settings.timeout_ms,
            )
        except SettingsError as problem:
            self._show_problem(problem)
            return
        self._work(True)
        self._begin(self._apply(settings, self.key.text().strip()))

    # What may wait for the system.

    async def _look_for_key(self, provider: str) -> None:
        try:
            place = await self._aside(lambda: _place_of_key(self._keys, provider))
        except SettingsError as problem:
            said, kept = str(problem), False
        else:
            said = {
                "kept": tr("A key is kept in the keyring"),
                "given": tr("A key is in the environment"),
                "": tr("No key is known"),
            }[place]
            kept = place == "kept"
        if isValid(self) and provider == self._chosen_provider():
            self.key.setPlaceholderText(said)
            self.key.setAccessibleDescription(said)
            self.forget.setEnabled(kept)

    async def _delete_key(self, provider: str) -> None:
        def delete() -> None:
            for store in self._keys:
                if store.writable:
                    store.delete_key(provider)

        try:
            await self._aside(delete)
        except SettingsError as problem:
            if isValid(self):
                self._show_problem(problem)
            return
        if isValid(self):
            self._on_provider()

    async def _apply(self, settings: AssistantSettings, key: str) -> None:
        try:
            backend: AssistantBackend = await self._aside(lambda: _made(settings, key, self._keys))
        except SettingsError as problem:
            if isValid(self):
                self._work(False)
                self._show_problem(problem)
            return
        if isValid(self):
            self.chosen.emit(settings, backend)
            self.accept()

    async def _aside(self, work: Callable[[], T]) -> T:
        return await self._host_loop.loop.run_in_executor(None, work)

    def _begin(self, work: Coroutine[object, object, None]) -> None:
        task = self._host_loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Showing.

    def _show_problem(self, problem: SettingsError) -> None:
        self._say(str(problem))
        field = {"provider": self.provider, "model": self.model, "base_url": self.base_url, "key": self.key}.get(
            problem.field
        )
        if field is not None:
            field.setFocus(Qt.FocusReason.OtherFocusReason)
            field.setAccessibleDescription(str(problem))

    def _say(self, text: str) -> None:
        self.problem.set_text(text)
        self.problem.setVisible(bool(text))
        layout = self.layout()
        if text and layout is not None:
            # Qt would take the room from the fields.
            self.resize(self.width(), max(self.height(), layout.totalHeightForWidth(self.width())))

    def _work(self, working: bool) -> None:
        save = self.buttons.button(QDialogButtonBox.StandardButton.Save)
        save.setEnabled(not working)
        self._say("")

    def _chosen_provider(self) -> str:
        return str(self.provider.currentData() or "")

    def _granted(self) -> tuple[str, ...]:
        # What the form does not show was granted by somebody else, and stays.
        kept = [grant for grant in self._settings.grants if grant not in self.permissions]
        return (*kept, *(grant for grant, box in self.permissions.items() if box.isChecked()))

    def _fill(self, settings: AssistantSettings) -> None:
        self.provider.addItem(tr("No model: the built-in commands"), "")
        for one in MODEL_PROVIDERS.values():
            self.provider.addItem(one.title, one.name)
        if settings.provider and self.provider.findData(settings.provider) < 0:
            self.provider.addItem(settings.provider, settings.provider)
        self.provider.setCurrentIndex(self.provider.findData(settings.provider))
        for grant, box in self.permissions.items():
            box.setChecked(grant in settings.grants)

    def _lay_out(self) -> None:
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.model.setPlaceholderText(tr("The model's name at the provider"))
        self.base_url.setPlaceholderText("http://localhost:8000/v1")
        for widget, name in (
            (self.provider, tr("Who answers")),
            (self.model, tr("Model")),
            (self.base_url, tr("Server address")),
            (self.key, tr("Key")),
        ):
            widget.setAccessibleName(name)
        self.forget.setAccessibleName(tr("Forget the kept key"))
        key_row = QHBoxLayout()
        key_row.addWidget(self.key, 1)
        key_row.addWidget(self.forget)
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow(tr("&Who answers"), self.provider)
        form.addRow(tr("&Model"), self.model)
        form.addRow(tr("Server &address"), self.base_url)
        key_label = QLabel(tr("&Key"))
        key_label.setBuddy(self.key)
        form.addRow(key_label, key_row)
        layout = QVBoxLayout(self)
        layout.addLayout(form)
        if self.permissions:
            box = QGroupBox(tr("The assistant may"))
            inner = QVBoxLayout(box)
            for permission in self.permissions.values():
                inner.addWidget(permission)
            layout.addWidget(box)
        layout.addWidget(self.problem)
        layout.addStretch(1)
        layout.addWidget(self.buttons)
        self.problem.set_color(Colors.of(self.palette()).failed)
        self.problem.hide()
        self.resize(self.fontMetrics().averageCharWidth() * 68, self.sizeHint().height())


def _takes_address(provider: str) -> bool:
    """Whether a provider can be at an address of the person's own; the settings themselves know."""
    if not provider:
        return False
    try:
        AssistantSettings(provider=provider, model="any", base_url="http://localhost:1/")
    except SettingsError:
        return False
    return True


def _place_of_key(keys: Sequence[KeyStore], provider: str) -> str:
    """``kept`` where it can be deleted, ``given`` where not, or empty."""
    for store in keys:
        if store.find_key(provider) is not None:
            return "kept" if store.writable else "given"
    return ""


def _made(settings: AssistantSettings, key: str, keys: Sequence[KeyStore]) -> AssistantBackend:
    """The back end, with a key that was entered kept first. Runs in a thread of its own."""
    if key and settings.provider:
        store = next((one for one in keys if one.writable), None)
        if store is None:
            raise SettingsError(tr("This application keeps no keys; set it in the environment."), field="key")
        store.save_key(settings.provider, SecretStr(key))
    return backend_from_settings(settings, keys)


def _cancelling(tasks: set[asyncio.Task[None]]) -> Callable[[], None]:
    """For ``destroyed``: it holds nothing of the dialog."""

    def cancel() -> None:
        for task in tuple(tasks):
            task.cancel()

    return cancel
