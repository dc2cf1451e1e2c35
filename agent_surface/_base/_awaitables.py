"""Awaitables that user code made, or may have made."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from types import NoneType
from typing import Final

from typing_extensions import TypeIs


def is_awaitable(value: object) -> TypeIs[Awaitable[object]]:
    """Like ``inspect.isawaitable``, at once for what handlers return most."""
    return type(value) not in _NEVER_AWAITABLE and inspect.isawaitable(value)


def abandon(pending: object) -> None:
    """Give up something that was to be awaited and has not begun, so that it holds nothing and nobody is warned.

    Anything that cannot be closed is left alone: what is already running has an owner that ends it.
    """
    close = getattr(pending, "close", None)
    if callable(close) and hasattr(pending, "__await__"):
        close()


_NEVER_AWAITABLE: Final = frozenset({NoneType, bool, int, float, str, list, dict})
