"""The supported subset of JSON Schema: everything in it is taken, anything else is refused with its path."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_surface._base._json import JsonValue, freeze_json, json_bytes, json_pointer
from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode
from agent_surface.schemas import MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, check_schema_subset, from_json_schema
from tests.core.schemas.strategies import Schema, schemas

EVERY_KEYWORD: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://example.org/everything",
    "title": "Everything",
    "description": "One of each",
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 10, "pattern": "^[a-z]+$"},
        "at": {"type": "string", "format": "date-time"},
        "day": {"type": "string", "format": "date"},
        "id": {"type": "string", "format": "uuid"},
        "mail": {"type": "string", "format": "email"},
        "link": {"type": "string", "format": "uri"},
        "count": {"type": "integer", "minimum": 0, "maximum": 9, "multipleOf": 3},
        "ratio": {"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 1.5},
        "mode": {"enum": ["a", 1, None], "default": "a", "examples": ["a"], "deprecated": True},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3, "uniqueItems": True},
        "shape": {
            "anyOf": [
                {"type": "object", "properties": {"kind": {"const": "dot"}}, "required": ["kind"]},
                {"$ref": "#/$defs/Line", "description": "keywords beside a reference are fine"},
            ]
        },
        "oneOf": {"description": "a property may be called like a keyword"},
    },
    "required": ["name"],
    "additionalProperties": False,
    "$defs": {
        "Line": {"type": "object", "properties": {"kind": {"const": "line"}, "to": {"$ref": "#/$defs/a~1b%20c"}}},
        "a/b c": {"type": "boolean"},
    },
}


def nested(depth: int) -> Schema:
    """A schema that nests ``depth`` deep, the root included, alternating the three ways to nest."""
    schema: Schema = {"type": "string"}
    for level in range(depth - 1):
        outer: list[Schema] = [{"properties": {"a": schema}}, {"items": schema}, {"anyOf": [{}, schema]}]
        schema = outer[level % 3]
    return schema


def refusal(schema: object, **limits: int) -> AgentSurfaceDefinitionError:
    """The error for a schema that has to be refused."""
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        check_schema_subset(cast("Schema", schema), **limits)
    assert caught.value.code is DefinitionErrorCode.UNSUPPORTED_SCHEMA
    return caught.value


@pytest.mark.requirement("AS-SCHEMA-001")
def test_every_keyword_of_the_subset_is_taken() -> None:
    """Also as a frozen document, and with ``$schema`` and ``$id``."""
    check_schema_subset(EVERY_KEYWORD)
    check_schema_subset(cast("MappingProxyType[str, object]", freeze_json(EVERY_KEYWORD)))
    assert from_json_schema(EVERY_KEYWORD).json_schema == freeze_json(EVERY_KEYWORD)


@pytest.mark.requirement("AS-SCHEMA-001")
@pytest.mark.parametrize(
    "keyword",
    [
        *("oneOf", "allOf", "not", "if", "then", "else", "patternProperties", "propertyNames", "prefixItems"),
        *("contains", "minContains", "maxContains", "dependentRequired", "dependentSchemas", "unevaluatedProperties"),
        *("unevaluatedItems", "minProperties", "maxProperties", "contentEncoding", "contentMediaType", "$anchor"),
        *("$dynamicRef", "$comment", "definitions", "nullable", "discriminator", "readOnly", "writeOnly", "x-note"),
    ],
)
def test_any_other_keyword_is_refused_where_it_stands(keyword: str) -> None:
    """The path leads to the keyword itself."""
    assert refusal({keyword: {}}).path == f"/{keyword}"
    inner: Schema = {"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}, {"items": {keyword: []}}]}}}
    assert refusal(inner).path == f"/properties/a/anyOf/1/items/{keyword}"
    assert refusal({"$defs": {"A": {keyword: 1}}}).path == f"/$defs/A/{keyword}"


MISUSED: list[tuple[object, str]] = [
    ({"type": "text"}, "/type"),
    ({"type": []}, "/type"),
    ({"type": ["string", "string"]}, "/type"),
    ({"type": None}, "/type"),
    ({"enum": []}, "/enum"),
    ({"enum": "a"}, "/enum"),
    ({"properties": []}, "/properties"),
    ({"properties": {"a": True}}, "/properties/a"),
    ({"required": "a"}, "/required"),
    ({"required": ["a", "a"]}, "/required"),
    ({"required": [1]}, "/required"),
    ({"additionalProperties": {}}, "/additionalProperties"),
    ({"items": [{}]}, "/items"),
    ({"items": False}, "/items"),
    ({"minItems": -1}, "/minItems"),
    ({"maxItems": True}, "/maxItems"),
    ({"minLength": 1.5}, "/minLength"),
    ({"uniqueItems": 1}, "/uniqueItems"),
    ({"pattern": "("}, "/pattern"),
    ({"pattern": r"\p{L}"}, "/pattern"),
    ({"pattern": "[[:alpha:]]"}, "/pattern"),
    ({"pattern": 1}, "/pattern"),
    ({"format": "hostname"}, "/format"),
    ({"format": "uuid4"}, "/format"),
    ({"minimum": "0"}, "/minimum"),
    ({"maximum": True}, "/maximum"),
    ({"multipleOf": 0}, "/multipleOf"),
    ({"anyOf": []}, "/anyOf"),
    ({"anyOf": [{}, 3]}, "/anyOf/1"),
    ({"title": 1}, "/title"),
    ({"deprecated": "yes"}, "/deprecated"),
    ({"examples": "a"}, "/examples"),
    ({"$defs": {"A": True}}, "/$defs/A"),
    ({"items": {"$defs": {}}}, "/items/$defs"),
    ({"$ref": "https://example.org/schema"}, "/$ref"),
    ({"$ref": "#"}, "/$ref"),
    ({"$ref": "#/$defs/Missing"}, "/$ref"),
    ({"$ref": "#/properties/a", "properties": {"a": {}}}, "/$ref"),
    ({"$defs": {"A": {"properties": {"b": {}}}}, "$ref": "#/$defs/A/properties/b"}, "/$ref"),
    ({"default": float("nan")}, "/default"),
    ({"examples": [{1, 2}]}, "/examples/0"),
    ({"properties": {"a/b": {"const": b"x"}}}, "/properties/a~1b/const"),
    ([], ""),
]


@pytest.mark.requirement("AS-SCHEMA-001")
@pytest.mark.parametrize(("schema", "path"), MISUSED)
def test_a_keyword_that_says_something_else_is_refused(schema: object, path: str) -> None:
    """The value of each keyword is checked, and so is every example and default for being JSON."""
    assert refusal(schema).path == path


@pytest.mark.requirement("AS-SCHEMA-001")
@pytest.mark.parametrize("schema", [True, "object", None, [{}]])
def test_a_schema_is_an_object(schema: object) -> None:
    """``True`` is JSON Schema for anything, and outside the subset."""
    refusal(schema)
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        from_json_schema(cast("Schema", schema))
    assert caught.value.code is DefinitionErrorCode.UNSUPPORTED_SCHEMA


@pytest.mark.requirement("AS-SCHEMA-001")
def test_schemas_nest_at_most_eight_deep() -> None:
    """The root counts; properties, items and anyOf nest alike."""
    check_schema_subset(nested(MAX_SCHEMA_DEPTH))
    too_deep = refusal(nested(MAX_SCHEMA_DEPTH + 1))
    assert too_deep.path.count("/") >= MAX_SCHEMA_DEPTH
    check_schema_subset(nested(3), max_depth=3)
    refusal(nested(3), max_depth=2)


@pytest.mark.requirement("AS-SCHEMA-001")
def test_a_reference_counts_as_what_it_refers_to() -> None:
    """Depth cannot be hidden in definitions, however many references it is spread over."""
    within = {"$defs": {"A": nested(7)}, "items": {"$ref": "#/$defs/A"}}
    check_schema_subset(within)
    refusal({"$defs": {"A": nested(8)}, "items": {"$ref": "#/$defs/A"}})
    stairs = {f"D{level}": {"items": {"$ref": f"#/$defs/D{level + 1}"}} for level in range(8)}
    refusal({"$defs": {**stairs, "D8": {}}, "$ref": "#/$defs/D0"})
    flat = {f"D{level}": {"$ref": f"#/$defs/D{level + 1}"} for level in range(8)}
    check_schema_subset({"$defs": {**flat, "D8": {}}, "$ref": "#/$defs/D0"})


@pytest.mark.requirement("AS-SCHEMA-001")
@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"Node": {"properties": {"next": {"$ref": "#/$defs/Node"}}}}, "$ref": "#/$defs/Node"},
        {"$defs": {"A": {"items": {"$ref": "#/$defs/B"}}, "B": {"anyOf": [{"$ref": "#/$defs/A"}]}}},
        {"$defs": {"A": {"$ref": "#/$defs/A"}}},
    ],
)
def test_a_schema_that_refers_to_itself_is_refused(schema: Schema) -> None:
    """Directly, in a circle, and even where nothing uses it."""
    assert "refers to itself" in str(refusal(schema))


@pytest.mark.requirement("AS-SCHEMA-001")
def test_an_endless_chain_of_references_is_refused_like_any_other() -> None:
    """A thousand definitions must not exhaust the interpreter's stack."""
    chain = {f"D{level}": {"$ref": f"#/$defs/D{level + 1}"} for level in range(1000)}
    refusal({"$defs": {**chain, "D1000": {}}, "$ref": "#/$defs/D0"}, max_bytes=1_000_000)


