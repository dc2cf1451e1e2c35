"""Types that pydantic reads more strictly, or otherwise, than a schema in the subset can say are refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NoReturn, cast

from agent_surface._base._json import json_pointer
from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode
from agent_surface.schemas._core_schema import CoreSchema, SchemaPath, children, definitions_in, kind_of


def check_core_schema(core_schema: CoreSchema) -> bool:
    """Look at what pydantic will do, which the published schema does not show.

    Args:
        core_schema: Of a ``TypeAdapter``.

    Returns:
        Whether validators that the author wrote take part.

    Raises:
        AgentSurfaceDefinitionError: ``UNSUPPORTED_SCHEMA`` with the path of the type and a hint.
    """
    guard = _Guard(definitions_in(core_schema))
    guard.visit(core_schema, ())
    return guard.author_validates


class _Guard:
    def __init__(self, definitions: Mapping[str, CoreSchema]) -> None:
        self.author_validates = False
        self.definitions = definitions
        self._visited: set[str] = set()

    def visit(self, schema: CoreSchema, path: SchemaPath) -> None:
        kind = kind_of(schema)
        if kind == "definition-ref":
            name = str(schema["schema_ref"])
            if name not in self._visited and name in self.definitions:
                self._visited.add(name)
                self.visit(self.definitions[name], path)
            return
        hint = _REFUSED_TYPES.get(kind)
        if hint is not None:
            _refuse(path, hint)
        self._check_config(schema, path)
        check = _CHECKS.get(kind)
        if check is not None:
            check(self, schema, path)
        for child, steps in children(schema):
            self.visit(child, (*path, *steps))

    def _check_config(self, schema: CoreSchema, path: SchemaPath) -> None:
        config = cast("Mapping[str, object]", schema.get("config") or {})
        for name in ("str_min_length", "str_max_length"):
            if config.get(name):
                _refuse(path, f"{name} in the configuration is not published; put the limit on the fields")
        if config.get("str_strip_whitespace"):
            _check_stripping(schema, path)

    def members(self, schema: CoreSchema) -> Iterator[CoreSchema]:
        """The kinds of value a type can be, taken out of unions and wrappers."""
        kind = kind_of(schema)
        if kind == "definition-ref":
            yield from self.members(self.definitions[str(schema["schema_ref"])])
        elif kind in _CONTAINERS:
            yield schema
        else:
            inner = list(children(schema))
            if not inner:
                yield schema
            for child, _ in inner:
                yield from self.members(child)


_REFUSED_TYPES: Final[Mapping[str, str]] = {
    "bytes": "binary values are not supported; use text",
    "callable": "a callable is no JSON value",
    "complex": "complex numbers are not supported; use two fields",
    "counter": "open dictionaries are not supported; use a list of objects with a key field",
    "decimal": "Decimal is not supported; use int in the smallest unit, or str with a pattern",
    "deque": "deque is not supported; use list",
    "fraction": "Fraction is not supported; use two integers",
    "frozendict": "open dictionaries are not supported; use a list of objects with a key field",
    "generator": "a generator is no JSON value; use list",
    "is-instance": "an arbitrary class is no JSON value; use a model",
    "is-subclass": "a class is no JSON value",
    "json": "JSON inside text is not supported; use the type itself",
    "multi-host-url": "pydantic's URL types accept less than format uri says; use str with a validator of your own",
    "named-tuple": "tuples are not supported; use a model with named fields",
    "ordered-dict": "open dictionaries are not supported; use a list of objects with a key field",
    "time": "time is not supported; use str with a pattern",
    "timedelta": "timedelta is not supported; use an integer of milliseconds",
    "tuple": "tuples are not supported; use list, or a model with named fields",
    "url": "pydantic's URL types accept less than format uri says; use str with a validator of your own",
}
_CONTAINERS: Final = frozenset({"list", "set", "frozenset", "dict", "typed-dict", "model", "dataclass"})
_UNHASHABLE: Final = frozenset({"list", "set", "dict", "typed-dict", "any"})
# Members of these types are equal only if their JSON is: a set of them is as long as its list.
_DISTINCT_BY_JSON: Final = frozenset({"str", "int", "float", "literal", "enum"})
_DATE_BOUNDS: Final = ("le", "ge", "lt", "gt", "now_op")


def _refuse(path: SchemaPath, message: str) -> NoReturn:
    pointer = json_pointer(path)
    raise AgentSurfaceDefinitionError(
        DefinitionErrorCode.UNSUPPORTED_SCHEMA, f"at {pointer or 'the root'}: {message}", path=pointer
    )


def _check_function(guard: _Guard, schema: CoreSchema, path: SchemaPath) -> None:
    function: object = schema["function"]["function"]
    module = str(getattr(function, "__module__", ""))
    if module.startswith("pydantic."):
        hint = _PYDANTIC_FUNCTIONS.get(str(getattr(function, "__qualname__", "")).partition(".")[0])
        _refuse(path, hint or "this type of pydantic's checks more than a schema can say; use a plain type")
    guard.author_validates = True


_PYDANTIC_FUNCTIONS: Final[Mapping[str, str]] = {
    "EmailStr": "EmailStr accepts less than format email says; use str, with a validator of your own",
    "_BaseUrl": _REFUSED_TYPES["url"],
    "_BaseMultiHostUrl": _REFUSED_TYPES["url"],
}


def _note_author(guard: _Guard, schema: CoreSchema, path: SchemaPath) -> None:
    del schema, path
    guard.author_validates = True


def _check_tagged_union(guard: _Guard, schema: CoreSchema, path: SchemaPath) -> None:
    del path
    if callable(schema["discriminator"]):
        guard.author_validates = True


def _check_text(guard: _Guard, schema: CoreSchema, path: SchemaPath) -> None:
    del guard
    pattern: object = schema.get("pattern")
    if isinstance(pattern, re.Pattern) and pattern.flags & ~re.UNICODE:
        _refuse(path, "the flags of a compiled pattern cannot be published; write them out in the pattern")
    if schema.get("strip_whitespace"):
        _check_stripping(schema, path)


def _check_stripping(schema: CoreSchema, path: SchemaPath) -> None:
    """Stripping comes before the limits, so the text that is checked is not the one that was sent."""
    if any(text.get("min_length") or text.get("pattern") is not None for text in _texts(schema)):
        _refuse(path, "stripping white space changes what min_length and pattern see; use one or the other")


def _texts(schema: CoreSchema) -> Iterator[CoreSchema]:
    if kind_of(schema) == "str":
        yield schema
    for child, _ in children(schema):
        yield from _texts(child)


def _check_date(guard: _Guard, schema: CoreSchema, path: SchemaPath) -> None:
    del guard
    if any(bound in schema for bound in _DATE_BOUNDS):
        _refuse(path, "limits of a date cannot be published; check them in a validator of your own")
    if schema.get("tz_constraint") == "naive":
        _refuse(path, "a date and time always has a zone in JSON; use AwareDatetime or datetime")


def _check_float(guard: _Guard, schema: CoreSchema, path: SchemaPath) -> None:
    del guard
    step: object = schema.get("multiple_of")
    if isinstance(step, float) and not step.is_integer():
        _refuse(path, "multiples of a fraction are not exact; use an integer in a smaller unit")


def _check_set(guard: _Guard, schema: CoreSchema, path: SchemaPath) -> None:
    members = list(guard.members(schema.get("items_schema", {"type": "any"})))
    kinds = {kind_of(member) for member in members}
    if kinds & _UNHASHABLE or any(_is_unhashable_class(member) for member in members):
        _refuse(path, "the items of a set have to be hashable; use list, or make the item frozen")
    if schema.get("min_length", 0) > 1 and not kinds <= _DISTINCT_BY_JSON:
        _refuse(path, "items that differ in JSON may be equal here, so min_length cannot be published; use list")


def _is_unhashable_class(schema: CoreSchema) -> bool:
    return kind_of(schema) in {"model", "dataclass"} and getattr(schema["cls"], "__hash__", None) is None


def _check_dict(guard: _Guard, schema: CoreSchema, path: SchemaPath) -> None:
    del guard
    keys = cast("CoreSchema", schema.get("keys_schema", {"type": "any"}))
    if kind_of(keys) not in {"str", "any"} or keys.keys() & {"pattern", "min_length", "max_length"}:
        _refuse(path, "the keys of an object are plain text; use a list of objects with a key field")


def _check_fields(guard: _Guard, schema: CoreSchema, path: SchemaPath) -> None:
    del guard
    fields = cast("Mapping[str, CoreSchema] | list[CoreSchema]", schema["fields"])
    named = fields.items() if isinstance(fields, Mapping) else [(str(field["name"]), field) for field in fields]
    for name, field in named:
        if isinstance(field.get("validation_alias"), list):
            _refuse((*path, "properties", name), "a field has one name in JSON; use a plain alias")


def _check_class(guard: _Guard, schema: CoreSchema, path: SchemaPath) -> None:
    del path
    if schema.get("custom_init") or schema.get("post_init"):
        guard.author_validates = True


_CHECKS: Final[Mapping[str, Callable[[_Guard, CoreSchema, SchemaPath], None]]] = {
    "custom-error": _note_author,
    "dataclass": _check_class,
    "dataclass-args": _check_fields,
    "date": _check_date,
    "datetime": _check_date,
    "dict": _check_dict,
    "float": _check_float,
    "frozenset": _check_set,
    "function-after": _check_function,
    "function-before": _check_function,
    "function-plain": _check_function,
    "function-wrap": _check_function,
    "model": _check_class,
    "model-fields": _check_fields,
    "set": _check_set,
    "str": _check_text,
    "tagged-union": _check_tagged_union,
    "typed-dict": _check_fields,
}
