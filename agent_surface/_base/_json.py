"""JSON values: the only thing that crosses the boundary to an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, Union

JsonValue: TypeAlias = Union[None, bool, int, float, str, "list[JsonValue]", "dict[str, JsonValue]"]
"""A mutable JSON value: what a caller hands in and what ``to_json()`` returns."""

FrozenJson: TypeAlias = Union[None, bool, int, float, str, "tuple[FrozenJson, ...]", "Mapping[str, FrozenJson]"]
"""A JSON value that nobody can change: tuples and ``MappingProxyType`` in place of lists and dicts."""

JsonSchema: TypeAlias = Mapping[str, FrozenJson]
"""A frozen JSON Schema document in the supported subset."""


def thaw_json(value: FrozenJson) -> JsonValue:
    """A fresh, mutable copy of a frozen JSON value."""
    if isinstance(value, Mapping):
        return {key: thaw_json(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [thaw_json(item) for item in value]
    return value
