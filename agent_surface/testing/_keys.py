"""Keys in memory."""

from __future__ import annotations

from pydantic import SecretStr


class MemoryKeys:
    """A :class:`~agent_surface.assistant.KeyStore` that forgets everything at the end; for tests only."""

    writable = True

    def __init__(self) -> None:
        self._keys: dict[str, SecretStr] = {}

    def find_key(self, provider: str) -> SecretStr | None:
        """The key of a provider."""
        return self._keys.get(provider)

    def save_key(self, provider: str, key: SecretStr) -> None:
        """Keep ``key`` in the place of the one that was there."""
        self._keys[provider] = key

    def delete_key(self, provider: str) -> None:
        """Forget the key of a provider."""
        self._keys.pop(provider, None)
