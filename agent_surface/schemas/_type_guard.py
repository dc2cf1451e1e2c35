"""Types that pydantic reads more strictly, or otherwise, than a schema in the subset can say are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn, cast

from agent_surface._base._json import json_pointer
from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode


def check_core_schema(core_schema: Mapping[str, Any]) -> bool:
    """Look at what pydantic will do, which the published schema does not show.

    Args:
        core_schema: Of a ``TypeAdapter``.

    Returns:
        Whether validators that the author wrote take part.

    Raises:
        AgentSurfaceDefinitionError: ``UNSUPPORTED_SCHEMA`` with the path of the type and a hint.
    """
    guard = _Guard()
    guard.visit(core_schema, ())
    return guard.author_validates


_Path = tuple["str | int", ...]
_Core = Mapping[str, Any]

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
_BOUNDS: Final = ("le", "ge", "lt", "gt")
_UNHASHABLE: Final = frozenset({"list", "set", "dict", "typed-dict", "any", "deque"})
# Members that are equal only if their JSON is: a set of them is as long as its list.
_DISTINCT_BY_JSON: Final = frozenset({"str", "int", "float", "literal", "enum", "bool"})
_CONFIG_LIMITS: Final = ("str_min_length", "str_max_length")


class _Guard:
    """Walks a core schema along what is run in strict JSON mode."""

    def __init__(self) -> None:
        self.author_validates = False
        self._definitions: dict[str, _Core] = {}
        self._visited: set[str] = set()

    def visit(self, schema: _Core, path: _Path) -> None:
        kind = str(schema.get("type"))
        hint = _REFUSED_TYPES.get(kind)
        if hint is not None:
            _refuse(path, hint)
        check = getattr(self, f"_check_{kind.replace('-', '_')}", None)
        if check is not None:
            check(schema, path)
        if kind.startswith("function-"):
            self._check_function(schema, path)
        config = schema.get("config") or {}
        for name in _CONFIG_LIMITS:
            if config.get(name):
                _refuse(path, f"{name} in the configuration is not published; put the limit on the fields")
        if config.get("str_strip_whitespace"):
            self._check_stripping(schema, path)
        for child, steps in self._children(schema, kind):
            self.visit(child, (*path, *steps))

    def _children(self, schema: _Core, kind: str) -> Iterator[tuple[_Core, _Path]]:
        if kind == "definitions":
            for definition in schema["definitions"]:
                self._definitions[definition["ref"]] = definition
            yield schema["schema"], ()
        elif kind == "definition-ref":
            name = schema["schema_ref"]
            if name not in self._visited and name in self._definitions:
                self._visited.add(name)
                yield self._definitions[name], ()
        elif kind == "lax-or-strict":
            yield schema["strict_schema"], ()
        elif kind == "json-or-python":
            yield schema["json_schema"], ()
        elif kind == "chain":
            for step in schema["steps"]:
                yield step, ()
        elif kind in {"union", "tagged-union"}:
            choices = schema["choices"]
            members = choices.values() if isinstance(choices, Mapping) else choices
            for index, member in enumerate(members):
                yield (member[0] if isinstance(member, tuple) else member), ("anyOf", index)
        elif kind in {"model-fields", "typed-dict"}:
            for name, field in schema["fields"].items():
                yield field["schema"], ("properties", _published_name(field, name))
        elif kind == "dataclass-args":
            for field in schema["fields"]:
                yield field["schema"], ("properties", _published_name(field, field["name"]))
        elif kind in {"list", "set", "frozenset"}:
            if "items_schema" in schema:
                yield schema["items_schema"], ("items",)
        elif kind == "dict":
            for key in ("keys_schema", "values_schema"):
                if key in schema:
                    yield schema[key], ("additionalProperties",)
        elif "schema" in schema:
            yield schema["schema"], ()

    def _check_function(self, schema: _Core, path: _Path) -> None:
        function = schema["function"]["function"]
        module = str(getattr(function, "__module__", "") or "")
        if module == "pydantic" or module.startswith("pydantic."):
            if "email" in getattr(function, "__qualname__", "").lower():
                _refuse(path, "EmailStr accepts less than format email says; use str, with a validator of your own")
            _refuse(path, "this type of pydantic's checks more than a schema can say; use a plain type")
        self.author_validates = True

    def _check_custom_error(self, schema: _Core, path: _Path) -> None:
        del schema, path
        self.author_validates = True

    def _check_tagged_union(self, schema: _Core, path: _Path) -> None:
        del path
        if callable(schema["discriminator"]):
            self.author_validates = True

    def _check_str(self, schema: _Core, path: _Path) -> None:
        pattern = schema.get("pattern")
        if isinstance(pattern, re.Pattern) and pattern.flags & ~re.UNICODE:
            _refuse(path, "the flags of a compiled pattern cannot be published; write them out in the pattern")
        if schema.get("strip_whitespace"):
            self._check_stripping(schema, path)

    def _check_stripping(self, schema: _Core, path: _Path) -> None:
        """Stripping comes before the limits, so the text that is checked is not the one that was sent."""
        if any(_limited_text(inner) for inner in _texts(schema)):
            _refuse(path, "stripping white space changes what min_length and pattern see; use one or the other")

    def _check_date(self, schema: _Core, path: _Path) -> None:
        if any(bound in schema for bound in (*_BOUNDS, "now_op")):
            _refuse(path, "limits of a date cannot be published; check them in a validator of your own")

    def _check_datetime(self, schema: _Core, path: _Path) -> None:
        self._check_date(schema, path)
        if schema.get("tz_constraint") == "naive":
            _refuse(path, "a date and time always has a zone in JSON; use AwareDatetime or datetime")

    def _check_float(self, schema: _Core, path: _Path) -> None:
        step = schema.get("multiple_of")
        if isinstance(step, float) and not step.is_integer():
            _refuse(path, "multiples of a fraction are not exact; use an integer in a smaller unit")

    def _check_set(self, schema: _Core, path: _Path) -> None:
        items = _unwrapped(schema.get("items_schema", {"type": "any"}), self._definitions)
        kinds = {str(item.get("type")) for item in items}
        unhashable = kinds & _UNHASHABLE or any(_is_unhashable_class(item) for item in items)
        if unhashable:
            _refuse(path, "the items of a set have to be hashable; use list, or make the item frozen")
        if schema.get("min_length", 0) > 1 and not kinds <= _DISTINCT_BY_JSON:
            _refuse(path, "items that differ in JSON may be equal here, so min_length cannot be published; use list")

    _check_frozenset = _check_set

    def _check_dict(self, schema: _Core, path: _Path) -> None:
        keys = schema.get("keys_schema", {"type": "any"})
        if keys.get("type") not in {"str", "any"} or any(name in keys for name in ("pattern", "min_length")):
            _refuse(path, "the keys of an object are plain text; use a list of objects with a key field")

    def _check_model_fields(self, schema: _Core, path: _Path) -> None:
        for name, field in schema["fields"].items():
            if isinstance(field.get("validation_alias"), list):
                _refuse((*path, "properties", name), "a field has one name in JSON; use a plain alias")

    _check_typed_dict = _check_model_fields

    def _check_model(self, schema: _Core, path: _Path) -> None:
        if schema.get("custom_init"):
            self.author_validates = True

    def _check_dataclass(self, schema: _Core, path: _Path) -> None:
        del path
        if schema.get("post_init"):
            self.author_validates = True


def _refuse(path: _Path, message: str) -> NoReturn:
    pointer = json_pointer(path)
    raise AgentSurfaceDefinitionError(
        DefinitionErrorCode.UNSUPPORTED_SCHEMA, f"at {pointer or 'the root'}: {message}", path=pointer
    )


def _published_name(field: _Core, name: str) -> str:
    alias = field.get("validation_alias")
    return alias if isinstance(alias, str) else name


def _limited_text(schema: _Core) -> bool:
    return bool(schema.get("min_length")) or schema.get("pattern") is not None


def _texts(schema: object) -> Iterator[_Core]:
    """Every ``str`` inside a core schema."""
    if isinstance(schema, Mapping):
        node = cast("_Core", schema)
        if node.get("type") == "str":
            yield node
        for key, value in node.items():
            if key not in {"metadata", "serialization", "config"}:
                yield from _texts(value)
    elif isinstance(schema, (list, tuple)):
        for item in cast("list[object]", schema):
            yield from _texts(item)


def _unwrapped(schema: _Core, definitions: Mapping[str, _Core]) -> list[_Core]:
    """The members of unions and optional types, without wrappers."""
    kind = schema.get("type")
    if kind == "definition-ref":
        target = definitions.get(schema["schema_ref"])
        return [] if target is None else _unwrapped(target, definitions)
    if kind in {"union", "tagged-union"}:
        choices = schema["choices"]
        members = choices.values() if isinstance(choices, Mapping) else choices
        return [
            inner
            for member in members
            for inner in _unwrapped(member[0] if isinstance(member, tuple) else member, definitions)
        ]
    if kind == "nullable":
        return [{"type": "none"}, *_unwrapped(schema["schema"], definitions)]
    if kind == "lax-or-strict":
        return _unwrapped(schema["strict_schema"], definitions)
    if kind == "json-or-python":
        return _unwrapped(schema["json_schema"], definitions)
    if kind in {"model", "dataclass"} or "schema" not in schema:
        return [schema]
    return _unwrapped(schema["schema"], definitions)


def _is_unhashable_class(schema: _Core) -> bool:
    return schema.get("type") in {"model", "dataclass"} and getattr(schema["cls"], "__hash__", None) is None
