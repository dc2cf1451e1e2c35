"""``from_json_schema``: verdicts, and issues that an agent can act on."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, cast

import pytest

from agent_surface._base._json import NotJsonError, freeze_json
from agent_surface.errors import AgentSchemaError
from agent_surface.schemas import EMPTY_OBJECT_SCHEMA, AgentSchema, from_json_schema
from tests.core.schemas.strategies import Schema


def issues(schema: Schema, value: object) -> list[tuple[str, str]]:
    """The issues of a value that has to be refused."""
    with pytest.raises(AgentSchemaError) as caught:
        from_json_schema(schema).parse(value)
    return [(issue.path, issue.message) for issue in caught.value.issues]


def accepts(schema: AgentSchema[Any], value: object) -> bool:
    """The verdict of ``parse``."""
    try:
        schema.parse(value)
    except AgentSchemaError:
        return False
    return True


def test_a_value_is_returned_as_it_is() -> None:
    """Nobody coerces, and the default of a JSON Schema is an annotation."""
    schema = from_json_schema({"type": "object", "properties": {"n": {"type": "integer"}, "m": {"default": 1}}})
    value = {"n": 1.0, "other": None}
    assert schema.parse(value) is value
    assert repr(value) == "{'n': 1.0, 'other': None}"
    assert schema.dump(value) is value


@pytest.mark.requirement("AS-SER-001")
@pytest.mark.parametrize("value", [(1,), {"a": {1}}, [float("nan")], {1: 2}, "\ud800", freeze_json([1])])
def test_what_is_no_json_is_an_issue_on_the_way_in_and_a_defect_on_the_way_out(value: object) -> None:
    """The schema that takes anything still takes JSON only."""
    schema = from_json_schema({})
    with pytest.raises(AgentSchemaError, match="must be JSON"):
        schema.parse(value)
    with pytest.raises(NotJsonError):
        schema.dump(value)


def test_output_is_held_to_the_schema() -> None:
    """A handler's mistake has a path, too."""
    with pytest.raises(AgentSchemaError) as caught:
        from_json_schema({"type": "array", "items": {"type": "integer"}}).dump([1, "2"])
    assert [issue.path for issue in caught.value.issues] == ["/1"]


def test_the_empty_object_schema_takes_an_empty_object_only() -> None:
    """For actions without input."""
    assert EMPTY_OBJECT_SCHEMA.parse({}) == {}
    assert EMPTY_OBJECT_SCHEMA.takes_object
    others: list[object] = [None, [], "", {"a": 1}]
    assert not any(accepts(EMPTY_OBJECT_SCHEMA, value) for value in others)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object"}, True),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}}, True),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"type": "object"}}}, False),
        ({"type": ["object", "null"]}, False),
        ({"type": "array"}, False),
        ({"properties": {}}, False),
        ({}, False),
    ],
)
def test_a_schema_knows_whether_it_takes_an_object(schema: Schema, expected: bool) -> None:
    """Inputs of actions and procedures are objects at the root, after at most one reference."""
    assert from_json_schema(schema).takes_object is expected


KEYWORDS: list[tuple[Schema, list[Any], list[Any]]] = [
    ({"type": "integer"}, [1, 1.0, -0.0, 10**30], [True, 1.5, "1", None]),
    ({"type": "number"}, [1, 1.5], [False, "1"]),
    ({"const": 1}, [1, 1.0], [True, 2]),
    ({"enum": [1, 2]}, [2, 2.0], [True, 3.0]),
    ({"enum": [0, [1], {"a": True}]}, [0, 0.0, [1.0], {"a": True}], [False, [True], {"a": 1}]),
    ({"uniqueItems": True, "type": "array"}, [[1, True, "1"], [[1], [True]], [{}, []]], [[1, 1.0], [{}, {}]]),
    ({"minLength": 2, "maxLength": 2}, ["ab", "😀😀", 1], ["a", "abc", "😀"]),
    ({"pattern": "b"}, ["abc", 3], ["ac"]),
    ({"pattern": "^a$"}, ["a"], ["a\n", "ab"]),
    ({"pattern": r"[$]\$$"}, ["$$"], ["$$\n", "$"]),
    ({"multipleOf": 0.5}, [1, 1.5, 10**400], [1.2]),
    ({"multipleOf": 2}, [2, 4.0, 2 * 10**400], [1, 3.0, 10**400 + 1]),
    ({"multipleOf": 2.0}, [2, 10**400], [3, 10**400 + 1]),
    ({"minimum": 0, "exclusiveMaximum": 2}, [0, 1.9, "x"], [-1, 2]),
    ({"type": ["string", "null"]}, ["a", None], [1]),
    ({"$ref": "#/$defs/A", "maximum": 3, "$defs": {"A": {"minimum": 1}}}, [1, 3], [0, 4]),
    ({"$id": "https://x.example/", "$ref": "#/$defs/A", "$defs": {"A": {"type": "null"}}}, [None], [1]),
    ({"required": ["a"]}, [{"a": 1}, 3], [{}]),
    ({"properties": {"a": {"type": "null"}}, "additionalProperties": False}, [{}, {"a": None}], [{"b": 1}]),
]


