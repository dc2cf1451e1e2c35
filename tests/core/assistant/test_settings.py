"""What a person sets: refused with a sentence where it cannot work, saved without any key."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from typing_extensions import override

from agent_surface import AgentConsumer
from agent_surface.assistant import (
    MODEL_PROVIDERS,
    AssistantSettings,
    CommandBackend,
    EnvironmentKeys,
    KeyringKeys,
    KeyStore,
    PydanticAIBackend,
    SettingsError,
    backend_from_settings,
    load_settings,
    save_settings,
)
from agent_surface.testing import MemoryKeys

KEY = "-".join(("sk", "test", "0123456789", "very", "secret"))
OWN = {"provider": "openai-compatible", "model": "qwen3"}


def test_settings_come_back_from_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    """All of them, and the defaults where there is no file."""
    settings = AssistantSettings(
        provider="openai-compatible",
        model="vendor/qwen3:8b",
        base_url="https://models.example/v1",
        grants=("devices", "notes"),
        timeout_ms=5_000,
    )
    path = tmp_path / "assistant.json"
    assert load_settings(path) == AssistantSettings()
    save_settings(settings, path)
    assert load_settings(path) == settings
    assert path.stat().st_mode & 0o077 == 0
    assert [file.name for file in tmp_path.iterdir()] == ["assistant.json"]
    assert settings.consumer() == AgentConsumer(id="assistant", grants=("devices", "notes"))


def test_no_key_is_ever_part_of_what_is_saved_shown_or_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A key goes from the form to the store and from there to the provider; settings have no place for one."""
    caplog.set_level(logging.DEBUG)
    keys = MemoryKeys()
    keys.save_key("anthropic", SecretStr(KEY))
    settings = AssistantSettings(provider="anthropic", model="claude")
    pytest.importorskip("pydantic_ai")
    backend = backend_from_settings(settings, [keys])
    save_settings(settings, tmp_path / "assistant.json")
    assert set(settings.to_json()) == {"format", "version", "provider", "model", "baseUrl", "grants", "timeoutMs"}
    for text in (
        (tmp_path / "assistant.json").read_text(),
        repr(settings),
        repr(vars(backend)),
        repr(keys.find_key("anthropic")),
        caplog.text,
    ):
        assert KEY not in text


@pytest.mark.parametrize(
    ("values", "field", "way_out"),
    [
        ({"provider": "anthropic"}, "model", "Write the name of a model of Anthropic."),
        ({"model": "gpt"}, "provider", "Choose who provides the model."),
        ({"provider": "openai", "model": KEY}, "model", "This looks like a key. Enter it as the key"),
        ({"provider": "openai", "model": "two words"}, "model", "The model's name has no spaces"),
        ({"provider": "openai", "model": "x" * 201}, "model", "at most 200 characters"),
        ({"provider": "open\nai", "model": "x"}, "provider", "The provider's name has no spaces"),
        (OWN, "base_url", "Write the server's address"),
        ({**OWN, "base_url": "localhost:8000"}, "base_url", "is no web address"),
        ({**OWN, "base_url": "file:///etc/passwd"}, "base_url", "is no web address"),
        ({**OWN, "base_url": "http://[::1"}, "base_url", "is no web address"),
        ({**OWN, "base_url": "http://host:99999/v1"}, "base_url", "is no web address"),
        ({**OWN, "base_url": f"https://me:{KEY}@host/v1"}, "base_url", "Leave names, passwords"),
        ({**OWN, "base_url": f"https://host/v1?key={KEY}"}, "base_url", "Leave names, passwords"),
        (
            {"provider": "openai", "model": "x", "base_url": "https://host/v1"},
            "base_url",
            "Remove the server's address",
        ),
        ({"timeout_ms": 0}, "timeout_ms", "at least 1 millisecond"),
    ],
)
def test_what_cannot_work_is_refused_with_the_field_and_the_way_out(
    values: dict[str, Any], field: str, way_out: str
) -> None:
    """A form marks the field; the sentence never repeats what was typed, which may be a key."""
    with pytest.raises(SettingsError) as refused:
        AssistantSettings(**values)
    assert refused.value.field == field
    assert way_out in str(refused.value)
    assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "not of this version"),
        ("[1]", "not of this version"),
        ('{"format": "agent-surface-assistant-settings", "version": 2}', "not of this version"),
        ('{"format": "agent-surface-assistant-settings", "version": 1, "grants": [1]}', "damaged"),
        ('{"format": "agent-surface-assistant-settings", "version": 1, "timeoutMs": true}', "damaged"),
        ('{"format": "agent-surface-assistant-settings", "version": 1, "model": 5}', "damaged"),
    ],
)
def test_a_damaged_file_says_so_and_is_left_alone(text: str, sentence: str, tmp_path: Path) -> None:
    """The person sets it again; nothing is guessed."""
    path = tmp_path / "assistant.json"
    path.write_text(text)
    with pytest.raises(SettingsError, match=sentence):
        load_settings(path)
    assert path.read_text() == text


