"""Listening to something that outlives the listener."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject
from shiboken6 import isValid

__all__ = ["while_alive"]

E = TypeVar("E")


def while_alive(owner: QObject, method: Callable[[E], None]) -> Callable[[E], None]:
    """A listener that what outlives ``owner`` may keep: it holds nothing, and is silent once the C++ side is gone.

    Args:
        owner: Whose method it is.
        method: A bound method of ``owner``.
    """
    weak_owner, weak_method = weakref.ref(owner), weakref.WeakMethod(method)

    def hear(event: E) -> None:
        alive, bound = weak_owner(), weak_method()
        if alive is not None and bound is not None and isValid(alive):
            bound(event)

    return hear
