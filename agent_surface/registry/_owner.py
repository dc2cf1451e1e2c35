"""Who may use a registry, and until when."""

from __future__ import annotations

import threading

from agent_surface.errors import RegistryClosedError, WrongThreadError


class Owner:
    """The thread that made the registry, and whether it has closed it.

    Attributes:
        thread: Identifier of the owner thread.
        closed: May be read from any thread.
    """

    __slots__ = ("closed", "thread")

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.closed = False

    def require(self, operation: str) -> None:
        """Refuse other threads.

        Raises:
            WrongThreadError: This is not the owner thread.
        """
        if threading.get_ident() != self.thread:
            raise WrongThreadError(operation)

    def require_open(self, operation: str) -> None:
        """Refuse other threads, and everybody after the end.

        Raises:
            WrongThreadError: This is not the owner thread.
            RegistryClosedError: The registry was closed.
        """
        if threading.get_ident() != self.thread:
            raise WrongThreadError(operation)
        if self.closed:
            raise RegistryClosedError(f"{operation} was called on a closed registry")
