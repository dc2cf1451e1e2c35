"""When two JSON values are the same value: ``1`` and ``1.0`` are, ``1`` and ``true`` are not."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import cast

from agent_surface._base._json import JsonValue


def all_different(values: Sequence[object]) -> bool:
    """Whether no JSON value occurs twice, in one pass: comparing each with each takes minutes for a large array."""
    return len({_key(cast("JsonValue", value)) for value in values}) == len(values)


def _key(value: JsonValue) -> Hashable:
    if isinstance(value, bool):
        return bool, value
    if isinstance(value, list):
        return list, tuple([_key(item) for item in value])
    if isinstance(value, dict):
        return dict, frozenset([(name, _key(item)) for name, item in value.items()])
    return value
