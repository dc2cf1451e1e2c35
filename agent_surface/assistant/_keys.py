"""Where keys are kept: in the system's keyring or the environment, never in a file of ours and never in a log."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Protocol

from pydantic import SecretStr

from agent_surface.assistant._providers import key_variables
from agent_surface.assistant._settings import SettingsError

_log = logging.getLogger(__name__)


class KeyStore(Protocol):
    """Keys of model providers, one for each.

    A key is a ``SecretStr``: it does not show itself when it is printed or logged. A store may wait for the system, so
    a dock asks it in a thread of its own.
    """

    @property
    def writable(self) -> bool:
        """Whether a key can be saved here."""
        ...

    def find_key(self, provider: str) -> SecretStr | None:
        """The key of a provider.

        Raises:
            SettingsError: The store cannot be asked.
        """
        ...

    def save_key(self, provider: str, key: SecretStr) -> None:
        """Keep ``key`` in the place of the one that was there.

        Raises:
            SettingsError: It cannot be kept here.
        """
        ...

    def delete_key(self, provider: str) -> None:
        """Forget the key of a provider; nothing when there is none.

        Raises:
            SettingsError: It cannot be deleted here.
        """
        ...


class EnvironmentKeys:
    """Keys in environment variables, named as the providers name them; nothing can be saved.

    Args:
        environment: The variables; those of the process when absent.
    """

    writable = False

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment

    def find_key(self, provider: str) -> SecretStr | None:
        """The first of the provider's variables that is set and not blank."""
        for variable in key_variables(provider):
            key = self._environment.get(variable, "").strip()
            if key:
                return SecretStr(key)
        return None

    def save_key(self, provider: str, key: SecretStr) -> None:  # noqa: ARG002  there is nowhere to keep it
        """Refused.

        Raises:
            SettingsError: Always.
        """
        raise self._refusal(provider)

    def delete_key(self, provider: str) -> None:
        """Refused.

        Raises:
            SettingsError: Always.
        """
        raise self._refusal(provider)

    def _refusal(self, provider: str) -> SettingsError:
        return SettingsError(
            f"Keys in the environment cannot be changed from here; set {key_variables(provider)[0]} before the "
            "application starts.",
            field="key",
        )


class _Keyring(Protocol):
    """The part of the package ``keyring`` used here."""

    def get_password(self, service_name: str, username: str) -> str | None: ...

    def set_password(self, service_name: str, username: str, password: str) -> None: ...

    def delete_password(self, service_name: str, username: str) -> None: ...


class KeyringKeys:
    """Keys in the keyring of the system. The package ``keyring`` is loaded when a key is first asked for.

    Args:
        service: Under which name of the application the keys are kept.
    """

    writable = True

    def __init__(self, service: str) -> None:
        self._service = service

    def find_key(self, provider: str) -> SecretStr | None:
        """The key of a provider.

        Raises:
            SettingsError: There is no keyring, or it does not open.
        """
        try:
            key = _keyring().get_password(self._service, provider)
        except SettingsError:
            raise
        except Exception as error:  # noqa: BLE001  back ends of a keyring are foreign code
            raise self._refusal("asked", provider, error) from None
        return SecretStr(key) if key and key.strip() else None

    def save_key(self, provider: str, key: SecretStr) -> None:
        """Keep a key.

        Raises:
            SettingsError: The key is blank, or there is no keyring, or it does not open.
        """
        text = key.get_secret_value().strip()
        if not text:
            raise SettingsError("Enter the key, or delete the one that is kept.", field="key")
        try:
            _keyring().set_password(self._service, provider, text)
        except SettingsError:
            raise
        except Exception as error:  # noqa: BLE001  back ends of a keyring are foreign code
            raise self._refusal("written to", provider, error) from None

    def delete_key(self, provider: str) -> None:
        """Forget a key.

        Raises:
            SettingsError: There is no keyring, or it does not open.
        """
        if self.find_key(provider) is None:
            return
        try:
            _keyring().delete_password(self._service, provider)
        except Exception as error:  # noqa: BLE001  back ends of a keyring are foreign code
            raise self._refusal("written to", provider, error) from None

    def _refusal(self, deed: str, provider: str, error: Exception) -> SettingsError:
        # The kind of the error and not its text: what a keyring's back end puts into that is unknown.
        _log.info("the keyring could not be %s: %s", deed, type(error).__name__)
        return SettingsError(
            f"The system's keyring could not be {deed}. Unlock it and try again, or set {key_variables(provider)[0]} "
            "before the application starts.",
            field="key",
        )


def _keyring() -> _Keyring:
    try:
        import keyring
    except ImportError:
        raise SettingsError(
            "Keys can be kept only with the package keyring. Install agent-surface-qt[assistant].", field="key"
        ) from None
    return keyring
