"""The part of an input schema that an agent still fills in when the interface provides the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import cast

from agent_surface._base._json import FrozenJson, JsonSchema
from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode
from agent_surface.schemas._subset import resolve_definition, subschemas


def root_schema(schema: JsonSchema) -> JsonSchema:
    """The root of ``schema`` after at most one ``$ref``; keywords beside the reference win over its target's."""
    name = resolve_definition(schema, schema.get("$ref"))
    if name is None:
        return schema
    target = cast("Mapping[str, JsonSchema]", schema["$defs"])[name]
    return MappingProxyType({**target, **{key: value for key, value in schema.items() if key != "$ref"}})


def takes_object(schema: JsonSchema) -> bool:
    """Whether the root accepts objects and nothing else, directly or through one ``$ref``."""
    return root_schema(schema).get("type") == "object"


def root_properties(schema: JsonSchema) -> frozenset[str]:
    """The names of the properties at the root of ``schema``, after at most one ``$ref``."""
    return frozenset(cast("Mapping[str, object]", root_schema(schema).get("properties", {})))


def reduce_object_schema(schema: JsonSchema, *, drop: Collection[str], optional: Collection[str]) -> JsonSchema:
    """Leave out what the interface binds and relax what it only suggests.

    Args:
        schema: The full input schema: frozen, in the subset, with ``properties`` at the root.
        drop: Properties the agent no longer sees; none of them is required any more.
        optional: Properties the agent may still give; none of them is required any more.

    Returns:
        A frozen schema; definitions nothing refers to are gone. ``schema`` itself when there is nothing to do.

    Raises:
        AgentSurfaceDefinitionError: ``UNSUPPORTED_SCHEMA``; the root says more about its properties than that they
            exist, so taking one away would change what is accepted.
    """
    if not drop and not optional:
        return schema
    root = root_schema(schema)
    for keyword in ("anyOf", "const", "enum", "$ref"):
        if keyword in root:
            raise AgentSurfaceDefinitionError(
                DefinitionErrorCode.UNSUPPORTED_SCHEMA,
                f"fields cannot be bound in a schema with {keyword} at its root; write the properties at the root",
                path=f"/{keyword}",
            )
    reduced: dict[str, FrozenJson] = dict(root)
    properties = cast("Mapping[str, FrozenJson]", root.get("properties", {}))
    reduced["properties"] = MappingProxyType({name: value for name, value in properties.items() if name not in drop})
    required = tuple(
        name for name in cast("tuple[str, ...]", root.get("required", ())) if name not in drop and name not in optional
    )
    reduced["required"] = required
    if not required:
        del reduced["required"]
    _drop_from_annotations(reduced, drop)
    return _without_unused_definitions(reduced)


def _drop_from_annotations(schema: dict[str, FrozenJson], drop: Collection[str]) -> None:
    """Whole inputs given as default or example must not show a bound field as something to fill in."""

    def dropped(value: FrozenJson) -> FrozenJson:
        if not isinstance(value, Mapping):
            return value
        return MappingProxyType({name: item for name, item in value.items() if name not in drop})

    if "default" in schema:
        schema["default"] = dropped(schema["default"])
    if "examples" in schema:
        schema["examples"] = tuple([dropped(value) for value in cast("tuple[FrozenJson, ...]", schema["examples"])])


def _without_unused_definitions(schema: dict[str, FrozenJson]) -> JsonSchema:
    definitions = cast("Mapping[str, JsonSchema]", schema.pop("$defs", MappingProxyType({})))
    document = {"$defs": definitions}
    used: set[str] = set()
    pending: list[Mapping[str, object]] = [schema]
    while pending:
        current = pending.pop()
        pending.extend(inner for _, inner in subschemas(current))
        name = resolve_definition(document, current.get("$ref"))
        if name is not None and name not in used:
            used.add(name)
            pending.append(definitions[name])
    if used:
        schema["$defs"] = MappingProxyType({name: value for name, value in definitions.items() if name in used})
    return MappingProxyType(schema)