def test_a_file_that_cannot_be_written_says_what_to_check(tmp_path: Path) -> None:
    """The old one would still be there."""
    with pytest.raises(SettingsError, match="Check that there is room"):
        save_settings(AssistantSettings(), tmp_path / "nowhere" / "assistant.json")


def test_without_a_provider_the_command_language_answers() -> None:
    """The offline default."""
    assert isinstance(backend_from_settings(AssistantSettings()), CommandBackend)


def test_the_first_store_that_has_a_key_counts() -> None:
    """The environment before the keyring, or the other way round: the application's order."""
    pytest.importorskip("pydantic_ai")
    settings = AssistantSettings(provider="google", model="gemini")
    with pytest.raises(SettingsError) as missing:
        backend_from_settings(settings, [MemoryKeys(), EnvironmentKeys({"GOOGLE_API_KEY": "  "})])
    assert missing.value.field == "key"
    assert str(missing.value) == (
        "There is no key for Google. Enter one in the assistant's settings, or set GOOGLE_API_KEY before the "
        "application starts."
    )
    backend = backend_from_settings(settings, [MemoryKeys(), EnvironmentKeys({"GEMINI_API_KEY": "k"})])
    assert isinstance(backend, PydanticAIBackend)


@pytest.mark.parametrize(
    ("base_url", "key", "works"),
    [
        ("http://models.example/v1", None, True),
        ("http://models.example/v1", KEY, False),
        ("https://models.example/v1", KEY, True),
        ("http://localhost:8000/v1", KEY, True),
        ("http://127.0.0.1:8000/v1", KEY, True),
    ],
)
def test_a_key_is_never_sent_unencrypted_to_another_computer(base_url: str, key: str | None, works: bool) -> None:
    """Everybody on the way could read it."""
    pytest.importorskip("pydantic_ai")
    keys = MemoryKeys()
    if key is not None:
        keys.save_key("openai-compatible", SecretStr(key))
    settings = AssistantSettings(provider="openai-compatible", model="m", base_url=base_url)
    if works:
        backend_from_settings(settings, [keys])
        return
    with pytest.raises(SettingsError, match="unencrypted") as refused:
        backend_from_settings(settings, [keys])
    assert refused.value.field == "base_url"


def test_models_without_their_package_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is optional."""

    def nothing(name: str) -> None:
        """No package is there."""

    monkeypatch.setattr("agent_surface.assistant._from_settings.find_spec", nothing)
    with pytest.raises(SettingsError, match=r"Install agent-surface-qt\[assistant\]"):
        backend_from_settings(AssistantSettings(provider="ollama", model="m"))


class _Keyring:
    """The part of the package that is used; it fails when it is told to."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.failure: Exception | None = None

    def _try(self) -> None:
        if self.failure is not None:
            raise self.failure

    def get_password(self, service: str, username: str) -> str | None:
        self._try()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._try()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._try()
        del self.kept[service, username]


