"""What JSON and Python see differently: JSON has one kind of number, and arrays where Python has sets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from agent_surface._base._canonical import canonical_json
from agent_surface._base._json import JsonValue, json_pointer
from agent_surface.errors import AgentSchemaError, SchemaIssue
from agent_surface.schemas._checker import PlainSchema, SchemaChecker
from agent_surface.schemas._publish import SET_MARK


def with_whole_numbers(value: JsonValue, checker: SchemaChecker) -> JsonValue:
    """``value`` with ``1.0`` as ``1`` wherever the schema asks for an integer, for pydantic's strict mode.

    Args:
        value: Satisfies the schema of ``checker``; not changed, and returned as it is if there is nothing to do.
        checker: Knows the schema.

    Raises:
        AgentSchemaError: An integer is too large for the float that the schema asks for.
    """
    return _apply(_number, value, checker.plain, (), checker) if _needs_care(value) else value


def with_ordered_sets(value: object, checker: SchemaChecker) -> object:
    """``value`` with what was a set in Python in canonical order, so that equal sets give equal JSON.

    Args:
        value: Not changed; parts that do not satisfy the schema stay as they are.
        checker: Knows the schema, with ``SET_MARK`` where it has a set.

    Raises:
        NotJsonError: An item of a set is no JSON value.
    """
    return _apply(_ordered, cast("JsonValue", value), checker.plain, (), checker)


_Path: TypeAlias = tuple["str | int", ...]
_Conversion: TypeAlias = Callable[[JsonValue, PlainSchema, _Path], JsonValue]
_LARGEST_FLOAT: Final = int(sys.float_info.max)


def _apply(
    convert: _Conversion, value: JsonValue, schema: PlainSchema, path: _Path, checker: SchemaChecker
) -> JsonValue:
    """``value`` with ``convert`` applied to each part and the schema it satisfies, the innermost first."""
    if "$ref" in schema:
        value = _apply(convert, value, schema["$ref"], path, checker)
    for branch in schema.get("anyOf", ()):
        if checker.satisfies(value, branch):
            value = _apply(convert, value, branch, path, checker)
    if isinstance(value, dict):
        inner: Mapping[str, PlainSchema] = schema.get("properties", {})
        value = {
            name: _apply(convert, item, inner[name], (*path, name), checker) if name in inner else item
            for name, item in value.items()
        }
    elif isinstance(value, list) and "items" in schema:
        value = [_apply(convert, item, schema["items"], (*path, index), checker) for index, item in enumerate(value)]
    return convert(value, schema, path)


def _ordered(value: JsonValue, schema: PlainSchema, path: _Path) -> JsonValue:
    del path
    return sorted(value, key=canonical_json) if SET_MARK in schema and isinstance(value, list) else value


def _number(value: JsonValue, schema: PlainSchema, path: _Path) -> JsonValue:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return value
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


def _needs_care(value: JsonValue) -> bool:
    """Whether some number in ``value`` is a whole float, or too large to be a float."""
    if isinstance(value, float):
        return value.is_integer()
    if isinstance(value, int):
        return not -_LARGEST_FLOAT <= value <= _LARGEST_FLOAT
    if isinstance(value, dict):
        return any(_needs_care(item) for item in value.values() if type(item) is not str)
    if isinstance(value, list):
        return any(_needs_care(item) for item in value if type(item) is not str)
    return False