@pytest.mark.requirement("AS-SCHEMA-001")
def test_a_schema_has_at_most_16_kib() -> None:
    """Counted in UTF-8 bytes of the compact form."""
    padding = MAX_SCHEMA_BYTES - json_bytes({"description": ""})
    check_schema_subset({"description": "x" * padding})
    assert refusal({"description": "x" * (padding - 1) + "é"}).path == ""
    refusal({"description": "x" * 100}, max_bytes=100)


@pytest.mark.requirement("AS-SCHEMA-001")
def test_a_schema_does_not_follow_the_document_it_was_made_from() -> None:
    """Neither a dict nor a proxy somebody still holds the dict of."""
    document: dict[str, Any] = {"type": "string"}
    by_dict, by_proxy = from_json_schema(document), from_json_schema(MappingProxyType(document))
    document["type"] = "integer"
    assert by_dict.json_schema == by_proxy.json_schema == {"type": "string"}


def positions(schema: Schema, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Schema]]:
    """Every schema inside a schema, with its path."""
    found = [(path, schema)]
    for name, inner in cast("dict[str, Schema]", schema.get("properties", {})).items():
        found += positions(inner, (*path, "properties", name))
    if "items" in schema:
        found += positions(schema["items"], (*path, "items"))
    for index, inner in enumerate(cast("list[Schema]", schema.get("anyOf", []))):
        found += positions(inner, (*path, "anyOf", index))
    return found


@pytest.mark.requirement("AS-SCHEMA-003")
@settings(max_examples=100)
@given(schemas(4), st.data())
def test_random_schemas_are_accepted_until_something_foreign_is_in_them(schema: Schema, data: st.DataObject) -> None:
    """One foreign keyword anywhere is found, and its path is told."""
    check_schema_subset(schema)
    path, inner = data.draw(st.sampled_from(positions(schema)))
    keyword = data.draw(st.sampled_from(["oneOf", "not", "minProperties", "x-extra", ""]))
    inner[keyword] = cast("JsonValue", {})
    assert refusal(schema).path == json_pointer([*path, keyword])


@pytest.mark.requirement("AS-SCHEMA-003")
@settings(max_examples=60)
@given(schemas(3), st.integers(1, 6))
def test_random_schemas_are_accepted_until_they_are_one_level_too_deep(schema: Schema, wrappings: int) -> None:
    """The limit is exactly the depth of the schema."""
    for _ in range(wrappings):
        schema = {"type": "object", "properties": {"in": schema}}
    depth = 1 + max(sum(step in {"properties", "items", "anyOf"} for step in path) for path, _ in positions(schema))
    check_schema_subset(schema, max_depth=depth)
    refusal(schema, max_depth=depth - 1)