def test_keys_are_kept_in_the_systems_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the application's name and the provider's."""
    ring = _Keyring()
    monkeypatch.setitem(sys.modules, "keyring", ring)
    keys: KeyStore = KeyringKeys("My application")
    assert keys.writable
    assert keys.find_key("openai") is None
    keys.save_key("openai", SecretStr(f" {KEY}\n"))
    assert ring.kept == {("My application", "openai"): KEY}
    found = keys.find_key("openai")
    assert found is not None
    assert found.get_secret_value() == KEY
    keys.delete_key("openai")
    keys.delete_key("openai")
    assert ring.kept == {}
    with pytest.raises(SettingsError, match="Enter the key"):
        keys.save_key("openai", SecretStr("  "))


def test_a_keyring_that_does_not_open_is_said_so_without_what_it_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A back end of it may put the key into its error."""
    caplog.set_level(logging.DEBUG)
    ring = _Keyring()
    monkeypatch.setitem(sys.modules, "keyring", ring)
    keys = KeyringKeys("My application")
    ring.failure = RuntimeError(f"locked: {KEY}")
    attempts: list[Callable[[], object]] = [
        lambda: keys.find_key("openai"),
        lambda: keys.save_key("openai", SecretStr(KEY)),
        lambda: keys.delete_key("openai"),
    ]
    for attempt in attempts:
        with pytest.raises(SettingsError) as refused:
            attempt()
        assert (refused.value.field, "Unlock it and try again" in str(refused.value)) == ("key", True)
        assert "OPENAI_API_KEY" in str(refused.value)
        assert KEY not in str(refused.value) + repr(refused.value.__cause__)
        assert refused.value.__suppress_context__
    pytest.importorskip("pydantic_ai")
    backend_from_settings(AssistantSettings(provider="ollama", model="m"), [keys])
    environment = EnvironmentKeys({"OPENAI_API_KEY": "k"})
    backend_from_settings(AssistantSettings(provider="openai", model="m"), [keys, environment])
    with pytest.raises(SettingsError, match="Unlock it"):
        backend_from_settings(AssistantSettings(provider="openai", model="m"), [keys])
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(SettingsError, match=r"Install agent-surface-qt\[assistant\]"):
        keys.find_key("openai")
    assert KEY not in caplog.text


def test_the_environment_cannot_be_written_to_and_says_which_variable_to_set() -> None:
    """For every provider, also for one this library does not know."""
    keys: KeyStore = EnvironmentKeys({"SAMBANOVA_API_KEY": "k"})
    assert not keys.writable
    assert keys.find_key("sambanova") == SecretStr("k")
    for provider, known in MODEL_PROVIDERS.items():
        with pytest.raises(SettingsError, match=known.key_variables[0]):
            keys.save_key(provider, SecretStr("k"))
        with pytest.raises(SettingsError, match=known.key_variables[0]):
            keys.delete_key(provider)


def test_keys_of_tests_are_kept_in_memory_until_they_are_deleted() -> None:
    """As a store of keys does it, and nobody else sees them."""
    keys: KeyStore = MemoryKeys()
    assert keys.writable
    keys.save_key("openai", SecretStr("one"))
    assert keys.find_key("openai") == SecretStr("one")
    assert MemoryKeys().find_key("openai") is None
    keys.delete_key("openai")
    keys.delete_key("openai")
    assert keys.find_key("openai") is None


def test_a_settings_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    """It is not taken for settings that were never made."""
    with pytest.raises(SettingsError, match="could not be read"):
        load_settings(tmp_path)


def test_a_key_that_the_keyring_does_not_give_up_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The person is not told that it is gone while it is still there."""

    class Stubborn(_Keyring):
        @override
        def delete_password(self, service: str, username: str) -> None:
            raise RuntimeError(KEY)

    ring = Stubborn()
    monkeypatch.setitem(sys.modules, "keyring", ring)
    keys = KeyringKeys("My application")
    keys.save_key("openai", SecretStr(KEY))
    with pytest.raises(SettingsError, match="could not be written to") as refused:
        keys.delete_key("openai")
    assert KEY not in str(refused.value)
    assert ring.kept
