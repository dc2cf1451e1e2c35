"""Which model answers, as the person chose it. Never a key: those are in a :class:`KeyStore`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from agent_surface._base._json import JsonValue
from agent_surface.assistant._files import replace_file
from agent_surface.assistant._providers import COMPATIBLE, OWN_SERVERS, provider_title
from agent_surface.errors import AgentSurfaceError
from agent_surface.invocation import AgentConsumer

FORMAT = "agent-surface-assistant-settings"
VERSION = 1

MAX_NAME_CHARACTERS = 200
MAX_URL_CHARACTERS = 2_000


class SettingsError(AgentSurfaceError):
    """What the person set cannot work; one clear sentence with the way out, fit to be shown as it is.

    Raised when settings are made, read or used, and by key stores. Never because a model failed to answer; that is an
    :class:`AssistantBackendError`.

    Attributes:
        field: What to mark in a form: the name of a field of :class:`AssistantSettings`, ``key``, or empty.
    """

    def __init__(self, sentence: str, *, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantSettings:
    """What a person chooses about the assistant.

    Attributes:
        provider: One of ``MODEL_PROVIDERS``, or any other that pydantic-ai knows. Empty: no model, the command
            language answers.
        model: The model's name at the provider; empty only without a provider.
        base_url: Of an ``openai-compatible`` server, or of an ``ollama`` that is not at its usual place; else empty.
        grants: What the assistant's consumer is granted; the application's policies interpret them.
        timeout_ms: How long a model may stay silent before it is given up, in milliseconds, at least 1.

    Raises:
        SettingsError: A value cannot work.
    """

    provider: str = ""
    model: str = ""
    base_url: str = ""
    grants: tuple[str, ...] = ()
    timeout_ms: int = 120_000

    def __post_init__(self) -> None:
        """Refuse what cannot work before it is saved or tried."""
        if self.provider:
            _check_name(self.provider, "provider")
            if not self.model:
                raise SettingsError(
                    f"Write the name of a model of {provider_title(self.provider)}.",
                    field="model",
                )
            _check_name(self.model, "model")
        elif self.model:
            raise SettingsError("Choose who provides the model.", field="provider")
        if self.base_url:
            _check_base_url(self.base_url)
            if self.provider not in OWN_SERVERS:
                raise SettingsError(
                    "Remove the server's address, or choose the provider “OpenAI-compatible server”.",
                    field="base_url",
                )
        elif self.provider == COMPATIBLE:
            raise SettingsError("Write the server's address, for example http://localhost:8000/v1.", field="base_url")
        if self.timeout_ms < 1:
            raise SettingsError("Set a time to wait of at least 1 millisecond.", field="timeout_ms")

    def consumer(self, consumer_id: str = "assistant") -> AgentConsumer:
        """In whose name the assistant calls, with what the person granted it."""
        return AgentConsumer(id=consumer_id, grants=self.grants)

    def to_json(self) -> dict[str, JsonValue]:
        """The settings as a fresh JSON object for :meth:`from_json`; no key is ever part of them."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "provider": self.provider,
            "model": self.model,
            "baseUrl": self.base_url,
            "grants": list(self.grants),
            "timeoutMs": self.timeout_ms,
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, JsonValue]) -> AssistantSettings:
        """The settings that were saved.

        Raises:
            SettingsError: ``saved`` is no such object, or holds what cannot work.
        """
        if saved.get("format") != FORMAT or saved.get("version") != VERSION:
            raise SettingsError("The saved settings of the assistant are not of this version. Set them again.")
        grants, timeout_ms = saved.get("grants", []), saved.get("timeoutMs", 120_000)
        texts = [saved.get(key, "") for key in ("provider", "model", "baseUrl")]
        if (
            not isinstance(grants, list)
            or isinstance(timeout_ms, bool)
            or not isinstance(timeout_ms, int)
            or not all(isinstance(text, str) for text in (*texts, *grants))
        ):
            raise SettingsError("The saved settings of the assistant are damaged. Set them again.")
        provider, model, base_url = (str(text) for text in texts)
        return cls(
            provider=provider,
            model=model,
            base_url=base_url,
            grants=tuple(str(grant) for grant in grants),
            timeout_ms=timeout_ms,
        )


def save_settings(settings: AssistantSettings, path: Path) -> None:
    """Write the settings to a file that is replaced as a whole.

    Raises:
        SettingsError: The file cannot be written.
    """
    try:
        replace_file(path, json.dumps(settings.to_json(), indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        raise SettingsError(
            f"The settings could not be saved ({error.strerror or 'the file cannot be written'}). "
            "Check that there is room and that the folder may be written to."
        ) from error


def load_settings(path: Path) -> AssistantSettings:
    """The settings of a file; the defaults when there is none.

    Raises:
        SettingsError: The file cannot be read, or holds no settings.
    """
    try:
        saved: JsonValue = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return AssistantSettings()
    except OSError as error:
        raise SettingsError(
            f"The settings could not be read ({error.strerror or 'the file cannot be read'}). Set them again."
        ) from error
    except (ValueError, RecursionError):
        saved = None
    return AssistantSettings.from_json(saved if isinstance(saved, dict) else {})


_SAYS_WHAT = {"provider": "The provider's name", "model": "The model's name"}


def _check_name(name: str, field: str) -> None:
    if name.startswith(("sk-", "sk_", "AIza", "gsk_", "xai-")):
        raise SettingsError("This looks like a key. Enter it as the key, where it is kept safe.", field=field)
    if len(name) > MAX_NAME_CHARACTERS or not name.isprintable() or " " in name:
        raise SettingsError(f"{_SAYS_WHAT[field]} has no spaces and at most 200 characters.", field=field)


def _check_base_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
        parts = urlsplit("")
    if not usable or len(url) > MAX_URL_CHARACTERS or not url.isprintable() or " " in url:
        raise SettingsError(
            "The server's address is no web address; it looks like http://localhost:8000/v1.", field="base_url"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise SettingsError(
            "Leave names, passwords and everything after “?” out of the server's address; "
            "enter the key as the key, where it is kept safe.",
            field="base_url",
        )
