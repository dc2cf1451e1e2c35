"""Awaitables that user code made and nobody will await."""

from __future__ import annotations


def abandon(pending: object) -> None:
    """Give up something that was to be awaited and has not begun, so that it holds nothing and nobody is warned.

    Anything that cannot be closed is left alone: what is already running has an owner that ends it.
    """
    close = getattr(pending, "close", None)
    if callable(close) and hasattr(pending, "__await__"):
        close()
