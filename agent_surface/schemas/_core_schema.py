"""Walking pydantic's core schemas along what runs in strict JSON mode, with the published path of each part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

CoreSchema: TypeAlias = Mapping[str, Any]
"""One node of pydantic's description of what it does; its ``type`` says which kind."""

SchemaPath: TypeAlias = tuple["str | int", ...]
"""Where a part stands in the published JSON Schema."""


def children(schema: CoreSchema) -> Iterator[tuple[CoreSchema, SchemaPath]]:
    """The schemas directly inside ``schema`` with their paths relative to it; references are not followed."""
    find = _CHILDREN.get(kind_of(schema), _wrapped)
    return iter(find(schema))


def kind_of(schema: CoreSchema) -> str:
    """The kind of a node, such as ``str`` or ``model-fields``."""
    return str(schema.get("type"))


def published_name(field: CoreSchema, name: str) -> str:
    """The name a field has in JSON."""
    alias = field.get("validation_alias")
    return alias if isinstance(alias, str) else name


def definitions_in(schema: CoreSchema) -> dict[str, CoreSchema]:
    """Every definition that a reference inside ``schema`` may mean, by its name."""
    if kind_of(schema) != "definitions":
        return {}
    return {str(definition["ref"]): definition for definition in _nodes(schema["definitions"])}


_Children: TypeAlias = Iterable[tuple[CoreSchema, SchemaPath]]


def _nodes(value: object) -> list[CoreSchema]:
    return cast("list[CoreSchema]", value)


def _wrapped(schema: CoreSchema) -> _Children:
    return [(schema["schema"], ())] if "schema" in schema else []


def _strict(schema: CoreSchema) -> _Children:
    return [(schema["strict_schema"], ())]


def _json(schema: CoreSchema) -> _Children:
    return [(schema["json_schema"], ())]


def _steps(schema: CoreSchema) -> _Children:
    return [(step, ()) for step in _nodes(schema["steps"])]


def _choices(schema: CoreSchema) -> _Children:
    # A choice of a plain union may come with a label.
    members = [cast("object", member) for member in schema["choices"]]
    plain = [cast("tuple[object, ...]", member)[0] if isinstance(member, tuple) else member for member in members]
    return [(cast("CoreSchema", member), ("anyOf", index)) for index, member in enumerate(plain)]


def _tagged_choices(schema: CoreSchema) -> _Children:
    members = list(cast("Mapping[object, CoreSchema]", schema["choices"]).values())
    return [(member, ("anyOf", index)) for index, member in enumerate(members)]


def _named_fields(schema: CoreSchema) -> _Children:
    fields = cast("Mapping[str, CoreSchema]", schema["fields"])
    return [(field["schema"], ("properties", published_name(field, name))) for name, field in fields.items()]


def _listed_fields(schema: CoreSchema) -> _Children:
    return [
        (field["schema"], ("properties", published_name(field, field["name"]))) for field in _nodes(schema["fields"])
    ]


def _items(schema: CoreSchema) -> _Children:
    return [(schema["items_schema"], ("items",))] if "items_schema" in schema else []


def _entries(schema: CoreSchema) -> _Children:
    return [(schema[key], ("additionalProperties",)) for key in ("keys_schema", "values_schema") if key in schema]


_CHILDREN: Final[Mapping[str, Callable[[CoreSchema], _Children]]] = {
    "chain": _steps,
    "dataclass-args": _listed_fields,
    "dict": _entries,
    "frozenset": _items,
    "json-or-python": _json,
    "lax-or-strict": _strict,
    "list": _items,
    "model-fields": _named_fields,
    "set": _items,
    "tagged-union": _tagged_choices,
    "typed-dict": _named_fields,
    "union": _choices,
}
