"""The subset of JSON Schema that model providers handle reliably. Everything else is refused, with its path."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NoReturn, cast
from urllib.parse import unquote

from agent_surface._base._json import JsonSchema, find_json_problem, json_bytes, json_pointer
from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode

MAX_SCHEMA_DEPTH: Final = 8
"""How many schemas may contain each other, the root included and a ``$ref`` counting as its target."""

MAX_SCHEMA_BYTES: Final = 16_384
"""How large a schema may be, in UTF-8 bytes of its compact form."""

FORMATS: Final = frozenset({"date-time", "date", "uuid", "email", "uri"})
"""The values of ``format`` that are supported, and checked."""


def check_schema_subset(
    schema: Mapping[str, object], *, max_depth: int = MAX_SCHEMA_DEPTH, max_bytes: int = MAX_SCHEMA_BYTES
) -> None:
    """Refuse a schema that says anything outside the supported subset.

    Args:
        schema: A JSON Schema document, mutable or frozen.
        max_depth: How many schemas may contain each other, the root included.
        max_bytes: How large the schema may be, in UTF-8 bytes of its compact form.

    Raises:
        AgentSurfaceDefinitionError: ``UNSUPPORTED_SCHEMA`` with the JSON Pointer of what is not supported.
    """
    problem = find_json_problem(schema, frozen=True)
    if problem is not None:
        _refuse(problem.path, f"a schema has to be a JSON value; found {problem.reason}")
    size = json_bytes(cast("JsonSchema", schema))
    if size > max_bytes:
        _refuse("", f"the schema has {size} bytes; use at most {max_bytes}")
    _Walk(schema, max_depth).run()


def resolve_definition(schema: Mapping[str, object], reference: object) -> str | None:
    """The name under the root's ``$defs`` that ``reference`` points to, or ``None``."""
    if not isinstance(reference, str) or not reference.startswith(_DEFS_PREFIX):
        return None
    name = unquote(reference.removeprefix(_DEFS_PREFIX))
    if "/" in name:
        return None
    name = name.replace("~1", "/").replace("~0", "~")
    definitions = schema.get("$defs")
    return name if isinstance(definitions, Mapping) and name in definitions else None


def subschemas(schema: Mapping[str, object]) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, object]]]:
    """The schemas directly inside ``schema`` with the path that leads to each, those under ``$defs`` left out."""
    properties = schema.get("properties")
    if properties is not None:
        for name, inner in cast("Mapping[str, Mapping[str, object]]", properties).items():
            yield ("properties", name), inner
    items = schema.get("items")
    if items is not None:
        yield ("items",), cast("Mapping[str, object]", items)
    branches = schema.get("anyOf")
    if branches is not None:
        for index, inner in enumerate(cast("list[Mapping[str, object]]", branches)):
            yield ("anyOf", index), inner


_DEFS_PREFIX: Final = "#/$defs/"
_TYPES: Final = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_Path = tuple["str | int", ...]


class _Walk:
    """One pass over a schema: checks every keyword and measures how deep it nests."""

    def __init__(self, schema: Mapping[str, object], max_depth: int) -> None:
        self._schema = schema
        self._max_depth = max_depth
        self._depth_of: dict[str, int] = {}
        self._open: list[str] = []

    def run(self) -> None:
        depth = self._depth(self._schema, ())
        definitions = cast("Mapping[str, object]", self._schema.get("$defs", {}))
        for name in definitions:
            depth = max(depth, self._definition_depth(name, ("$defs", name)))
        # Nesting along one path is refused where it happens; through several references only the sum shows it.
        if depth > self._max_depth:
            _refuse("", f"schemas are nested {depth} deep; use at most {self._max_depth}")

    def _depth(self, schema: object, path: _Path, level: int = 1) -> int:
        if not isinstance(schema, Mapping):
            _refuse(json_pointer(path), "a schema has to be an object; true and false are not supported")
        schema = cast("Mapping[str, object]", schema)
        if level > self._max_depth:
            _refuse(json_pointer(path), f"schemas are nested deeper than {self._max_depth}")
        for keyword, value in schema.items():
            check = _KEYWORDS.get(keyword)
            here = (*path, keyword)
            if check is None or (keyword == "$defs" and path):
                _refuse(json_pointer(here), _UNSUPPORTED.get(keyword, f"the keyword {keyword[:40]!r} is not supported"))
            expected = check(value)
            if expected is not None:
                _refuse(json_pointer(here), f"has to be {expected}")
        inner = [self._depth(child, (*path, *steps), level + 1) for steps, child in subschemas(schema)]
        depth = 1 + max(inner, default=0)
        if "$ref" in schema:
            name = resolve_definition(self._schema, schema["$ref"])
            if name is None:
                _refuse(json_pointer((*path, "$ref")), "only references to #/$defs/<name> of this schema are supported")
            depth = max(depth, self._definition_depth(name, (*path, "$ref")))
        return depth

    def _definition_depth(self, name: str, path: _Path) -> int:
        if name in self._open:
            _refuse(json_pointer(path), "a schema that refers to itself is not supported")
        if len(self._open) > self._max_depth:
            _refuse(json_pointer(path), f"references are chained deeper than {self._max_depth}")
        if name not in self._depth_of:
            self._open.append(name)
            definition = cast("Mapping[str, object]", self._schema["$defs"])[name]
            self._depth_of[name] = self._depth(definition, ("$defs", name))
            self._open.pop()
        return self._depth_of[name]


