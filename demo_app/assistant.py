"""What the person has chosen about the assistant: who answers, and what it may do; kept in a folder if there is one."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QWidget

from agent_surface import (
    EXPOSE,
    HIDE,
    AgentSurfaceRegistry,
    DiscoveryDecision,
    Effect,
    JsonValue,
    PolicyContext,
)
from agent_surface.assistant import (
    AssistantBackend,
    AssistantSession,
    AssistantSettings,
    Autosave,
    EnvironmentKeys,
    KeyringKeys,
    KeyStore,
    NoticeKind,
    PydanticAIBackend,
    SettingsError,
    backend_from_settings,
    find_saved,
    load_settings,
    save_settings,
)
from qt_binding.assistant import AssistantSettingsDialog, Permission

_log = logging.getLogger(__name__)

MAY_CHANGE: Final = "devices.change"
"""What the person grants the assistant when it may change devices. Everybody else has other rights, or none."""

_CHANGES: Final = frozenset({Effect.SERVER_MUTATION, Effect.EXTERNAL_SIDE_EFFECT, Effect.DESTRUCTIVE})


class AssistantChoices:
    """The settings as they are now, and a policy that follows them.

    Args:
        folder: Where they are kept; nowhere if not given.
        consumer_id: Whom the policy is about.
    """

    name = "person-allows"

    def __init__(self, folder: Path | None, *, consumer_id: str) -> None:
        self._consumer_id = consumer_id
        self._path = None if folder is None else folder / "assistant.json"
        self.problem = ""
        self.settings = AssistantSettings(grants=(MAY_CHANGE,))
        if self._path is not None and self._path.exists():
            try:
                self.settings = load_settings(self._path)
            except SettingsError as problem:
                self.problem = str(problem)

    def choose(self, settings: AssistantSettings) -> None:
        """Go by other settings from now on, and keep them.

        Raises:
            SettingsError: They cannot be kept; they count until the program ends.
        """
        self.settings = settings
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            save_settings(settings, self._path)

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
        """What the assistant may not do does not exist for it."""
        concerned = context.consumer.id == self._consumer_id and context.effect in _CHANGES
        return HIDE if concerned and MAY_CHANGE not in self.settings.grants else EXPOSE


class AssistantCare(QObject):
    """Looks after a conversation: which back end answers in it, and that it is saved.

    Args:
        session: The conversation.
        choices: What the person chose.
        registry: Told when the assistant may do something else.
        folder: Where the conversation is kept; nowhere if not given.
        keys: Where keys of models are kept.
        window: What the settings stand over.
    """

    def __init__(
        self,
        session: AssistantSession,
        choices: AssistantChoices,
        *,
        registry: AgentSurfaceRegistry,
        folder: Path | None,
        keys: tuple[KeyStore, ...],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._session = session
        self._choices = choices
        self._registry = registry
        self._keys = keys
        self._window = window
        self._autosave: Autosave | None = None
        self.settings_dialog: AssistantSettingsDialog | None = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._autosave = Autosave(session, _conversation_file(folder))
        self._begin()

    def open_settings(self) -> None:
        """Let the person choose."""
        if self.settings_dialog is not None:
            return
        dialog = AssistantSettingsDialog(
            self._registry,
            settings=self._choices.settings,
            keys=self._keys,
            permissions=(
                Permission(grant=MAY_CHANGE, title=_tr("Change devices (you are asked before it disables any)")),
            ),
            parent=self._window,
        )
        dialog.chosen.connect(self._choose)
        dialog.destroyed.connect(self._forget_dialog)
        self.settings_dialog = dialog
        dialog.open()

    def close(self) -> None:
        """Save a last time and let the back end go. Safe to repeat."""
        if self._autosave is not None:
            self._autosave.close()
        _release(self._session.backend)

    def _begin(self) -> None:
        """Answer as the person chose; when that cannot work, say so and go on with the commands."""
        problem = self._choices.problem
        if self._choices.settings.provider:
            try:
                self._session.use_backend(backend_from_settings(self._choices.settings, self._keys))
            except SettingsError as error:
                problem = str(error)
        if problem:
            self._session.announce(NoticeKind.ERROR, problem)

    def _choose(self, settings: AssistantSettings, backend: AssistantBackend) -> None:
        previous = self._session.backend
        if not self._session.use_backend(backend):
            _release(backend)
            self._session.announce(NoticeKind.ERROR, _tr("Stop the assistant first, then change the settings."))
            return
        _release(previous)
        try:
            self._choices.choose(settings)
        except (SettingsError, OSError) as problem:
            self._session.announce(NoticeKind.ERROR, str(problem))
        if not self._registry.closed:
            self._registry.policies_changed()

    def _forget_dialog(self) -> None:
        self.settings_dialog = None


def key_stores(application: str) -> tuple[KeyStore, ...]:
    """Where keys are looked for: the environment first, then the system's keyring under the name of the program."""
    return EnvironmentKeys(), KeyringKeys(application)


def saved_conversation(folder: Path | None) -> Mapping[str, JsonValue] | None:
    """The conversation of the last time; ``None`` when there is none that can be read."""
    if folder is None:
        return None
    try:
        return find_saved(_conversation_file(folder))
    except ValueError as error:
        _log.warning("the last conversation is left aside: %s", error)
        return None


def _conversation_file(folder: Path) -> Path:
    return folder / "conversation.json"


def _release(backend: AssistantBackend) -> None:
    if isinstance(backend, PydanticAIBackend):
        backend.close()


def _tr(text: str) -> str:
    return QCoreApplication.translate("AssistantCare", text)
