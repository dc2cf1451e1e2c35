"""Who answers is chosen in a form that says in one sentence what cannot work."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pydantic import SecretStr
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QDialogButtonBox, QLineEdit
from pytestqt.qtbot import QtBot

from agent_surface import define_agent_component_contract
from agent_surface.assistant import AssistantSettings, CommandBackend, PydanticAIBackend, SettingsError
from agent_surface.testing import contract_authority
from qt_binding import create_qt_registry
from qt_binding.assistant import AssistantSettingsDialog, Permission

EMPTY = define_agent_component_contract(type="test.nothing", description="Nothing")


class FakeKeys:
    """A keyring in memory."""

    writable = True

    def __init__(self, **keys: str) -> None:
        self.keys = dict(keys)
        self.locked = False

    def find_key(self, provider: str) -> SecretStr | None:
        """The key, unless the keyring is locked."""
        if self.locked:
            raise SettingsError("The keyring is locked. Unlock it and try again.", field="key")
        key = self.keys.get(provider)
        return None if key is None else SecretStr(key)

    def save_key(self, provider: str, key: SecretStr) -> None:
        """Keep it."""
        self.keys[provider] = key.get_secret_value()

    def delete_key(self, provider: str) -> None:
        """Forget it."""
        self.keys.pop(provider, None)


Open = Callable[..., AssistantSettingsDialog]


@pytest.fixture
def open_dialog(qtbot: QtBot) -> Iterator[Open]:
    """Opens the form."""
    registry = create_qt_registry(authority=contract_authority(EMPTY), environment="test")
    opened: list[AssistantSettingsDialog] = []

    def made(settings: AssistantSettings | None = None, *keys: FakeKeys) -> AssistantSettingsDialog:
        dialog = AssistantSettingsDialog(
            registry,
            settings=settings or AssistantSettings(),
            keys=keys,
            permissions=(Permission(grant="change", title="Change & rename"),),
        )
        opened.append(dialog)
        dialog.show()
        dialog.activateWindow()
        qtbot.waitUntil(dialog.isActiveWindow)
        return dialog

    yield made
    registry.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    qtbot.wait(20)


def _choose(dialog: AssistantSettingsDialog, provider: str) -> None:
    dialog.provider.setCurrentIndex(dialog.provider.findData(provider))


def _save(dialog: AssistantSettingsDialog) -> None:
    dialog.buttons.button(QDialogButtonBox.StandardButton.Save).click()


def test_without_a_model_there_is_nothing_to_fill_in(qtbot: QtBot, open_dialog: Open) -> None:
    """The built-in commands answer, and what the assistant may do is chosen all the same."""
    dialog = open_dialog()
    assert [field.isEnabled() for field in (dialog.model, dialog.base_url, dialog.key)] == [False, False, False]
    dialog.permissions["change"].setChecked(True)
    chosen = QSignalSpy(dialog.chosen)
    _save(dialog)
    qtbot.waitUntil(lambda: chosen.count() == 1)
    settings, backend = chosen.at(0)
    assert settings == AssistantSettings(grants=("change",))
    assert isinstance(backend, CommandBackend)


def test_a_key_goes_to_the_keyring_and_nowhere_else(qtbot: QtBot, open_dialog: Open) -> None:
    """It is not shown while it is typed, and no part of the settings."""
    keys = FakeKeys()
    dialog = open_dialog(AssistantSettings(grants=("other",)), keys)
    _choose(dialog, "openai")
    qtbot.waitUntil(lambda: dialog.key.placeholderText() == "No key is known")
    assert dialog.key.echoMode() is QLineEdit.EchoMode.Password
    QTest.keyClicks(dialog.model, "some-model")
    QTest.keyClicks(dialog.key, "secret-words")
    chosen = QSignalSpy(dialog.chosen)
    _save(dialog)
    qtbot.waitUntil(lambda: chosen.count() == 1, timeout=20_000)
    settings, backend = chosen.at(0)
    assert keys.keys == {"openai": "secret-words"}
    assert settings == AssistantSettings(provider="openai", model="some-model", grants=("other",))
    assert "secret" not in str(settings.to_json())
    assert isinstance(backend, PydanticAIBackend)
    backend.close()


def test_what_cannot_work_is_said_at_its_field(qtbot: QtBot, open_dialog: Open) -> None:
    """Before anything is changed; the form stays open for another try."""
    dialog = open_dialog(None, FakeKeys())
    _choose(dialog, "anthropic")
    _save(dialog)
    assert dialog.problem.shown_text == "Write the name of a model of Anthropic."
    assert dialog.model.hasFocus()
    QTest.keyClicks(dialog.model, "some-model")
    chosen = QSignalSpy(dialog.chosen)
    _save(dialog)
    qtbot.waitUntil(dialog.problem.isVisible)
    assert dialog.problem.shown_text.startswith("There is no key for Anthropic.")
    assert dialog.key.hasFocus()
    assert dialog.key.accessibleDescription() == dialog.problem.shown_text
    # The sentence has room of its own; Qt would have taken it from the fields.
    assert dialog.provider.height() >= dialog.provider.sizeHint().height()
    assert dialog.problem.height() >= dialog.problem.heightForWidth(dialog.problem.width())
    assert dialog.buttons.button(QDialogButtonBox.StandardButton.Save).isEnabled()
    assert chosen.count() == 0


def test_a_kept_key_can_be_forgotten_and_a_locked_keyring_is_said(qtbot: QtBot, open_dialog: Open) -> None:
    """Asking the keyring may take long, so it never holds the window."""
    keys = FakeKeys(openai="secret")
    dialog = open_dialog(AssistantSettings(provider="openai", model="m"), keys)
    qtbot.waitUntil(dialog.forget.isEnabled)
    assert dialog.key.placeholderText() == "A key is kept in the keyring"
    dialog.forget.click()
    qtbot.waitUntil(lambda: dialog.key.placeholderText() == "No key is known")
    assert keys.keys == {}
    keys.locked = True
    _choose(dialog, "mistral")
    qtbot.waitUntil(lambda: dialog.key.placeholderText().startswith("The keyring is locked."))


def test_only_a_server_of_ones_own_has_an_address(open_dialog: Open) -> None:
    """An address that would be refused cannot be written."""
    dialog = open_dialog()
    enabled: dict[str, bool] = {}
    for provider in ("openai", "ollama", "openai-compatible"):
        _choose(dialog, provider)
        enabled[provider] = dialog.base_url.isEnabled()
    assert enabled == {"openai": False, "ollama": True, "openai-compatible": True}


def test_closing_the_form_while_a_keyring_is_asked_is_quiet(qtbot: QtBot, open_dialog: Open) -> None:
    """Nobody reads the answer."""
    dialog = open_dialog(AssistantSettings(provider="openai", model="m"), FakeKeys(openai="secret"))
    dialog.reject()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    qtbot.wait(50)
