"""Models of pydantic-ai, made from what the person chose."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from pydantic import SecretStr
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class

from agent_surface.assistant._providers import COMPATIBLE


def build_model(provider: str, model: str, *, base_url: str, key: SecretStr | None) -> Model:
    """The model of a provider. Uses no network.

    Raises:
        ImportError: The provider's package is not installed.
        UserError: pydantic-ai knows no such provider, or misses a key.
    """
    secret = None if key is None else key.get_secret_value()
    if provider == COMPATIBLE:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        return OpenAIChatModel(model, provider=OpenAICompatibleProvider(COMPATIBLE, base_url=base_url, api_key=secret))
    if provider == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        return OllamaModel(
            model, provider=OllamaProvider(base_url=base_url or "http://localhost:11434/v1", api_key=secret)
        )

    def with_key(name: str) -> Provider[object]:
        if secret is None:
            return infer_provider(name)
        # Each provider's constructor takes its key under this name; the base class declares none.
        return cast("Callable[..., Provider[object]]", infer_provider_class(name))(api_key=secret)

    return infer_model(f"{provider}:{model}", with_key)
