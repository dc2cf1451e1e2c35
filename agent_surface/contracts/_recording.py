"""A seam for whoever has to know of every declaration that is made; off unless somebody listens."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from agent_surface._manifest import DeclarationRecord

DeclarationListener: TypeAlias = Callable[[DeclarationRecord], None]

# A declaration is made by the import of its module, to which nobody can hand a collaborator.
_LISTENER: ContextVar[DeclarationListener | None] = ContextVar("agent_surface_declaration_listener", default=None)


@contextmanager
def listen_to_declarations(listener: DeclarationListener) -> Generator[None]:
    """Tell ``listener`` of every declaration made inside the block, in this context, in order.

    Args:
        listener: Called with the record while the ``define_`` function is still running.
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def announce_declaration(record: DeclarationRecord) -> None:
    """Called by every ``define_`` function when its declaration is sealed."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(record)