def _refuse(path: str, message: str) -> NoReturn:
    raise AgentSurfaceDefinitionError(
        DefinitionErrorCode.UNSUPPORTED_SCHEMA, f"at {path or 'the root'}: {message}", path=path
    )


# Each check returns what the keyword's value has to be, or None when it is that.


def _type(value: object) -> str | None:
    if isinstance(value, str):
        return None if value in _TYPES else "one of the seven JSON types"
    names = list(cast("list[object]", value)) if isinstance(value, (list, tuple)) else []
    if names and all(isinstance(name, str) and name in _TYPES for name in names) and len(set(names)) == len(names):
        return None
    return "a JSON type or a list of different ones"


def _values(value: object) -> str | None:
    return None if isinstance(value, (list, tuple)) and value else "a list of at least one value"


def _any_list(value: object) -> str | None:
    return None if isinstance(value, (list, tuple)) else "a list"


def _anything(value: object) -> str | None:
    del value
    return None


def _schema_map(value: object) -> str | None:
    return None if isinstance(value, Mapping) else "an object of schemas"


def _names(value: object) -> str | None:
    names = list(cast("list[object]", value)) if isinstance(value, (list, tuple)) else [None]
    if all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
        return None
    return "a list of different property names"


def _boolean(value: object) -> str | None:
    return None if isinstance(value, bool) else "true or false"


def _text(value: object) -> str | None:
    return None if isinstance(value, str) else "text"


def _count(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return None
    return "a whole number, not negative"


def _number(value: object) -> str | None:
    return None if isinstance(value, (int, float)) and not isinstance(value, bool) else "a number"


def _positive(value: object) -> str | None:
    return None if _number(value) is None and cast("float", value) > 0 else "a number greater than 0"


def _pattern(value: object) -> str | None:
    if not isinstance(value, str):
        return "text"
    with warnings.catch_warnings():
        # A FutureWarning names syntax that other engines read differently, such as [[:alpha:]].
        warnings.simplefilter("error")
        try:
            re.compile(value)
        except (re.error, OverflowError, RecursionError, Warning):
            return "a regular expression that Python's re module can read"
    return None


def _format(value: object) -> str | None:
    return None if isinstance(value, str) and value in FORMATS else f"one of {', '.join(sorted(FORMATS))}"


def _single_schema(value: object) -> str | None:
    return None if isinstance(value, Mapping) else "one schema"


_KEYWORDS: Final[Mapping[str, Callable[[object], str | None]]] = {
    "$defs": _schema_map,
    "$id": _text,
    "$ref": _text,
    "$schema": _text,
    "additionalProperties": _boolean,
    "anyOf": _values,
    "const": _anything,
    "default": _anything,
    "deprecated": _boolean,
    "description": _text,
    "enum": _values,
    "examples": _any_list,
    "exclusiveMaximum": _number,
    "exclusiveMinimum": _number,
    "format": _format,
    "items": _single_schema,
    "maxItems": _count,
    "maxLength": _count,
    "maximum": _number,
    "minItems": _count,
    "minLength": _count,
    "minimum": _number,
    "multipleOf": _positive,
    "pattern": _pattern,
    "properties": _schema_map,
    "required": _names,
    "title": _text,
    "type": _type,
    "uniqueItems": _boolean,
}

_UNSUPPORTED: Final[Mapping[str, str]] = {
    "$defs": "definitions belong to the root of the schema",
    "allOf": "allOf is not supported; write the properties in one schema",
    "oneOf": "oneOf is not supported; use anyOf, with a const tag in each branch",
    "patternProperties": "open dictionaries are not supported; use a list of objects with a key property",
    "prefixItems": "tuples are not supported; use an object with named properties",
    "propertyNames": "open dictionaries are not supported; use a list of objects with a key property",
}
