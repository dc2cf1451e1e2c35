"""Numbers as pydantic's strict mode wants them: JSON has one kind of number, Python has two."""

from __future__ import annotations

import sys
from typing import Any, Final, cast

from agent_surface._base._json import JsonValue, json_pointer
from agent_surface.errors import AgentSchemaError, SchemaIssue
from agent_surface.schemas._checker import PlainSchema, SchemaChecker


def with_whole_numbers(value: JsonValue, checker: SchemaChecker) -> JsonValue:
    """``value`` with ``1.0`` as ``1`` wherever the schema asks for an integer; ``value`` itself if there is no such.

    Args:
        value: Satisfies the schema of ``checker``; not changed.
        checker: Knows the schema.

    Raises:
        AgentSchemaError: An integer is too large for the float that the schema asks for.
    """
    return _Conversion(checker).apply(value, checker.plain, ()) if _needs_care(value) else value


_LARGEST_FLOAT: Final = int(sys.float_info.max)


def _needs_care(value: JsonValue) -> bool:
    kind = type(value)
    if kind is float:
        return cast("float", value).is_integer()
    if kind is int:
        return not -_LARGEST_FLOAT <= cast("int", value) <= _LARGEST_FLOAT
    if kind is dict:
        return any(
            [_needs_care(item) for item in cast("dict[str, JsonValue]", value).values() if type(item) is not str]
        )
    if kind is list:
        return any([_needs_care(item) for item in cast("list[JsonValue]", value) if type(item) is not str])
    return False


class _Conversion:
    def __init__(self, checker: SchemaChecker) -> None:
        self._checker = checker

    def apply(self, value: JsonValue, schema: PlainSchema, path: tuple[str | int, ...]) -> JsonValue:
        if "$ref" in schema:
            value = self.apply(value, schema["$ref"], path)
        for branch in schema.get("anyOf", ()):
            if self._checker.satisfies(value, branch):
                value = self.apply(value, branch, path)
        if isinstance(value, dict):
            properties: dict[str, PlainSchema] = schema.get("properties", {})
            return {
                name: self.apply(item, properties[name], (*path, name)) if name in properties else item
                for name, item in value.items()
            }
        if isinstance(value, list):
            items: PlainSchema | None = schema.get("items")
            return value if items is None else [self.apply(item, items, (*path, i)) for i, item in enumerate(value)]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return _number(value, schema, path)
        return value


def _number(value: float, schema: PlainSchema, path: tuple[str | int, ...]) -> int | float:
    listed: list[Any] = [schema["const"]] if "const" in schema else schema.get("enum", [])
    for candidate in listed:
        if isinstance(candidate, (int, float)) and not isinstance(candidate, bool) and candidate == value:
            return candidate
    names = schema.get("type", ())
    types = {names} if isinstance(names, str) else set(names)
    if "integer" in types and "number" not in types and isinstance(value, float):
        return int(value)
    if "number" in types and isinstance(value, int) and not -_LARGEST_FLOAT <= value <= _LARGEST_FLOAT:
        raise AgentSchemaError([SchemaIssue(path=json_pointer(path), message="must be a number of ordinary size")])
    return value