@pytest.mark.requirement("AS-SCHEMA-004")
@pytest.mark.parametrize(("schema", "right", "wrong"), KEYWORDS)
def test_keywords_mean_what_json_schema_says(schema: Schema, right: list[object], wrong: list[object]) -> None:
    """The corners in which validators differ."""
    checked = from_json_schema(schema)
    assert [accepts(checked, value) for value in right] == [True] * len(right)
    assert [accepts(checked, value) for value in wrong] == [False] * len(wrong)


@pytest.mark.requirement("AS-SCHEMA-004")
@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        (
            "email",
            ["a@b.example", "first.last+tag@sub.domain.example", "ü@b.example"],
            [
                "@",
                "a@",
                "@b.example",
                "a@b",
                "a@@b.example",
                "a b@c.example",
                "a@b .example",
                "a@b..example",
                "a@b.c\n",
            ],
        ),
        (
            "date-time",
            ["2026-01-31T09:30:00Z", "2026-01-31t09:30:00.5z", "2024-02-29T23:59:59.123456789+23:59"],
            [
                "2026-01-31",
                "2026-01-31T09:30:00",
                "2026-02-29T00:00:00Z",
                "2026-01-31T09:30:60Z",
                "0000-01-01T00:00:00Z",
                "2026-01-31T09:30Z",
                "2026-01-31 09:30:00Z",
                "2026-01-31T24:00:00Z",
                "2026-01-31T09:30:00Z\n",
            ],
        ),
        ("date", ["2026-01-31", "2024-02-29"], ["2026-02-29", "2026-1-31", "20260131", "0000-01-01", "2026-01-31\n"]),
        (
            "uuid",
            ["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"],
            [
                "123e4567e89b12d3a456426614174000",
                "{123e4567-e89b-12d3-a456-42661417400}",
                "1_3e4567-e89b-12d3-a456-426614174000",
                "123e4567-e89b-12d3-a456-426614174000\n",
                "g23e4567-e89b-12d3-a456-426614174000",
            ],
        ),
        (
            "uri",
            ["https://a.example/b?c#d", "urn:isbn:0451450523", "mailto:a@b.example"],
            ["/relative", "a b", "https://a.example/\n", "//a.example", ""],
        ),
    ],
)
def test_formats_are_checked(name: str, right: list[str], wrong: list[str]) -> None:
    """A format is a promise to the handler, not a comment; other types are not concerned."""
    schema = from_json_schema({"format": name})
    assert [text for text in right if not accepts(schema, text)] == []
    assert [text for text in wrong if accepts(schema, text)] == []
    assert accepts(schema, 3)


ROWS: Schema = {
    "type": "object",
    "properties": {
        "ids": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "mode": {"enum": ["replace", "add"]},
        "shape": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": "dot"}, "at": {"type": "integer"}},
                    "required": ["kind", "at"],
                },
                {
                    "type": "object",
                    "properties": {"kind": {"const": "line"}, "to": {"type": "string"}},
                    "required": ["kind", "to"],
                },
                {"type": "null"},
            ]
        },
    },
    "required": ["ids", "mode"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], [("", "must be an object")]),
        ({}, [("/ids", "is required"), ("/mode", "is required")]),
        (
            {"ids": ["a", 2], "mode": "Add", "x": 1},
            [
                ("/ids/1", "must be a string"),
                ("/mode", 'must be one of "replace", "add"'),
                ("/x", 'is not a known property; use "ids", "mode", "shape"'),
            ],
        ),
        ({"ids": [], "mode": "add"}, [("/ids", "must have at least 1 item")]),
        ({"ids": ["a"], "mode": "add", "shape": {"kind": "dot", "at": "x"}}, [("/shape/at", "must be an integer")]),
        ({"ids": ["a"], "mode": "add", "shape": {"kind": "line"}}, [("/shape/to", "is required")]),
        ({"ids": ["a"], "mode": "add", "shape": {"kind": "blob"}}, [("/shape/kind", 'must be one of "dot", "line"')]),
        ({"ids": ["a"], "mode": "add", "shape": {}}, [("/shape/kind", "is required")]),
        ({"ids": ["a"], "mode": "add", "shape": 3}, [("/shape", "must be an object or null")]),
    ],
)
def test_issues_say_what_to_change_and_where(value: object, expected: list[tuple[str, str]]) -> None:
    """In a union, they are those of the form the value was meant to have."""
    assert issues(ROWS, value) == expected


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": ["integer", "null"]}, "1", "must be an integer or null"),
        ({"const": {"a": [1]}}, 1, 'must be {"a":[1]}'),
        ({"minLength": 1}, "", "must have at least 1 character"),
        ({"maxLength": 2}, "abc", "must have at most 2 characters"),
        ({"maxItems": 0}, [1], "must have at most 0 items"),
        ({"pattern": "^[a-z]+$"}, "A", 'must match the pattern "^[a-z]+$"'),
        ({"format": "date"}, "x", "must be a date such as 2026-01-31"),
        ({"minimum": 1.5}, 1, "must be at least 1.5"),
        ({"maximum": 1}, 2, "must be at most 1"),
        ({"exclusiveMinimum": 1}, 1, "must be greater than 1"),
        ({"exclusiveMaximum": 1}, 1, "must be less than 1"),
        ({"multipleOf": 2}, 1, "must be a multiple of 2"),
        ({"uniqueItems": True}, [1, 1], "must not repeat an item"),
        ({"additionalProperties": False}, {"a": 1}, "is not a known property"),
        ({"anyOf": [{"minimum": 3}, {"multipleOf": 7}]}, 1, "fits none of the 2 forms it can have"),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, "fits none of the 2 forms it can have"),
    ],
)
def test_each_keyword_has_its_words(schema: Schema, value: object, message: str) -> None:
    """Imperative, without a name of any class or library."""
    assert [text for _, text in issues(schema, value)] == [message]


