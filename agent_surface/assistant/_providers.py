"""Who provides models, and under which names their keys are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

COMPATIBLE = "openai-compatible"
"""Any server that speaks OpenAI's chat completions at an address the person gives."""

OWN_SERVERS = frozenset({COMPATIBLE, "ollama"})
"""Providers that may be at an address of the person's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProvider:
    """Somebody who provides models.

    Attributes:
        name: What pydantic-ai calls it, or ``openai-compatible``.
        title: For people.
        key_variables: Environment variables its key is looked for in, first one first.
        needs_key: Whether nothing works without one.
    """

    name: str
    title: str
    key_variables: tuple[str, ...]
    needs_key: bool = True


MODEL_PROVIDERS: Mapping[str, ModelProvider] = MappingProxyType(
    {
        provider.name: provider
        for provider in (
            ModelProvider(
                name="anthropic",
                title="Anthropic",
                key_variables=("ANTHROPIC_API_KEY",),
            ),
            ModelProvider(
                name="google",
                title="Google",
                key_variables=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
            ),
            ModelProvider(
                name="groq",
                title="Groq",
                key_variables=("GROQ_API_KEY",),
            ),
            ModelProvider(
                name="mistral",
                title="Mistral",
                key_variables=("MISTRAL_API_KEY",),
            ),
            ModelProvider(
                name="ollama",
                title="Ollama (on this computer)",
                key_variables=("OLLAMA_API_KEY",),
                needs_key=False,
            ),
            ModelProvider(name="openai", title="OpenAI", key_variables=("OPENAI_API_KEY",)),
            ModelProvider(
                name=COMPATIBLE,
                title="OpenAI-compatible server",
                key_variables=("OPENAI_COMPATIBLE_API_KEY",),
                needs_key=False,
            ),
            ModelProvider(name="openrouter", title="OpenRouter", key_variables=("OPENROUTER_API_KEY",)),
        )
    }
)
"""The providers a form offers, by name. pydantic-ai knows more; theirs can be written by hand."""


def provider_title(name: str) -> str:
    """The provider's name for people."""
    known = MODEL_PROVIDERS.get(name)
    return name if known is None else known.title


def key_variables(name: str) -> tuple[str, ...]:
    """The environment variables the provider's key is looked for in."""
    known = MODEL_PROVIDERS.get(name)
    return (f"{name.upper().replace('-', '_')}_API_KEY",) if known is None else known.key_variables
