"""The back end that the person's settings ask for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from urllib.parse import urlsplit

from pydantic import SecretStr

from agent_surface.assistant._backend import AssistantBackend
from agent_surface.assistant._command._backend import CommandBackend
from agent_surface.assistant._keys import KeyStore
from agent_surface.assistant._providers import MODEL_PROVIDERS, key_variables, provider_title
from agent_surface.assistant._pydantic_ai._backend import PydanticAIBackend
from agent_surface.assistant._settings import AssistantSettings, SettingsError

_THIS_COMPUTER = frozenset({"localhost", "127.0.0.1", "::1"})


def backend_from_settings(settings: AssistantSettings, keys: Sequence[KeyStore] = ()) -> AssistantBackend:
    """Who answers with these settings: the command language without a provider, else a model.

    No model is asked and no network is used. The key stores may wait for the system; this can be called in any thread.

    Args:
        settings: What the person chose.
        keys: Where the provider's key is looked for; the first store that has one counts.

    Raises:
        SettingsError: What is missing, and what to do about it.
    """
    if not settings.provider:
        return CommandBackend()
    if find_spec("pydantic_ai") is None:
        raise SettingsError(
            "Models need a package that is not installed. Install agent-surface-qt[assistant].", field="provider"
        )
    known = MODEL_PROVIDERS.get(settings.provider)
    key, refusal = _find_key(settings, keys)
    if key is None and refusal is not None and (known is None or known.needs_key):
        raise refusal
    if key is None and known is not None and known.needs_key:
        raise SettingsError(
            f"There is no key for {known.title}. Enter one in the assistant's settings, "
            f"or set {key_variables(known.name)[0]} before the application starts.",
            field="key",
        )
    if key is not None and _would_be_overheard(settings.base_url):
        raise SettingsError(
            "The key would be sent unencrypted. Use an address that begins with https://, or delete the key if the "
            "server needs none.",
            field="base_url",
        )
    return PydanticAIBackend(
        partial(_build, settings, key),
        service=provider_title(settings.provider),
        timeout_ms=settings.timeout_ms,
    )


def _build(settings: AssistantSettings, key: SecretStr | None) -> object:
    """In the back end's thread: loading pydantic-ai takes a second."""
    from agent_surface.assistant._pydantic_ai._models import build_model

    return build_model(settings.provider, settings.model, base_url=settings.base_url, key=key)


def _find_key(settings: AssistantSettings, keys: Sequence[KeyStore]) -> tuple[SecretStr | None, SettingsError | None]:
    """The first key there is, or why a store could not be asked: without a need for one that stops nobody."""
    refusal: SettingsError | None = None
    for store in keys:
        try:
            key = store.find_key(settings.provider)
        except SettingsError as error:
            refusal = refusal or error
            continue
        if key is not None:
            return key, None
    return None, refusal


def _would_be_overheard(base_url: str) -> bool:
    parts = urlsplit(base_url)
    return parts.scheme == "http" and parts.hostname not in _THIS_COMPUTER