def test_issues_are_short_and_few_and_do_not_quote_the_value() -> None:
    """A large or malicious value must not come back as a large answer."""
    secret = "s3cret" * 100
    found = issues({"type": "object", "additionalProperties": False}, {f"{secret}{n}": n for n in range(1000)})
    assert len(found) == 20
    assert all(len(path) < 120 and len(message) <= 300 for path, message in found)
    schema: Schema = {
        "properties": {"a": {"type": "integer"}, "b": {"enum": ["x" * 500, "y"]}, "c": {"pattern": "y" * 999}}
    }
    for path, message in issues(schema, {"a": secret, "b": secret, "c": secret}):
        assert "s3cret" not in path + message
        assert len(message) <= 300


def test_issues_are_in_the_order_of_their_paths() -> None:
    """Indices count as numbers: the tenth row comes after the second."""
    found = issues({"type": "array", "items": {"type": "integer"}}, ["a"] * 12)
    assert [path for path, _ in found] == [f"/{index}" for index in range(12)]


def test_a_wide_array_of_different_items_is_checked_in_one_pass() -> None:
    """Comparing each item with each would keep the owner thread busy for minutes."""
    schema = from_json_schema({"type": "array", "uniqueItems": True})
    rows: list[object] = [{"id": number, "tags": [number]} for number in range(20_000)]
    assert accepts(schema, rows)
    assert not accepts(schema, [*rows, {"tags": [7.0], "id": 7}])


def test_the_validator_is_imported_for_the_first_refusal_only() -> None:
    """It is half of the time to import the package, and right values do not need it."""
    program = """
import sys
from agent_surface.errors import AgentSchemaError
from agent_surface.schemas import from_json_schema
schema = from_json_schema({"type": "object", "properties": {"a": {"type": "string", "format": "date"}}})
schema.parse({"a": "2026-01-31"})
assert "jsonschema" not in sys.modules
try:
    schema.parse({"a": 1})
except AgentSchemaError:
    assert "jsonschema" in sys.modules
else:
    raise SystemExit("accepted")
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=50)


def test_a_schema_is_frozen() -> None:
    """The agent's view is part of the contract and never changes."""
    schema = from_json_schema({"type": "object", "required": ["a"]})
    with pytest.raises(TypeError):
        cast("dict[str, object]", schema.json_schema)["type"] = "string"
    with pytest.raises(AttributeError):
        cast("Any", schema).json_schema = {}


def test_items_of_several_types_are_judged_like_items_of_one() -> None:
    """The short way for arrays of one type must not stumble over a list of types."""
    schema = from_json_schema({"type": "array", "items": {"type": ["string", "null"]}})
    assert schema.parse(["a", None]) == ["a", None]
    with pytest.raises(AgentSchemaError):
        schema.parse(["a", 1])


@pytest.mark.parametrize("other", [5, "xy"], ids=["no-text", "a-match"])
def test_a_pattern_says_nothing_about_what_is_no_text_or_matches(other: int | str) -> None:
    """As in JSON Schema; only the part that is wrong is told."""
    schema = from_json_schema(
        {
            "type": "object",
            "properties": {"a": {"type": ["string", "integer"], "pattern": "^x"}, "b": {"type": "integer"}},
        }
    )
    with pytest.raises(AgentSchemaError) as caught:
        schema.parse_json({"a": other, "b": "no"})
    assert [issue.path for issue in caught.value.issues] == ["/b"]
