"""What an agent still sees of an input schema when the interface binds a part of it."""

from __future__ import annotations

from typing import cast

import pytest

from agent_surface._base._json import JsonSchema, freeze_json
from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode
from agent_surface.schemas import check_schema_subset, reduce_object_schema, root_properties
from tests.core.schemas.strategies import Schema

DISABLE: Schema = {
    "type": "object",
    "description": "Disable devices",
    "properties": {
        "ids": {"type": "array", "items": {"$ref": "#/$defs/Id"}},
        "reason": {"$ref": "#/$defs/Reason"},
        "until": {"type": "string", "format": "date"},
    },
    "required": ["ids", "reason"],
    "additionalProperties": False,
    "examples": [{"ids": ["a"], "reason": {"text": "x"}}],
    "$defs": {
        "Id": {"type": "string"},
        "Reason": {"type": "object", "properties": {"text": {"$ref": "#/$defs/Text"}}},
        "Text": {"type": "string"},
    },
}


def frozen(schema: Schema) -> JsonSchema:
    """A frozen schema document."""
    return cast("JsonSchema", freeze_json(schema))


def test_nothing_bound_changes_nothing() -> None:
    """The very same schema."""
    schema = frozen(DISABLE)
    assert reduce_object_schema(schema, drop=(), optional=()) is schema


def test_a_locked_field_is_gone_with_all_that_only_it_used() -> None:
    """Properties, required, definitions and examples no longer speak of it."""
    reduced = reduce_object_schema(frozen(DISABLE), drop={"reason"}, optional=())
    assert reduced == frozen(
        {
            **{key: DISABLE[key] for key in ("type", "description", "additionalProperties")},
            "properties": {"ids": DISABLE["properties"]["ids"], "until": DISABLE["properties"]["until"]},
            "required": ["ids"],
            "examples": [{"ids": ["a"]}],
            "$defs": {"Id": {"type": "string"}},
        }
    )
    check_schema_subset(reduced)


def test_an_overridable_field_stays_and_is_optional() -> None:
    """The agent's value wins, so it may be given; the interface has one, so it need not."""
    reduced = reduce_object_schema(frozen(DISABLE), drop=(), optional={"ids", "reason"})
    assert reduced == frozen({key: value for key, value in DISABLE.items() if key != "required"})


def test_definitions_used_by_definitions_are_kept() -> None:
    """What a kept reference leads to stays whole."""
    reduced = reduce_object_schema(frozen(DISABLE), drop={"ids"}, optional=())
    assert reduced["$defs"] == frozen({key: DISABLE["$defs"][key] for key in ("Reason", "Text")})


def test_a_root_that_is_one_reference_is_written_out() -> None:
    """Models publish their root so; keywords beside the reference win."""
    schema = frozen(
        {
            "$ref": "#/$defs/Input",
            "description": "outer",
            "$defs": {
                "Input": {
                    "type": "object",
                    "description": "inner",
                    "properties": {"a": {}, "b": {"$ref": "#/$defs/B"}},
                },
                "B": {"type": "null"},
            },
        }
    )
    assert root_properties(schema) == {"a", "b"}
    reduced = reduce_object_schema(schema, drop={"a"}, optional=())
    assert reduced == frozen(
        {
            "type": "object",
            "description": "outer",
            "properties": {"b": {"$ref": "#/$defs/B"}},
            "$defs": {"B": {"type": "null"}},
        }
    )


def test_a_schema_without_properties_has_no_root_properties() -> None:
    """Nothing can be bound in it."""
    assert root_properties(frozen({"type": "object"})) == frozenset()
    assert root_properties(frozen(DISABLE)) == {"ids", "reason", "until"}


@pytest.mark.parametrize("keyword", ["anyOf", "const", "enum"])
def test_a_root_that_says_more_about_its_properties_cannot_be_reduced(keyword: str) -> None:
    """Taking a property away from one branch would change what the others accept."""
    value = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "const": {"a": 1}, "enum": [{"a": 1}]}[keyword]
    schema = frozen({"type": "object", "properties": {"a": {}, "b": {}}, keyword: value})
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        reduce_object_schema(schema, drop={"a"}, optional=())
    assert caught.value.code is DefinitionErrorCode.UNSUPPORTED_SCHEMA
    assert caught.value.path == f"/{keyword}"
